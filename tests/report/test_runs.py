"""What a report says of runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import Scenario, compare_over, run, sweeps
from fullpipe.cli.compare_variants import write
from fullpipe.palette import COLOURS
from fullpipe.report.content import (
    Boxes,
    Code,
    Document,
    Figure,
    Forest,
    Heat,
    Lines,
    Series,
    Text,
)
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.report.recipe import Recipe
from fullpipe.report.rows import Budget
from fullpipe.report.runs import repeat
from fullpipe.report.runs.page import page_of
from fullpipe.report.runs.points import Points
from fullpipe.report.svg.marks import look, series
from fullpipe.runs import Run
from tests.report.pages import figures_of, runs_of, scenario, section, sentences, tables

RATE, QUEUE = "topology.bottleneck.rate", "topology.bottleneck.queue"


def charts(page: Document) -> list[type]:
    """The kinds of its figures over points."""
    return [type(figure.chart) for figure in figures_of(page)]


def test_the_table_of_means_has_a_row_per_point_and_group() -> None:
    means, links = tables(section(page_of(runs_of(("5 Mbit/s", "20 Mbit/s"))), "Means"))[:2]
    assert [column.name for column in means.columns[:4]] == ["rate", "flows", "runs", "goodput (Mbit/s)"]
    of = [(row[0], row[1], row[2]) for row in means.rows]
    assert of[:3] == [
        ("5 Mbit/s", "cubic-1", "2"),
        ("5 Mbit/s", "bbr3-1", "2"),
        ("5 Mbit/s", "all flows", "2"),
    ]
    assert len(of) == 6
    assert "[" in means.rows[0][3]
    assert links.rows[0][:2] == ["5 Mbit/s", "bottleneck"]


def test_places_of_lines_are_in_the_unit_of_their_axis() -> None:
    """A loss probability of 0.001 is 0.1 on an axis in %."""
    chances = {"topology.bottleneck.loss": {"kind": "bernoulli", "probability": 0.0}}
    path = "topology.bottleneck.loss.probability"
    swept = scenario(**chances).model_copy(update={"sweep": {path: (0.0, 0.001, 0.07)}})
    page = page_of(sweeps.run(sweeps.jobs(swept, [1, 2])))
    found = [figure.chart for figure in figures_of(page) if isinstance(figure.chart, Lines)]
    assert {chart.x_label for chart in found} == {"loss (%)"}
    places = {point[0] for chart in found for line in chart.lines for point in line.points}
    assert places == {0.0, 0.1, 7.0}


def test_points_are_in_the_order_of_their_quantities() -> None:
    means = tables(section(page_of(runs_of(("20 Mbit/s", "5 Mbit/s", "10 Mbit/s"), 1)), "Means"))[0]
    assert list(dict.fromkeys(row[0] for row in means.rows)) == ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]


def test_boxes_and_lines_have_the_colours_of_algorithms() -> None:
    """Whatever words are around the name of the algorithm, and whatever else is drawn."""
    swept = scenario().model_copy(update={"sweep": {"flows.0.cca": ("reno", "vegas")}})
    page = page_of(sweeps.run(sweeps.jobs(swept, [1, 2])))
    boxes = [box for one in figures_of(page) if isinstance(one.chart, Boxes) for box in one.chart.boxes]
    for name in ("reno", "vegas"):
        own = {box.look.colour for box in boxes if name in box.label and "bbr3" not in box.label}
        assert own == {look(name, 0).colour}
    assert {box.look.colour % len(COLOURS) for box in boxes if "bbr3" in box.label} <= {
        look("bbr3", 0).colour
    }


def test_boxes_of_few_runs_are_points() -> None:
    runs = runs_of(("5 Mbit/s",), seeds=6)
    few, many = (
        next(one for one in figures_of(page_of(part, metrics=["goodput"])) if isinstance(one.chart, Boxes))
        for part in (runs[:4], runs)
    )
    assert few.caption.endswith("points: runs; line: median.")
    assert [len(box.values) for box in few.chart.boxes] == [4] * len(few.chart.boxes)
    assert many.caption.endswith("median, quartiles and extremes over runs.")
    assert not any(box.values for box in many.chart.boxes)


def test_a_quantity_is_drawn_as_lines_and_names_as_boxes() -> None:
    by_rate = page_of(runs_of(("5 Mbit/s", "20 Mbit/s")))
    ccas = [scenario(**{"flows.1.cca": cca}) for cca in ("bbr1", "reno")]
    by_name = page_of([run(one, seed) for one in ccas for seed in (1, 2)])
    assert Lines in charts(by_rate)
    assert charts(by_name)[0] is Forest
    assert set(charts(by_name)[1:]) == {Boxes}


def test_of_one_point_every_metric_has_one_figure_with_a_box_per_group() -> None:
    figures = figures_of(page_of(runs_of(("10 Mbit/s",), 3)))
    boxes = [figure.chart for figure in figures if isinstance(figure.chart, Boxes)]
    assert boxes
    assert all(len(chart.boxes) > 1 for chart in boxes)
    assert len({chart.y_label for chart in boxes}) == len(boxes)


def test_one_box_alone_is_drawn_if_it_is_asked_for() -> None:
    runs = [run(scenario(flows=[{"cca": "cubic", "start_jitter": "20 ms"}]), seed) for seed in (1, 2, 3)]
    assert Boxes not in charts(page_of(runs))
    assert charts(page_of(runs, metrics=["rtt_mean"])) == [Boxes]


def test_scenarios_of_other_names_can_be_points_of_one_part() -> None:
    named = {"my line 10M": "10 Mbit/s", "my line 5M": "5 Mbit/s"}
    runs = [one for name, rate in named.items() for one in runs_of((rate,), name=name)]
    assert [one.heading for one in page_of(runs).parts] == list(named)
    page = page_of(runs, is_one=True)
    assert page.title == "my line: cubic and bbr3 over rate"
    assert page.parts[0].question == "What does rate change for cubic-1 and bbr3-1 in the scenario my line?"
    means = tables(section(page, "Means"))[0]
    assert list(dict.fromkeys(row[0] for row in means.rows)) == ["5 Mbit/s", "10 Mbit/s"]


def test_no_band_of_what_is_never_negative_reaches_below_zero() -> None:
    figures = figures_of(page_of(runs_of(("5 Mbit/s", "20 Mbit/s"))))
    lines = [figure.chart for figure in figures if isinstance(figure.chart, Lines)]
    ends = [(low, mean) for chart in lines for line in chart.lines for _, mean, low, _ in line.points]
    assert min(low for low, _ in ends) == 0
    assert all(low <= mean for low, mean in ends)


def test_no_band_of_an_index_reaches_above_one() -> None:
    figures = figures_of(page_of(runs_of(("5 Mbit/s", "20 Mbit/s"))))
    (index,) = (
        figure.chart
        for figure in figures
        if isinstance(figure.chart, Lines) and "Jain" in figure.chart.y_label
    )
    assert max(high for line in index.lines for *_, high in line.points) == 1


def test_two_paths_of_names_are_a_heat_map() -> None:
    runs = [
        run(scenario(**{"flows.0.cca": one, "flows.1.cca": other}))
        for one in ("cubic", "bbr1")
        for other in ("reno", "bbr3")
    ]
    assert set(charts(page_of(runs))) == {Heat}


def test_lines_of_quantities_say_which(shares: list[Run]) -> None:
    delays = [
        run(scenario(**{"topology.bottleneck.delay": delay, RATE: rate}))
        for delay in ("5 ms", "20 ms")
        for rate in ("5 Mbit/s", "10 Mbit/s")
    ]
    lines = [figure.chart for figure in figures_of(page_of(delays)) if isinstance(figure.chart, Lines)]
    assert lines
    names = {line.label for chart in lines for line in chart.lines}
    assert names == {
        *("one-way delay 5 ms", "one-way delay 20 ms"),
        *(f"fair share of {flow} (50.0 % of the goodput)" for flow in ("cubic-1", "bbr3-1")),
    }
    assert all(
        chart.is_log for figure in figures_of(page_of(shares)) if isinstance(chart := figure.chart, Lines)
    )


def test_of_three_paths_one_gives_a_figure_per_value() -> None:
    runs = [
        run(scenario(**{"flows.0.cca": one, "flows.1.cca": other, "topology.bottleneck.delay": delay}))
        for one in ("cubic", "bbr1")
        for other in ("reno", "bbr3")
        for delay in ("5 ms", "20 ms")
    ]
    page = page_of(runs)
    captions = [
        figure.caption for figure in figures_of(page) if figure.caption.startswith("goodput of all flows")
    ]
    assert [caption.partition(" over ")[0] for caption in captions] == [
        "goodput of all flows, algorithm of flows.1 Reno",
        "goodput of all flows, algorithm of flows.1 BBRv3",
    ]


def test_figures_beyond_the_budget_are_told() -> None:
    page = page_of(runs_of(("5 Mbit/s", "20 Mbit/s")), budget=Budget(figures=1))
    (note,) = section(page, "Figures").blocks
    assert isinstance(note, Text)
    assert note.text.startswith("The first 1 of ")
    assert len(figures_of(page)) == 1


def test_the_warm_up_is_in_the_figures_over_time() -> None:
    page = page_of([run(scenario(warmup="1 s"))])
    figure = page.parts[0].figure
    assert figure is not None
    assert isinstance(figure.chart, Series)
    assert figure.chart.warmup_s == 1.0
    assert "the shade is the warm-up" in figure.caption


def test_every_point_that_is_drawn_over_time_has_all_its_variants() -> None:
    rates = [f"{mbps} Mbit/s" for mbps in (4, 6, 8, 10, 12)]
    points = [{RATE: rate, "flows.1.cca": cca} for rate in rates for cca in ("bbr1", "reno")]
    page = page_of([run(scenario(**point)) for point in points], budget=Budget(runs_over_time=5))
    (over_time,) = [one for one in page.parts[0].details if one.heading == "Over time"]
    named = [one.heading for one in over_time.sections]
    drawn = {name.split(",")[0]: [cca for cca in ("BBRv1", "Reno") if f" {cca}," in name] for name in named}
    assert named == [f"{rate}, algorithm {cca}, seed 1" for rate in drawn for cca in ("BBRv1", "Reno")]
    assert len(drawn) == 2
    (told,) = [block.text for block in over_time.blocks if isinstance(block, Text)]
    assert "4 runs of 10, of the first seed: points with a warning, each with all variants" in told


def test_variants_of_an_algorithm_get_verdicts_against_the_first() -> None:
    runs = [run(scenario(**{"flows.1.cca": cca}), seed) for cca in ("bbr1", "cubic") for seed in (1, 2, 3)]
    page = page_of(runs)
    assert page.parts[0].conclusion[0].startswith("cubic instead of bbr1: ")
    (verdicts,) = tables(section(page, "All verdicts"))
    assert {"metric", "verdict", "difference [95 %]", "bbr1", "cubic"} <= {
        column.name for column in verdicts.columns
    }


def test_one_seed_gets_no_verdict() -> None:
    page = page_of([run(scenario(**{"flows.1.cca": cca})) for cca in ("bbr1", "cubic")])
    assert "All verdicts" not in [one.heading for one in page.parts[0].details]


@pytest.mark.parametrize(
    ("path", "values", "of"),
    [(RATE, ("5 Mbit/s", "8 Mbit/s"), "cubic-1"), ("flows.0.cca", ("cubic", "reno"), "cubic-1 or reno-1")],
)
def test_the_only_group_of_flows_has_each_metric_once_at_all_points(
    path: str, values: tuple[str, ...], of: str
) -> None:
    alone = Scenario(**{**scenario().to_dict(), "flows": [{"cca": "cubic"}]})
    page = page_of([run(alone.with_values({path: value})) for value in values])
    first = page.parts[0].table
    assert first is not None
    assert [column.name for column in first.columns][1:] == [
        f"{of}: goodput (Mbit/s)",
        f"{of}: mean RTT (ms)",
    ]
    (every,) = tables(section(page, "Every run"))
    assert every.caption == f"Every run: {of}"
    for table in (first, every):
        assert [row[0] for row in table.rows] == list(values)
        assert not any("-" in row for row in table.rows)


def test_equal_seeds_are_told() -> None:
    jitter = {"flows.0.start_jitter": "0 s", "flows.1.start_jitter": "0 s"}
    still = scenario(**jitter, **{"flows.1.cca": "reno"})
    page = page_of([run(still, seed) for seed in (1, 2)])
    assert any(line.startswith("All seeds gave the same run") for line in sentences(page))


def test_names_of_scenarios_are_parts_of_their_own() -> None:
    page = page_of([run(scenario(name="one")), run(scenario(name="two"))])
    assert [one.heading for one in page.parts] == ["one", "two"]
    assert {"Means", "Over time"} <= {inner.heading for inner in page.parts[0].details}


def test_no_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="give at least one run"):
        page_of([])


def test_named_flows_have_the_colour_of_their_algorithm_over_time() -> None:
    page = page_of([run(scenario(**{"flows.0.name": "mine", "flows.1.name": "beside"}), 1)])
    figure = page.parts[0].figure
    assert figure is not None
    assert isinstance(figure.chart, Series)
    colours = {trace.label: trace.look.colour for trace in figure.chart.traces}
    assert colours == {"mine": look("cubic", 0).colour, "beside": look("bbr3", 0).colour}


@pytest.mark.parametrize("keys", [(RATE,), (RATE, "flows.1.cca")])
def test_the_scenario_and_the_command_make_the_same_runs_again(keys: tuple[str, ...]) -> None:
    values = {RATE: ("5 Mbit/s", "20 Mbit/s"), "flows.1.cca": ("bbr1", "reno")}
    first, second = values[RATE], values["flows.1.cca"]
    points = [{RATE: a, "flows.1.cca": b} for a, b in zip(first, second, strict=True)]
    made = [run(scenario(**{key: point[key] for key in keys}), seed) for point in points for seed in (1, 2)]
    (part,) = page_of(made).parts
    (command,) = part.recipe.commands
    (toml,) = [block.text for block in part.repetition if isinstance(block, Code)]
    assert part.command == command
    assert toml in [file.content for file in part.data]
    assert shlex.split(command) == ["fullpipe", "run", "line.toml", "--seeds", "2"]
    again = Scenario.from_toml(toml)
    assert {one.digest for one in again.expand()} == {one.scenario.digest for one in made}


def test_commands_that_make_no_runs_promise_none() -> None:
    assert Recipe(["fullpipe run a.toml", "fullpipe report runs"]).told.startswith("This makes all values ")
    assert Recipe(["fullpipe report runs"]).told.startswith("This makes the report again from its runs, ")


def test_points_of_one_seed_are_not_ranked() -> None:
    points = {RATE: ["5 Mbit/s", "20 Mbit/s"]}
    told = " ".join(sentences(page_of([run(scenario(**{RATE: rate})) for rate in points[RATE]])))
    assert re.search(r"Goodput of \S+ is from [\d.]+ Mbit/s \(rate 5 Mbit/s\) to [\d.]+ Mbit/s", told)
    assert "over 2 points; one seed: no interval" in told
    assert "highest" not in told


def test_a_scenario_that_comes_with_fullpipe_is_repeated_by_its_name() -> None:
    page = page_of([run(Scenario.named("single-cubic"), 3)])
    assert page.parts[0].command == "fullpipe run single-cubic --seed 3"


def test_samples_at_the_same_times_are_kept_as_they_are() -> None:
    times = np.arange(5) * 0.1
    (trace,) = series("x", ["a"], [(times, pl.Series([1.0, 2.0, None, 4.0, 5.0]))]).traces
    np.testing.assert_array_equal(trace.values, [1.0, 2.0, np.nan, 4.0, 5.0])


def test_a_flow_that_begins_later_has_no_samples_before() -> None:
    early, late = np.arange(6) * 0.1, np.arange(3, 6) * 0.1
    found: Series = series("x", ["a", "b"], [(early, pl.Series([1.0] * 6)), (late, pl.Series([2.0] * 3))])
    np.testing.assert_array_equal(found.traces[1].values, [np.nan] * 3 + [2.0] * 3)


def test_all_digests_of_many_scenarios_are_in_the_data() -> None:
    runs = runs_of([f"{rate} Mbit/s" for rate in range(5, 10)], seeds=1)
    page = page_of(runs)
    assert dict(page.provenance)["Scenarios"].endswith(" and 1 more, all in scenarios.json")
    (file,) = [file for file in page.data if file.name == "scenarios.json"]
    assert {row["digest"] for row in json.loads(file.content)} == {one.meta.digest for one in runs}
    assert "scenarios.json" not in [file.name for file in page_of(runs[:4]).data]


def test_all_metrics_with_verdicts_are_explained_and_unfolded_once(house: list[Run]) -> None:
    page = page_of(house)
    heading = "What the metrics mean"
    (verdicts,), (meanings,) = tables(section(page, "All verdicts")), tables(section(page, heading))
    column = [each.name for each in verdicts.columns].index("metric")
    known = {row[0].partition(" (")[0] for row in meanings.rows}
    assert {row[column].partition(" (")[0] for row in verdicts.rows} <= known
    assert {"packets retransmitted", "mean smoothed RTT", "p95 smoothed RTT"} <= known
    assert [row[0] for row in meanings.rows if row[4] == row[0]] == []
    assert not any(
        table.is_folded for name in (heading, "Every run") for table in tables(section(page, name))
    )


@pytest.mark.parametrize(
    "queues",
    [
        {"shallow": {"size": "1 bdp"}, "deep": {"size": "4 bdp"}},
        {"packets": {"packets": 40}, "size": {"size": "4 bdp"}},
        {"deep": {"size": "1 s"}, "cake": {"kind": "cake"}},
    ],
)
def test_named_variants_with_labels_are_repeated_by_one_command(queues: dict[str, Any]) -> None:
    sweep = {"queue": {name: {"topology.bottleneck.queue": queue} for name, queue in queues.items()}}
    made = Scenario.named("single-cubic").with_values({"duration": "1 s", "warmup": "0 s", "sweep": sweep})
    outcomes = list(sweeps.stream(sweeps.jobs(made, [1, 2])))
    words = {f"queue.{next(iter(queues))}": "in words"}
    found = Points.of_runs([outcome.run.with_labels(words) for outcome in outcomes])
    assert repeat.command(found) == "fullpipe run single-cubic.toml --seeds 2"
    assert found.scenario is not None
    assert [dict(point) for point in found.scenario.points()] == [{"queue": name} for name in queues]
    assert {each.digest for each in found.scenario.expand()} == {run.meta.digest for run in found.runs}
    assert found.scenario.labels == words


def test_a_report_without_a_command_says_why() -> None:
    base = Scenario.named("single-cubic").with_values({"duration": "1 s", "warmup": "0 s"})
    runs = [run(base), run(base.with_values({"tcp": {"ack_every": 1}}))]
    (part,) = page_of(runs).parts
    assert part.command == ""
    assert "No command repeats these runs, as no sweep has exactly these points." in part.scope


def test_runs_over_time_include_the_points_with_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = runs_of([f"{rate} Mbit/s" for rate in range(5, 15)], seeds=1)
    warned = {one.meta.digest for one in runs[3:6]}
    monkeypatch.setattr(
        "fullpipe.report.runs.figures.warnings_of",
        lambda of: ["short"] if {one.meta.digest for one in of} <= warned else [],
    )
    page = page_of(runs, budget=Budget(runs_over_time=5))
    named = [each.heading.partition(",")[0] for each in section(page, "Over time").sections]
    assert named == ["rate 5 Mbit/s", *(f"rate {rate} Mbit/s" for rate in (8, 9, 10)), "rate 14 Mbit/s"]


def test_many_points_are_drawn_at_equal_distances_without_their_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = runs_of([f"{rate} Mbit/s" for rate in range(5, 15)], seeds=1)
    monkeypatch.setattr("fullpipe.report.runs.figures._MOST_EXAMINED", 9)
    monkeypatch.setattr("fullpipe.report.runs.figures.warnings_of", lambda _: pytest.fail("was called"))
    page = page_of(runs, budget=Budget(runs_over_time=5))
    named = [each.heading.partition(",")[0] for each in section(page, "Over time").sections]
    assert named == [f"rate {rate} Mbit/s" for rate in (5, 7, 9, 12, 14)]


def test_totals_of_connections_or_datagrams_alone_say_so(house: list[Run], tmp_path: Path) -> None:
    connections, datagrams = ("all connections", "all downloads"), ("all datagrams",)
    every = {"mean RTT (ms)": connections, "mean one-way delay (ms)": datagrams}
    base = house[0].scenario.with_values({})
    write(tmp_path / "c.json", compare_over(base, {"flows.0.cca": ["cubic", "bbr1"]}, [1, 2]), "fullpipe")
    for page in (page_of(house), page_of_file(read(tmp_path / "c.json"))):
        told = " ".join(page.parts[0].conclusion)
        assert "RTT of all flows" not in told
        assert "packet share of all flows" not in told
        (verdicts,) = tables(section(page, "All verdicts"))
        names = [column.name for column in verdicts.columns]
        of, metric = names.index("flows or link"), names.index("metric")
        for named, flows in every.items():
            totals = {row[of] for row in verdicts.rows if row[metric] == named and row[of].startswith("all ")}
            assert totals <= {*flows}
            assert (flows[0] in totals) == (flows == connections)  # the call has all datagrams
        means = tables(section(page, "Means"))[0]
        column = [each.name for each in means.columns].index("mean RTT (ms)")
        flow = [each.name for each in means.columns].index("flows")
        known = {row[flow] for row in means.rows if row[column] != "-"}
        assert "all connections" in known
        assert "all flows" not in known
    titles = [figure.caption for figure in figures_of(page_of(house))]
    assert any("of all datagrams" in title for title in titles)
    assert not [title for title in titles if "RTT of all flows" in title or "delay of all flows" in title]
    (runs,) = tables(section(page_of(house), "Every run"))
    assert "mean RTT (ms), all connections" in [each.name for each in runs.columns]


def test_groups_that_the_user_names_stay_apart_in_figures() -> None:
    named = scenario().with_values({"flows.0.name": "a", "flows.1.name": "a-1"})
    page = page_of([run(named, seed=seed) for seed in (1, 2, 3)])
    charts_of = [figure.chart for figure in figures_of(page) if isinstance(figure.chart, Boxes)]
    names = [{box.label for box in chart.boxes} for chart in charts_of]
    assert {"a", "a-1"} in names
    assert {"a"} not in names


def test_the_command_says_which_file_to_save_first() -> None:
    (part,) = page_of(runs_of()).parts
    assert part.command
    assert part.before_command == f"{part.recipe.needs[0]} Repeat:"
    assert part.before_command.startswith("Save the scenario as ")


def test_pings_have_an_rtt_over_time_but_no_goodput_and_no_window() -> None:
    flows = [{"cca": "cubic"}, {"name": "ping", "workload": {"kind": "ping", "interval": "100 ms"}}]
    page = page_of([run(Scenario(**{**scenario().to_dict(), "flows": flows}))])
    (one,) = section(page, "Over time").sections
    drawn = [page.parts[0].figure, *one.blocks]
    names = {
        figure.caption.partition(" ")[0]: [trace.label for trace in chart.traces]
        for figure in drawn
        if isinstance(figure, Figure) and isinstance(chart := figure.chart, Series)
    }
    assert names["goodput"] == names["cwnd"] == ["cubic-1"]
    assert names["smoothed"] == ["cubic-1", "ping"]
