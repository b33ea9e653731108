"""Applications that write at a pace of their own."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError, run
from fullpipe.engines.native.plan import plan


def scenario(workload: dict[str, Any], **flow: Any) -> Scenario:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 20}}
    return Scenario(
        name="x",
        duration="2 s",
        topology={"kind": "dumbbell", "bottleneck": link},
        flows=[{"cca": "cubic", "workload": workload, **flow}],
    )


def planned(workload: dict[str, Any], **flow: Any) -> dict[str, Any]:
    found: dict[str, Any] = plan(scenario(workload, **flow))["flows"][0]["workload"]
    return found


CBR = {"kind": "cbr", "rate": "2 Mbit/s"}
ON_OFF = {"kind": "on_off", "on": "1 s", "off": "500 ms"}
SMALL = {"send_buffer": "64 KiB"}


def test_a_constant_rate_is_written_in_full_segments_unless_it_says_otherwise() -> None:
    assert planned(CBR) == {
        "kind": "writes",
        "rate_bps": 2_000_000,
        "write_bytes": 1448,
        "periods": None,
        "drops": False,
    }
    assert planned({**CBR, "write": "1 kB"})["write_bytes"] == 1000


def test_on_and_off_are_periods_without_a_rate() -> None:
    found = planned({**ON_OFF, "periods": "exponential"})
    assert found["rate_bps"] is None
    assert found["periods"] == {"on_ns": 10**9, "off_ns": 500_000_000, "exponential": True}


@pytest.mark.parametrize("workload", [CBR, ON_OFF])
def test_toml_out_and_in_is_the_same(workload: dict[str, Any]) -> None:
    made = scenario(workload)
    assert Scenario.from_toml(made.to_toml()) == made


def test_what_a_full_buffer_refuses_is_in_the_results() -> None:
    fast = {"kind": "cbr", "rate": "20 Mbit/s", "when_full": "drop"}
    flow = run(scenario(fast, tcp=SMALL), seed=1).flows.row(0, named=True)
    assert flow["refused_bytes"] > 2e6
    assert 5e6 - 2**16 - 1448 <= flow["delivered_bytes"] + flow["refused_bytes"] <= 5e6 + 1448


@pytest.mark.parametrize(
    ("workload", "flow", "message"),
    [
        ({"kind": "cbr"}, {}, "flows[0].workload.rate: missing"),
        ({**CBR, "when_full": "drop"}, {}, "flows[0].workload.when_full: the send buffer is never full"),
        ({**CBR, "write": "1 MB"}, {"tcp": SMALL}, "flows[0].workload.write: never fits"),
        ({**ON_OFF, "when_full": "drop"}, {"tcp": SMALL}, "write and when_full need a rate"),
        (CBR, {"size": "1 MB"}, "flows[0].size: cbr has no end of its own"),
        (CBR, {"application": [{"at": "0 s"}]}, "flows[0].application: cbr defines when it sends"),
        ({"kind": "on_off", "on": "0 s", "off": "1 s"}, {}, "flows[0].workload.on: must be at least"),
    ],
)
def test_a_mistake_is_told_with_its_place(
    workload: dict[str, Any], flow: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(workload, **flow)
    assert message in "\n".join(error.value.problems)


def test_the_table_of_a_run_says_how_much_was_refused(fullpipe: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "refused.toml"
    fast = {"kind": "cbr", "rate": "20 Mbit/s", "when_full": "drop"}
    file.write_text(scenario(fast, tcp=SMALL).to_toml(), encoding="utf-8")
    shown = " ".join(fullpipe("run", file).output.split())
    assert re.search(r"[23]\.\d MB", shown)
    (flow,) = json.loads(fullpipe("run", file, "--json").stdout)["flows"]
    assert 2e6 < flow["refused_bytes"] < 4e6
