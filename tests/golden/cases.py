"""The scenarios whose results are kept in golden.json: one or more for everything that a scenario can say.

Algorithms and queues come from their registries, with every switch and choice that they have. What else a
scenario can say is written out here; `test_golden.py` fails for whatever has no case.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from fullpipe.cca import Controller
from fullpipe.scenario import catalogue
from fullpipe.scenario.catalogue import Entry
from tests.golden import early

HERE = Path(__file__).parent
Case = tuple[str, dict[str, Any]]
"""A name, and the scenario."""

CUBIC: Mapping[str, Any] = {"cca": "cubic"}
PROBE: Mapping[str, Any] = {"workload": {"kind": "probe", "interval": "10 ms"}}
LINK: Mapping[str, Any] = {
    "rate": "10 Mbit/s",
    "delay": "10 ms",
    "queue": {"kind": "drop_tail", "packets": 25},
}


def cases() -> dict[str, dict[str, Any]]:
    """Every case by name."""
    found = chain(early.cases(), _algorithms(), _queues(), _links(), _transports(), _workloads(), _networks())
    return {name: {"name": "golden", **tree} for name, tree in found}


def _dumbbell(*flows: Mapping[str, Any], link: Mapping[str, Any] = LINK, **more: Any) -> dict[str, Any]:
    topology = {"kind": "dumbbell", "bottleneck": link, **more.pop("topology", {})}
    return {"duration": "2 s", "topology": topology, "flows": list(flows), **more}


def _variants(entry: Entry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every switch and choice of an entry that is not its default, and every preset."""
    for param in entry.params.values():
        values = (not param.default,) if param.kind == "switch" else param.choices
        yield from ((f"{param.name}={v}", {param.name: v}) for v in values if v != param.default)


def _algorithms() -> Iterator[Case]:
    """Each for 12 s, longer than BBR's probes of the RTT are apart, with a second flow for some of the time;
    once with losses and once with marks."""
    queue = {"kind": "step", "limit": 25}
    marking = {"kind": "step", "limit": 25, "mark_packets": 12}
    other = {"cca": "cubic", "start": "2 s", "stop": "4 s"}
    record = {"interval": "100 ms", "variables": True}

    def case(cca: Any, *, ecn: bool) -> dict[str, Any]:
        link = {"rate": "5 Mbit/s", "delay": "15 ms", "queue": marking if ecn else queue}
        tree = _dumbbell({"cca": cca}, other, link=link, tcp={"ecn": ecn}, record=record)
        return {**tree, "duration": "12 s"}

    for name, entry in catalogue.controllers().items():
        yield f"algorithm {name}", case(name, ecn=False)
        yield f"algorithm {name}, marks", case(name, ecn=True)
        for what, values in _variants(entry):
            yield f"algorithm {name}, {what}", case({"kind": name, **values}, ecn="ecn" in values)
    for hooks in (PerRound, PerAck):
        yield f"algorithm in Python, {hooks.__name__}", case(hooks, ecn=False)


class PerRound(Controller):
    """Called once per round trip: Reno with a decrease of its own."""

    slow_start = 1.0
    increase = 1.0
    traced: ClassVar = {"beta": ""}
    beta: float = 0.6

    def on_congestion(self, episode: Any, path: Any) -> None:
        if episode.first:
            self.ssthresh = self.cwnd * self.beta


class PerAck(Controller):
    """Called for every ACK: paced, with a window that follows the RTT."""

    per_ack = True
    needs_pacing = True

    def on_ack(self, ack: Any, path: Any) -> None:
        if path.srtt_s and path.min_rtt_s:
            grow = path.srtt_s < 1.5 * path.min_rtt_s
            self.cwnd = max(4.0, self.cwnd + (1.0 if grow else -0.5) * ack.acked / self.cwnd)
            self.pacing_bps = 1.2 * self.cwnd * path.mss * 8 / path.srtt_s


