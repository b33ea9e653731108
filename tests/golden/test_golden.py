"""Results must not move unnoticed: a few runs as integers.

A change that moves them on purpose says so in CHANGELOG.md under *Simulation results*, bumps MODEL_VERSION
and renews the table with `FULLPIPE_RENEW_GOLDEN=1 pytest tests/golden`.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import fullpipe

TABLE = Path(__file__).with_name("golden.json")
RENEW = "FULLPIPE_RENEW_GOLDEN" in os.environ


def cases() -> dict[str, dict[str, Any]]:
    """Scenarios of a few seconds that between them touch every part of the model."""
    link: dict[str, Any] = {
        "rate": "20 Mbit/s",
        "delay": "20 ms",
        "queue": {"kind": "drop_tail", "packets": 66},
    }
    small = {**link, "queue": {"kind": "drop_tail", "packets": 15}}
    lossy = {**link, "loss": {"kind": "bernoulli", "probability": 0.01}}
    return {
        "reno": {"bottleneck": link, "flows": [{"cca": "reno"}]},
        "cubic": {"bottleneck": link, "flows": [{"cca": "cubic"}]},
        "cubic-hystart++": {"bottleneck": link, "flows": [{"cca": {"kind": "cubic", "hystart": "rfc9406"}}]},
        "bbr1": {"bottleneck": link, "flows": [{"cca": "bbr1"}]},
        "bbr1-small-buffer": {
            "bottleneck": small,
            "flows": [{"cca": "bbr1", "count": 4}],
        },
        "mix-under-loss": {
            "bottleneck": lossy,
            "flows": [{"cca": "cubic"}, {"cca": "bbr1"}, {"cca": "reno"}],
        },
        "short-transfers": {"bottleneck": link, "flows": [{"cca": "cubic", "size": "100 kB", "count": 8}]},
        "ack-every-packet": {"bottleneck": link, "flows": [{"cca": "reno"}], "tcp": {"ack_every": 1}},
        "single-packets-paced": {
            "bottleneck": link,
            "flows": [{"cca": "cubic"}],
            "tcp": {"pacing": "always", "max_burst": "off"},
        },
        "small-buffers": {
            "bottleneck": link,
            "flows": [{"cca": "bbr1"}],
            "tcp": {"send_buffer": "64 KiB", "receive_buffer": "32 KiB"},
        },
    }


def measure(case: dict[str, Any]) -> dict[str, list[int]]:
    scenario = fullpipe.Scenario(
        name="golden",
        duration="5 s",
        topology={"kind": "dumbbell", "bottleneck": case["bottleneck"]},
        tcp=case.get("tcp", {}),
        flows=case["flows"],
        record={"interval": "off"},
    )
    run = fullpipe.run(scenario, seed=7)
    columns = ["sent_packets", "retransmitted_packets", "lost_packets", "delivered_bytes"]
    found = {column: [int(value) for value in run.flows[column]] for column in columns}
    found["dropped_packets"] = [int(value) for value in run.links_summary["dropped_packets"]]
    return found


@pytest.mark.parametrize("name", cases())
def test_results_have_not_moved(name: str) -> None:
    found = measure(cases()[name])
    if RENEW:
        table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
        table[name] = found
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == json.loads(TABLE.read_text(encoding="utf-8"))[name]
