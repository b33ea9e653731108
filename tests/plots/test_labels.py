"""Texts of saved figures: none lies upon another."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from fullpipe import Run, Scenario, plots, sweep
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from tests.boxes import overlaps

save = import_module("fullpipe.plots.style")  # `fullpipe.plots` has a function of that name

QUEUES = [{"kind": "drop_tail", "size": f"{size} bdp"} for size in (1, 2, 5, 20)] + [
    "fq_codel",
    "cake",
    "pie",
]
METRICS = ["goodput", "rtt_mean", "call_score of call", "sojourn_mean"]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Seven queues with long names, and two algorithms."""
    bottleneck = {"rate": "5 Mbit/s", "delay": "10 ms"}
    scenario = Scenario(
        name="queues",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"cca": "cubic"}, {"name": "call", "workload": "voip"}],
        sweep={"topology.bottleneck.queue": QUEUES, "flows.0.cca": ["cubic", "bbr1"]},
    )
    return list(sweep(scenario, (1,)))


@pytest.mark.parametrize("width", ["page", "column"])
@pytest.mark.parametrize("metrics", [METRICS[:1], METRICS[:2], METRICS])
@pytest.mark.parametrize("kind", [Kind.LINES, Kind.MEANS, Kind.BOX])
def test_no_text_of_a_saved_figure_lies_upon_another(
    runs: list[Run],
    tmp_path: Path,
    kind: Kind,
    metrics: list[str],
    width: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(save, "_draw", lambda *_: None)  # the files: names are set upright before
    figure, data = figure_of(runs, Chosen(kind, metrics, "queue", colour="cca", width=width))
    has_room = width == "page" and len(metrics) == 1
    assert bool(overlaps(figure)) != has_room
    plots.save(figure, data, tmp_path, "queues")
    assert overlaps(figure) == []
    height = figure.get_figheight()
    plots.save_as(figure, None, tmp_path / "again.svg")
    assert figure.get_figheight() == height


def test_names_that_have_room_stay_level(runs: list[Run], tmp_path: Path) -> None:
    figure, data = figure_of(
        runs, Chosen(Kind.LINES, ["goodput"], "cca", where=["topology.bottleneck.queue=cake"])
    )
    height = figure.get_figheight()
    plots.save(figure, data, tmp_path, "two")
    assert {label.get_rotation() for label in figure.axes[0].get_xticklabels()} == {0.0}
    assert figure.get_figheight() == height
