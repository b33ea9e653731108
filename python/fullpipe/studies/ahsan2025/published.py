"""The published data in a folder: exports, Flent's files, and what is measured of them."""

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
    """What was found."""

    exports: Mapping[str, Export]
    """By the name of the file."""
    groups: Mapping[str, Groups]
    """By table, the values that it is of."""
    uploads: Mapping[str, Uploads]
    """By figure, of every algorithm what Flent measured."""
    files: Sequence[testbed.File] = ()
    """What every file of Flent says of the testbed."""

    def measure(self) -> Measurements:
        """Every number of tables and figures of which the paper says something."""
        found = recompute.measure(printed.results(), self.groups)
        hosts.measure(found, self.exports)
        flent_files.measure(found, self.uploads)
        return found


NOTHING = Published({}, {}, {})


def in_folder(folder: Path) -> Published:
    """Read the published data in a folder and those below it.

    Raises:
        InputFileError: If there is no such folder, nothing is in it, or a file is not what it should be.
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
