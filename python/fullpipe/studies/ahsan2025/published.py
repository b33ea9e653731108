"""Reads the paper's published data, and measures the quantities that the paper prints or describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullpipe.engines.flent import document
from fullpipe.errors import InputFileError, brief
from fullpipe.studies.ahsan2025 import exports as testbed
from fullpipe.studies.ahsan2025 import printed, recompute
from fullpipe.studies.ahsan2025.exports import NAMES, Export, Vector, read
from fullpipe.studies.ahsan2025.recompute import Groups, put
from fullpipe.studies.experiments import Measurements

# Latency by host, in Figures 6 to 9: the median RTT of the pings to a host.


FILE = "test-fig8.csv"
PINGS = "Ping (ms) ICMP"


def measure_hosts(found: Measurements, exports: Mapping[str, Export]) -> None:
    """Add the median ping of every host and algorithm, in ms."""
    if FILE in exports:
        for number, series in enumerate(series_of(exports[FILE], PINGS), start=1):
            for algorithm, values in known(exports[FILE], series).items():
                put(found, f"Fig. 6, host {number}", algorithm, {"ping": float(np.median(values))})


def series_of(export: Export, prefix: str) -> list[str]:
    """Return the names of series that begin with a prefix, one per host, in the order of the hosts."""
    return sorted(one for one in export.series() if one.startswith(prefix) and one != prefix)


def known(export: Export, series: str) -> dict[str, Vector]:
    """Return the values of a series without empty cells, by algorithm."""
    found = {}
    for algorithm in NAMES.values():
        if (series, algorithm) in export.columns:
            values = export.values(series, algorithm)
            found[algorithm] = values[~np.isnan(values)]
    return {algorithm: values for algorithm, values in found.items() if values.size}


# Uploads in Figures 10 to 13, read from the authors' Flent files.


WIFI, WIRED = "TCP_Upload-802.11n", "Wired-eth-100Mbps"
FIGURES = {
    "Fig. 10": (WIFI, "tcp_nup"),
    "Fig. 11": (WIFI, "tcp_12up"),
    "Fig. 12": (WIFI, "tcp_1up"),
    "Fig. 13": (WIRED, "tcp_12up"),
}
"""The authors' folder and the Flent test of each figure. No files are published for Figure 14, with sixteen
streams over Ethernet."""
UPLOADS = ("TCP upload sum", "TCP upload")
"""Names of the series of uploads in a test with several streams, and in a test with one stream."""
FROM_S, TO_S = 5.0, 65.0
"""Start and end of the streams, in s from the start of a test."""


@dataclass(frozen=True)
class Upload:
    """Rates of the uploads and pings in one test of one algorithm. Missing samples are left out."""

    mbps: Vector
    ping_ms: Vector


Uploads = Mapping[str, Upload]
"""Tests with uploads by algorithm."""


def uploads_in(folder: Path) -> dict[str, Uploads]:
    """Read the tests with uploads in a folder, by figure. Raises InputFileError for a damaged file."""
    found: dict[str, Uploads] = {}
    for figure, (where, test) in FIGURES.items():
        paths = sorted(p for p in folder.rglob(f"{test}-*.flent.gz") if where in p.parts)
        uploads = dict(one for one in map(_upload, paths) if one[0])
        if uploads:
            found[figure] = {name: uploads[name] for name in NAMES.values() if name in uploads}
    return found


def measure_uploads(found: Measurements, uploads: Mapping[str, Uploads]) -> None:
    """Add the mean of Flent's sum of all uploads, in Mbit/s, and the median ping, in ms, for every figure and
    algorithm."""
    for figure, of in uploads.items():
        for algorithm, one in of.items():
            measured = {"upload": float(one.mbps.mean()), "ping": float(np.median(one.ping_ms))}
            put(found, figure, algorithm, measured)


def _upload(path: Path) -> tuple[str, Upload]:
    """Read a Flent file, and return the algorithm and the measured values. The algorithm is empty if the
    file's title is not the name of an algorithm in `NAMES`."""
    read = document.read(path)
    times_s = np.array(read.x_values)
    running = (times_s >= FROM_S) & (times_s <= TO_S)

    def values(*names: str) -> Vector:
        name = next((one for one in names if one in read.results), None)
        if name is None:
            raise InputFileError(f'{path.name}: the series "{names[0]}" is missing')
        steps = zip(read.results[name], running, strict=True)
        column: Vector = np.array([value for value, runs in steps if runs and value is not None])
        if not column.size:
            raise InputFileError(f"{path.name}: {name} has no value from {FROM_S:g} to {TO_S:g} s")
        return column

    return NAMES.get(read.text("TITLE").lower(), ""), Upload(values(*UPLOADS), values(PINGS))


# All published data in a folder: exports of Flent's plots, and Flent files.


@dataclass(frozen=True)
class Published:
    """The part of the paper's published data that the user's folder contains."""

    exports: Mapping[str, Export]
    """Exports of Flent's plots by the name of the file."""
    groups: Mapping[str, Groups]
    """Samples of each printed table, by algorithm."""
    uploads: Mapping[str, Uploads]
    """Flent's tests with uploads, by figure and algorithm."""
    files: Sequence[testbed.File] = ()
    """Facts about the testbed in every file of Flent."""

    def measure(self) -> Measurements:
        """Compute every number that the paper prints in a table, and every number about which the paper makes
        a statement."""
        found = recompute.measure(printed.results(), self.groups)
        measure_hosts(found, self.exports)
        measure_uploads(found, self.uploads)
        return found


NOTHING = Published({}, {}, {})


def in_folder(folder: Path) -> Published:
    """Read the published data in a folder and its subfolders.

    Raises:
        InputFileError: If the folder does not exist or has no published data, or a file is damaged.
    """
    if not folder.is_dir():
        raise InputFileError(f'--data: "{brief(str(folder))}" is not a folder')
    of = printed.results()
    names = list(dict.fromkeys(table.file for table in of.tables))
    paths = {name: min(folder.rglob(name), key=lambda p: (len(p.parts), p), default=None) for name in names}
    exports = {name: read(path) for name, path in paths.items() if path}
    files = testbed.in_folder(folder)
    if not (exports or files):
        raise InputFileError(
            f'--data: "{brief(str(folder))}" has neither {" nor ".join(names)}; get them from {of.published}'
        )
    uploads = uploads_in(folder)
    return Published(exports, recompute.groups_of(of, exports), uploads, files)
