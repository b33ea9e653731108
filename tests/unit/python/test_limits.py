"""Limits of scenarios: parts are counted before they are made, and refused with the count and the limit."""

from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

import fullpipe as fp
from fullpipe import Scenario, ScenarioError
from fullpipe.cli import app
from fullpipe.scenario import catalogue
from fullpipe.scenario.checks import sizes
from fullpipe.scenario.network.routes import Edge, Router
from fullpipe.sweeps import jobs

LOW, HIGH = {"rate": "1 Mbit/s"}, {"rate": "2 Mbit/s"}
TRIANGLE = {
    "kind": "graph",
    "nodes": ["a", "b", "c"],
    "links": [
        {"from": a, "to": b, "rate": "10 Mbit/s", "delay": "1 ms", "duplex": True}
        for a, b in ("ab", "bc", "ac")
    ],
}


@pytest.fixture
def no_steps(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """From then on no link may be laid out."""
    monkeypatch.setattr(
        "fullpipe.scenario.network.timeline.timeline", lambda *_: pytest.fail("a step was made")
    )


def csv(folder: Path, rows: str) -> dict[str, Any]:
    file = folder / "trace.csv"
    file.write_text(rows)
    return {"file": str(file), "kind": "csv"}


@pytest.mark.usefixtures("no_steps")
def test_a_recording_that_begins_again_too_often(small: Scenario, tmp_path: Path) -> None:
    trace = csv(tmp_path, "time_s,rate_bps\n0,1000000\n1e-9,2000000\n")
    with pytest.raises(
        ScenarioError, match=r"trace: makes 2,000,000,000 steps, more than 1,000,000; use fewer changes"
    ):
        small.with_values({"topology.bottleneck.trace": trace})


def test_a_recording_that_is_rounded_to_no_time(small: Scenario, tmp_path: Path) -> None:
    trace = csv(tmp_path, "time_s,rate_bps\n0,1000000\n1e-12,2000000\n")
    with pytest.raises(
        ScenarioError, match="cannot be repeated, as its last row is at 1e-12 s; write repeat"
    ):
        small.with_values({"topology.bottleneck.trace": trace})


@pytest.mark.usefixtures("no_steps")
@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "ramp", "over": "1 s", "step": "1 ns", "from": LOW, "to": HIGH},
        {"kind": "spike", "lasts": "1 ns", "every": "2 ns", "to": LOW},
        {"kind": "cycle", "every": "1 ns", "states": [LOW, HIGH]},
        {"kind": "wave", "period": "1 s", "step": "1 ns", "low": LOW, "high": HIGH},
        {"kind": "wave", "period": "2 ns", "shape": "square", "low": LOW, "high": HIGH},
        {"kind": "wander", "mean": "1 ns", "states": [LOW, HIGH]},
    ],
    ids=lambda shape: shape["kind"],
)
def test_every_shape_is_counted_first(small: Scenario, shape: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="makes 1,000,000,000 steps, more than 1,000,000"):
        small.with_values({"topology.bottleneck.shapes": [{"at": "0 s", **shape}]})


def test_a_square_wave_has_two_halves(small: Scenario) -> None:
    wave = {"kind": "wave", "at": "0 s", "period": "1 ns", "shape": "square", "low": LOW, "high": HIGH}
    with pytest.raises(ScenarioError, match="period: at least 2 ns"):
        small.with_values(
            {"duration": "1 us", "flows.0.start_jitter": "0 s", "topology.bottleneck.shapes": [wave]}
        )


@pytest.mark.usefixtures("no_steps")
def test_the_steps_of_all_links_count_together(small: Scenario) -> None:
    wave = {"kind": "wave", "at": "0 s", "period": "1 s", "step": "1500 ns", "low": LOW, "high": HIGH}
    bottleneck = {**small.to_dict()["topology"]["bottleneck"], "shapes": [wave]}
    with pytest.raises(ScenarioError, match="makes most of the 1,333,333 steps, more than 1,000,000"):
        small.with_values({"topology.bottleneck": bottleneck, "topology.reverse": bottleneck})


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"alternate": {"every": "1 us", "via": [["b"], []]}}, "makes 1,000,000 changes, more than 10,000"),
        (
            {"alternate": {"every": "1 ms", "via": [["b"], []]}, "count": 1_000},
            "1,000,000 changes of routes are more",
        ),
    ],
)
def test_routes_that_change_too_often(
    small: Scenario, flow: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fullpipe.scenario.network.graph.fixed_reroutes", lambda *_: pytest.fail("a route was found")
    )
    flow = {"cca": "cubic", "from": "a", "to": "c", **flow}
    with pytest.raises(ScenarioError, match=message):
        small.with_values({"topology": TRIANGLE, "flows": [flow]})


