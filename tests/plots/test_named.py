"""Figures over many runs name their factors: legends, panels, axes and values, and the ticks of sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, sweep, sweeps
from fullpipe.analysis.points import is_geometric
from fullpipe.cli import app
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.cli.selection import read_labels
from fullpipe.errors import FullpipeError, ScenarioError
from fullpipe.palette import COLOURS, look_of, looks
from tests.quick_figures import make_figures_quick

COUNT, LOSS = "flows.1.count", "topology.bottleneck.loss.probability"


def scenario(**values: Any) -> Scenario:
    """BBRv3 beside one, two, four and eight CUBIC flows, with and without loss."""
    bottleneck = {
        "rate": "5 Mbit/s",
        "delay": "5 ms",
        "queue": {"size": "1 bdp"},
        "loss": {"kind": "bernoulli", "probability": 0.0},
    }
    base: dict[str, Any] = {
        "name": "named",
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": [{"cca": "bbr3", "name": "mine"}, {"cca": "cubic"}],
        "record": {"interval": "off"},
        "sweep": {COUNT: [1, 2, 4, 8], LOSS: [0.0, 0.001]},
    }
    return Scenario(**(base | values))


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return sweeps.run(sweeps.jobs(scenario()))


def figure(runs: list[Run], **chosen: Any) -> Any:
    return figure_of(runs, Chosen(**({"kind": Kind.LINES, "metrics": ["goodput of mine"]} | chosen)))[0]


def legend_of(drawn: Any) -> tuple[str, list[str]]:
    (legend,) = drawn.legends
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


def test_legends_and_axes_name_their_factor(runs: list[Run]) -> None:
    drawn = figure(runs, x=LOSS, colour=COUNT)
    assert legend_of(drawn) == ("CUBIC flows", ["1", "2", "4", "8"])
    (place,) = drawn.axes
    assert place.get_xlabel() == "loss (%)"
    assert [tick.get_text() for tick in place.get_xticklabels()] == ["0", "0.1"]


def test_panels_have_a_value_with_its_name_and_unit(runs: list[Run]) -> None:
    assert [place.get_title() for place in figure(runs, x=COUNT, panel=LOSS).axes] == [
        "loss 0 %",
        "loss 0.1 %",
    ]


def test_a_heat_map_has_values_in_the_unit_of_its_axis(runs: list[Run]) -> None:
    place, bar = figure(runs, kind=Kind.HEATMAP, x=COUNT, y=LOSS).axes
    assert (place.get_xlabel(), place.get_ylabel()) == ("CUBIC flows", "loss (%)")
    assert [tick.get_text() for tick in place.get_yticklabels()] == ["0", "0.1"]
    assert bar.get_ylabel() == "goodput of mine (Mbit/s)"


def test_given_words_are_in_place_of_others(runs: list[Run]) -> None:
    labels = {"count": "background flows", f"{LOSS}.0": "no loss", "flows.mine": "our flow"}
    drawn = figure(runs, x=COUNT, panel=LOSS, labels=labels)
    first, second = drawn.axes
    assert (first.get_title(), second.get_title()) == ("no loss", "loss 0.1 %")
    assert first.get_xlabel() == "background flows, log scale"
    assert first.get_ylabel() == "goodput of our flow (Mbit/s)"
    named = figure(runs, x=LOSS, colour=COUNT, labels={f"{COUNT}.1": "one", f"{LOSS}.0": "none"})
    assert legend_of(named)[1] == ["one", "2", "4", "8"]
    assert [tick.get_text() for tick in named.axes[0].get_xticklabels()] == ["none", "0.1"]


def test_the_labels_of_a_scenario_are_used() -> None:
    made = scenario(
        labels={"flows.*.cca.bbr3": "BBR", "flows.0.cca": "sender"}, sweep={"flows.0.cca": ["bbr3", "reno"]}
    )
    drawn = figure(sweeps.run(sweeps.jobs(made)), kind=Kind.CDF, colour="cca")
    assert legend_of(drawn) == ("sender", ["BBR", "Reno"])


def test_algorithms_have_their_names_in_figures_and_their_keys_in_csv() -> None:
    runs = sweeps.run(sweeps.jobs(scenario(sweep={"flows.0.cca": ["cubic", "bbr1"]})))
    legend, data = figure_of(runs, Chosen(Kind.CDF, ["goodput of mine"], colour="cca"))
    assert legend_of(legend)[1] == ["CUBIC", "BBRv1"]
    assert data["colour"].unique(maintain_order=True).to_list() == ["cubic", "bbr1"]
    ticks, data = figure_of(runs, Chosen(Kind.MEANS, ["goodput of mine"], x="cca"))
    assert [tick.get_text() for tick in ticks.axes[0].get_xticklabels()] == ["CUBIC", "BBRv1"]
    assert data["x"].to_list() == ["cubic", "bbr1"]
    panels = figure(runs, panel="cca", kind=Kind.CDF)
    assert [axes.get_title() for axes in panels.axes] == [
        "algorithm of mine CUBIC",
        "algorithm of mine BBRv1",
    ]


def test_the_numbers_of_a_figure_are_as_they_were(runs: list[Run]) -> None:
    chosen = Chosen(Kind.LINES, ["goodput of mine"], x=LOSS, colour=COUNT)
    _, plain = figure_of(runs, chosen)
    _, named = figure_of(
        runs, Chosen(Kind.LINES, ["goodput of mine"], x=LOSS, colour=COUNT, labels={"count": "n"})
    )
    assert plain.equals(named)
    assert plain["x"].unique().sort().to_list() == [0.0, 0.001]
    assert plain["colour"].unique(maintain_order=True).to_list() == ["1", "2", "4", "8"]


def test_a_path_of_which_one_value_is_left_can_be_a_panel(runs: list[Run]) -> None:
    for written in ("0", "0.0"):
        (place,) = figure(runs, x=COUNT, panel="probability", where=[f"probability={written}"]).axes
        assert place.get_title() == "loss 0 %"


def test_a_label_of_nothing_is_refused(runs: list[Run]) -> None:
    with pytest.raises(typer.BadParameter, match=r"cca\.bbr4: no run has this path or value"):
        figure(runs, x=COUNT, panel=LOSS, labels={"cca.bbr4": "BBRv4"})
    told = r"mine: no run has this path or value; for the group of flows, write flows\.mine=\.\.\.$"
    with pytest.raises(typer.BadParameter, match=told):
        figure(runs, x=COUNT, panel=LOSS, labels={"mine": "words"})
    figure(runs, x=COUNT, panel=LOSS, labels={"flows.mine": "words"})


@pytest.mark.parametrize("text", ["flows.0.cca", "=words", "cca.bbr3=", "cca.bbr3=" + "x" * 101])
def test_a_label_is_a_path_and_words(text: str) -> None:
    with pytest.raises(
        typer.BadParameter, match=r"expected PATH=WORDS, PATH\.VALUE=WORDS or flows\.NAME=WORDS"
    ):
        read_labels([text])


@pytest.mark.parametrize("total", ["all flows", "all downloads", "all uploads"])
def test_a_group_cannot_have_the_name_of_a_total(total: str) -> None:
    told = f'"{total}" is the name of a total; choose another label'
    with pytest.raises(typer.BadParameter, match=f"^flows.mine: {told}$"):
        read_labels([f"flows.mine={total}"])
    with pytest.raises(ScenarioError, match=f'^labels."flows.mine": {told}$'):
        scenario(labels={"flows.mine": total})
    assert read_labels([f"flows.*.count={total}"]) == {"flows.*.count": total}


def test_labels_come_from_a_scenario_file_or_the_command(tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    file.write_text(
        scenario(labels={"flows.1.count": "CUBIC", "duration": "time"}).to_toml(), encoding="utf-8"
    )
    assert read_labels([str(file), "duration = how long"]) == {
        "flows.1.count": "CUBIC",
        "duration": "how long",
    }
    with pytest.raises(FullpipeError):
        read_labels([str(tmp_path / "none.toml")])


def test_a_geometric_sweep_has_a_log_axis_with_ticks_at_its_values(runs: list[Run]) -> None:
    (place,) = figure(runs, x=COUNT, colour=LOSS).axes
    assert place.get_xscale() == "log"
    assert [tick.get_text() for tick in place.get_xticklabels()] == ["1", "2", "4", "8"]
    assert list(place.get_xticks()) == [1, 2, 4, 8]
    (linear,) = figure(runs, x=COUNT, colour=LOSS, log=[]).axes
    assert linear.get_xscale() == "linear"
    assert linear.get_xlabel() == "CUBIC flows"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.25, 0.5, 1, 2, 4, 8], True),
        ([5, 10, 20, 50, 100, 200], True),
        ([0.1, 1.5, 6], True),
        ([1, 2, 3, 4, 5], False),
        ([10, 40], False),
        ([0, 1, 10, 100], False),
        ([1, 2, 3], False),
        ([10, 20, 30, 40], False),
    ],
)
def test_ratios_that_are_more_even_than_steps_are_geometric(values: list[float], expected: bool) -> None:
    assert is_geometric(values) == expected


def test_a_label_of_an_axis_that_is_given_stays_as_it_is(runs: list[Run]) -> None:
    (place,) = figure(runs, x=COUNT, colour=LOSS, x_label="flows of CUBIC").axes
    assert place.get_xlabel() == "flows of CUBIC"


def test_groups_of_flows_have_the_colours_of_their_algorithms(runs: list[Run]) -> None:
    drawn = figure(runs, metrics=["share"], x=COUNT, panel=LOSS, colour="flows")
    (legend,) = drawn.legends
    colours = dict(zip((text.get_text() for text in legend.get_texts()), legend.get_lines(), strict=True))
    assert colours["mine"].get_color() == look_of("bbr3", 0).color


def test_no_two_labels_look_alike_and_an_algorithm_keeps_its_colour() -> None:
    found = looks(["cubic-1", "cubic-2", "mine", "link", "vegas"], {"mine": "bbr3"})
    assert len({(look.color, look.linestyle) for look in found.values()}) == len(found)
    assert [found[name].color for name in ("cubic-1", "mine")] == [COLOURS[0], COLOURS[2]]
    assert found["link"].color not in {look_of(name, 0).color for name in ("cubic", "bbr3", "vegas")}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named") / "runs"
    sweep(scenario(), (1,), out=folder)
    return folder


def plot(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["plot", str(store), *words])


def test_the_throughput_may_be_any_metric_over_any_other(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch)
    words = ("--kind", "delay", "--x", "queueing_p95", "--y", "utilisation", "--panel", "probability")
    assert plot(store, *words, "--out", str(tmp_path / "of.svg"), "--of", "mine").exit_code == 2, (
        "of a link only"
    )
    found = plot(
        store, *words[:4], "--y", "goodput", "--panel", "probability", "--out", str(tmp_path / "a.svg")
    )
    assert found.exit_code == 0, found.output
    both = plot(store, *words, "--metric", "goodput")
    assert both.exit_code == 2
    assert "takes either --metric or --y" in " ".join(both.output.split())


def test_the_help_names_the_axis_of_sprout_and_copa() -> None:
    told = " ".join(
        CliRunner().invoke(app, ["plot", "--help"], terminal_width=200).output.replace("│", " ").split()
    )
    assert "With --kind delay: the metric on this axis (default: rtt_mean)" in told
    assert "`--kind delay --x queueing_p95` draws throughput over p95 queueing delay" in told


@pytest.mark.parametrize(
    "words",
    [
        ["--xlabel", r"$\foo$"],
        ["--ylabel", r"$x" "{$"],
        ["--label", r"count=$\foo$"],
        ["--label", r"count.2=$\foo$"],
    ],
)
def test_a_wrong_formula_is_an_error_of_one_line(store: Path, tmp_path: Path, words: list[str]) -> None:
    result = plot(store, "--metric", "jain", "--x", "count", "--out", str(tmp_path / "it.svg"), *words)
    assert result.exit_code == 2
    told = " ".join(result.output.replace("│", " ").split())
    assert f"invalid value for {words[0]}: " in told
    assert 'the text between "$" is no formula' in told
    assert "Exception" not in told


def test_a_formula_is_drawn(store: Path, tmp_path: Path) -> None:
    words = ("--xlabel", r"$N$ flows", "--label", r"probability=$p$ for \$5")
    assert (
        plot(store, "--metric", "jain", "--x", "count", "--out", str(tmp_path / "it.svg"), *words).exit_code
        == 0
    )


def test_the_file_of_a_figure_may_be_in_a_new_folder(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch)
    out = tmp_path / "new" / "folder" / "it.svg"
    assert plot(store, "--metric", "jain", "--x", "count", "--out", str(out)).exit_code == 0
    assert out.exists()
