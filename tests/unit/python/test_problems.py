"""Mistakes in scenarios: one line each, with the path, what is wrong, and what would be right."""

import pytest

from fullpipe import Scenario, ScenarioError

BASE = {
    "name": "x",
    "duration": "10 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
    "flows": [{"cca": "cubic"}],
}
GRAPH = {
    "kind": "graph",
    "nodes": ["a", "b", "c"],
    "links": [{"from": "a", "to": "b", "delay": "1 ms", "duplex": True}],
}
QUEUE = "topology.bottleneck.queue"

CASES = [
    ("flows.0.cca", "cubik", 'flows[0].cca: unknown algorithm "cubik"; did you mean "cubic"?'),
    ("flows.0.cca", 3, 'flows[0].cca: expected a name such as "cubic" or { kind = "cubic", ... }, got 3'),
    (
        "flows.0.cca",
        ["cubic", "reno"],
        'flows[0].cca: expected a name such as "cubic" or { kind = "cubic", ... }, '
        "got ['cubic', 'reno']; to run each value, write \"flows.0.cca\" = [...] under [sweep]",
    ),
    ("flows.0.cca.bta", 1, 'flows[0].cca: unknown parameter "bta" of cubic; did you mean "beta"?'),
    ("flows.0.cca.beta", 7, "flows[0].cca.beta: 7 is out of range; from 0.1 to 0.95"),
    ("flows.0.count", 0, "flows[0].count: must be at least 1, got 0"),
    ("flows.0.count", 1.5, "flows[0].count: expected a whole number, got 1.5"),
    ("flows.0.count", 100_001, "flows[0].count: must be at most 100000, got 100001"),
    ("flows.0.start", "10 s", "flows[0].start: a start at 10 s is not before the end, 10 s"),
    ("flows.0.stop", "0 s", "flows[0].stop: 0 s is not after the start, 0 s"),
    ("flows.0.size", "0 B", 'flows[0].size: must be more than 0, got "0 B"'),
    (
        "flows.0.from",
        "a",
        'flows[0].from: only with topology.kind = "graph"; in a dumbbell every flow crosses',
    ),
    ("flows.0.application", [{"at": "2 s"}, {"at": "1 s"}], "flows[0].application[1].at: 1 s is before 2 s"),
    (
        "flows.0",
        {"cca": "cubic", "size": "1 MB", "application": [{"at": "1 s"}]},
        "flows[0].size: an application with a pace",
    ),
    (
        "topology.bottleneck.changes",
        [{"at": "2 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}],
        "topology.bottleneck.changes[1].at: 1 s is before 2 s",
    ),
    ("record.packets", ["sendr"], 'record.packets[0]: unknown point "sendr"; did you mean "sender"?'),
    ("flows", [], "flows: has 0, must have at least 1"),
    ("duration", 50, 'duration: a duration needs a unit, such as "20 ms"; got the bare number 50'),
    ("duration", "0 s", 'duration: must be more than 0, got "0 s"'),
    ("duration", "2000 min", 'duration: "2000 min" is too much; a duration is at most 86400 s'),
    ("duration", float("nan"), 'duration: a duration needs a unit, such as "20 ms"; got the bare number nan'),
    (
        "flows.0",
        {"workload": {"kind": "ping", "interval": "0 ms"}},
        'flows[0].workload.interval: must be at least 1 us, got "0 ms"',
    ),
    (
        "flows.0",
        {"workload": {"kind": "udp", "rate": "1 Mbit/s", "size": "20 kB"}},
        'flows[0].workload.size: must be at most 9 kB, got "20 kB"',
    ),
    (
        "flows.0.workload",
        {"kind": "poisson", "load": 0.5, "sizes": "websearch"},
        'flows[0].workload.sizes: unknown distribution "websearch"; did you mean "web_search"?',
    ),
    (
        QUEUE,
        {"kind": "red", "min": 90_000, "max": 30_000},
        "topology.bottleneck.queue: max: 30000 bytes are less than min, 90000 bytes",
    ),
    (
        "topology",
        {**GRAPH, "links": [*GRAPH["links"], {"from": "b", "to": "b", "delay": "1 ms"}]},
        'topology.links[1].to: "b" is where the link starts',
    ),
    ("warmup", "10 s", "warmup: 10 s leaves nothing of the duration, 10 s"),
    ("name", "a/b", 'name: "a/b" has a character other than letters, digits, spaces and _ - . +'),
    (
        "topology.bottleneck.rate",
        "-1 Mbit/s",
        'topology.bottleneck.rate: a rate cannot be negative, got "-1 Mbit/s"',
    ),
    ("topology.bottleneck.rat", "1 Mbit/s", 'topology.bottleneck.rat: unknown key; did you mean "rate"?'),
    ("flows.0.direction", "upload", 'flows[0].direction: unknown value "upload"; did you mean "reverse"?'),
    ("topology.kind", "ring", 'topology.kind: unknown value "ring"; there is dumbbell, graph'),
    (
        "topology.bottleneck.delay",
        "0 s",
        'flows: the round trip of "cubic-1" takes no time; give one of its links a',
    ),
    (
        QUEUE,
        {"kind": "drop_tail"},
        f"{QUEUE}: drop_tail needs a limit: packets, bytes or size, as in {{ kind",
    ),
    (QUEUE, {"packets": 1, "bytes": "1 MB"}, f"{QUEUE}: give one of packets = 100, bytes = "),
    (QUEUE, {"kind": "red", "packets": 1}, f'{QUEUE}: unknown parameter "packets" of red; there is limit'),
    (QUEUE, {"kind": "coddle"}, f'{QUEUE}: unknown queue "coddle"; did you mean "codel"?'),
    (QUEUE, {"kind": "codel", "target_ms": -1}, f"{QUEUE}.target_ms: -1 is out of range; from 0.001"),
    (QUEUE, {"kind": "tbf", "peak_bps": "x"}, f"{QUEUE}.peak_bps: expected a whole number from 1 to 10000"),
    (QUEUE, {"kind": "codel", "size": "1 bdp", "limit": 7}, f"{QUEUE}: give one of limit and size"),
    (QUEUE, {"kind": "codel", "size": "1"}, f"{QUEUE}.size: a relative size needs a unit"),
    (QUEUE, {"kind": "red", "size": "1 bdp"}, f"{QUEUE}: red has no limit in packets"),
    (
        QUEUE,
        {"size": "1"},
        f'{QUEUE}.size: a relative size needs a unit, such as "1 bdp"; got the bare number "1"',
    ),
    (
        "topology.bottleneck",
        {"delay": "1 ms", "queue": {"size": "1 bdp"}},
        f"{QUEUE}.size: a link of unlimited rate",
    ),
    (
        "topology.bottleneck.loss",
        {"kind": "bernoulli", "probability": 2},
        "topology.bottleneck.loss.probability: must be at most 1, got 2",
    ),
    (
        "topology.bottleneck.loss",
        {"probability": 0.1},
        "topology.bottleneck.loss.kind: missing; write one of bernoulli, periodic",
    ),
    (
        "topology.bottleneck",
        {"delay": "1 ms"},
        'flows: nothing limits "cubic-1"; give a link on its route a rate',
    ),
    ("tcp.mss", "1 Mbit/s", 'tcp.mss: unknown unit "Mbit/s" of a size; there is'),
    ("tcp.ecn", 1, 'tcp.ecn: expected true, false or "accecn", got 1'),
    ("tcp.pacing", "alway", 'tcp.pacing: unknown value "alway"; did you mean "always"?'),
    ("tcp.delayed_ack_timeout", "40 ms", "tcp.delayed_ack_timeout: only with ack_every, as in ack_every = 2"),
    ("tcp.send_buffer", "1 kB", "tcp.send_buffer: 1000 B is less than one segment, 1448 B"),
    ("record.interval", "100 ns", "record.interval: 300,000,000 samples are more than"),
    (
        "sweep",
        {"tcp.mss": [1]},
        'sweep."tcp.mss"[0]: a size needs a unit, such as "64 KiB"; got the bare number 1',
    ),
    ("sweep", {"tcp.mss": []}, "sweep.tcp.mss: has 0, must have at least 1"),
    (
        "sweep",
        {"flows.0.count": [1] * 101, "tcp.ecn": [True] * 100},
        "sweep: 10,100 combinations are too many",
    ),
    ("sweep", {"flows.0.cca": ["reno", "reno"]}, 'sweep."flows.0.cca": "reno" is given twice'),
    (
        "sweep",
        {"topology.bottleneck.rate": ["1 Gbit/s", "1000 Mbit/s"]},
        'sweep."topology.bottleneck.rate": "1 Gbit/s" and "1000 Mbit/s" are the same',
    ),
    (
        "sweep",
        {QUEUE: [{"packets": 5}], f"{QUEUE}.packets": [7]},
        f'sweep: "{QUEUE}" contains "{QUEUE}.packets"; sweep only one of the two paths',
    ),
    (
        "sweep",
        {"flows[0].cca": ["reno"], "flows.0.cca": ["cubic"]},
        'sweep: "flows[0].cca" and "flows.0.cca" are the same path',
    ),
    ("topology", GRAPH, "flows[0].from: missing; a flow in a graph needs it, as in from = "),
]


def with_value(path: str, value: object) -> dict[str, object]:
    from fullpipe.scenario.read.dotted import replaced

    return replaced(BASE, path, value)


@pytest.mark.parametrize(
    ("path", "value", "line"), CASES, ids=[f"{path}-{i}" for i, (path, *_) in enumerate(CASES)]
)
def test_a_mistake_is_named(path: str, value: object, line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(**with_value(path, value))
    assert error.value.problems[0].startswith(line)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(name="x", duration=1, topology=BASE["topology"], flows=[{"cca": "cubik"}, {"cca": "renoo"}])
    assert [line.split(":")[0] for line in error.value.problems] == [
        "duration",
        "flows[0].cca",
        "flows[1].cca",
    ]


def test_what_is_missing_is_named_with_an_example() -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(name="x", topology=BASE["topology"], flows=BASE["flows"])
    assert error.value.problems == ('duration: missing; write for example duration = "30 s"',)


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        ({"from": "a", "to": "d"}, 'flows[0].to: unknown node "d"; there is a, b, c'),
        ({"from": "a", "to": "a"}, 'flows[0].to: "a" is where the flow starts'),
        ({"from": "a", "to": "c"}, 'flows[0]: no path of links leads from "a" to "c"'),
        ({"from": "a", "to": "b", "via": ["x"]}, 'flows[0].via: unknown node or link "x"; there is a, b, c'),
        ({"from": "a", "to": "b", "access": {}}, 'flows[0].access: only with topology.kind = "dumbbell"'),
    ],
)
def test_a_mistake_in_a_graph_is_named(flow: dict[str, object], line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(name="x", duration="1 s", topology=GRAPH, flows=[{"cca": "cubic", **flow}])
    assert error.value.problems[0].startswith(line)


@pytest.mark.parametrize(
    ("key", "former", "value"),
    [
        ("reordering", "detour", {"every": 9, "extra": "1 ms"}),
        ("ack_filter", "thin", 4),
        ("aggregation", "batch", "4 ms"),
    ],
)
def test_a_former_key_of_an_impairment_is_read(key: str, former: str, value: object) -> None:
    scenario = Scenario(**BASE).with_values({f"topology.bottleneck.{former}": value})
    assert scenario == Scenario(**BASE).with_values({f"topology.bottleneck.{key}": value})
    assert scenario.to_dict()["topology"]["bottleneck"][key] == value
    assert scenario.with_values({f"topology.bottleneck.{former}": value}) == scenario


def test_a_key_beside_its_former_key_is_refused_by_both_names() -> None:
    bottleneck = {**BASE["topology"]["bottleneck"], "thin": 4, "ack_filter": 4}
    with pytest.raises(ScenarioError) as error:
        Scenario(**{**BASE, "topology": {**BASE["topology"], "bottleneck": bottleneck}})
    assert error.value.problems == (
        "topology.bottleneck.thin: is the former key of ack_filter, which is given, too; leave out thin",
    )


def test_a_mistake_is_at_the_spelling_that_was_written() -> None:
    with pytest.raises(
        ScenarioError, match=r"^topology.bottleneck.reordering.every: must be at least 1, got 0"
    ):
        Scenario(**BASE).with_values({"topology.bottleneck.reordering": {"every": 0, "extra": "1 ms"}})
