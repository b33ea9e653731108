"""Import of captured packets of real hosts as runs. This engine reads files; it cannot run scenarios."""

from collections.abc import Mapping
from pathlib import Path

from fullpipe.engines.imported.measurement import Twin
from fullpipe.engines.pcap.blocks import is_file
from fullpipe.engines.pcap.capture import Capture, read
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.run import ENGINE, read_run

__all__ = ["ENGINE", "Capture", "Flow", "flows_of", "is_file", "read", "read_run", "read_twin"]


def read_twin(path: Path, algorithms: Mapping[str, str] | None = None) -> Twin:
    """Return the scenario that would reproduce a capture (`twin_of`)."""
    from fullpipe.engines.pcap.run import read_flows
    from fullpipe.engines.pcap.twin import twin_of  # imported here, as `import` needs no estimates

    return twin_of(read_flows(path, algorithms), path, algorithms or {})
