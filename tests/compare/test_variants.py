"""Variants of a scenario, pair by pair of runs with the same seed."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from typer.testing import CliRunner, Result

import fullpipe
from fullpipe import Scenario, plots, sweeps
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.cli import app
from fullpipe.cli.answer import Answer
from fullpipe.cli.compare_shown import show_findings
from fullpipe.cli.compare_variants import _in_unit, draw_forest
from fullpipe.cli.ui.compare import shown_of
from fullpipe.statistics import holm, paired, pairs_that_decide, t_interval
from fullpipe.validation.baseline import COLUMNS
from fullpipe.validation.compare import Finding, VariantComparison
from fullpipe.validation.compare.comparison import compare_all, compare_variants
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import paired as judged_by_pairs
from fullpipe.validation.compare.sentence import Names
from fullpipe.validation.compare.sentence import one as sentence_of
from fullpipe.validation.compare.side import Side
from tests.compare.contrasts import undecided

BASE: dict[str, Any] = {
    "name": "two",
    "duration": "6 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"size": "1 bdp"}},
    },
    "flows": [{"cca": "cubic", "start_jitter": "1 s"}, {"cca": "cubic", "start_jitter": "1 s"}],
    "record": {"interval": "off"},
}
TWO = Scenario(**BASE)


def variant(name: str, values: dict[str, Any] | None = None, seeds: range = range(1, 5)) -> Side:
    scenario = Scenario(**BASE).with_values(values or {})
    runs = sweeps.run(sweeps.jobs(scenario, seeds))
    return Side.of_runs(name, runs, ["goodput", "dropped"])


def against(values: dict[str, Any]) -> VariantComparison:
    return compare_variants(variant("before"), variant("after", values), ["goodput", "dropped"])


def test_entries_are_matched_by_place_whatever_their_algorithms() -> None:
    found = against({"flows.0.cca": "vegas"})
    labels = {row.entry: row.of for row in found.rows if row.kind == "flows"}
    assert labels == {0: "cubic-1 -> vegas-1", 1: "cubic-2 -> cubic-1", None: "all flows"}


def test_an_equal_copy_is_equivalent_in_every_row() -> None:
    found = against({"name": "a copy"})
    assert {row.assessment.verdict for row in found.rows} == {"equivalent"}
    assert {row.assessment.reason for row in found.rows} == {"every seed gives the same on both sides"}


def test_a_note_says_where_numbers_of_flows_differ() -> None:
    said = "8 flows against 1 of the reference; sums such as goodput are of all of them"
    assert f"cubic-2 -> cubic: {said}" in against({"flows.1.count": 8}).notes
    assert not any("flows against" in note for note in against({"flows.1.cca": "vegas"}).notes)


def test_half_the_rate_is_worse() -> None:
    found = against({"topology.bottleneck.rate": "5 Mbit/s"})
    (row,) = [row for row in found.rows if row.metric == "goodput" and row.of == "all flows"]
    assert row.assessment.verdict == "worse"
    assert found.is_worse


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"duration": "7 s"}, "duration: 7 s"),
        ({"flows": [{"cca": "cubic"}]}, 'flows: 1 entries in "after" and 2 in "before"'),
    ],
)
def test_what_is_not_measured_alike_is_not_compared(values: dict[str, Any], line: str) -> None:
    with pytest.raises(ValueError, match=line):
        against(values)


def test_other_seeds_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="seeds: "):
        compare_variants(variant("before"), variant("after", seeds=range(2, 6)), ["goodput"])


def say(
    reference: list[float],
    other: list[float],
    margin: float = 1.0,
    better: Any = "higher",
    alike: bool = False,
) -> Any:
    return judged_by_pairs([Contrast(reference, other, margin, better, alike)])[0]


@pytest.mark.parametrize(
    ("difference", "better", "verdict"),
    [
        (5, "higher", "better"),
        (-5, "higher", "worse"),
        (5, "lower", "worse"),
        (-5, "", "lower"),
        (0.1, "higher", "equivalent"),
    ],
)
def test_the_word_is_of_the_direction_that_is_better(difference: float, better: str, verdict: str) -> None:
    reference = [10.0, 11.0, 12.0, 13.0, 14.0]
    other = [
        value + difference + spread
        for value, spread in zip(reference, (0.1, -0.1, 0, 0.2, -0.2), strict=True)
    ]
    assert say(reference, other, better=better).verdict == verdict


def test_what_is_undecided_says_how_many_seeds_would_decide() -> None:
    found = say([1.0, 9.0, 4.0], [3.0, 8.0, 9.0], margin=0.5)
    assert (found.verdict, found.seeds is not None and found.seeds > 3) == ("undecided", True)


def test_one_seed_decides_nothing() -> None:
    assert say([1.0], [9.0]).verdict == "undecided"


def test_seeds_that_change_nothing_are_one_run() -> None:
    found = say([1.0] * 20, [9.0] * 20, alike=True)
    assert (found.verdict, found.interval) == ("undecided", None)


def made(name: str, draw: np.random.Generator, metrics: Sequence[str]) -> Side:
    """A side with values of its own in each of eight seeds, which are of nothing that was run."""
    rows = [
        (seed, "native", "flows", entry, str(entry), metric, value, "")
        for metric in metrics
        for entry in (0, 1)
        for seed, value in enumerate(draw.normal(10, 1, 8).tolist(), 1)
    ]
    return Side(name, TWO, pl.DataFrame(rows, schema=COLUMNS, orient="row"))


def test_a_metric_that_seeds_do_not_change_is_judged_where_they_change_others() -> None:
    draw = np.random.Generator(np.random.PCG64(3))
    sides = [made(name, draw, ["goodput", "rtt_mean"]) for name in ("before", "after")]
    is_constant = pl.col("metric") == "rtt_mean"
    constant = [
        replace(
            side, values=side.values.with_columns(value=pl.when(is_constant).then(same).otherwise("value"))
        )
        for side, same in zip(sides, (5.0, 0.0), strict=True)
    ]
    rows = compare_variants(*constant, ["rtt_mean"]).rows
    assert {(row.assessment.verdict, row.assessment.p) for row in rows} == {("better", None)}


def test_whether_seeds_change_anything_is_seen_in_all_metrics() -> None:
    runs = sweeps.run(sweeps.jobs(Scenario(**BASE), range(1, 4)))
    assert not Side.of_runs("before", runs, ["bulk"]).is_one_run


def test_all_that_one_comparison_says_is_one_family() -> None:
    draw, families = np.random.Generator(np.random.PCG64(11)), 60
    metrics = ["goodput", "jain", "rtt_mean", "rtt_p95"]
    wrong = 0
    for _ in range(families):
        pairs = [({}, made("a", draw, metrics), made("b", draw, metrics)) for _ in range(10)]
        said = {row.assessment.verdict for found in compare_all(pairs, metrics) for row in found.rows}
        wrong += bool(said & {"better", "worse"})
    assert wrong <= binom.ppf(0.9999, families, 0.05)


def test_rows_that_are_judged_together_share_the_chance_of_an_error() -> None:
    draw = np.random.Generator(np.random.PCG64(7))
    steps = 0.5 + 0.614 * np.resize([1.0, -1.0], 12)  # p = 0.02
    contrast = Contrast([0.0] * 12, steps.tolist(), 0.1, "higher")
    chance = [Contrast(*draw.normal(0, 1, (2, 12)).tolist(), 0.1, "") for _ in range(20)]
    alone, together = judged_by_pairs([contrast])[0], judged_by_pairs([contrast, *chance])[0]
    assert (alone.verdict, together.verdict) == ("better", "undecided")


def test_holm_is_the_step_down_of_his_paper() -> None:
    assert holm([0.01, 0.04, 0.03, math.nan]) == pytest.approx([0.03, 0.06, 0.06, math.nan], nan_ok=True)


def test_pairs_that_decide_are_the_least() -> None:
    found = paired([1.0, 9.0, 4.0, 6.0], [3.0, 8.0, 9.0, 6.5])
    needed = pairs_that_decide(found, margin=0.0)
    assert needed is not None
    half_widths = [_half_width(found.deviation, n) for n in (needed - 1, needed)]
    assert half_widths[0] > abs(found.difference) >= half_widths[1]


def _half_width(deviation: float, n: int) -> float:
    signs = np.resize([1.0, -1.0], n)
    draws = signs * deviation / signs.std(ddof=1) if n % 2 == 0 else None
    if draws is None:  # an odd number: one in the middle, and the others as far out as it takes
        signs[-1] = 0
        draws = signs * deviation / signs.std(ddof=1)
    return t_interval(draws).half_width


def test_seeds_that_decide_count_the_correction() -> None:
    draw = np.random.Generator(np.random.PCG64(7))
    steps = 0.5 + 0.614 * np.resize([1.0, -1.0], 12)  # p = 0.02
    contrast = Contrast([0.0] * 12, steps.tolist(), 0.1, "higher")
    chance = [Contrast(*draw.normal(0, 1, (2, 12)).tolist(), 0.1, "") for _ in range(20)]
    needed = judged_by_pairs([contrast, *chance])[0].seeds
    assert needed is not None
    assert needed > 12
    assert needed == pairs_that_decide(contrast.pairs, 0.1, tests=21)
    more = Contrast(
        [0.0] * (needed + needed % 2), np.resize(steps, needed + needed % 2).tolist(), 0.1, "higher"
    )
    again = [Contrast(*draw.normal(0, 1, (2, 12)).tolist(), 0.1, "") for _ in range(20)]
    assert judged_by_pairs([more, *again])[0].verdict == "better"


def test_pairs_never_decide_without_a_difference() -> None:
    assert pairs_that_decide(paired([1.0, 2.0], [2.0, 1.0]), margin=0.0) is None


def test_in_python_it_is_one_call() -> None:
    over = {"flows.*.cca": ["cubic", "reno"]}
    (found,) = fullpipe.compare_over(Scenario(**BASE), over, seeds=[1, 2, 3], metrics=["goodput"])
    assert (found.reference, found.other, found.seeds) == ("cubic", "reno", [1, 2, 3])


def test_variants_are_compared_at_every_point_of_a_sweep() -> None:
    scenario = Scenario(**BASE, sweep={"topology.bottleneck.queue.size": ["1 bdp", "50 ms"]})
    found = fullpipe.compare_over(
        scenario, {"kind": {"two": {"flows.*.cca": "cubic"}, "reno": {"flows.0.cca": "reno"}}}, seeds=[1, 2]
    )
    assert [list(each.point.values()) for each in found] == [["1 bdp"], ["50 ms"]]


@pytest.fixture
def command(tmp_path: Path) -> Any:
    (tmp_path / "two.toml").write_text(Scenario(**BASE).to_toml(), encoding="utf-8")
    fixed = ["--out", str(tmp_path / "runs"), "--jobs", "1", "--seeds", "3"]

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["compare", str(tmp_path / "two.toml"), *words, *fixed])

    return run


def test_variants_are_compared_and_exit_1_means_worse(command: Any) -> None:
    result = command("--over", "topology.bottleneck.rate=10 Mbit/s,5 Mbit/s")
    assert result.exit_code == 1, result.output
    assert "5 Mbit/s against 10 Mbit/s: two, 3 seeds" in result.output


def test_nothing_worse_is_exit_0(command: Any) -> None:
    assert (
        command("--over", "topology.bottleneck.rate=5 Mbit/s,10 Mbit/s", "--metric", "goodput").exit_code == 0
    )


def test_json_has_a_verdict_per_row(command: Any) -> None:
    result = command("--over", "flows.*.cca=cubic,reno,bbr1", "--metric", "goodput", "--json")
    found = [json.loads(line) for line in result.output.splitlines()]
    assert [(each["reference"], each["variant"]) for each in found] == [("cubic", "reno"), ("cubic", "bbr1")]
    assert {"verdict", "of", "metric"} <= found[0]["rows"][0].keys()


@pytest.mark.parametrize(
    ("over", "line"),
    [
        ("flows.0.cca=cubic", "over: give two values or more"),
        ("flows.0.cca", "write it as PATH=VALUE,VALUE"),
        ("flows.0.cca=cubic,cubic", "is given twice"),
        ("flows.0.cca=cubic,cubik", "cubik"),
        ("duration=5 s,6 s", "over: duration: 6 s"),
    ],
)
def test_wrong_variants_are_refused(command: Any, over: str, line: str) -> None:
    result = command("--over", over)
    assert result.exit_code == 2
    assert line in result.output


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--reference", "reno"), "with --over, the first value is the reference"),
        (("--over", "flows.0.cca=vegas,bbr1"), "--over flows.0.cca: is given twice"),
        (("--metric", "fct_p50"), "no run has fct_p50"),
    ],
)
def test_what_over_does_not_take_is_refused(command: Any, words: tuple[str, ...], line: str) -> None:
    result = command("--over", "flows.0.cca=cubic,reno", *words)
    assert result.exit_code == 2
    assert line in " ".join(result.output.replace("│", " ").split())


def test_all_points_of_a_sweep_are_one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def judged(contrasts: Sequence[Contrast]) -> list[Finding]:
        sizes.append(len(contrasts))
        return judged_by_pairs(contrasts)

    monkeypatch.setattr("fullpipe.validation.compare.comparison.paired", judged)
    scenario = Scenario(**BASE, sweep={"topology.bottleneck.queue.size": ["1 bdp", "50 ms"]})
    over = {"flows.0.cca": ["cubic", "reno", "vegas"]}
    fullpipe.compare_over(scenario, over, seeds=[1, 2], metrics=["goodput"])
    assert sizes == [2 * 2 * 3]


def test_tables_are_values_too(command: Any) -> None:
    result = command("--over", 'topology.bottleneck.queue="codel", { kind = "drop_tail", packets = 5 }')
    assert "drop_tail 5 packets against codel: two, 3 seeds" in result.output


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with a small scenario, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.toml").write_text(Scenario(**BASE).to_toml(), encoding="utf-8")
    return "two.toml"


def verdicts(*words: str) -> dict[tuple[str, str, str], str]:
    """What `compare` says, by variant, of whom and metric."""
    result = CliRunner().invoke(app, ["compare", *words, "--seeds", "3", "--json", "--jobs", "1"])
    assert result.exit_code in (0, 1), result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return {
        (each["variant"], row["of"], row["metric"]): row["verdict"] for each in found for row in each["rows"]
    }


def test_whole_scenarios_can_be_variants(small: str) -> None:
    halved = Scenario(**BASE).with_values({"topology.bottleneck.rate": "5 Mbit/s", "name": "halved"})
    Path("halved.toml").write_text(halved.to_toml(), encoding="utf-8")
    found = verdicts(small, "--over", "scenario=two.toml,halved.toml", "--metric", "goodput")
    assert found["halved", "all flows", "goodput"] == "worse"


def test_scenarios_with_other_sweeps_are_refused(small: str) -> None:
    swept = Scenario(**BASE, sweep={"topology.bottleneck.rate": ["5 Mbit/s"]})
    Path("swept.toml").write_text(swept.to_toml(), encoding="utf-8")
    result = CliRunner().invoke(
        app, ["compare", small, "--over", "scenario=two.toml,swept.toml", "--seeds", "2"]
    )
    assert result.exit_code == 2
    assert "different sweeps" in result.stderr


def test_an_engine_that_is_none_is_refused(small: str) -> None:
    result = CliRunner().invoke(app, ["compare", small, "--over", "engine=native,ns2"])
    assert result.exit_code == 2
    assert "ns2" in result.stderr


def test_differences_are_drawn_as_a_forest(small: str) -> None:
    words = (
        "--over",
        "flows.0.cca=cubic,reno,vegas",
        "--metric",
        "goodput",
        "--metric",
        "jain",
        "--plot",
        "fig",
    )
    CliRunner().invoke(app, ["compare", small, *words, "--seeds", "3", "--json", "--jobs", "1"])
    numbers = pl.read_csv("fig/two-forest.csv")
    assert numbers["metric"].value_counts().sort("metric").rows() == [("goodput", 6), ("jain", 2)]
    assert set(numbers["label"].str.split(",").list.first()) == {"reno", "vegas"}
    assert {path.suffix for path in Path("fig").iterdir()} == {".png", ".svg", ".pdf", ".csv"}


def test_a_forest_has_names_of_algorithms_its_width_and_a_note(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    def kept(*given: Any, **more: Any) -> Any:
        drawn.append(forest(*given, **more))
        return drawn[-1]

    forest = plots.forest
    monkeypatch.setattr(plots, "forest", kept)
    words = ["compare", small, "--over", "flows.0.cca=cubic,bbr1,bbr3", "--metric", "jain", "--seeds", "3"]
    out = ["--jobs", "1", "--plot", "a.pdf", "--plot", "a.png", "--width", "ieee-column"]
    done = CliRunner().invoke(app, [*words, *out])
    assert done.exit_code in (0, 1), done.output
    ((figure, _),) = drawn
    assert figure.get_figwidth() == 3.5
    note = figure.get_supxlabel().replace("\n", " ")
    assert "reference: CUBIC; 3 seeds; verdicts after Holm's correction for 2 tests" in note
    labels = [tick.get_text().partition(",")[0] for tick in figure.axes[0].get_yticklabels()]
    assert labels == ["BBRv3", "BBRv1"]
    assert {path.name for path in Path().glob("a.*")} == {"a.pdf", "a.png", "a.csv"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--plot", "a.jpg"], "a figure ends in .png, .svg, .pdf"),
        (["--plot", "a.pdf", "--width", "broad"], "must be one of page, column"),
        (["--width", "page"], "needs --plot"),
    ],
)
def test_wrong_files_and_widths_are_refused_before_runs(small: str, words: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["compare", small, "--over", "flows.0.cca=cubic,bbr1", *words])
    assert done.exit_code == 2
    assert told in done.output
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("metric", "unit", "reference", "ends"),
    [("rtt_mean", "s", 0.1, (-100.0, 300.0)), ("jain", "1", 0.9, (-0.5, 0.1))],
)
def test_an_interval_of_a_forest_ends_at_the_bounds_of_its_metric(
    metric: str, unit: str, reference: float, ends: tuple[float, float]
) -> None:
    found = _in_unit(undecided(metric, unit, reference, Margin(0.05)), is_share=metric == "rtt_mean")
    assert (found["low"], found["high"]) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("first", "margin", "axis", "differences"),
    [
        (0.1, Margin(0.05), "mean RTT (% of the reference)", [50.0, 25.0]),
        (0.0, Margin(0.05), "mean RTT (ms)", [50.0, 50.0]),
        (0.1, Margin(absolute=0.005), "mean RTT (ms)", [50.0, 50.0]),
    ],
    ids=["per cent", "a reference of 0", "a margin in ms"],
)
def test_all_differences_of_a_panel_have_the_unit_of_its_axis(
    first: float,
    margin: Margin,
    axis: str,
    differences: list[float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[tuple[list[float], dict[str, str]]] = []
    forest = plots.forest

    def recorded(rows: pl.DataFrame, units: dict[str, str], *, notes: str) -> Any:
        drawn.append((rows["difference"].to_list(), units))
        assert "1 seed" in notes
        return forest(rows, units, notes=notes)

    monkeypatch.setattr(plots, "forest", recorded)
    rows = [undecided("rtt_mean", "s", mean, margin, of) for of, mean in (("mine", first), ("beside", 0.2))]
    made = VariantComparison(scenario="two", sides={"reference": [1], "other": [1]}, findings=rows)
    draw_forest([tmp_path], [made], {}, quiet=True)
    ((found, units),) = drawn
    assert units == {"rtt_mean": f"difference in {axis}, ←\N{NO-BREAK SPACE}better"}
    assert found == pytest.approx(differences)


@pytest.mark.parametrize(("margin", "shown"), [(Margin(absolute=0.005), "+50.00"), (Margin(0.05), "+50.0 %")])
def test_the_stated_margin_decides_the_unit_of_a_difference_everywhere(
    margin: Margin, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = undecided("rtt_mean", "s", 0.1, margin)
    show_findings(Answer(), [row], Names())
    assert f" {shown} [" in capsys.readouterr().out
    assert shown_of(row)["difference"].startswith(f"{shown} [")
    assert f"a difference of +50{' %' if margin.relative else '.00 ms'} [" in sentence_of(row)


@pytest.mark.parametrize("width", ["ieee-page", "page", "column"])
def test_a_figure_longer_than_a_page_names_options_that_shorten_it(
    width: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [undecided("rtt_mean", "s", 0.1, Margin(0.05), f"flow-{number}") for number in range(60)]
    made = VariantComparison(scenario="two", sides={"reference": [1], "other": [1]}, findings=rows)
    draw_forest([tmp_path / "long.pdf"], [made], {}, width, quiet=True)
    said = capsys.readouterr().err
    assert "longer than a page of 9.2 inches; choose metrics with --metric or groups with --of" in said
    assert ("or --width page" in said) == (width == "column")
