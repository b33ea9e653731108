"""What applications do, and when."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.golden.common import CUBIC, ENDS, PROBE, Case, dumbbell

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
    "periodic": {"kind": "periodic", "sizes": "20 kB", "interval": "50 ms"},
    "periodic keep": {"kind": "periodic", "sizes": "40 kB", "interval": "50 ms", "keep": True},
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


def cases() -> Iterator[Case]:
    """Each three times, from a random time until shortly before the end, beside one that fills the link."""
    times = {"count": 3, "start": "100 ms", "start_jitter": "100 ms", "stop": "1800 ms"}
    for name, workload in _WRITTEN.items():
        flow = {"cca": "reno", "workload": workload, "tcp": {"send_buffer": "40 kB"}, **times}
        yield f"workload {name}", dumbbell(CUBIC, flow, record=ENDS)
    for name, workload in _FETCHED.items():
        yield f"workload {name}", dumbbell(CUBIC, {"cca": "reno", "workload": workload, **times})
    for name, workload in _DATAGRAMS.items():
        yield f"workload {name}", dumbbell(CUBIC, {"workload": workload, **times}, record=ENDS)
    paces = [{"at": "200 ms", "rate": "2 Mbit/s"}, {"at": "900 ms", "rate": "0 bit/s"}, {"at": "1200 ms"}]
    yield "flow paces", dumbbell(CUBIC, {"cca": "bbr1", "application": paces}, record=ENDS)
    yield "flow sizes", dumbbell({"cca": "cubic", "size": "60 kB", **times}, CUBIC, record=ENDS)
    named = {"cca": "cubic", "name": "named", "stream": "own", **times}
    yield "flow name and stream", dumbbell(named, PROBE, warmup="500 ms", record={"interval": "off"})
