"""What is held against what: entries of `flows` by place or name, and what does not line up is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.cli.compare_shown import tell_engines
from fullpipe.validation.compare import EngineComparison, Margin, Row, compare, overlay

BASE = Scenario(
    name="two flows",
    duration="3 s",
    topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
    flows=[{"cca": "cubic"}, {"cca": "cubic", "start": "1 s"}],
)
NAMED = BASE.with_values({"flows.0.name": "first", "flows.1.name": "second"})


def run(scenario: Scenario, seed: int = 1, **values: Any) -> Run:
    return fullpipe.run(scenario.with_values(values), seed=seed)


def against(scenario: Scenario, **values: Any) -> EngineComparison:
    return compare({"baseline": [run(BASE)], "variant": [run(scenario, **values)]}, "baseline")


def goodputs(found: EngineComparison) -> dict[int | str, Row]:
    return {row.of if row.entry is None else row.entry: row for row in found.rows if row.metric == "goodput"}


def test_an_entry_with_another_algorithm_is_held_against_its_counterpart() -> None:
    variant = run(BASE, **{"flows.0.cca": "vegas"})
    assert variant.flows["flow"].to_list() == ["vegas-1", "cubic-1"]
    found = compare({"baseline": [run(BASE)], "variant": [variant]}, "baseline")
    rows = goodputs(found)
    assert [rows[place].values["variant"][0] for place in (0, 1)] == variant.flows["goodput_bps"].to_list()
    assert [rows[place].label("variant") for place in (0, 1)] == ["cubic-1 -> vegas-1", "cubic-2 -> cubic-1"]
    assert rows[ALL].label("variant") == ALL
    assert not [str(note) for note in found.notes if "measured" in str(note)]


def test_what_an_engine_models_differently_is_told() -> None:
    made = run(BASE)
    other = Run(made.meta.model_copy(update={"remarks": ("it has no hosts",)}), made.tables)
    assert compare({"native": [made], "ns3": [other]}, "native").remarks == ("ns3: it has no hosts",)
    assert compare({"native": [made], "ns3": [other]}, "ns3").remarks == ("ns3: it has no hosts",)


def test_both_names_are_in_json_and_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    found = against(BASE, **{"flows.0.cca": "vegas"})
    written = [row for row in found.to_dict()["rows"] if row["metric"] == "goodput"]
    assert [(row["of"], row["entry"], row["labels"]) for row in written] == [
        ("cubic-1", 0, {"baseline": "cubic-1", "variant": "vegas-1"}),
        ("cubic-2", 1, {"baseline": "cubic-2", "variant": "cubic-1"}),
        (ALL, None, {"baseline": ALL, "variant": ALL}),
    ]
    tell_engines([found], ["goodput"], asked=[], as_json=False)
    assert "cubic-1 -> vegas-1" in capsys.readouterr().out


def test_the_intervals_are_said_to_be_unpaired() -> None:
    assert against(BASE).to_dict()["intervals"] == {"method": "Welch", "paired": False, "level": 0.9}


def test_entries_that_are_all_named_alike_may_stand_in_another_order() -> None:
    swapped = NAMED.with_values({"flows": [*reversed(NAMED.to_dict()["flows"])]})
    one, other = run(NAMED), run(swapped)
    found = compare({"baseline": [one], "variant": [other]}, "baseline")
    rows = goodputs(found)
    assert rows[0].values["variant"][0] == other.flows.filter(flow="first")["goodput_bps"][0]
    assert [rows[place].label("variant") for place in (0, 1)] == ["first", "second"]


def test_an_entry_that_gets_a_name_keeps_its_counterpart() -> None:
    assert goodputs(against(BASE, **{"flows.1.name": "mine"}))[1].label("variant") == "cubic-2 -> mine"


def test_a_name_at_another_place_is_refused() -> None:
    values = {"flows.0.name": "mine"}, {"flows.1.name": "mine"}
    sides = {side: [run(BASE, **of)] for side, of in zip(("baseline", "variant"), values, strict=True)}
    with pytest.raises(
        ValueError, match='flows: "mine" is entry 1 in "variant" and entry 0 in "baseline"; name'
    ):
        compare(sides, "baseline")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"flows": [{"cca": "cubic"}]},
            'flows: 1 entries in "variant" and 2 in "baseline"; give both sides the same number of entries',
        ),
        ({"duration": "4 s"}, 'duration: 4 s in "variant" and 3 s in "baseline"; make them equal'),
        ({"warmup": "1 s"}, 'warmup: 1 s in "variant" and 0 s in "baseline"; make them equal'),
    ],
    ids=["entries", "duration", "warmup"],
)
def test_what_does_not_line_up_is_refused_in_a_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        against(BASE, **values)
    assert "\n" not in str(refused.value)


def test_a_side_with_runs_of_several_scenarios_is_refused() -> None:
    mixture = [run(BASE), run(BASE, seed=2, **{"flows.0.cca": "vegas"})]
    with pytest.raises(ValueError, match=r'runs of "variant": they have 2 scenarios \(\w+, \w+\); give runs'):
        compare({"baseline": [run(BASE)], "variant": mixture}, "baseline")


def test_a_side_with_runs_of_several_engines_is_refused() -> None:
    one, other = run(BASE), run(BASE, seed=2)
    engine = other.meta.engine.model_copy(update={"name": "another"})
    other = replace(other, meta=other.meta.model_copy(update={"engine": engine}))
    with pytest.raises(ValueError, match=r"have 2 engines \(another, native\)"):
        compare({"baseline": [one], "variant": [one, other]}, "baseline")


def test_the_same_run_twice_is_refused() -> None:
    one = run(BASE)
    with pytest.raises(ValueError, match='runs of "variant": seed 1 occurs 2 times'):
        compare({"baseline": [one], "variant": [one, one]}, "baseline")


def test_entries_of_other_sizes_are_compared_with_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    found = against(BASE, **{"flows.0.count": 3})
    remark = "cubic-1 -> cubic: baseline has 1 of these flows and variant 3; sums are of all of them"
    assert found.remarks == (remark,)
    assert found.to_dict()["remarks"] == [remark]
    assert set(goodputs(found)) == {0, 1, ALL}
    tell_engines([found], ["goodput"], asked=[], as_json=False)
    assert remark in " ".join(capsys.readouterr().out.split())


def test_links_that_one_side_lacks_are_remarked_on() -> None:
    one = run(BASE)
    fewer = replace(
        one,
        tables={
            **one.tables,
            "links_summary": one.links_summary.filter(one.links_summary["link"] != "bottleneck"),
        },
    )
    found = compare({"baseline": [one], "variant": [fewer]}, "baseline")
    assert found.remarks == ("bottleneck: not compared, as variant has no link of this name",)
    assert not [row for row in found.rows if row.kind == "link"]
    assert found.notes == ()


def test_what_makes_no_sense_of_one_side_is_not_called_unmeasured() -> None:
    reader = {"cca": "cubic", "workload": {"kind": "request_response", "response": "20 kB"}}
    found = against(BASE, **{"flows.0": {"cca": "cubic"}, "flows.1": reader})
    (note,) = [str(note) for note in found.notes if note.metric == "starved"]
    assert note == "variant: starved of cubic-2 is left out, as it has no value there"


def test_series_of_counterparts_have_one_name() -> None:
    data = overlay({"baseline": [run(BASE)], "variant": [run(BASE, **{"flows.0.cca": "vegas"})]})
    names = {key: set(rows["of"]) for (key,), rows in data.group_by("engine")}
    assert names["baseline"] == names["variant"] == {"cubic-1 -> vegas-1", "cubic-2 -> cubic-1"}


@pytest.mark.parametrize(
    ("margins", "why"),
    [
        ({"goodputt": Margin(0.5)}, 'unknown metric "goodputt"; did you mean "goodput"'),
        ({"goodput": Margin(-0.1)}, "give numbers of 0 or more"),
        ({"goodput": Margin(float("nan"))}, "give numbers of 0 or more"),
    ],
)
def test_a_margin_that_is_none_is_refused(margins: dict[str, Margin], why: str) -> None:
    run = fullpipe.run(Scenario.named("single-reno").with_values({"duration": "1 s"}))
    with pytest.raises(ValueError, match=why):
        compare({"one": [run], "other": [run]}, "one", margins)
