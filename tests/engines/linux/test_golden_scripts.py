"""Scripts of the guest must not move unnoticed: a digest of each, with the files that go with it.

A change that moves them on purpose renews the table with `FULLPIPE_RENEW_GOLDEN=1 pytest` of this file.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.layout import lay_out
from fullpipe.engines.linux.script import departures, script

TABLE = Path(__file__).with_name("scripts.json")
RENEW = "FULLPIPE_RENEW_GOLDEN" in os.environ
KERNEL = ("reno", "bbr", "cubic", "dctcp", "westwood", "vegas")

NAMED = (
    *("adbbr2025-fairness", "adbbr2025-join-leave", "adbbr2025-latency", "adbbr2025-loss"),
    *("adbbr2025-retransmissions", "bbr1-rtt-fairness", "cubic-vs-bbr1", "kato2025", "parking-lot", "rrul"),
    *("single-bbr1", "single-cubic", "single-reno"),
)
BOTTLENECK = "topology.bottleneck"
SHAPER = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 5000, "packets": 20}
POLICER = {"kind": "police", "rate_bps": 5_000_000, "burst_bytes": 30_000}
RAMP = {"kind": "ramp", "at": "1 s", "over": "1 s", "step": "100 ms", "to": {"rate": "5 Mbit/s"}}
OUTAGE = [{"at": "1 s", "rate": "0 bit/s"}, {"at": "1500 ms", "rate": "10 Mbit/s"}]
POISSON = {"kind": "udp", "rate": "1 Mbit/s", "spacing": "poisson", "on": "50 ms", "off": "50 ms"}
BURSTS = {"kind": "gilbert_elliott", "worsens": 0.01, "improves": 0.3, "good": 0.0, "bad": 0.5}

VARIANTS: dict[str, dict[str, Any]] = {
    **{
        f"queue-{kind}": {f"{BOTTLENECK}.queue": {"kind": kind}}
        for kind in ("fq", "red", "codel", "fq_codel", "pie", "fq_pie", "dualpi2", "cake")
    },
    "queue-step": {f"{BOTTLENECK}.queue": {"kind": "step", "mark_ms": 5.0}, "tcp.ecn": True},
    "queue-bytes": {f"{BOTTLENECK}.queue": {"kind": "drop_tail", "bytes": "30 kB"}},
    "shaper": {BOTTLENECK: {"delay": "10 ms", "queue": SHAPER}},
    "shaper-that-changes": {
        BOTTLENECK: {"delay": "10 ms", "queue": SHAPER, "changes": [{"at": "2 s", "rate": "5 Mbit/s"}]}
    },
    "policer": {f"{BOTTLENECK}.queue": POLICER},
    "policer-without-a-rate": {BOTTLENECK: {"delay": "10 ms", "queue": POLICER}},
    "periodic-loss": {f"{BOTTLENECK}.loss": {"kind": "periodic", "every": 100}},
    "random-loss": {f"{BOTTLENECK}.loss": {"kind": "bernoulli", "probability": 0.05}},
    "bursts-of-loss": {f"{BOTTLENECK}.loss": BURSTS},
    "copies": {f"{BOTTLENECK}.duplicate": 0.02},
    "jitter": {f"{BOTTLENECK}.jitter": {"spread": "2 ms"}},
    "jitter-that-reorders": {f"{BOTTLENECK}.jitter": {"spread": "2 ms", "reorder": True}},
    "changes": {
        f"{BOTTLENECK}.changes": [
            {"at": "1 s", "rate": "5 Mbit/s"},
            {"at": "2 s", "delay": "5 ms", "packets": 5},
            {"at": "3 s", "loss": {"kind": "bernoulli", "probability": 0.1}},
        ]
    },
    "ramp": {f"{BOTTLENECK}.shapes": [RAMP]},
    "outage": {f"{BOTTLENECK}.changes": OUTAGE},
    "outage-of-a-shaper": {BOTTLENECK: {"delay": "10 ms", "queue": SHAPER, "changes": OUTAGE}},
    "tcp-options": {
        "tcp": {
            "mss": "1420 B",
            "timestamps": False,
            "ack_every": 1,
            "ecn": True,
            "sack_compression": False,
            "initial_window": 32,
            "receive_buffer": "1 MB",
            "max_burst": "off",
            "min_burst": 1,
            "pacing": "fq",
        }
    },
    "host": {"tcp": {"host": "linux-defaults", "send_memory_most": "8 MiB"}},
    "always-paced": {"tcp.pacing": "always", "flows.0.dscp": 46, "flows.0.cca": "dctcp", "tcp.ecn": "accecn"},
    "application": {
        "flows.0.application": [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "2 s"}],
        "flows.0.count": 3,
        "flows.0.start_jitter": "50 ms",
        "flows.0.stop": "3 s",
    },
    "datagrams": {
        "flows": [
            {"workload": {**POISSON, "periods": "exponential"}},
            {"workload": {"kind": "voip"}},
            {"workload": {"kind": "ping", "interval": "20 ms"}, "direction": "reverse"},
            {"workload": {"kind": "probe", "interval": "3 ms"}},
            {"cca": "cubic", "size": "1 MB"},
        ]
    },
    "access": {
        "topology.access": {"delay": "5 ms", "rate": "1 Gbit/s", "queue": {"kind": "fq_codel"}},
        "flows.0.count": 2,
    },
    "both-directions": {"flows": [{"cca": "cubic"}, {"cca": "reno", "direction": "reverse"}]},
}

TWO_WAYS = """
name = "two ways"
duration = "4 s"
[topology]
kind = "graph"
nodes = ["a", "m", "b", "c"]
links = [
    { name = "fast", from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms", duplex = true },
    { name = "slow", from = "a", to = "m", rate = "10 Mbit/s", delay = "50 ms", duplex = true },
    { name = "last", from = "m", to = "b", rate = "9 Mbit/s", delay = "1 ms", duplex = true },
    { name = "side", from = "m", to = "c", rate = "8 Mbit/s", delay = "2 ms", duplex = true },
]
[[flows]]
cca = "reno"
from = "a"
to = "b"
reroutes = [{ at = "2 s", via = ["slow"] }]
[[flows]]
cca = "cubic"
from = "b"
to = "c"
count = 2
[[flows]]
from = "c"
to = "a"
workload = { kind = "ping", interval = "100 ms" }
"""


def scenario(name: str, small: Scenario) -> Scenario:
    """A feature on the small scenario, two ways, or a named one at an end of its sweep."""
    if name in VARIANTS:
        return small.with_values(VARIANTS[name])
    if name == "two-ways":
        return Scenario.from_toml(TWO_WAYS)
    named, point = name.split("/")
    return list(Scenario.named(named).expand())[0 if point == "first" else -1]


def digest(scenario: Scenario) -> str:
    """Of the script, and of the times at which datagrams leave."""
    network = lay_out(scenario, 7)
    found = hashlib.sha256(script(scenario, network, KERNEL).encode())
    for name, times in departures(network).items():
        found.update(name.removeprefix("departures.").encode() + times)
    return found.hexdigest()[:16]


ENDS = [f"{name}/{end}" for name in NAMED for end in ("first", "last")]


@pytest.mark.parametrize("name", [*ENDS, *VARIANTS, "two-ways"])
def test_a_script_has_not_moved(name: str, small: Scenario) -> None:
    found = digest(scenario(name, small))
    if RENEW:
        table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
        table[name] = found
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == json.loads(TABLE.read_text(encoding="utf-8"))[name]
