"""Nodes that move from one medium to another, and the routes of their flows."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario import resolve

CELLS = [
    {
        "name": f"mast-{name}",
        "kind": "shared",
        "hub": f"gate-{name}",
        "rate": "30 Mbit/s",
        "delay": "5 ms",
        "stations": [{"node": "handset"}],
    }
    for name in ("a", "b")
]
GRAPH: dict[str, Any] = {
    "kind": "graph",
    "nodes": ["handset", "gate-a", "gate-b", "server"],
    "links": [
        {"from": "gate-a", "to": "server", "rate": "1 Gbit/s", "delay": "10 ms", "duplex": True},
        {"from": "gate-b", "to": "server", "rate": "1 Gbit/s", "delay": "12 ms", "duplex": True},
        {"name": "wire", "from": "handset", "to": "gate-b", "delay": "1 ms", "duplex": True},
    ],
}
UP = {"cca": "cubic", "from": "handset", "to": "server"}
DOWN = {"cca": "cubic", "from": "server", "to": "handset"}


def scenario(*moves: tuple[str, str], flows: Any = (UP, DOWN), **more: Any) -> Scenario:
    mobility = [{"at": at, "node": "handset", "to": to} for at, to in moves]
    tree = {"topology": GRAPH, "cells": CELLS, "mobility": mobility, "flows": list(flows), **more}
    return Scenario(name="x", duration="60 s", **tree)


def routes(found: Scenario, flow: int = 0) -> list[tuple[float, str, str]]:
    """From when on a flow takes which first hop, and which its ACKs; "" where nothing changes."""
    network = resolve(found)
    routed = network.flows[flow]

    def first(path: tuple[int, ...] | None) -> str:
        return "" if path is None else network.hops[path[0]].name

    later = [(new.at_s, first(new.forward), first(new.reverse)) for new in routed.reroutes]
    return [(0.0, first(routed.forward), first(routed.reverse)), *later]


def without_wire(*moves: tuple[str, str], **more: Any) -> Scenario:
    return scenario(*moves, topology={**GRAPH, "links": GRAPH["links"][:2]}, **more)


def test_all_flows_of_a_node_move_with_it() -> None:
    found = without_wire(("20 s", "mast-b"))
    assert routes(found, 0) == [
        (0.0, "mast-a-handset", "gate-a-server-reverse"),
        (20.0, "mast-b-handset", "gate-b-server-reverse"),
    ]
    assert routes(found, 1) == [
        (0.0, "gate-a-server-reverse", "mast-a-handset"),
        (20.0, "gate-b-server-reverse", "mast-b-handset"),
    ]


def test_before_its_first_move_a_node_is_not_where_it_moves_to() -> None:
    """The route over mast-a is the shorter one."""
    assert routes(without_wire(("20 s", "mast-a")))[0] == (0.0, "mast-b-handset", "gate-b-server-reverse")


def test_a_move_at_the_beginning_says_where_a_node_begins() -> None:
    found = without_wire(("0 s", "mast-b"), ("20 s", "mast-a"))
    assert [(at_s, data) for at_s, data, _ in routes(found)] == [
        (0.0, "mast-b-handset"),
        (20.0, "mast-a-handset"),
    ]


def test_a_node_may_move_back() -> None:
    found = without_wire(("10 s", "mast-b"), ("20 s", "mast-a"), ("30 s", "mast-b"))
    assert [at_s for at_s, *_ in routes(found)] == [0.0, 10.0, 20.0, 30.0]


def test_a_link_that_no_move_names_stays() -> None:
    """Before the first move the handset has mast-b and the wire, over which the server is nearer."""
    found = scenario(("20 s", "mast-a"), topology=with_wire("4 ms"))
    assert [(at_s, data) for at_s, data, _ in routes(found)] == [(0.0, "wire"), (20.0, "mast-a-handset")]


def with_wire(delay: str) -> dict[str, Any]:
    wire = {**GRAPH["links"][2], "delay": delay}
    return {**GRAPH, "links": [*GRAPH["links"][:2], wire]}


def test_a_node_whose_moves_move_nothing_has_a_line() -> None:
    """Its wire is shorter than either cell, and no move says that it leaves it."""
    told = r'^mobility\[0\]: "handset" moves to "mast-b", and no flow changes its route; add an earlier'
    with pytest.raises(ScenarioError, match=told):
        scenario(("20 s", "mast-b"), ("30 s", "mast-a"))


PHONE = {
    "kind": "graph",
    "nodes": ["phone", "core"],
    "links": [
        {"name": "wifi", "from": "core", "to": "phone", "rate": "20 Mbit/s", "delay": "5 ms", "duplex": True},
        {"name": "lte", "from": "core", "to": "phone", "rate": "10 Mbit/s", "delay": "20 ms", "duplex": True},
    ],
}


@pytest.mark.parametrize("at", ["0 s", "2 s"])
def test_a_move_that_names_one_medium_alone_has_a_line(at: str) -> None:
    flow = {"cca": "cubic", "from": "core", "to": "phone"}
    move = {"at": at, "node": "phone", "to": "lte"}
    with pytest.raises(ScenarioError, match=r"^mobility\[0\]: .*; add an earlier move"):
        Scenario(name="x", duration="9 s", topology=PHONE, mobility=[move], flows=[flow])
    left = {"at": "0 s", "node": "phone", "to": "wifi"}
    moves = [left, {**move, "at": "2 s"}]
    assert Scenario(name="x", duration="9 s", topology=PHONE, mobility=moves, flows=[flow]).notes() == []


def test_a_node_moves_from_a_link_to_a_cell_and_leaves_it() -> None:
    found = scenario(("0 s", "wire"), ("20 s", "mast-a"))
    assert [(at_s, data) for at_s, data, _ in routes(found)] == [(0.0, "wire"), (20.0, "mast-a-handset")]


def test_flows_of_other_nodes_stay() -> None:
    other = {"cca": "cubic", "from": "gate-a", "to": "server"}
    assert len(routes(without_wire(("20 s", "mast-b"), flows=[UP, other]), 1)) == 1


def test_flows_through_a_node_that_moves_move_as_well() -> None:
    """A phone behind the handset."""
    nodes = [*GRAPH["nodes"], "phone"]
    tether = {"from": "phone", "to": "handset", "delay": "1 ms", "duplex": True}
    topology = {**GRAPH, "nodes": nodes, "links": [*GRAPH["links"][:2], tether]}
    found = scenario(("20 s", "mast-b"), topology=topology, flows=[{**UP, "from": "phone"}])
    network = resolve(found)
    [new] = network.flows[0].reroutes
    assert [network.hops[i].name for i in new.forward or ()] == [
        "phone-handset",
        "mast-b-handset",
        "gate-b-server",
    ]


def test_a_flow_may_reroute_itself_at_the_time_of_a_move() -> None:
    """Past a gate that it cannot reach by its via from before."""
    flow = {**UP, "via": ["mast-a-handset"], "reroutes": [{"at": "20 s", "via": ["mast-b-handset"]}]}
    assert routes(without_wire(("20 s", "mast-b"), flows=[flow])) == [
        (0.0, "mast-a-handset", "gate-a-server-reverse"),
        (20.0, "mast-b-handset", "gate-b-server-reverse"),
    ]


def test_an_interface_stays_with_its_host() -> None:
    found = without_wire(("20 s", "mast-b"), hosts=[{"name": "handset", "nic": {}}])
    network = resolve(found)
    [new] = network.flows[0].reroutes
    assert [network.hops[i].name for i in new.forward or ()][:2] == ["handset-nic", "mast-b-handset"]


def test_moves_survive_toml() -> None:
    found = without_wire(("20 s", "mast-b"))
    assert Scenario.from_toml(found.to_toml()) == found


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (
            [("5 s", "mast-c")],
            r'^mobility\[0\].to: unknown cell or link "mast-c" at "handset"; did you mean "mast-',
        ),
        ([("5 s", "gate-a-server")], r'^mobility\[0\].to: unknown cell or link "gate-a-server" at "handset"'),
        (
            [("9 s", "mast-b"), ("5 s", "mast-a")],
            r"^mobility\[1\].at: 5 s is before 9 s, the entry above it$",
        ),
    ],
)
def test_a_mistake_in_a_move_has_a_line(moves: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(*moves)


def test_a_node_that_would_lose_its_route_has_a_line() -> None:
    flow = {**UP, "via": ["mast-a-handset"]}
    with pytest.raises(ScenarioError, match=r"^flows\[0\]: no .* \"mast-a-handset\".*, from 20 s on$"):
        without_wire(("20 s", "mast-b"), flows=[flow])


def test_a_move_of_an_unknown_node_has_a_line() -> None:
    with pytest.raises(ScenarioError, match=r'^mobility\[0\].node: unknown node "hand"'):
        scenario(mobility=[{"at": "1 s", "node": "hand", "to": "mast-a"}])


def test_moves_and_links_that_change_their_routes_exclude_each_other() -> None:
    links = [{**GRAPH["links"][0], "reroutes": [{"at": "1 s", "via": []}]}, *GRAPH["links"][1:]]
    with pytest.raises(ScenarioError, match=r"^mobility: links have reroutes or alternate, too"):
        scenario(("5 s", "mast-b"), topology={**GRAPH, "links": links})
