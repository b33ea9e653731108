"""What joins links, and the routes of flows through them."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.golden.common import CUBIC, ENDS, LINK, PROBE, Case, dumbbell


def cases() -> Iterator[Case]:
    """What joins the links, and the routes through them."""
    access = {"rate": "50 Mbit/s", "delay": "2 ms", "queue": {"kind": "fq_codel"}}
    slow = {"cca": "reno", "access": {"rate": "6 Mbit/s", "delay": "7 ms"}}
    record = {**ENDS, "variables": True}
    yield "dumbbell access", dumbbell(CUBIC, slow, PROBE, topology={"access": access}, record=record)
    uploads = ({"cca": "cubic", "direction": "reverse"}, {**PROBE, "direction": "reverse"})
    back = {"reverse": {"rate": "3 Mbit/s", "delay": "10 ms", "queue": {"kind": "codel"}}}
    yield "dumbbell uploads", dumbbell(CUBIC, *uploads, record=record)
    yield "dumbbell reverse", dumbbell(CUBIC, *uploads, topology=back, record=record)
    yield "dumbbell forward", dumbbell({"cca": "cubic", "direction": "forward"}, record=record)

    ends = {"from": "a", "to": "d"}
    for name, flow, link in (
        ("graph", {}, {}),
        ("graph via", {"via": ["c"]}, {}),
        ("graph reroutes", {"reroutes": [{"at": "500 ms", "via": ["c"]}, {"at": "1 s", "via": []}]}, {}),
        ("graph reroutes of data", {"reroutes": [{"at": "500 ms", "via": ["c"], "ways": "data"}]}, {}),
        ("graph reroutes of ACKs", {"reroutes": [{"at": "500 ms", "via": ["c"], "ways": "acks"}]}, {}),
        ("graph alternate", {"alternate": {"every": "300 ms", "via": [["c"], ["b"]]}}, {}),
        ("graph alternate data", {"alternate": {"every": "300 ms", "via": [["c"], []], "ways": "data"}}, {}),
        ("graph alternate ACKs", {"alternate": {"every": "300 ms", "via": [["c"], []], "ways": "acks"}}, {}),
        ("graph link reroutes", {}, {"reroutes": [{"at": "700 ms", "via": ["c"]}]}),
        ("graph link alternate", {}, {"alternate": {"every": "300 ms", "via": [["c"], []]}}),
    ):
        flows = [{"cca": "cubic", **ends, **flow}, {"cca": "bbr1", **ends, "start": "100 ms"}]
        flows += [{**PROBE, "from": "d", "to": "a"}]
        tree = {"duration": "2 s", "topology": _graph(link), "flows": flows, "record": record}
        yield name, tree
    moves = [("0 s", "short"), ("700 ms", "a-c"), ("1400 ms", "short")]
    mobility = [{"at": at, "node": "a", "to": to} for at, to in moves]
    flows = [{"cca": "cubic", **ends}, {**PROBE, "from": "d", "to": "a"}]
    tree = {"duration": "2 s", "topology": _graph({}), "mobility": mobility, "flows": flows, "record": record}
    yield "graph mobility", tree
    yield "graph hand-over", _hand_over()
    yield from _route_controllers(ends)
    yield from _hosts()
    yield from _cells()


def _hand_over() -> dict[str, Any]:
    """A phone that goes from a cell to another one, with a flow each way."""
    cells = [
        {"name": name, "kind": kind, "hub": f"{name}-hub", "users": [{"node": "phone", "errors": 0.1}]}
        for name, kind in (("one", "lte"), ("two", "nr"))
    ]
    wires = [
        {"from": f"{name}-hub", "to": "host", "delay": "4 ms", "duplex": True} for name in ("one", "two")
    ]
    graph = {"kind": "graph", "nodes": ["phone", "one-hub", "two-hub", "host"], "links": wires}
    moves = [{"at": "0 s", "node": "phone", "to": "one"}]
    moves += [{"at": "600 ms", "node": "phone", "to": "two", "gap": "40 ms"}]
    flows = [{"cca": "bbr1", "from": "phone", "to": "host"}, {"cca": "cubic", "from": "host", "to": "phone"}]
    rest = {"duration": "1 s", "record": {**ENDS, "variables": True}}
    return {"topology": graph, "cells": cells, "mobility": moves, "flows": flows, **rest}


def _route_controllers(ends: Mapping[str, str]) -> Iterator[Case]:
    """Two flows by two links and short transfers beside, of which a controller steers some or all."""
    flows = [{"cca": "cubic", **ends, "name": name} for name in ("first", "second")]
    short = {"workload": {"kind": "poisson", "sizes": "20 kB", "interval": "200 ms"}, "cca": "cubic", **ends}
    for name, more in (
        ("periodic", {"policy": "periodic", "flows": ["first"], "delay": "3 ms", "ways": "data"}),
        ("least loaded", {"policy": "least_loaded"}),
        ("least loaded ACKs", {"policy": "least_loaded", "ways": "acks"}),
    ):
        controller = {"every": "500 ms", "via": [["c"], ["b"]], **more}
        tree = {"topology": _graph({}), "route_controllers": [controller], "flows": [*flows, short]}
        yield f"graph {name} controller", {"duration": "2 s", **tree, "record": ENDS}


def _hosts() -> Iterator[Case]:
    """Two streams of datagrams of one host, which fill its network interface between them."""
    nic = {"rate": "5 Mbit/s", "queue": {"kind": "drop_tail", "packets": 9}}
    tree = {"topology": _graph({}), "hosts": [{"name": "a", "nic": nic}], "record": ENDS}
    datagrams = {"workload": {"kind": "udp", "rate": "3 Mbit/s", "size": "1000 B"}, "from": "a", "to": "d"}
    flows = [
        {**datagrams, "name": "first"},
        {**datagrams, "name": "second"},
        {**PROBE, "from": "d", "to": "a"},
    ]
    yield "hosts", {"duration": "2 s", **tree, "flows": flows}
    yield from _hosts_with_connections()
    yield from _hosts_that_end_tcp()


def _hosts_that_end_tcp() -> Iterator[Case]:
    """An upload and a download past a host that ends them, and a ping that it lets pass."""
    ends = [("up", "a", "d"), ("down", "d", "a")]
    flows: list[dict[str, Any]] = [
        {"name": name, "cca": "bbr3", "from": source, "to": target} for name, source, target in ends
    ]
    flows += [{**PROBE, "from": "a", "to": "d"}]
    host = {"name": "b", "terminated": True, "proxy_buffer": "40 kB", "proxy_cca": "cubic"}
    record = {**ENDS, "variables": True}
    tree = {"topology": _graph({}), "hosts": [host], "flows": flows, "record": record}
    yield "hosts that end TCP", {"duration": "2 s", **tree}


def _hosts_with_connections() -> Iterator[Case]:
    """Connections of one host that compete in its network interface, with data, ACKs and requests."""
    up, down = {"from": "a", "to": "d"}, {"from": "d", "to": "a"}
    asked = {"kind": "request_response", "response": "20 kB", "think": "10 ms"}
    fair = {"rate": "5 Mbit/s", "queue": {"kind": "fq"}}
    for name, nic, flows in (
        ("up and down", {**fair, "queue": LINK["queue"]}, [{"cca": "cubic", **up}, {"cca": "cubic", **down}]),
        ("fq", fair, [{"cca": "cubic", **up}, {"cca": "bbr3", **up}, {**PROBE, **up}]),
        ("requests", fair, [{"cca": "cubic", "workload": asked, **ends} for ends in (up, down)]),
    ):
        hosts = [{"name": "a", "nic": nic}]
        tree = {"topology": _graph({}), "hosts": hosts, "record": {**ENDS, "variables": True}}
        yield f"hosts {name}", {"duration": "2 s", **tree, "flows": flows}


def _cells() -> Iterator[Case]:
    """Two stations that send up and one that is sent to, in turns."""
    cell = {
        "name": "cable",
        "kind": "shared",
        "hub": "hub",
        "rate": "10 Mbit/s",
        "delay": "1 ms",
        "grant_delay": "2 ms",
        "turn": "6 kB",
        "overhead": "100 us",
        "queue": LINK["queue"],
        "stations": [{"node": "x"}, {"node": "y", "queue": {"kind": "fq_codel"}}, {"node": "z"}],
    }
    link = {"from": "hub", "to": "server", "rate": "100 Mbit/s", "delay": "5 ms", "duplex": True}
    topology = {"kind": "graph", "nodes": ["x", "y", "z", "hub", "server"], "links": [link]}
    ends = [("x", "server", "cubic"), ("y", "server", "bbr3"), ("server", "z", "reno")]
    flows: list[dict[str, Any]] = [{"from": a, "to": b, "cca": cca} for a, b, cca in ends]
    flows += [{**PROBE, "from": "z", "to": "server"}]
    record = {**ENDS, "variables": True}
    yield (
        "cells",
        {"duration": "2 s", "topology": topology, "cells": [cell], "flows": flows, "record": record},
    )


def _graph(moving: Mapping[str, Any]) -> dict[str, Any]:
    """A short route from a to d past b, and a longer one past c."""
    pairs = (("a", "b", "2 ms", "8 Mbit/s"), ("a", "c", "9 ms", "12 Mbit/s"), ("c", "b", "1 ms", "12 Mbit/s"))
    links = [
        {"from": a, "to": b, "delay": delay, "rate": rate, "duplex": True, "queue": LINK["queue"]}
        for a, b, delay, rate in (*pairs, ("b", "d", "3 ms", "10 Mbit/s"), ("c", "d", "5 ms", "6 Mbit/s"))
    ]
    links[0] |= {"name": "short", **moving}
    return {"kind": "graph", "nodes": ["a", "b", "c", "d"], "links": links}
