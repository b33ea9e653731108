"""Algorithms: every one of the registry, with all switches, choices and presets, and two in Python."""

from collections.abc import Iterator
from typing import Any, ClassVar

from fullpipe.algorithms import Controller
from fullpipe.scenario import catalogue
from tests.golden.common import Case, dumbbell

_QUEUE = {"kind": "step", "limit": 25}
_MARKING = {"kind": "step", "limit": 25, "mark_packets": 12}
_RECORD = {"interval": "100 ms", "variables": True}
_PATHS: dict[str, dict[str, Any]] = {
    "policed": {"delay": "15 ms", "queue": {"kind": "police", "rate_bps": 4_000_000, "burst_bytes": 20_000}},
    "rough": {
        "delay": "15 ms",
        "queue": _QUEUE,
        "loss": {"kind": "gilbert_elliott", "worsens": 0.005, "improves": 0.2},
        "jitter": {"spread": "30 ms", "reorder": True},
    },
    "marking": {"delay": "2 ms", "queue": _MARKING},
    "changing": {
        "delay": "15 ms",
        "queue": {"kind": "step", "limit": 60},
        "changes": [{"at": "3 s", "delay": "40 ms"}, {"at": "7 s", "delay": "5 ms"}],
    },
    "short": {"delay": "100 us", "rate": "20 Mbit/s", "queue": {"kind": "step", "limit": 100}},
}


def cases() -> Iterator[Case]:
    """Each for 12 s, longer than BBR's probes of the RTT are apart: through a queue that drops, through one
    that marks, and over paths of many kinds."""
    for name, entry in catalogue.controllers().items():
        yield f"algorithm {name}", _shared(name)
        yield f"algorithm {name}, marks", _shared(name, ecn=True)
        yield f"algorithm {name}, paths", _paths(name)
        for param in entry.params.values():
            for value in param.choices or ([not param.default] if param.kind == "switch" else []):
                if value != param.default:
                    yield f"algorithm {name}, {param.name}={value}", _paths({"kind": name, param.name: value})
    for hooks in (PerRound, PerAck):
        yield f"algorithm in Python, {hooks.__name__}", _shared(hooks)


def _shared(cca: Any, *, ecn: bool = False) -> dict[str, Any]:
    """One flow, joined for some of the time by another."""
    link = {"rate": "5 Mbit/s", "delay": "15 ms", "queue": _MARKING if ecn else _QUEUE}
    other = {"cca": "cubic", "start": "2 s", "stop": "4 s"}
    tree = dumbbell({"cca": cca}, other, link=link, tcp={"ecn": ecn}, record=_RECORD)
    return {**tree, "duration": "12 s"}


def _paths(cca: Any) -> dict[str, Any]:
    """A flow over each of several links that share nothing, one more of them by an idle application."""
    links = [
        {"name": name, "from": name, "to": "end", "duplex": True, "rate": "5 Mbit/s", **path}
        for name, path in _PATHS.items()
    ]
    flows = [
        {"name": name, "cca": cca, "from": name, "to": "end", "tcp": {"ecn": name in ("marking", "short")}}
        for name in _PATHS
    ]
    paces = [{"at": "2 s", "rate": "1 Mbit/s"}, {"at": "4 s"}]
    flows += [{**flows[-1], "name": "paced", "application": paces}]
    topology = {"kind": "graph", "nodes": [*_PATHS, "end"], "links": links}
    return {"duration": "12 s", "topology": topology, "flows": flows, "record": _RECORD}


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
