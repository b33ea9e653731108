"""Wi-Fi cells: every preset, and what else a cell can say."""

from collections.abc import Iterator
from typing import Any

from tests.golden.common import ENDS, PROBE, Case

UDP = {"kind": "udp", "rate": "80 Mbit/s", "size": "1472 B"}
STATIONS = [
    {"node": "laptop", "rate": {"mcs": 5}, "errors": 0.05, "queue": {"packets": 60}},
    {"node": "phone", "streams": 1},
]
CHANGING = {"mean": "18 dB", "spread": "4 dB", "memory": "300 ms"}
HEARD = [
    {"node": "laptop", "rate": {"law": "minstrel"}, "snr": CHANGING},
    {"node": "phone", "rate": {"law": "ideal"}, "snr": CHANGING, "errors": 0.01},
]
SPOKEN: dict[str, dict[str, Any]] = {
    "n with RTS": {"standard": "802.11n", "band": "2.4 GHz", "width": "40 MHz", "rts": True},
    "ac": {"standard": "802.11ac", "width": "160 MHz", "guard_interval": "400 ns", "beacons": False},
    "ax": {
        "standard": "802.11ax",
        "width": "80 MHz",
        "guard_interval": "1600 ns",
        "control_rate": "6 Mbit/s",
    },
    "retries": {"standard": "802.11n", "width": "20 MHz", "retries": 2, "delay": "1 us", "bar": True},
    "one by one": {"standard": "802.11n", "release_each": True},
    "aggregates": {"standard": "802.11ac", "band": "5 GHz", "max_ampdu": "20 kB", "max_ampdu_mpdus": 9},
}


def cases() -> Iterator[Case]:
    """Two stations, a download and an upload of each, and datagrams."""
    for preset in ("home-ax", "old-11n", "ns3", "p4-host"):
        yield (
            f"wifi {preset}",
            _around({"preset": preset, "stations": [{"node": "laptop"}, {"node": "phone"}]}),
        )
    yield "wifi noise", _around({"standard": "802.11ac", "stations": HEARD, "queue": {"packets": 200}})
    home = {"preset": "home-ax", "stations": [{"node": "laptop"}, {"node": "phone", "rate": {"mcs": 2}}]}
    unlimited = {"small_queues": False, "gro": "0 s"}
    yield "wifi mac80211, two aggregates", _around({**home, "queue": {"kind": "mac80211", "aql": False}})
    yield "wifi mac80211, hosts without limits", {**_around(home), "tcp": unlimited}
    yield "wifi mac80211, a millisecond in hosts", {**_around(home), "tcp": {"pacing_shift": 10}}
    for name, said in SPOKEN.items():
        yield f"wifi {name}", _around({**said, "streams": 2, "stations": STATIONS, "queue": {"packets": 200}})


def _around(cell: dict[str, Any]) -> dict[str, Any]:
    flows: list[dict[str, Any]] = [
        {"cca": "cubic", "station": "laptop"},
        {"cca": "bbr3", "station": "phone", "upload": True},
        {"workload": UDP, "station": "laptop", "upload": False, "start": "500 ms", "stop": "700 ms"},
        {**PROBE, "station": "phone"},
    ]
    return {
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"cell": "home"}, "access": {"delay": "5 ms"}},
        "cells": [{"name": "home", "kind": "wifi", "hub": "router", **cell}],
        "flows": flows,
        "record": {**ENDS, "variables": True},
    }