def test_routes_that_are_too_long(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullpipe.scenario.network.graph.MAX_CROSSED", 19)
    flow = {"cca": "cubic", "from": "a", "to": "c", "count": 10}
    with pytest.raises(
        ScenarioError, match="flows: the routes of all flows have 20 links, more than 19 in all"
    ):
        small.with_values({"topology": TRIANGLE, "flows": [flow]})


def test_moves_count_with_the_links_and_ports_that_they_may_move(
    small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"n{n}" for n in range(5)]
    cells = [
        {"name": f"cell-{c}", "kind": "shared", "hub": "c", "rate": "9 Mbit/s", "delay": "1 ms"}
        | {"stations": [{"node": name} for name in ("a", *names)]}
        for c in range(2)
    ]
    moves = [{"at": f"{t} s", "node": "a", "to": f"cell-{t % 2}"} for t in range(9)]
    flow = {"cca": "cubic", "from": "a", "to": "c", "via": []}
    topology = {**TRIANGLE, "nodes": ["a", "b", "c", *names], "links": TRIANGLE["links"][1:2]}
    values = {"topology": topology, "cells": cells, "mobility": moves, "flows": [flow]}
    assert small.with_values(values)
    monkeypatch.setattr(sizes, "MAX_MOVED", 9 * 25 * 2 - 1)
    monkeypatch.setattr("fullpipe.scenario.network.graph.attachments", lambda *_: pytest.fail("one was made"))
    told = "mobility: 9 moves x 25 links and ports x 2 end nodes of flows = 450, more than 449"
    with pytest.raises(ScenarioError, match=told):
        small.with_values(values)


def test_a_long_chain_of_links_takes_memory_for_its_length_alone() -> None:
    length = 20_000
    router = Router([Edge(str(n), str(n + 1), 1, n, str(n)) for n in range(length)])
    assert router.route(["0", str(length)]) == tuple(range(length))


def test_variables_count_as_rows(small: Scenario) -> None:
    sampled = small.with_values({"duration": "1000 s", "record.interval": "100 us"})
    told = r"variables: up to {} rows are more than 50,000,000"
    with pytest.raises(ScenarioError, match=told.format("270,000,000")):
        sampled.with_values({"record.variables": True})
    hosts = [{"name": "laptop", "nic": {"queue": {"kind": "fq"}}}]
    values = {"record.variables": True, "hosts": hosts, "flows.0.hosts": ["laptop", "server"]}
    values |= {"topology.bottleneck.queue": {"kind": "codel"}, "topology.access.queue": {"kind": "codel"}}
    # 24 of the flow, and 4 each of bottleneck, reverse, interface and two links at the ends; 6 samples.
    with pytest.raises(ScenarioError, match=told.format("250,000,000")):
        sampled.with_values({**values, "record.interval": "200 us"})


def test_variables_of_the_ports_of_a_cell_count_as_rows() -> None:
    shared = Scenario.named("shared-uplink")
    with pytest.raises(ScenarioError, match=r"variables: up to 195,000,000 rows are more"):
        shared.with_values({"record.interval": "10 us", "record.variables": True})


@pytest.mark.parametrize("kind", catalogue.controllers())
def test_no_algorithm_has_more_variables_than_are_counted(small: Scenario, kind: str) -> None:
    values = {"flows.0.cca": kind, "tcp.ecn": True, "record.variables": True, "record.interval": "10 ms"}
    found = fp.run(small.with_values(values)).variables
    assert 0 < found.group_by("time_s").len()["len"].max() <= sizes.MAX_VARIABLES


def test_jobs_are_counted_before_any_is_made(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = small.with_values({"sweep": {"flows.0.count": list(range(1, 101))}})
    monkeypatch.setattr(Scenario, "expand", lambda _: pytest.fail("a point was made"))
    with pytest.raises(ScenarioError, match=r"10,000,000 runs, 100 points with 100,000 seeds, are more"):
        jobs(swept, range(1, 100_001))


def test_seeds_without_end_are_not_awaited(small: Scenario) -> None:
    def without_end() -> Iterator[int]:
        while True:
            yield 1

    for seeds in (without_end(), range(1, 10**30)):
        with pytest.raises(ScenarioError, match="at least 1,000,001 runs, 1 points with at least 1,0"):
            jobs(small, seeds)


@pytest.mark.parametrize(
    "command", [("run", "single-reno"), ("compare", "single-reno"), ("paper", "kato2025")]
)
def test_seeds_of_a_command_have_a_limit(fullpipe: Callable[..., Any], command: tuple[str, ...]) -> None:
    done = fullpipe(*command, "--seeds", "9" * 30)
    assert done.exit_code == 2
    assert "100000" in done.stderr.replace(",", "")


def test_the_most_seeds_of_the_command_are_possible(small: Scenario) -> None:
    assert len(jobs(small, range(1, 100_001))) == 100_000


def test_too_many_jobs_end_the_command_with_2(fullpipe: Callable[..., Any], small_file: Path) -> None:
    with small_file.open("a") as file:
        file.write("[sweep]\n'flows.0.count' = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n")
    done = fullpipe("run", small_file, "--seeds", "100000")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "1,100,000 runs" in done.stderr


def test_a_sweep_of_large_scenarios(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullpipe.scenario.checks.MAX_WORK", 1_000)
    with pytest.raises(ScenarioError, match=r'sweep: 9 values of "flows.0.count" are too many for so large'):
        small.with_values({"sweep": {"flows.0.count": list(range(1, 10))}})


def test_a_graph_of_many_links_is_read_in_time_for_its_size(
    small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullpipe.scenario.model.topology import Graph

    made = []
    places = Graph.places.func
    monkeypatch.setattr(Graph.places, "func", lambda graph: made.append(1) or places(graph))
    reroutes = [{"at": "1 s", "via": ["b"]}]
    links = [{**link, "reroutes": reroutes} for link in TRIANGLE["links"][2:]] + TRIANGLE["links"][:2]
    flows = [{"cca": "cubic", "from": "a", "to": "c", "via": ["b"]} for _ in range(3)]
    small.with_values({"topology": {**TRIANGLE, "links": links}, "flows": flows})
    assert len(made) == 1


@pytest.mark.parametrize("seed", range(50))
def test_the_shortest_path_is_the_first_of_all_by_delay_then_links_then_order(seed: int) -> None:
    rng = Random(seed)
    nodes = "abcde"
    edges = [Edge(*rng.sample(nodes, 2), rng.choice((0, 1, 1, 2)), n, str(n)) for n in range(10)]
    router = Router(edges)
    for source, target in permutations(nodes, 2):
        routes = sorted(
            (sum(edges[n].delay_ns for n in route), len(route), route)
            for route in _routes(edges, source, target)
        )
        if routes:
            assert router.route([source, target]) == routes[0][2]


def _routes(edges: list[Edge], source: str, target: str, been: str = "") -> Iterator[tuple[int, ...]]:
    """Every route that passes no node twice."""
    if source == target:
        yield ()
    for number, edge in enumerate(edges):
        if edge.source == source and edge.target not in been + source:
            yield from ((number, *rest) for rest in _routes(edges, edge.target, target, been + source))


def test_a_capture_ends_where_it_is_too_much(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capturing = small.with_values({"record.packets": ["sender", "receiver"]})
    run = fp.run(capturing)
    monkeypatch.setattr(sizes, "MAX_CAPTURED", run.packets.height)
    assert fp.run(capturing).packets.equals(run.packets)
    monkeypatch.setattr(sizes, "MAX_CAPTURED", run.packets.height // 2)
    told = (
        rf"record.packets: [\d,]+ packets were captured by [\d.]+ s, more than {run.packets.height // 2:,}; "
    )
    with pytest.raises(ScenarioError, match=told):
        fp.run(capturing)
    file = tmp_path / "capturing.toml"
    file.write_text(capturing.to_toml())
    assert CliRunner().invoke(app, ["run", str(file), "--no-store"]).exit_code == 2