_SIZED: Mapping[str, Mapping[str, Any]] = {
    "drop_tail": {"packets": 25},
    "tbf": {"rate_bps": 8_000_000, "burst_bytes": 15_000, "packets": 25},
    "police": {"rate_bps": 8_000_000, "burst_bytes": 30_000},
    "step": {"limit": 40, "mark_packets": 10},
    "red": {"limit": 60_000, "min": 8_000, "max": 24_000, "burst": 10},
    "cake": {"memlimit_bytes": 150_000},
}
"""Limits that are reached on a slow link; any other queue that counts packets gets 40."""
_MORE_QUEUES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "drop_tail": ({"bytes": "30 kB"}, {"size": "0.5 bdp"}),
    "tbf": ({"rate_bps": 8_000_000, "peak_bps": 9_000_000},),
    "step": ({"limit": 40, "mark_ms": 5.0},),
    "fq": ({"maxrate_bps": 3_000_000}, {"ce_threshold_ms": 3.0}),
    "codel": ({"ce_threshold_ms": 3.0, "ecn": True},),
    "fq_codel": ({"flows": 1, "size": "1 bdp"},),
    "cake": ({"bandwidth_bps": 6_000_000}, {"overhead": 18, "mpu": 64}),
}
"""What switches and choices do not say."""


def _queues() -> Iterator[Case]:
    """Four classes of traffic, one with marks, and an upload, between hosts of which two have two flows."""
    flows = [
        {"cca": "cubic", "hosts": ["a", "x"]},
        {"cca": "prague", "hosts": ["a", "y"], "tcp": {"ecn": True}},
        {"cca": "reno", "hosts": ["b", "x"], "dscp": "cs1", "tcp": {"ecn": True}},
        {"cca": "bbr1", "hosts": ["c", "x"], "direction": "reverse"},
        {"workload": {"kind": "udp", "rate": "1 Mbit/s", "spacing": "poisson"}, "dscp": "ef"},
    ]
    record = {"interval": "100 ms", "packets": ["bottleneck"]}
    for name, entry in catalogue.queues().items():
        sized = _SIZED.get(name, {"limit": 40} if "limit" in entry.params else {})
        variants = [("", sized)]
        variants += [(f", {what}", {**sized, **values}) for what, values in _variants(entry)]
        variants += [(f", {' '.join(values)}", values) for values in _MORE_QUEUES.get(name, ())]
        for what, values in variants:
            link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": name, **values}}
            yield f"queue {name}{what}", _dumbbell(*flows, link=link, record=record)


