"""Links: everything that they do to packets, and how they change."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.golden.common import ENDS, HERE, LINK, PROBE, Case, dumbbell

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
    "wifi_jitter": {"wifi_jitter": "7 ms"},
    "recorded_jitter": {"recorded_jitter": {"file": str(HERE / "delays.txt")}},
    "recorded_jitter interpolated": {
        "recorded_jitter": {"file": str(HERE / "delays.txt"), "draw": "interpolated", "reorder": True}
    },
    "detour": {"reordering": {"every": 40, "extra": "8 ms", "from": "200 ms", "until": "1500 ms"}},
    "arq": {"arq": {"probability": 0.1, "delay": "8 ms"}},
    "duplicate": {"duplicate": 0.02},
    "batch": {"aggregation": "7 ms"},
    "everything": {
        "loss": {"kind": "bernoulli", "probability": 0.003},
        "jitter": {"spread": "2 ms"},
        "reordering": {"every": 60, "extra": "8 ms"},
        "duplicate": 0.01,
        "aggregation": "2 ms",
    },
}
_SERVICES: Mapping[str, Mapping[str, Any]] = {
    "frames": {"frames": {"every": "5 ms", "size": "6 kB"}},
    "trace mahimahi": {"trace": {"file": str(HERE / "opportunities.trace")}},
    "trace mahimahi offset": {
        "trace": {"file": str(HERE / "opportunities.trace"), "offset": "9 ms", "opportunity": "4000 B"}
    },
    "trace mahimahi light": {
        "trace": {
            "file": str(HERE / "opportunities.trace"),
            "light": {"file": str(HERE / "trains.txt"), "idle": "1 ms"},
        }
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


_DEVICES: Mapping[str, Mapping[str, Any]] = {
    "below a shaper": {
        "rate": "20 Mbit/s",
        "queue": {"kind": "tbf", "rate_bps": 8_000_000, "burst_bytes": 40_000, "packets": 12},
        "changes": [{"at": "700 ms", "rate": "30 Mbit/s"}],
    },
    "below CoDel": {"queue": {"kind": "codel"}},
}


def cases() -> Iterator[Case]:
    """Every packet that the receiver gets, and every ACK: what a link does shows in them first."""
    flows = ({"cca": "cubic"}, {"cca": "bbr1"}, PROBE)
    for name, values in {**_IMPAIRMENTS, **_CHANGES}.items():
        yield f"link {name}", dumbbell(*flows, link={**LINK, **values}, record=ENDS)
    for name, values in _SERVICES.items():
        link = {"delay": "10 ms", "queue": LINK["queue"], **values}
        yield f"link {name}", dumbbell(*flows, link=link, record=ENDS)
    for name, values in _DEVICES.items():
        link = {**LINK, "device_queue": {"packets": 10}, **values}
        yield f"link device {name}", dumbbell(*flows, link=link, record=ENDS)
    for name in ("loss bernoulli", "jitter uniform", "duplicate", "batch"):
        back = {"reverse": {**LINK, **_IMPAIRMENTS[name]}}
        yield f"link {name} of ACKs", dumbbell(*flows, topology=back, record=ENDS)
    thin = {"reverse": {**LINK, "ack_filter": 4}}
    yield "link thin", dumbbell(*flows, topology=thin, record=ENDS)
