"""Flent itself opens what is written: it draws each test's default plot, and computes the sums that we do.

Flent is a program of its own, in a virtual environment of its own; nothing of it is imported here. It draws
an empty picture, or none, without saying so: what is drawn is looked at. Each call of it is a fork of a
process of its Python that has imported what it imports.
"""

import csv
import fcntl
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import matplotlib.image
import numpy as np
import polars as pl
import pytest

import fullpipe as library
from fullpipe import Run, Scenario
from fullpipe.analysis.export import flent
from fullpipe.scenario.flent.build import TESTS, Choices, path_of, scenario_of
from fullpipe.scenario.flent.families import COMPUTED
from tests.forks import Forks, forks

pytestmark = pytest.mark.slow
NAMES = sorted(TESTS)
Random(18).shuffle(NAMES)
SEVERAL = [
    "tcp_12up", "rtt_fair_up", "tcp_4down", "rtt_fair", "tcp_nup", "rrul", "rrul_be", "tcp_8up",
    "rtt_fair6be", "cubic_reno", "rrul_var", "rtt_fair_var", "rtt_fair_var_mixed", "rrul_prio",
]  # fmt: skip
"""Tests whose streams are added up."""
LEAST_COLOURED = 200
"""Pixels of a curve; axes, grids and words are grey."""
LEAST_OF_MARKS = {"udp_flood": 50}
"""Pixels of plots that have one mark per series instead of curves."""
MOST_APART = 0.005


_MAIN = "import sys; from flent import run_flent; sys.argv[0] = 'flent'; sys.exit(run_flent())"
"""The script of Flent."""
_MODULES = ("flent.batch", "flent.formatters", "flent.plotters", "matplotlib.backends.backend_agg")


@pytest.fixture(scope="session")
def program() -> Iterator[Forks]:
    """Flent, which `FULLPIPE_FLENT` names, or which is installed, or which pip can get."""
    known = os.environ.get("FULLPIPE_FLENT") or shutil.which("flent")
    script = Path(known) if known else installed(Path(tempfile.gettempdir()) / "flentvenv")
    with script.open(encoding="utf-8") as lines:
        python = lines.readline().removeprefix("#!").split()
    assert "python" in python[-1], f"{script}: its first line does not name a Python"
    env = {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "MPLBACKEND": "agg"}
    with forks(*_MODULES, "matplotlib.pyplot", python=python, env=env) as process:
        yield process


def installed(folder: Path) -> Path:
    """Flent in an environment that is made once, by one of several processes."""
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = folder / "bin" / "flent"
        if not found.exists():
            commands: list[list[str | Path]] = [
                [sys.executable, "-m", "venv", folder],
                [folder / "bin" / "pip", "install", "--quiet", "flent", "matplotlib"],
            ]
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    pytest.skip(f"Flent cannot be had: {done.stderr.strip().splitlines()[-1:]}")
        return found


def run_of(name: str) -> Run:
    path = path_of(Scenario.named("ethernet-100m").with_values({"topology.bottleneck.rate": "20 Mbit/s"}))
    return library.run(scenario_of(TESTS[name], path, Choices(("cubic", "bbr3"))))


def call(program: Forks, folder: Path, *arguments: str | Path) -> None:
    done = program(_MAIN, folder, *arguments, cpu_s=300)
    assert done.status == 0, done.stderr


def coloured(path: Path) -> int:
    """How many pixels of a picture are not grey."""
    pixels = matplotlib.image.imread(path)[..., :3]
    return int((pixels.max(axis=-1) - pixels.min(axis=-1) > 0.15).sum())


def check_picture(program: Forks, name: str, folder: Path) -> None:
    file, picture = folder / f"{name}.flent.gz", folder / f"{name}.png"
    file.write_bytes(flent(run_of(name), name))
    call(program, folder, "-i", file, "-p", TESTS[name].plot, "-o", picture)
    assert picture.stat().st_size > 0, name
    assert coloured(picture) > LEAST_OF_MARKS.get(name, LEAST_COLOURED), name


def test_every_default_plot_is_drawn(program: Forks, tmp_path: Path, cases: Callable[[int], int]) -> None:
    for name in NAMES[: max(cases(len(NAMES)), 1)]:
        check_picture(program, name, tmp_path)


def test_a_plot_without_values_is_seen_to_be_empty(program: Forks, tmp_path: Path) -> None:
    tree = json.loads(gzip.decompress(flent(run_of("tcp_1up"))))
    empty = {name: [] for name in tree["raw_values"]}
    tree |= {"raw_values": empty, "results": {name: [None] * len(tree["x_values"]) for name in empty}}
    file, picture = tmp_path / "a.flent.gz", tmp_path / "a.png"
    file.write_bytes(gzip.compress(json.dumps(tree).encode()))
    program(_MAIN, tmp_path, "-i", file, "-p", "totals", "-o", picture)
    assert not picture.exists() or picture.stat().st_size == 0 or coloured(picture) <= LEAST_COLOURED


def without_computed(run: Run) -> bytes:
    """A file without what Flent computes, so that it does."""
    tree = json.loads(gzip.decompress(flent(run)))
    for table in (tree["results"], tree["raw_values"], tree["metadata"]["SERIES_META"]):
        for name in [name for name in table if COMPUTED.search(name)]:
            del table[name]
    return gzip.compress(json.dumps(tree).encode())


def means_by_flent(program: Forks, file: Path) -> dict[str, float]:
    """The means of all series, those among them that Flent computes."""
    table = file.with_suffix(".csv")
    call(program, file.parent, "-i", file, "-f", "csv", "-o", table)
    with open(table, encoding="utf-8", newline="") as lines:
        _, *columns = zip(*csv.reader(lines), strict=True)  # the first one has the times
    found = {name: [float(value) for value in values if value] for name, *values in columns}
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def jain_of(run: Run, way: str) -> float:
    """The mean of Jain's index over the samples in which streams run."""
    mine = run.series.filter(pl.col("flow").str.starts_with(f"TCP {way}"))
    mine = mine.filter(pl.col("time_s").is_between(5.1, 65.1))
    rates = pl.col("goodput_bps")
    found = mine.group_by("time_s").agg((rates.sum() ** 2 / (pl.len() * (rates**2).sum())).alias("jain"))
    return float(np.mean(found["jain"].drop_nans().to_numpy()))


def check_sums(program: Forks, name: str, folder: Path) -> None:
    run = run_of(name)
    file = folder / f"{name}.flent.gz"
    file.write_bytes(without_computed(run))
    means = means_by_flent(program, file)
    for way in ("upload", "download"):
        own = run.flows.filter(pl.col("flow").str.starts_with(f"TCP {way}"))["goodput_bps"] / 1e6
        if own.len() > 1:
            assert means[f"TCP {way} sum"] == pytest.approx(own.sum(), rel=MOST_APART), name
            assert means[f"TCP {way} avg"] == pytest.approx(own.mean(), rel=MOST_APART), name
        if f"TCP {way} fairness" in means:
            assert means[f"TCP {way} fairness"] == pytest.approx(jain_of(run, way), rel=MOST_APART), name


def test_flent_computes_the_sums_means_and_fairness_that_we_do(
    program: Forks, tmp_path: Path, cases: Callable[[int], int]
) -> None:
    for name in SEVERAL[: cases(len(SEVERAL))]:
        check_sums(program, name, tmp_path)