_IMPAIRMENTS: Mapping[str, Mapping[str, Any]] = {
    "loss bernoulli": {"loss": {"kind": "bernoulli", "probability": 0.01}},
    "loss periodic": {"loss": {"kind": "periodic", "every": 150}},
    "loss gilbert_elliott": {
        "loss": {"kind": "gilbert_elliott", "worsens": 0.01, "improves": 0.3, "bad": 0.8, "good": 0.001}
    },
    "loss replay packets": {"loss": {"kind": "replay", "packets": [40, 41, 90], "period": 400}},
    "loss replay file": {"loss": {"kind": "replay", "file": str(HERE / "losses.txt")}},
    "loss replay file repeat": {"loss": {"kind": "replay", "file": str(HERE / "losses.txt"), "repeat": True}},
    "jitter uniform": {"jitter": {"spread": "4 ms"}},
    "jitter normal": {"jitter": {"spread": "4 ms", "shape": "normal"}},
    "jitter reorder": {"jitter": {"spread": "4 ms", "reorder": True}},
    "detour": {"detour": {"every": 40, "extra": "8 ms", "from": "200 ms", "until": "1500 ms"}},
    "duplicate": {"duplicate": 0.02},
    "batch": {"batch": "7 ms"},
    "everything": {
        "loss": {"kind": "bernoulli", "probability": 0.003},
        "jitter": {"spread": "2 ms"},
        "detour": {"every": 60, "extra": "8 ms"},
        "duplicate": 0.01,
        "batch": "2 ms",
    },
}
_SERVICES: Mapping[str, Mapping[str, Any]] = {
    "frames": {"frames": {"every": "5 ms", "size": "6 kB"}},
    "trace mahimahi": {"trace": {"file": str(HERE / "opportunities.trace")}},
    "trace mahimahi offset": {
        "trace": {"file": str(HERE / "opportunities.trace"), "offset": "9 ms", "opportunity": "4000 B"}
    },
    "trace csv": {"trace": {"kind": "csv", "file": str(HERE / "steps.csv"), "offset": "100 ms"}},
    "trace csv once": {"trace": {"kind": "csv", "file": str(HERE / "steps.csv"), "repeat": False}},
}
"""In place of a rate."""
_LOW, _HIGH = {"rate": "4 Mbit/s", "delay": "5 ms"}, {"rate": "12 Mbit/s", "delay": "20 ms"}
_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "change of rate": {"changes": [{"at": "500 ms", "rate": "3 Mbit/s"}, {"at": "1 s", "rate": "20 Mbit/s"}]},
    "change of rate to 0": {
        "changes": [{"at": "700 ms", "rate": "0 bit/s"}, {"at": "900 ms", "rate": "10 Mbit/s"}]
    },
    "change of delay": {"changes": [{"at": "500 ms", "delay": "30 ms"}, {"at": "1 s", "delay": "5 ms"}]},
    "change of loss": {
        "changes": [
            {"at": "300 ms", "loss": {"kind": "periodic", "every": 50}},
            {"at": "1 s", "loss": {"kind": "bernoulli", "probability": 0.0}},
        ]
    },
    "change of limit": {"changes": [{"at": "300 ms", "packets": 8}, {"at": "1 s", "packets": 60}]},
    "change of limit in bytes": {
        "queue": {"kind": "drop_tail", "bytes": "40 kB"},
        "changes": [{"at": "300 ms", "bytes": "9 kB"}],
    },
    "shape ramp": {
        "shapes": [
            {"kind": "ramp", "at": "200 ms", "over": "600 ms", "step": "50 ms", "to": {"rate": "3 Mbit/s"}},
            {
                "kind": "ramp",
                "at": "1 s",
                "over": "500 ms",
                "step": "50 ms",
                "from": {"delay": "10 ms"},
                "to": {"delay": "40 ms"},
            },
        ]
    },
    "shape spike": {
        "shapes": [
            {"kind": "spike", "at": "300 ms", "lasts": "60 ms", "every": "500 ms", "to": {"delay": "60 ms"}},
            {"kind": "spike", "at": "1 s", "lasts": "60 ms", "to": {"packets": 4}},
        ]
    },
    "shape cycle": {
        "shapes": [{"kind": "cycle", "at": "100 ms", "every": "300 ms", "states": [_LOW, _HIGH]}]
    },
    **{
        f"shape wave {shape}": {
            "shapes": [
                {
                    "kind": "wave",
                    "at": "100 ms",
                    "shape": shape,
                    "period": "600 ms",
                    "low": _LOW,
                    "high": _HIGH,
                    **({} if shape == "square" else {"step": "20 ms"}),
                }
            ]
        }
        for shape in ("sine", "triangle", "sawtooth", "square")
    },
    **{
        f"shape wander{', neighbours' if neighbours else ''}": {
            "shapes": [
                {
                    "kind": "wander",
                    "at": "0 s",
                    "mean": "200 ms",
                    "neighbours": neighbours,
                    "states": [_LOW, {"rate": "8 Mbit/s"}, _HIGH],
                }
            ]
        }
        for neighbours in (False, True)
    },
}


def _links() -> Iterator[Case]:
    """Every packet that the receiver gets, and every ACK: what a link does shows in them first."""
    flows = ({"cca": "cubic"}, {"cca": "bbr1"}, PROBE)
    record = {"interval": "100 ms", "packets": ["sender", "receiver"]}
    for name, values in {**_IMPAIRMENTS, **_CHANGES}.items():
        yield f"link {name}", _dumbbell(*flows, link={**LINK, **values}, record=record)
    for name, values in _SERVICES.items():
        link = {"delay": "10 ms", "queue": LINK["queue"], **values}
        yield f"link {name}", _dumbbell(*flows, link=link, record=record)
    for name in ("loss bernoulli", "jitter uniform", "duplicate", "batch"):
        back = {"reverse": {**LINK, **_IMPAIRMENTS[name]}}
        yield f"link {name} of ACKs", _dumbbell(*flows, topology=back, record=record)
    thin = {"reverse": {**LINK, "thin": 4}}
    yield "link thin", _dumbbell(*flows, topology=thin, record=record)


_TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "segments": {"mss": "1000 B", "timestamps": False, "link_overhead": "20 B"},
    "delayed ACKs": {"ack_every": 3, "delayed_ack_timeout": "10 ms"},
    "no SACK compression": {"sack_compression": False},
    "initial window": {"initial_window": 40},
    "buffers": {"send_buffer": "30 kB", "receive_buffer": "40 kB"},
    "send buffer limited by the network": {"send_buffer": "30 kB", "full_send_buffer": "network_limited"},
    "pacing always": {"pacing": "always", "max_burst": "off"},
    "pacing fq": {"pacing": "fq"},
    "bursts": {"max_burst": "20 kB", "min_burst": 4},
    "gro": {"gro": "200 us"},
    "ecn": {"ecn": True},
    "accecn": {"ecn": "accecn"},
    "ns-3 samples": {"rate_sample": "ns3_3.40", "invalid_rate_samples": "repeated"},
    "Linux written out": {
        "rate_sample": "linux",
        "invalid_rate_samples": "discarded",
        "rescue_retransmit": "none",
        "full_send_buffer": "app_limited",
    },
    "rescue rfc6675": {"rescue_retransmit": "rfc6675"},
    "rescue unbounded": {"rescue_retransmit": "unbounded"},
}


def _transports() -> Iterator[Case]:
    """Cubic, BBR and a flow that ends, through a queue that marks or drops, with some loss."""
    flows = ({"cca": "cubic"}, {"cca": "bbr1"}, {"cca": "reno", "start": "500 ms", "size": "200 kB"})
    link = {
        **LINK,
        "queue": {"kind": "step", "limit": 25, "mark_packets": 12},
        "loss": {"kind": "bernoulli", "probability": 0.005},
    }
    record = {"interval": "100 ms", "packets": ["sender", "receiver"]}
    for name, values in _TRANSPORTS.items():
        yield f"tcp {name}", _dumbbell(*flows, link=link, tcp=values, record=record)


_SIZES: Mapping[str, Any] = {
    "constant": "20 kB",
    "exponential": {"kind": "exponential", "mean": "20 kB"},
    "lognormal": {"kind": "lognormal", "mean": "20 kB", "sigma": 1.5},
    "pareto": {"kind": "pareto", "shape": 1.3, "min": "2 kB", "max": "1 MB"},
    "web_search": "web_search",
    "data_mining": "data_mining",
    "cdf": {"kind": "cdf", "points": [["1 kB", 0.5], ["30 kB", 1.0]]},
}
_WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "bulk": {"kind": "bulk"},
    "cbr": {"kind": "cbr", "rate": "3 Mbit/s"},
    "cbr drop": {"kind": "cbr", "rate": "20 Mbit/s", "write": "4000 B", "when_full": "drop"},
    "on_off": {"kind": "on_off", "on": "200 ms", "off": "100 ms"},
    "on_off rate": {
        "kind": "on_off",
        "on": "200 ms",
        "off": "100 ms",
        "periods": "exponential",
        "rate": "8 Mbit/s",
        "write": "3000 B",
        "when_full": "drop",
    },
}
_FETCHED: Mapping[str, Mapping[str, Any]] = {
    **{f"poisson {n}": {"kind": "poisson", "sizes": s, "interval": "40 ms"} for n, s in _SIZES.items()},
    "poisson load": {"kind": "poisson", "sizes": "20 kB", "load": 0.5},
    "poisson load of": {"kind": "poisson", "sizes": "20 kB", "load": 0.5, "of": "5 Mbit/s"},
    "request_response": {"kind": "request_response", "response": "20 kB", "think": "10 ms"},
    "request_response random": {
        "kind": "request_response",
        "request": {"kind": "exponential", "mean": "2 kB"},
        "response": {"kind": "exponential", "mean": "30 kB"},
        "think": {"kind": "exponential", "mean": "20 ms"},
    },
    "web": {"kind": "web"},
    "web own": {
        "kind": "web",
        "think": "50 ms",
        "objects": [3, 12],
        "sizes": "8 kB",
        "connections": 3,
        "request": "900 B",
    },
    "video rate": {
        "kind": "video",
        "bitrates": ["1 Mbit/s", "2 Mbit/s", "6 Mbit/s"],
        "chunk": "200 ms",
        "buffer": "1 s",
        "startup": "400 ms",
        "rule": {"kind": "rate", "safety": 0.8},
        "request": "300 B",
    },
    "video buffer": {
        "kind": "video",
        "chunk": "200 ms",
        "buffer": "1 s",
        "startup": "400 ms",
        "rule": "buffer",
    },
}
_DATAGRAMS: Mapping[str, Mapping[str, Any]] = {
    "udp": {"kind": "udp", "rate": "4 Mbit/s"},
    "udp poisson": {
        "kind": "udp",
        "rate": "8 Mbit/s",
        "size": "500 B",
        "spacing": "poisson",
        "on": "100 ms",
        "off": "50 ms",
        "periods": "exponential",
    },
    "voip": {"kind": "voip"},
    "voip own": {"kind": "voip", "frame": "10 ms", "payload": "80 B"},
    "ping": {"kind": "ping", "interval": "20 ms", "size": "1000 B"},
    "probe": {"kind": "probe", "interval": "20 ms"},
    "probe one way": {"kind": "probe", "interval": "20 ms", "size": "200 B", "round_trip": False},
}


