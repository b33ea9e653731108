"""The capacity of the path of flows, above which no ellipse is drawn."""

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.analysis.expected import capacity_bps
from fullpipe.scenario import resolve

BASE: dict[str, Any] = {
    "name": "capacity",
    "duration": "1 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "50 Mbit/s", "delay": "5 ms"},
        "reverse": {"rate": "10 Mbit/s", "delay": "5 ms"},
    },
    "flows": [
        {"cca": "cubic", "name": "one"},
        {"cca": "cubic", "name": "two"},
        {"cca": "cubic", "name": "up", "upload": True},
    ],
}


@pytest.mark.parametrize(
    ("flows", "mbps"), [(["one"], 50), (["one", "two"], 50), (["up"], 10), (["one", "two", "up"], 60)]
)
def test_every_narrowest_link_counts_once(flows: list[str], mbps: float) -> None:
    assert capacity_bps(resolve(Scenario(**BASE)), flows) == mbps * 1e6


def test_a_link_whose_rate_changes_has_no_capacity() -> None:
    changes = [{"at": "500 ms", "rate": "80 Mbit/s"}]
    scenario = Scenario(**BASE).with_values({"topology.bottleneck.changes": changes})
    assert capacity_bps(resolve(scenario), ["one"]) is None
    assert capacity_bps(resolve(scenario), ["up"]) == 10e6


def test_no_flow_has_no_capacity() -> None:
    assert capacity_bps(resolve(Scenario(**BASE)), []) is None
