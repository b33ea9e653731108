"""Published data in a folder: exports, Flent's files, and their measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullpipe.errors import InputFileError, brief
from fullpipe.studies.ahsan2025 import flent_files, hosts, printed, recompute, testbed
from fullpipe.studies.ahsan2025.exports import Export, read
from fullpipe.studies.ahsan2025.flent_files import Uploads
from fullpipe.studies.ahsan2025.recompute import Groups
from fullpipe.studies.experiments import Measurements


@dataclass(frozen=True)
class Published:
    """The published data."""

    exports: Mapping[str, Export]
    """Exports by the name of the file."""
    groups: Mapping[str, Groups]
    """Values by table."""
    uploads: Mapping[str, Uploads]
    """Flent's tests of every algorithm, by figure."""
    files: Sequence[testbed.File] = ()
    """Facts about the testbed in every file of Flent."""

    def measure(self) -> Measurements:
        """Return every number of tables and figures about which the paper makes a statement."""
        found = recompute.measure(printed.results(), self.groups)
        hosts.measure(found, self.exports)
        flent_files.measure(found, self.uploads)
        return found


NOTHING = Published({}, {}, {})


def in_folder(folder: Path) -> Published:
    """Read the published data in a folder and those below it.

    Raises:
        InputFileError: If there is no such folder, it has no published data, or a file is damaged.
    """
    if not folder.is_dir():
        raise InputFileError(f'--data: "{brief(str(folder))}" is no folder')
    of = printed.results()
    names = list(dict.fromkeys(table.file for table in of.tables))
    paths = {name: min(folder.rglob(name), key=lambda p: (len(p.parts), p), default=None) for name in names}
    exports = {name: read(path) for name, path in paths.items() if path}
    files = testbed.in_folder(folder)
    if not (exports or files):
        raise InputFileError(
            f'--data: "{brief(str(folder))}" has neither {" nor ".join(names)}; they are in {of.published}'
        )
    uploads = flent_files.in_folder(folder)
    return Published(exports, recompute.groups_of(of, exports), uploads, files)
