"""A figure of every kind in a column of a paper: no text lies upon another, and none is cut off."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from fullpipe import Scenario, run, sweep
from fullpipe.cli import app
from fullpipe.cli.plot_drawn import Kind
from fullpipe.plots.style import SMALL, WIDTHS
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of
from tests.boxes import boxes, cut_off, overlaps, smallest

save = import_module("fullpipe.plots.style")  # `fullpipe.plots` has a function of that name

COUNT, LOSS, CCA = "flows.1.count", "topology.bottleneck.loss.probability", "flows.0.cca"
ALONG = f"--metric share --of mine --x {COUNT} --panel {LOSS}"
OF_MANY = {
    Kind.LINES: f"{ALONG} --colour cca",
    Kind.HEATMAP: f"--metric share --of mine --x {COUNT} --y cca --panel {LOSS}",
    Kind.DELAY: f"--x queueing_p95 --panel {LOSS} --where {COUNT}=2",
    Kind.CDF: f"--metric rtt_mean --panel {LOSS} --where {COUNT}=2",
    Kind.ECDF: f"--metric rtt_mean --panel {LOSS} --where {COUNT}=2",
    Kind.BOX: f"{ALONG} --colour cca",
    Kind.VIOLIN: f"{ALONG} --colour cca",
    Kind.MEANS: f"--metric goodput --of mine --x cca --panel {LOSS} --where {COUNT}=2",
}
OF_CELL = (Kind.AIRTIME, Kind.AGGREGATES, Kind.CHANNEL, Kind.WAITS)
OF_PACKETS = (Kind.ONE_WAY, Kind.CLUMPS, Kind.PAUSES, Kind.HANDOVER)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two algorithms beside one to eight flows, with and without loss."""
    bottleneck = {
        "rate": "5 Mbit/s",
        "delay": "5 ms",
        "queue": {"size": "1 bdp"},
        "loss": {"kind": "bernoulli", "probability": 0.0},
    }
    scenario = Scenario(
        name="grid",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"cca": "bbr3", "name": "mine", "start_jitter": "50 ms"}, {"cca": "cubic"}],
        record={"interval": "off"},
        sweep={COUNT: [1, 2, 4, 8], LOSS: [0.0, 0.001], CCA: ["bbr3", "reno", "vegas"]},
    )
    folder = tmp_path_factory.mktemp("grid")
    sweep(scenario, (1, 2), out=folder)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two flows over a link that changes, with packets, samples and variables."""
    changes = [{"at": "1 s", "rate": "10 Mbit/s"}]
    values = {
        "duration": "3 s",
        "warmup": "0 s",
        "flows": [{"cca": "bbr3"}, {"cca": "cubic"}],
        "record": {"interval": "20 ms", "variables": True, "packets": ["sender"]},
        "topology.bottleneck.changes": changes,
    }
    return _kept(Scenario.named("single-cubic").with_values(values), tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = {
        "duration": "1 s",
        "warmup": "0 s",
        "record.variables": True,
        "cells.0.stations.1.snr": {"mean": "20 dB", "spread": "4 dB", "memory": "500 ms"},
        "cells.0.stations.1.rate": "minstrel",
    }
    return _kept(Scenario.named("wifi-home-ax").with_values(values), tmp_path_factory.mktemp("cell"))


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = {
        "duration": "1.6 s",
        "warmup": "0 s",
        "record": {"interval": "20 ms", "packets": ["sender", "receiver"], "variables": True},
        "cells.0.users.0.handovers": [{"at": "1 s", "gap": "60 ms"}],
    }
    return _kept(Scenario.named("nr-100mhz").with_values(values), tmp_path_factory.mktemp("phone"))


@pytest.fixture(scope="module")
def rrul(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = path_of(Scenario.named("ethernet-100m").with_values({"topology.bottleneck.rate": "5 Mbit/s"}))
    return _kept(scenario_of(declared("rrul"), path, Choices(length_s=3)), tmp_path_factory.mktemp("rrul"))


def _kept(scenario: Scenario, folder: Path) -> Path:
    found = run(scenario, out=folder).folder
    assert found is not None
    return found


def drawn(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> Figure:
    """The figure that the command would write."""
    written: list[Figure] = []
    monkeypatch.setattr(save, "_draw", lambda figure, _: written.append(figure))
    result = CliRunner().invoke(app, ["plot", str(folder), *words, "--out", str(folder / "it.svg")])
    assert result.exit_code == 0, result.output
    (figure,) = written
    return figure


def check(figure: Figure, width: str) -> None:
    assert figure.get_figwidth() == WIDTHS[width]
    assert overlaps(figure) == []
    assert cut_off(figure) == []
    assert smallest(figure) >= SMALL
    assert [text for text, _ in boxes(figure) if "^{" in text] == [], "exponents have smaller letters"


@pytest.mark.parametrize("kind", Kind)
def test_texts_of_every_kind_are_apart(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    name = (
        "grid" if kind in OF_MANY else "cell" if kind in OF_CELL else "phone" if kind in OF_PACKETS else "two"
    )
    folder: Path = request.getfixturevalue("rrul" if kind == Kind.ALL_SCALED else name)
    words = OF_MANY.get(kind, "").split()
    check(drawn(monkeypatch, folder, "--kind", kind, "--width", "ieee-column", *words), "ieee-column")


@pytest.mark.parametrize("width", sorted(set(WIDTHS) - {"page", "column"}))
def test_every_width_has_room_for_what_is_drawn(
    grid: Path, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = OF_MANY[Kind.LINES].split()
    check(drawn(monkeypatch, grid, "--kind", "lines", "--width", width, *words), width)


@pytest.mark.parametrize("words", ["", "--quantity goodput --quantity rtt", "--var cwnd,bw,state"])
def test_texts_over_time_are_apart(two: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(drawn(monkeypatch, two, "--width", "ieee-column", *words.split()), "ieee-column")


@pytest.mark.parametrize("words", ["", "--quantity goodput", "--var cwnd,mcs"])
def test_texts_of_a_hand_over_are_apart_over_time(
    phone: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(drawn(monkeypatch, phone, "--width", "ieee-column", *words.split()), "ieee-column")


@pytest.mark.parametrize("width", ["ieee-column", "ieee-page"])
def test_means_over_seeds_have_room(width: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"duration": "1 s", "warmup": "300 ms", "record.interval": "50 ms"}
    sweep(Scenario.named("single-cubic").with_values(values), (1, 2, 3), out=tmp_path / "runs")
    check(drawn(monkeypatch, tmp_path / "runs", "--mean", "--width", width), width)


def test_runs_that_are_compared_over_time_have_room(
    grid: Path, two: Path, cell: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = drawn(monkeypatch, two, str(cell), "--width", "ieee-column", "--quantity", "goodput")
    check(figure, "ieee-column")
