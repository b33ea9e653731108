"""A phone that goes from one cell to another, which takes over what waits for it and what it has to send."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, ScenarioError
from fullpipe.scenario import resolve

Cli = Callable[..., Any]
AT_S = 3.0
UP = {"cca": "bbr1", "from": "phone", "to": "server"}
DOWN = {"cca": "bbr1", "from": "server", "to": "phone"}


def cell(name: str, mcs: int, **said: Any) -> dict[str, Any]:
    users = [{"node": f"{name}-neighbour"}, {"node": "phone", "rate": {"mcs": mcs}, "errors": 0.1}]
    queue = {"bytes": "20 MB"}  # room for what comes in a gap
    return {"name": name, "kind": "lte", "hub": f"{name}-gate", "users": users, "queue": queue, **said}


def scenario(
    gap: str | None = "60 ms",
    flows: Any = (UP, DOWN),
    cells: Any = None,
    moves: Any = (),
    **more: Any,
) -> Scenario:
    """From a cell of 26 Mbit/s to one of 7, at 3 s."""
    move = {"at": f"{AT_S} s", "node": "phone", "to": "new", **({"gap": gap} if gap else {})}
    links = [
        {"from": f"{name}-gate", "to": "server", "rate": "1 Gbit/s", "delay": delay, "duplex": True}
        for name, delay in (("old", "10 ms"), ("new", "4 ms"))
    ]
    nodes = [
        "phone",
        "server",
        *(f"{name}-{kind}" for name in ("old", "new") for kind in ("gate", "neighbour")),
    ]
    return Scenario(
        name="x",
        topology={"kind": "graph", "nodes": nodes, "links": links},
        cells=cells or [cell("old", 16), cell("new", 6)],
        mobility=[{"at": "0 s", "node": "phone", "to": "old"}, move, *moves],
        flows=list(flows),
        **{"duration": "8 s", "record": {"interval": "10 ms", "packets": ["sender", "receiver"]}, **more},
    )


def arrivals(run: Run, flow: int = 0) -> pl.DataFrame:
    """Data that its receiver gets, in order."""
    packets = run.packets.filter((pl.col("flow") == run.flows["flow"][flow]) & (pl.col("len") > 0))
    return packets.filter(pl.col("point") != pl.col("source")).sort("time_ns")


@pytest.mark.parametrize("gap_ms", [30, 80])
def test_all_flows_of_a_node_go_over_to_another_cell_without_loss(gap_ms: int) -> None:
    run = fullpipe.run(scenario(f"{gap_ms} ms"))
    assert run.links_summary["dropped_packets"].sum() == 0
    assert run.flows["retransmitted_packets"].to_list() == [0, 0]
    assert run.flows["timeouts"].to_list() == [0, 0]
    for flow in (0, 1):
        found = arrivals(run, flow)
        assert found["seq"].is_sorted()
        # A pause of the gap, a slot, its decoding and, of the way up, a grant.
        times_s = found["time_ns"] / 1e9
        begins = times_s.shift().is_between(AT_S - 0.02, AT_S + 0.02)
        pause_s = times_s.diff().filter(begins).max()
        assert gap_ms / 1e3 - 0.005 < pause_s < gap_ms / 1e3 + 0.05


def test_the_old_cell_has_nothing_left() -> None:
    run = fullpipe.run(scenario())
    late = run.links.filter(pl.col("link").str.starts_with("old-phone") & (pl.col("time_s") > AT_S + 0.015))
    assert len(late) > 0
    assert late["backlog_packets"].sum() == 0
    assert late["utilisation"].sum() == 0


def test_without_a_gap_what_is_on_the_old_cell_arrives_there_and_is_overtaken() -> None:
    """The old cell sends what it has while the new one begins: order is lost, which TCP takes for loss."""
    udp = {
        "workload": {"kind": "udp", "rate": "30 Mbit/s", "size": "1400 B"},
        "from": "server",
        "to": "phone",
    }
    overtaken = [
        not arrivals(fullpipe.run(scenario(gap, [{**udp, "stop": "4 s"}])))["seq"].is_sorted()
        for gap in (None, "60 ms")
    ]
    assert overtaken == [True, False]


def test_every_datagram_arrives_though_the_gap_comes_while_many_wait() -> None:
    udp = {
        "workload": {"kind": "udp", "rate": "30 Mbit/s", "size": "1400 B"},
        "from": "server",
        "to": "phone",
    }
    run = fullpipe.run(scenario("50 ms", [{**udp, "stop": "3500 ms"}], duration="20 s"))
    assert len(arrivals(run)) == run.flows["sent_packets"][0] > 5_000


def test_the_same_seed_gives_the_same_run() -> None:
    first, second = (fullpipe.run(scenario(), seed=5) for _ in range(2))
    assert all(table.equals(second.tables[name]) for name, table in first.tables.items())


def test_ports_hand_over_way_by_way_and_the_new_cell_has_the_gap() -> None:
    network = resolve(scenario())
    moved = [
        (one.at_s, network.hops[one.source].name, network.hops[one.target].name) for one in network.hand_overs
    ]
    assert moved == [
        (AT_S, "old-phone-down", "new-phone-down"),
        (AT_S, "old-phone-up", "new-phone-up"),
    ]
    old, new = (medium.params["user_gaps_ns"] for medium in network.media)
    assert (old, new) == ([[], []], [[], [3 * 10**9, 60 * 10**6, 0]])


def test_there_may_be_a_way_back() -> None:
    back = {"at": "5 s", "node": "phone", "to": "old", "gap": "40 ms"}
    run = fullpipe.run(scenario(moves=[back]))
    assert run.flows["retransmitted_packets"].to_list() == [0, 0]


def between(wires: dict[str, str], *moves: tuple[int, str], flow: Any, **link: Any) -> Run:
    """Moves to cells at times in ms, with gaps of 30 ms; the way to each cell has a delay of its own."""
    users = [{"node": "phone", "rate": {"mcs": 16}}]
    cells = [
        {"name": name, "kind": "lte", "hub": f"{name}-gate", "users": users, "queue": {"bytes": "20 MB"}}
        for name in wires
    ]
    links = [
        {"from": "server", "to": f"{name}-gate", "rate": "1 Gbit/s", "delay": delay, "duplex": True, **link}
        for name, delay in wires.items()
    ]
    first = {"at": "0 s", "node": "phone", "to": next(iter(wires))}
    later = [{"at": f"{at} ms", "node": "phone", "to": to, "gap": "30 ms"} for at, to in moves]
    nodes = ["phone", "server", *(f"{name}-gate" for name in wires)]
    made = Scenario(
        name="x",
        topology={"kind": "graph", "nodes": nodes, "links": links},
        cells=cells,
        mobility=[first, *later],
        flows=[flow],
        duration="5 s",
        record={"interval": "5 ms", "packets": ["sender", "receiver"]},
    )
    return fullpipe.run(made)


STEADY = {
    "workload": {"kind": "udp", "rate": "15 Mbit/s", "size": "1400 B"},
    "from": "server",
    "to": "phone",
    "stop": "4 s",
}


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        ("60 ms", "5 ms", [(3000, "new")]),
        ("60 ms", "60 ms", [(3000, "new"), (3035, "third")]),
        ("10 ms", "10 ms", [(3000, "new"), (3005, "third")]),
        ("60 ms", "5 ms", [(3000, "new"), (3035, "old")]),
        ("60 ms", "5 ms", [(3000, "new"), (3010, "old"), (3020, "new")]),
    ],
)
def test_order_is_kept_however_long_the_old_way_and_however_soon_the_next_move(
    old: str, new: str, moves: list[tuple[int, str]]
) -> None:
    """Packets on a wire of 60 ms arrive 30 ms after the gap, at a cell that the phone may leave twice."""
    run = between({"old": old, "new": new, "third": new}, *moves, flow=STEADY)
    found = arrivals(run)
    assert found["seq"].is_sorted()
    assert len(found) == run.flows["sent_packets"][0] > 5_000
    idle = {"old", "new", "third"} - {moves[-1][1]}
    late = run.links.filter((pl.col("time_s") > moves[-1][0] / 1e3 + 0.02) & (pl.col("time_s") < 3.2))
    for name in idle:
        assert late.filter(pl.col("link") == f"{name}-phone-down")["utilisation"].sum() == 0


def test_a_move_with_a_long_old_way_makes_tcp_send_nothing_again() -> None:
    run = between({"old": "60 ms", "new": "5 ms"}, (3000, "new"), flow={**DOWN, "cca": "cubic"})
    assert run.flows["retransmitted_packets"][0] == run.links_summary["dropped_packets"].sum() == 0


@pytest.mark.parametrize("queue", [{"kind": "drop_tail", "packets": 500}, {"kind": "fq_codel"}])
def test_what_waits_on_the_old_way_comes_before_its_end(queue: Any) -> None:
    """A burst that takes 100 ms of a link: with a queue of known departures, and one that decides on them."""
    burst = {"kind": "udp", "rate": "200 Mbit/s", "size": "1400 B"}
    flow = {**STEADY, "workload": burst, "start": "2990 ms", "stop": "3005 ms"}
    wires = {"old": "5 ms", "new": "5 ms"}
    run = between(wires, (3000, "new"), flow=flow, rate="20 Mbit/s", queue=queue)
    found = arrivals(run)
    assert found["seq"].is_sorted()
    assert len(found) == run.flows["sent_packets"][0] > 250


WIFI = {"name": "new", "kind": "wifi", "hub": "new-gate", "stations": [{"node": "phone"}]}


def test_only_cellular_cells_hand_over(fullpipe: Cli) -> None:
    told = "mobility[1].gap: only from one LTE or NR cell to another; leave it out"
    text = scenario(None, cells=[cell("old", 16), WIFI]).to_toml()
    Path("bad.toml").write_text(text.replace('to = "new"', 'to = "new", gap = "50 ms"'))
    done = fullpipe("run", "bad.toml")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"fullpipe: {told}\n")
    with pytest.raises(ScenarioError, match=r"^mobility\[1\].gap: must be more than 0"):
        scenario("0 s")
