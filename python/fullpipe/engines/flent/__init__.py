"""Import of Flent's measurements on real hosts as runs. This engine reads files; it cannot run scenarios."""

from collections.abc import Mapping
from pathlib import Path

from fullpipe.engines.flent.document import is_file
from fullpipe.engines.flent.run import ENGINE, read_run
from fullpipe.engines.imported.measurement import Twin

__all__ = ["ENGINE", "is_file", "read_run", "read_twin"]


def read_twin(path: Path, algorithms: Mapping[str, str] | None = None) -> Twin:
    """Return the scenario that would reproduce a file (`twin_of`)."""
    from fullpipe.engines.flent.run import read_test
    from fullpipe.engines.flent.twin import twin_of  # imported here, as `import` needs no estimates

    return twin_of(read_test(path, algorithms), path)
