"""Routes that change during a run: two parallel links between two routers."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError, run
from fullpipe.engines.native.plan import plan


def scenario(packets: int | None = 50, fast: dict[str, Any] | None = None, **flow: Any) -> Scenario:
    """Links: 0 and 1 a-r both ways; 2 and 3 fast, 4 and 5 slow, both ways; 6 and 7 s-b both ways."""
    queue = {"size": "1 bdp"} if packets is None else {"packets": packets}
    wire = {"rate": "10 Mbit/s", "queue": queue, "duplex": True}
    links = [
        {"from": "a", "to": "r", "delay": "1 ms", "duplex": True},
        {"name": "fast", "from": "r", "to": "s", "delay": "5 ms", **wire, **(fast or {})},
        {"name": "slow", "from": "r", "to": "s", "delay": "20 ms", **wire},
        {"from": "s", "to": "b", "delay": "1 ms", "duplex": True},
    ]
    topology = {"kind": "graph", "nodes": ["a", "r", "s", "b"], "links": links}
    flows = [{"cca": "cubic", "from": "a", "to": "b", **flow}]
    return Scenario(name="two ways", duration="10 s", topology=topology, flows=flows)


def reroutes(scenario: Scenario) -> list[tuple[float, list[int] | None, list[int] | None]]:
    return [(r["at_ns"] / 1e9, r["forward"], r["reverse"]) for r in plan(scenario)["flows"][0]["reroutes"]]


def test_a_route_may_lead_past_a_link_and_back_over_its_other_direction() -> None:
    flow = plan(scenario(via=["slow"]))["flows"][0]
    assert (flow["forward"], flow["reverse"]) == ([0, 4, 6], [7, 5, 1])


def test_the_routes_of_data_and_acks_change_together_or_alone() -> None:
    changes = [
        {"at": "1 s", "via": ["slow"]},
        {"at": "2 s", "via": [], "ways": "data"},
        {"at": "3 s", "via": ["fast"], "ways": "acks"},
    ]
    assert reroutes(scenario(reroutes=changes)) == [
        (1.0, [0, 4, 6], [7, 5, 1]),
        (2.0, [0, 2, 6], None),
        (3.0, None, [7, 3, 1]),
    ]


def test_routes_take_turns() -> None:
    turns = {"every": "3 s", "via": [["slow"], ["fast"]], "ways": "data"}
    assert reroutes(scenario(alternate=turns)) == [
        (3.0, [0, 4, 6], None),
        (6.0, [0, 2, 6], None),
        (9.0, [0, 4, 6], None),
    ]


def test_a_link_that_only_a_later_route_crosses_has_a_bdp() -> None:
    links = plan(scenario(None, reroutes=[{"at": "1 s", "via": ["slow"]}]))["links"]
    fast, slow = links[2]["queue"]["packets"], links[4]["queue"]["packets"]
    assert (fast, slow) == (11, 36)  # 10 Mbit/s x 14 ms and 44 ms in packets of 1514 bytes


def test_the_rtt_follows_the_route() -> None:
    result = run(scenario(reroutes=[{"at": "5 s", "via": ["slow"]}], cca="vegas"))
    rtt = result.series.filter(result.series["time_s"] > 4.5)["srtt_s"].to_list()
    assert 0.014 < rtt[0] < 0.025
    assert 0.044 < rtt[-1] < 0.055


def test_whoever_would_cross_a_moved_link_goes_another_route_and_comes_back() -> None:
    moves = [{"at": "1 s", "via": ["slow"]}, {"at": "2 s", "via": [], "ways": "acks"}]
    assert reroutes(scenario(fast={"reroutes": moves})) == [
        (1.0, [0, 4, 6], [7, 5, 1]),
        (2.0, None, [7, 3, 1]),
    ]


def test_links_move_in_turns() -> None:
    turns = {"every": "4 s", "via": [["slow"], []], "ways": "data"}
    assert reroutes(scenario(fast={"alternate": turns})) == [(4.0, [0, 4, 6], None), (8.0, [0, 2, 6], None)]


def test_a_moved_link_leaves_those_alone_that_do_not_cross_it() -> None:
    assert reroutes(scenario(fast={"reroutes": [{"at": "1 s", "via": ["slow"]}]}, via=["slow"])) == []


def test_a_flow_that_comes_to_a_moved_link_goes_where_that_was_moved() -> None:
    moved = {"reroutes": [{"at": "1 s", "via": ["slow"]}]}
    assert reroutes(scenario(fast=moved, via=["slow"], reroutes=[{"at": "3 s", "via": ["fast"]}])) == [
        (3.0, [0, 4, 6], [7, 5, 1])
    ]


@pytest.mark.parametrize(
    ("fast", "line"),
    [
        (
            {"reroutes": [{"at": "1 s", "via": ["slo"]}]},
            'topology.links[1].reroutes[0].via: unknown node or link "slo"; did you mean "slow"?',
        ),
        (
            {"alternate": {"every": "1 us", "via": [["slow"]]}},
            "topology.links[1].alternate.every: makes 10,000,000 changes, more than 10,000",
        ),
    ],
)
def test_a_mistake_at_a_moved_link_is_named(fast: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(fast=fast)
    assert error.value.problems[0].startswith(line)


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        ({"via": ["slo"]}, 'flows[0].via: unknown node or link "slo"; did you mean "slow"?'),
        ({"reroutes": [{"at": "1 s", "via": ["x"]}]}, "flows[0].reroutes[0].via: unknown node or link"),
        ({"alternate": {"every": "1 s", "via": [["x"]]}}, "flows[0].alternate.via[0]: unknown node or link"),
        (
            {"alternate": {"every": "1 us", "via": [["slow"]]}},
            "flows[0].alternate.every: makes 10,000,000 changes, more than 10,000",
        ),
        (
            {"reroutes": [{"at": "2 s", "via": []}, {"at": "1 s", "via": []}]},
            "flows[0].reroutes: not in the order of time",
        ),
        (
            {"reroutes": [{"at": "1 s", "via": []}], "alternate": {"every": "1 s", "via": [["slow"]]}},
            "flows[0].alternate: there are reroutes as well; leave out either alternate or reroutes",
        ),
        (
            {"reroutes": [{"at": "1 s", "via": [], "ways": "up"}]},
            'flows[0].reroutes[0].ways: unknown value "up"',
        ),
    ],
)
def test_a_mistake_is_named(flow: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(**flow)
    assert error.value.problems[0].startswith(line)
