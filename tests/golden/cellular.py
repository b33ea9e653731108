"""LTE and NR cells: every preset, and what else a cell can say."""

from collections.abc import Iterator
from typing import Any

from tests.golden.common import ENDS, PROBE, Case

CHANGING = {"mean": "15 dB", "spread": "4 dB", "memory": "300 ms"}
USERS: list[dict[str, Any]] = [
    {"node": "phone", "rate": {"mcs": 12}, "errors": 0.1, "queue": {"packets": 300}},
    {"node": "tablet", "rate": {"law": "cqi"}, "snr": CHANGING},
]
AWAY: list[dict[str, Any]] = [
    {**USERS[0], "handovers": [{"at": "300 ms", "gap": "40 ms"}]},
    {**USERS[1], "blockage": {"depth": "25 dB", "lasting": "50 ms", "free": "200 ms"}},
]
SPOKEN: dict[str, dict[str, Any]] = {
    "lte in time division": {
        "kind": "lte",
        "width": "10 MHz",
        "resource_blocks": 40,
        "pattern": "DSUDDDSUDD",
        "special": "6:4:4",
        "layers": 2,
        "scheduler": "round_robin",
        "processing": "2 ms",
        "delay": "1 ms",
        "uplink": {"request_period": "5 ms", "grant_delay": "4 ms", "first_grant": "200 B", "layers": 2},
    },
    "lte unacknowledged": {
        "kind": "lte",
        "fairness_slots": 50,
        "harq": {"round_trip": "9 ms", "tries": 2},
        "rlc": {"mode": "um", "reordering": "40 ms"},
        "cqi": {"period": "10 ms", "delay": "4 ms", "target_errors": 0.2},
    },
    "nr over satellites": {
        "kind": "nr",
        "delay": "1 ms",
        "satellites": {"at": "100 ms", "every": "150 ms", "low": "2 ms", "high": "9 ms"},
        "harq": {"tries": 2},
    },
    "nr with others": {
        "kind": "nr",
        "width": "40 MHz",
        "spacing": "30 kHz",
        "resource_blocks": 100,
        "pattern": "DDDSU",
        "special": "10:2:2",
        "rlc": {"mode": "am", "retransmission": "20 ms"},
        "harq": {"tries": 1},
        "users": AWAY,
        "background": {"users": 2, "load": 0.4, "burst": "30 ms"},
        "gaps": [{"at": "500 ms", "gap": "20 ms", "every": "200 ms"}],
        "drx": {"cycle": "40 ms", "on": "5 ms", "inactivity": "20 ms"},
        "scheduler": "proportional_fair",
    },
}


def cases() -> Iterator[Case]:
    """Two users, a download and an upload, datagrams and a probe."""
    for kind, presets in (("lte", ("lte-20mhz", "ns3")), ("nr", ("nr-100mhz", "nr-mmwave", "starlink-like"))):
        for preset in presets:
            yield f"{kind} {preset}", _around({"kind": kind, "preset": preset})
    for width in ("1.4 MHz", "3 MHz", "5 MHz", "15 MHz"):
        yield f"lte {width}", _around({"kind": "lte", "width": width})
    yield "nr 60 kHz", _around({"kind": "nr", "width": "50 MHz", "spacing": "60 kHz", "pattern": "DDSU"})
    for name, said in SPOKEN.items():
        yield name, _around(said)


def _around(cell: dict[str, Any]) -> dict[str, Any]:
    udp = {"kind": "udp", "rate": "20 Mbit/s", "size": "1400 B"}
    flows: list[dict[str, Any]] = [
        {"cca": "cubic", "station": "phone"},
        {"cca": "bbr3", "station": "tablet", "upload": True},
        {"workload": udp, "station": "phone", "start": "500 ms", "stop": "700 ms"},
        {**PROBE, "station": "tablet"},
    ]
    return {
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"cell": "mast"}, "access": {"delay": "5 ms"}},
        "cells": [{"name": "mast", "hub": "base", "users": USERS, "queue": {"bytes": "500 kB"}, **cell}],
        "flows": flows,
        "record": {**ENDS, "variables": True},
    }
