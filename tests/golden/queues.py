"""Queues: every one of the registry, with each of its switches and choices."""

from collections.abc import Iterator, Mapping
from typing import Any

from fullpipe.scenario import catalogue
from tests.golden.common import Case, dumbbell

_SIZED: Mapping[str, Mapping[str, Any]] = {
    "drop_tail": {"packets": 25},
    "tbf": {"rate_bps": 8_000_000, "burst_bytes": 15_000, "packets": 25},
    "police": {"rate_bps": 8_000_000, "burst_bytes": 30_000},
    "step": {"limit": 40, "mark_packets": 10},
    "red": {"limit": 60_000, "min": 8_000, "max": 24_000, "burst": 10},
    "pie": {"limit": 80, "target_ms": 3.0, "tupdate_ms": 4.0},
    "fq_pie": {"limit": 80, "target_ms": 3.0, "tupdate_ms": 4.0},
    "cake": {"memlimit_bytes": 150_000},
}
"""Limits that are reached on a slow link; any other queue that counts packets gets 80."""
_MORE: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "drop_tail": ({"bytes": "30 kB"}, {"size": "0.5 bdp"}),
    "tbf": ({"rate_bps": 8_000_000, "peak_bps": 9_000_000},),
    "step": ({"limit": 40, "mark_ms": 5.0},),
    "red": ({"limit": 60_000, "min": 8_000, "max": 12_000, "burst": 6, "ecn": True, "harddrop": True},),
    "fq": ({"maxrate_bps": 3_000_000}, {"ce_threshold_ms": 3.0}),
    "codel": ({"ce_threshold_ms": 3.0, "ecn": True},),
    "fq_codel": ({"flows": 1, "size": "1 bdp"},),
    "pie": ({"limit": 1_000, "alpha": 1, "beta": 2, "ecn": True},),
    "fq_pie": ({"limit": 1_000, "alpha": 1, "beta": 2, "ecn": True},),
    "cake": ({"bandwidth_bps": 6_000_000}, {"overhead": 18, "mpu": 64}),
}
"""What switches and choices do not say."""
_ECN = {"tcp": {"ecn": True}}
_FLOWS = (
    {"cca": "cubic", "hosts": ["a", "x"]},
    {"cca": "cubic", "hosts": ["a", "x"], **_ECN},
    {"cca": "prague", "hosts": ["a", "y"], **_ECN},
    {"cca": "bbr1", "hosts": ["b", "x"]},
    {"cca": "reno", "hosts": ["b", "z"], "dscp": "cs1", **_ECN},
    {"cca": "cubic", "hosts": ["c", "x"], "dscp": "af41", **_ECN},
    {"cca": "cubic", "hosts": ["x", "c"], "direction": "reverse"},
    {"workload": {"kind": "udp", "rate": "1 Mbit/s", "size": "400 B", "spacing": "poisson"}, "dscp": "ef"},
)
"""Four classes of traffic, with marks and without, an upload, and datagrams; hosts share flows unevenly."""


def cases() -> Iterator[Case]:
    """Each with everything that leaves it."""
    record = {"interval": "100 ms", "packets": ["bottleneck"]}
    for name, entry in catalogue.queues().items():
        sized = _SIZED.get(name, {"limit": 80} if "limit" in entry.params else {})
        variants = {"": sized}
        for param in entry.params.values():
            for value in param.choices or ([not param.default] if param.kind == "switch" else []):
                if value != param.default:
                    variants[f", {param.name}={value}"] = {**sized, param.name: value}
        variants |= {f", {' '.join(values)}": values for values in _MORE.get(name, ())}
        for what, values in variants.items():
            link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": name, **values}}
            yield f"queue {name}{what}", dumbbell(*_FLOWS, link=link, record=record)