def _workloads() -> Iterator[Case]:
    """Each three times, from a random time until shortly before the end, beside one that fills the link."""
    times = {"count": 3, "start": "100 ms", "start_jitter": "100 ms", "stop": "1800 ms"}
    record = {"interval": "100 ms", "packets": ["sender", "receiver"]}
    for name, workload in _WRITTEN.items():
        flow = {"cca": "reno", "workload": workload, "tcp": {"send_buffer": "40 kB"}, **times}
        yield f"workload {name}", _dumbbell(CUBIC, flow, record=record)
    for name, workload in _FETCHED.items():
        yield f"workload {name}", _dumbbell(CUBIC, {"cca": "reno", "workload": workload, **times})
    for name, workload in _DATAGRAMS.items():
        yield f"workload {name}", _dumbbell(CUBIC, {"workload": workload, **times}, record=record)
    paces = [{"at": "200 ms", "rate": "2 Mbit/s"}, {"at": "900 ms", "rate": "0 bit/s"}, {"at": "1200 ms"}]
    yield "flow paces", _dumbbell(CUBIC, {"cca": "bbr1", "application": paces}, record=record)
    yield "flow sizes", _dumbbell({"cca": "cubic", "size": "60 kB", **times}, CUBIC, record=record)
    named = {"cca": "cubic", "name": "named", "stream": "own", **times}
    yield "flow name and stream", _dumbbell(named, PROBE, warmup="500 ms", record={"interval": "off"})


def _networks() -> Iterator[Case]:
    """What joins the links, and the ways through them."""
    access = {"rate": "50 Mbit/s", "delay": "2 ms", "queue": {"kind": "fq_codel"}}
    slow = {"cca": "reno", "access": {"rate": "6 Mbit/s", "delay": "7 ms"}}
    record = {"interval": "100 ms", "packets": ["sender", "receiver"], "variables": True}
    yield "dumbbell access", _dumbbell(CUBIC, slow, PROBE, topology={"access": access}, record=record)
    uploads = ({"cca": "cubic", "direction": "reverse"}, {**PROBE, "direction": "reverse"})
    back = {"reverse": {"rate": "3 Mbit/s", "delay": "10 ms", "queue": {"kind": "codel"}}}
    yield "dumbbell uploads", _dumbbell(CUBIC, *uploads, record=record)
    yield "dumbbell reverse", _dumbbell(CUBIC, *uploads, topology=back, record=record)
    yield "dumbbell forward", _dumbbell({"cca": "cubic", "direction": "forward"}, record=record)

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


def _graph(moving: Mapping[str, Any]) -> dict[str, Any]:
    """A short way from a to d past b, and a longer one past c."""
    pairs = (("a", "b", "2 ms", "8 Mbit/s"), ("a", "c", "9 ms", "12 Mbit/s"), ("c", "b", "1 ms", "12 Mbit/s"))
    links = [
        {"from": a, "to": b, "delay": delay, "rate": rate, "duplex": True, "queue": LINK["queue"]}
        for a, b, delay, rate in (*pairs, ("b", "d", "3 ms", "10 Mbit/s"), ("c", "d", "5 ms", "6 Mbit/s"))
    ]
    links[0] |= {"name": "short", **moving}
    return {"kind": "graph", "nodes": ["a", "b", "c", "d"], "links": links}
