"""The axes of a sweep: linked paths, every entry of a list, and named variants."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.sweeps import jobs

BASE: dict[str, Any] = {
    "name": "axes",
    "duration": "1 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"}},
    "flows": [{"cca": "cubic"}, {"cca": "cubic", "name": "other"}],
    "tcp": {"receive_buffer": "64 KiB"},
}
CAKE = {"topology.bottleneck.queue": {"kind": "cake"}, "topology.reverse.queue": {"kind": "cake"}}
DEEP = {"topology.bottleneck.queue": {"kind": "drop_tail", "packets": 400}}


def swept(sweep: dict[str, Any]) -> Scenario:
    return Scenario(**{**BASE, "sweep": sweep})


def algorithms(scenario: Scenario) -> list[list[str]]:
    return [[flow.cca.kind for flow in point.flows if flow.cca] for point in scenario.expand()]


def test_linked_paths_are_pinned_together() -> None:
    linked = "flows.0.cca, flows.1.cca"
    base = Scenario.named("cubic-vs-bbr1").with_values({"sweep": {linked: ["cubic", "reno"]}})
    pinned = base.with_values({linked: "bbr3"})
    assert [flow.cca.kind for flow in pinned.flows if flow.cca] == ["bbr3", "bbr3"]
    assert not pinned.sweep


def test_a_star_is_every_entry() -> None:
    scenario = swept({"flows.*.cca": ["reno", "bbr1"]})
    assert algorithms(scenario) == [["reno", "reno"], ["bbr1", "bbr1"]]
    assert scenario.points() == [{"flows.*.cca": "reno"}, {"flows.*.cca": "bbr1"}]


def test_linked_paths_change_together() -> None:
    scenario = swept({"flows.0.cca, flows.1.cca": [["reno", "bbr1"], "bbr3"]})
    assert algorithms(scenario) == [["reno", "bbr1"], ["bbr3", "bbr3"]]
    assert scenario.points()[0] == {"flows.0.cca": "reno", "flows.1.cca": "bbr1"}


def test_a_variant_sets_several_paths_and_has_a_name() -> None:
    scenario = swept({"line": {"cake": CAKE, "deep": DEEP}, "flows.*.cca": ["cubic", "bbr1"]})
    points = [job.point for job in jobs(scenario)]
    assert [point["line"] for point in points] == ["cake", "cake", "deep", "deep"]
    reverse = [point.to_dict()["topology"].get("reverse") for point in scenario.expand()]
    assert reverse == [{"queue": {"kind": "cake"}}] * 2 + [None] * 2


def test_a_sweep_is_written_as_it_was_read() -> None:
    scenario = swept({"line": {"cake": CAKE}, "tcp.mss, flows.0.count": [["1000 B", 2], ["500 B", 3]]})
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_a_variant_is_chosen_by_its_name() -> None:
    chosen = swept({"line": {"cake": CAKE, "deep": DEEP}}).with_values({"line": "deep"})
    assert chosen.sweep == {}
    assert chosen.to_dict()["topology"]["bottleneck"]["queue"]["packets"] == 400


def test_a_linked_path_that_is_set_leaves_the_others() -> None:
    scenario = swept({"flows.0.cca, flows.1.cca": [["reno", "bbr1"], ["reno", "bbr3"], ["cubic", "cubic"]]})
    assert scenario.with_values({"flows.1.cca": "vegas"}).sweep == {"flows.0.cca": ("reno", "cubic")}


def test_what_every_entry_is_set_to_is_swept_no_more() -> None:
    scenario = swept({"flows.0.cca": ["reno", "bbr1"]})
    assert scenario.with_values({"flows.*.cca": "cubic"}).sweep == {}


@pytest.mark.parametrize(
    ("sweep", "line"),
    [
        ({"flows.*.cca": ["reno"], "flows.0.cca": ["bbr1"]}, 'sweep: "flows.0.cca" contains "flows.*.cca"'),
        (
            {"line": {"a": DEEP}, "topology.bottleneck.queue": [{"kind": "cake"}]},
            'sweep: "topology.bottleneck.queue" is given twice',
        ),
        ({"tcp.mss, tcp.mss": ["1000 B"]}, 'sweep: "tcp.mss" is given twice'),
        ({"tcp.mss, flows.0.count": [["1000 B"]]}, 'sweep."tcp.mss, flows.0.count": '),
        ({"flows.0.cca": {"a": DEEP}}, 'sweep."flows.0.cca": variants need a name that is not a path'),
        ({"name": {"a": DEEP}}, 'sweep."name": variants need a name that is not a path'),
        ({"seed": {"a": DEEP}}, "sweep.seed: is a column of the tables of runs"),
        ({"line": {"a": DEEP, "b": {"tcp.mss": "1 furlong"}}}, "sweep.line.b: tcp.mss: "),
        ({"line": {"a": {"tcp.msss": "1 kB"}}}, "sweep.line.a: tcp.msss: unknown key; did you mean"),
        ({"line": {"a": DEEP, "b": DEEP}}, 'sweep."line": "a" and "b" are the same'),
        ({"line": {"a": 5}}, "sweep.line: a: expected paths and their values"),
        ({"line": "cake"}, "sweep.line: expected a list of values or a table of variants"),
        ({"flows.*.ccb": ["reno"]}, 'sweep."flows.*.ccb"[0]: '),
    ],
    ids=range(13),
)
def test_a_wrong_axis_is_refused(sweep: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        swept(sweep)
    assert error.value.problems[0].startswith(line)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("line", "coke", 'line: there is no variant "coke"; did you mean "cake"?'),
        (
            "topology.bottleneck.queue",
            {"kind": "pie"},
            "topology.bottleneck.queue: the variants of line set topology.bottleneck.queue; choose one"
            " with --set line=cake, or several with --over line=cake,deep",
        ),
    ],
)
def test_what_variants_set_is_chosen_by_their_name(path: str, value: object, line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        swept({"line": {"cake": CAKE, "deep": DEEP}}).with_values({path: value})
    assert error.value.problems[0].startswith(line)
