"""Made exports and Flent files, laid out as those of the study ahsan2025; no number of them is a real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fullpipe.studies.ahsan2025 import printed
from fullpipe.studies.ahsan2025.exports import NAMES
from tests.flent import made as flent_files

STEPS = 360
FIRST = 26
"""The first step at which a stream has a value."""
THEIRS = {ours: theirs for theirs, ours in NAMES.items()}
HOSTS = [
    f"{what} host-{n}"
    for n, kind in enumerate(("BE1", "BE2", "BK1", "BK2"), start=1)
    for what in (f"Ping (ms) ICMP{n}", f"TCP upload {kind}", f"TCP download {kind}")
]


def values(series: str, algorithm: str) -> list[float]:
    """A series that remembers its last value, with a mean of its own."""
    draw = np.random.default_rng([len(series), *map(ord, series + algorithm)])
    level, found = float(draw.uniform(20, 90)), [0.0]
    for shock in draw.normal(0, 2, STEPS):
        found.append(0.7 * found[-1] + float(shock))
    return [round(level + each, 6) for each in found[1:]]


def columns(file: str) -> dict[str, list[str]]:
    """Every column of an export by its head: pings all the time, streams from `FIRST` on."""
    tables = [table for table in printed.results().tables if table.file == file]
    wanted = [table.series for table in tables] + (HOSTS if file == "test-fig8.csv" else [])
    made = {"test": [f"{n / 5:g}" for n in range(STEPS)]}
    for series in wanted:
        for algorithm, theirs in THEIRS.items():
            first = 0 if series.startswith("Ping") else FIRST
            cells = [""] * first + [f"{value}" for value in values(series, algorithm)[first:]]
            made[f"{series} - {theirs}"] = cells
    return made


def write_export(folder: Path, file: str, made: Mapping[str, Sequence[str]] | None = None) -> Path:
    """An export with these columns, or with all of them."""
    made = columns(file) if made is None else made
    rows = [list(made), *map(list, zip(*made.values(), strict=True))]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    return path


def write_upload(
    folder: Path,
    test: str,
    title: str,
    mbps: Sequence[float | None],
    ping_ms: float,
    *,
    algorithm: str = "cubic",
    rtt_ms: float = 60.0,
) -> Path:
    """A file of Flent with a sum of streams, or one stream, and pings that are all the same.

    `algorithm` and `rtt_ms` are those of the stream that has raw values; pings of those are 60 ms.
    """
    tree = flent_files.upload(algorithm, NAME=test, TITLE=title)
    name = "TCP upload" if test == "tcp_1up" else "TCP upload sum"
    tree["results"][name] = list(mbps)
    tree["results"]["Ping (ms) ICMP"] = [ping_ms] * len(tree["x_values"])
    for point in tree["raw_values"]["TCP upload"]:
        if "tcp_rtt" in point:
            point["tcp_rtt"] = rtt_ms
    folder.mkdir(parents=True, exist_ok=True)
    return flent_files.write(tree, folder / f"{test}-2025-06-07T000000.{title}.flent.gz")
