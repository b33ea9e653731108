"""Notes on scenarios: valid settings that are probably unintended."""

from __future__ import annotations

from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario
from fullpipe.scenario import scenario_names

TBF = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 12_500, "packets": 100}
WHERE = "topology.bottleneck"


def shaped(**bottleneck: Any) -> list[str]:
    topology = {"kind": "dumbbell", "bottleneck": {"delay": "10 ms", **bottleneck}}
    return Scenario(name="shaped", duration="9 s", topology=topology, flows=[{"cca": "cubic"}]).notes()


def changed(to: str, **bottleneck: Any) -> list[str]:
    return shaped(**bottleneck, changes=[{"at": "5 s", "rate": to}])


def test_a_bucket_without_a_rate_has_a_note() -> None:
    assert shaped(rate="20 Mbit/s", queue={"kind": "tbf", "packets": 100}) == [
        f"{WHERE}.queue: tbf shapes to its default, 100 Mbit/s, whatever the link's rate; write rate_bps"
    ]


def test_a_bucket_without_a_limit_has_a_note() -> None:
    assert shaped(queue={"kind": "tbf", "rate_bps": 10_000_000}) == [
        f"{WHERE}.queue: tbf has no limit and never drops; write packets or limit_bytes"
    ]


@pytest.mark.parametrize("limit", [{"packets": 9}, {"limit_bytes": 9000}, {"size": "1 bdp"}])
def test_any_limit_of_a_bucket_will_do(limit: dict[str, Any]) -> None:
    assert shaped(queue={"kind": "tbf", "rate_bps": 10_000_000, **limit}) == []


def test_a_shaper_that_needs_no_rate_and_no_limit_has_no_note() -> None:
    assert shaped(rate="20 Mbit/s", queue={"kind": "cake"}) == []


def test_a_change_of_a_shaper_above_its_device_has_a_note() -> None:
    shaped = {"rate": "100 Mbit/s", "queue": TBF, "device_queue": {"packets": 100}}
    assert changed("100 Mbit/s", **shaped) == []
    [told] = changed("200 Mbit/s", **shaped)
    assert told.startswith(
        f"{WHERE}.changes[0].rate: 200 Mbit/s is the new rate of the tbf, but the device that it feeds "
    )
    assert told.endswith("sends at most 100 Mbit/s")


def test_a_change_of_a_wire_above_its_shaper_has_a_note() -> None:
    shaped = {"rate": "5 Mbit/s", "queue": TBF}
    assert changed("10 Mbit/s", **shaped) == []
    [told] = changed("20 Mbit/s", **shaped)
    assert told.startswith(
        f"{WHERE}.changes[0].rate: 20 Mbit/s is the new rate of the wire, but the tbf in front of it "
    )
    assert told.endswith("passes at most 10 Mbit/s")


def test_a_shaper_on_a_link_without_a_rate_may_change_to_any() -> None:
    assert changed("200 Mbit/s", queue=TBF) == []


def test_a_shape_is_named_with_its_place() -> None:
    ramp = {"kind": "ramp", "at": "1 s", "over": "1 s", "step": "100 ms", "to": {"rate": "20 Mbit/s"}}
    [told] = shaped(rate="5 Mbit/s", queue=TBF, shapes=[ramp])
    assert told.startswith(f"{WHERE}.shapes[0].to.rate: 20 Mbit/s")


@pytest.mark.parametrize("name", scenario_names())
def test_scenarios_that_come_with_fullpipe_have_no_notes(name: str) -> None:
    assert Scenario.named(name).notes() == []


def test_a_node_without_a_link_is_noted() -> None:
    link = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "10 ms", "duplex": True}
    topology = {"kind": "graph", "nodes": ["a", "b", "c"], "links": [link]}
    flow = {"cca": "cubic", "from": "a", "to": "b"}
    [note] = Scenario(name="x", duration="10 s", topology=topology, flows=[flow]).notes()
    assert note == "topology.nodes: no link begins or ends at c"


def test_a_load_above_one_is_allowed_and_noted() -> None:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}}
    flow = {"cca": "cubic", "workload": {"kind": "poisson", "load": 1.5, "sizes": "14480 B"}}
    topology = {"kind": "dumbbell", "bottleneck": link}
    [note] = Scenario(name="x", duration="10 s", topology=topology, flows=[flow]).notes()
    assert "transfers accumulate" in note


def upload(queue: dict[str, Any]) -> Scenario:
    """An upload of a phone in an LTE cell."""
    return Scenario(
        name="x",
        duration="6 s",
        warmup="2 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"cell": "mast"},
            "access": {"rate": "10 Gbit/s", "delay": "10 ms"},
        },
        cells=[{"name": "mast", "kind": "lte", "users": [{"node": "phone", "snr": "14 dB", "queue": queue}]}],
        flows=[{"cca": "cubic", "direction": "reverse"}],
        record={"interval": "off"},
    )


@pytest.mark.parametrize(("kind", "key", "enough"), [("cake", "rtt_ms", 360), ("codel", "target_ms", 18)])
def test_a_queue_that_starves_uploads_is_noted_and_the_note_helps(kind: str, key: str, enough: float) -> None:
    """Every packet waits for a grant for 8 ms or more, and these queues allow for 5 ms."""
    short, long = upload({"kind": kind}), upload({"kind": kind, key: enough})
    [note] = short.notes()
    assert note.startswith(f"cells[0].users[0].queue: {kind} drops")
    assert f"write {key} = {enough} or" in note
    assert long.notes() == []
    slow_bps, fast_bps = (fullpipe.run(made).flows["goodput_bps"][0] for made in (short, long))
    assert fast_bps > 1.5 * slow_bps


def moving(*moves: tuple[str, str]) -> Scenario:
    """A handset with two cells in reach that begins in the first."""
    cells = [
        {
            "name": f"mast-{name}",
            "kind": "shared",
            "hub": f"gate-{name}",
            "rate": "30 Mbit/s",
            "delay": "5 ms",
            "stations": [{"node": "handset"}],
        }
        for name in ("a", "b")
    ]
    wire = {"to": "server", "rate": "1 Gbit/s", "delay": "10 ms", "duplex": True}
    nodes = ["handset", "gate-a", "gate-b", "server"]
    topology = {"kind": "graph", "nodes": nodes, "links": [{"from": gate, **wire} for gate in nodes[1:3]]}
    return Scenario(
        name="x",
        duration="60 s",
        topology=topology,
        cells=cells,
        mobility=[{"at": at, "node": "handset", "to": to} for at, to in moves],
        flows=[{"cca": "cubic", "from": "handset", "to": "server"}],
    )


def test_a_move_to_where_a_node_is_has_a_note() -> None:
    found = moving(("10 s", "mast-b"), ("20 s", "mast-b"))
    assert found.notes() == ['mobility[1]: "handset" moves to "mast-b", and no flow changes its route']


def test_a_move_after_the_end_has_a_note() -> None:
    notes = moving(("70 s", "mast-b")).notes()
    assert notes == ["mobility[0].at: 70 s is not before the end, 60 s: this change never happens"]
