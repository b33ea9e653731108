"""Notes on shapers: what they leave to their defaults, and rates that a link never gets to."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.scenario import scenario_names

TBF = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 12_500, "packets": 100}
WHERE = "topology.bottleneck"


def notes(**bottleneck: Any) -> list[str]:
    topology = {"kind": "dumbbell", "bottleneck": {"delay": "10 ms", **bottleneck}}
    return Scenario(name="shaped", duration="9 s", topology=topology, flows=[{"cca": "cubic"}]).notes()


def changed(to: str, **bottleneck: Any) -> list[str]:
    return notes(**bottleneck, changes=[{"at": "5 s", "rate": to}])


def test_a_bucket_without_a_rate_has_a_note() -> None:
    assert notes(rate="20 Mbit/s", queue={"kind": "tbf", "packets": 100}) == [
        f"{WHERE}.queue: tbf shapes to its default, 100 Mbit/s, whatever the link's rate; write rate_bps"
    ]


def test_a_bucket_without_a_limit_has_a_note() -> None:
    assert notes(queue={"kind": "tbf", "rate_bps": 10_000_000}) == [
        f"{WHERE}.queue: tbf has no limit and never drops; write packets or limit_bytes"
    ]


@pytest.mark.parametrize("limit", [{"packets": 9}, {"limit_bytes": 9000}, {"size": "1 bdp"}])
def test_any_limit_of_a_bucket_will_do(limit: dict[str, Any]) -> None:
    assert notes(queue={"kind": "tbf", "rate_bps": 10_000_000, **limit}) == []


def test_a_shaper_that_needs_no_rate_and_no_limit_has_no_note() -> None:
    assert notes(rate="20 Mbit/s", queue={"kind": "cake"}) == []


def test_a_change_of_a_shaper_above_its_device_has_a_note() -> None:
    shaped = {"rate": "100 Mbit/s", "queue": TBF, "device_queue": {"packets": 100}}
    assert changed("100 Mbit/s", **shaped) == []
    [told] = changed("200 Mbit/s", **shaped)
    assert told.startswith(
        f"{WHERE}.changes[0].rate: 200 Mbit/s is that of the tbf, and the device below it "
    )
    assert told.endswith("passes 100 Mbit/s at most")


def test_a_change_of_a_wire_above_its_shaper_has_a_note() -> None:
    shaped = {"rate": "5 Mbit/s", "queue": TBF}
    assert changed("10 Mbit/s", **shaped) == []
    [told] = changed("20 Mbit/s", **shaped)
    assert told.startswith(
        f"{WHERE}.changes[0].rate: 20 Mbit/s is that of the wire, and the tbf in front of it "
    )
    assert told.endswith("passes 10 Mbit/s at most")


def test_a_shaper_on_a_link_without_a_rate_may_change_to_any() -> None:
    assert changed("200 Mbit/s", queue=TBF) == []


def test_a_shape_is_named_with_its_place() -> None:
    ramp = {"kind": "ramp", "at": "1 s", "over": "1 s", "step": "100 ms", "to": {"rate": "20 Mbit/s"}}
    [told] = notes(rate="5 Mbit/s", queue=TBF, shapes=[ramp])
    assert told.startswith(f"{WHERE}.shapes[0].to.rate: 20 Mbit/s")


@pytest.mark.parametrize("name", scenario_names())
def test_scenarios_that_come_with_fullpipe_have_no_notes(name: str) -> None:
    assert Scenario.named(name).notes() == []
