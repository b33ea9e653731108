"""Flent's files of the uploads in Figures 10 to 13, in the authors' folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullpipe.engines.flent import document
from fullpipe.errors import InputFileError
from fullpipe.studies.ahsan2025.exports import NAMES, Vector
from fullpipe.studies.ahsan2025.recompute import put
from fullpipe.studies.experiments import Measurements

WIFI, WIRED = "TCP_Upload-802.11n", "Wired-eth-100Mbps"
FIGURES = {
    "Fig. 10": (WIFI, "tcp_nup"),
    "Fig. 11": (WIFI, "tcp_12up"),
    "Fig. 12": (WIFI, "tcp_1up"),
    "Fig. 13": (WIRED, "tcp_12up"),
}
"""Folder and test by figure. Figure 14, sixteen streams over Ethernet, has no published files."""
UPLOADS = ("TCP upload sum", "TCP upload")
"""Series of several streams, and of one."""
PING = "Ping (ms) ICMP"
FROM_S, TO_S = 5.0, 65.0
"""Span in which the streams ran."""


@dataclass(frozen=True)
class Upload:
    """One test of one algorithm, without the steps in which nothing was measured."""

    mbps: Vector
    ping_ms: Vector


Uploads = Mapping[str, Upload]
"""Tests by algorithm."""


def in_folder(folder: Path) -> dict[str, Uploads]:
    """Read the tests in a folder, by figure. Raises InputFileError for a damaged file."""
    found: dict[str, Uploads] = {}
    for figure, (where, test) in FIGURES.items():
        paths = sorted(p for p in folder.rglob(f"{test}-*.flent.gz") if where in p.parts)
        uploads = dict(one for one in map(_upload, paths) if one[0])
        if uploads:
            found[figure] = {name: uploads[name] for name in NAMES.values() if name in uploads}
    return found


def measure(found: Measurements, uploads: Mapping[str, Uploads]) -> None:
    """Add the mean of Flent's sum of uploads, in Mbit/s, and the median ping, in ms."""
    for figure, of in uploads.items():
        for algorithm, one in of.items():
            measured = {"upload": float(one.mbps.mean()), "ping": float(np.median(one.ping_ms))}
            put(found, figure, algorithm, measured)


def _upload(path: Path) -> tuple[str, Upload]:
    """Read a file: the algorithm, empty for a title that the paper does not use, and the measured values."""
    read = document.read(path)
    times_s = np.array(read.x_values)
    running = (times_s >= FROM_S) & (times_s <= TO_S)

    def values(*names: str) -> Vector:
        name = next((one for one in names if one in read.results), None)
        if name is None:
            raise InputFileError(f'{path.name}: it has no series "{names[0]}"')
        steps = zip(read.results[name], running, strict=True)
        column: Vector = np.array([value for value, runs in steps if runs and value is not None])
        if not column.size:
            raise InputFileError(f"{path.name}: {name} has no value from {FROM_S:g} to {TO_S:g} s")
        return column

    return NAMES.get(read.text("TITLE").lower(), ""), Upload(values(*UPLOADS), values(PING))
