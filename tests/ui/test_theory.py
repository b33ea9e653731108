"""Expected values from theory, unknown values, and the reference lines of figures."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.analysis.expected import Expected, expected
from fullpipe.cli.ui.understood import understood
from fullpipe.scenario import resolve
from tests.ui.conftest import what_if

PAYLOAD = 1448 / 1514
TWO = [{"cca": "cubic"}, {"cca": "bbr3"}]
SLOW = [{"rate": "5 Mbit/s"}] * 2


def named(name: str) -> Scenario:
    """A scenario that comes with fullpipe; of a sweep the first point."""
    scenario = Scenario.named(name)
    return scenario.expand()[0] if scenario.sweep else scenario


def rows(scenario: Scenario) -> list[Expected]:
    """Expected values of the links."""
    return expected(resolve(scenario))


def marks(scenario: Scenario) -> dict[str, tuple[float, str]]:
    """The reference lines of its figures."""
    found = understood(scenario, 1)["marks"].items()
    return {column: (mark["value"], mark["label"]) for column, mark in found}


def over(flows: list[dict[str, Any]] = TWO, **bottleneck: Any) -> Scenario:
    """Flows over a link of 20 Mbit/s and 20 ms, with what is given in addition."""
    queue = {"kind": "drop_tail", "packets": 66}
    link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": queue, **bottleneck}
    return Scenario(**what_if(flows=flows, topology={"kind": "dumbbell", "bottleneck": link}))


@pytest.mark.parametrize("name", ["wifi-home-ax", "5g", "starlink-like", "home-lte", "shared-uplink"])
def test_a_cell_has_no_fair_share(name: str) -> None:
    """The goodput of a station depends on air time, signal and load, so peak rates give no fair share."""
    found = rows(named(name))
    assert {row.unknown for row in found} == {"cell"}
    for row in found:
        assert row.fair_share_bps is row.window_packets is row.bdp_bytes is row.full_wait_s is None
    assert marks(named(name)).keys() <= {"backlog_packets"}


def test_a_trace_has_no_fair_share_and_no_single_rate() -> None:
    (row,) = rows(named("cellular"))
    assert row.unknown == "rate"
    assert row.fair_share_bps is row.bdp_bytes is row.full_wait_s is None
    (link, *_) = understood(named("cellular"), 1)["path"]["links"]
    assert link["holds"] == "on average"
    assert marks(named("cellular")) == {"backlog_packets": (400, "full"), "srtt_s": (0.04, "base RTT")}


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({"changes": [{"at": "2 s", "rate": "5 Mbit/s"}]}, "at first"),
        (
            {"shapes": [{"kind": "cycle", "at": "1 s", "every": "1 s", "states": SLOW}]},
            "at first",
        ),
        (
            {"shapes": [{"kind": "wander", "at": "0 s", "mean": "1 s", "states": SLOW}]},
            "at first",
        ),
        ({"rate": "20 Mbit/s", "changes": [{"at": "2 s", "rate": "20 Mbit/s"}]}, ""),
    ],
)
def test_a_rate_that_changes_leaves_the_fair_share_unknown(change: dict[str, Any], holds: str) -> None:
    scenario = over(**change)
    (row,) = rows(scenario)
    assert row.unknown == ("rate" if holds else "")
    assert (row.fair_share_bps is None) == bool(holds)
    assert ("goodput_bps" in marks(scenario)) == (not holds)
    assert understood(scenario, 1)["path"]["links"][0]["holds"] == holds


@pytest.mark.parametrize(
    "change",
    [
        {"changes": [{"at": "2 s", "delay": "60 ms"}]},
        {"jitter": {"spread": "5 ms"}},
        {"arq": {"probability": 0.1, "delay": "8 ms"}},
        {"batch": "10 ms"},
    ],
)
def test_a_delay_that_varies_leaves_bdp_and_base_rtt_unknown(change: dict[str, Any]) -> None:
    (row,) = rows(over(**change))
    assert row.fair_share_bps == pytest.approx(10e6 * PAYLOAD)
    assert row.rtt_s is row.bdp_bytes is row.window_packets is None
    assert marks(over(**change)).keys() == {"goodput_bps", "backlog_packets"}


def test_routes_that_change_leave_the_fair_share_unknown_and_the_wait_known() -> None:
    """Sologon 2025: 100 Mbit/s each, and a buffer of 2 BDP of the longer route, of 70 ms for the first."""
    found = rows(named("sologon2025-routes"))
    assert [row.unknown for row in found] == ["routes"] * 4
    assert [row.fair_share_bps for row in found] == [None] * 4
    assert found[0].full_wait_s == pytest.approx(2 * 0.07, rel=0.01)
    assert marks(named("sologon2025-routes")) == {}


def test_a_parking_lot_has_a_fair_share_on_three_links_and_no_common_rtt() -> None:
    found = rows(named("parking-lot"))
    assert [row.flows for row in found] == [2, 1, 1]
    assert [row.fair_share_bps for row in found] == [pytest.approx(10e6 * PAYLOAD)] * 3
    assert found[0].window_packets is None
    assert marks(named("parking-lot")).keys() == {"goodput_bps", "backlog_packets"}


def test_both_directions_of_a_line_have_their_own_theory() -> None:
    found = {row.link: row for row in rows(named("cable"))}
    assert found["bottleneck"].fair_share_bps == pytest.approx(250e6 * PAYLOAD, rel=1e-4)  # and a ping
    assert found["bottleneck-reverse"].full_wait_s == pytest.approx(0.25)
    assert marks(named("cable")).keys() == {"srtt_s"}


def test_flows_of_one_path_have_all_reference_lines() -> None:
    assert marks(over()) == {
        "goodput_bps": (pytest.approx(10e6 * PAYLOAD), "fair share of 2"),
        "srtt_s": (0.04, "base RTT"),
        "backlog_packets": (66, "full"),
        "cwnd_bytes": (pytest.approx(100_000 / 1514 / 2), "BDP / 2"),
    }


def test_a_flow_alone_has_its_bdp_and_no_fair_share_line() -> None:
    found = marks(over([{"cca": "cubic"}]))
    assert "goodput_bps" not in found
    assert found["cwnd_bytes"] == (pytest.approx(100_000 / 1514), "BDP")


def test_lines_that_differ_have_no_reference_line() -> None:
    far = [{"cca": "cubic"}, {"cca": "bbr3", "access": {"delay": "10 ms"}}]
    assert marks(over(far)).keys() == {"goodput_bps", "backlog_packets"}
    (row,) = rows(over(far))
    assert row.rtt_s == pytest.approx(0.08)
    assert row.window_packets is row.full_window_packets is None
    call = [*TWO, {"name": "call", "workload": "voip"}]
    assert marks(over(call)).keys() == {"srtt_s", "backlog_packets", "cwnd_bytes"}


def test_a_queue_of_bytes_has_a_line_only_if_all_its_packets_are_of_one_size() -> None:
    queue = {"kind": "drop_tail", "bytes": "151400 B"}
    assert marks(over(queue=queue))["backlog_packets"] == (pytest.approx(100), "full")
    ping = [*TWO, {"workload": "ping"}]
    assert "backlog_packets" not in marks(over(ping, queue=queue))
    assert rows(over(ping, queue=queue))[0].full_wait_s == pytest.approx(151_400 * 8 / 20e6)


def test_other_traffic_of_unknown_rate_leaves_the_fair_share_unknown() -> None:
    for more in (
        {"workload": "web"},
        {"size": "10 MB"},
        {"application": [{"at": "0 s", "rate": "1 Mbit/s"}]},
    ):
        scenario = over([{"cca": "cubic"}, {"cca": "cubic", **more}])
        (row,) = rows(scenario)
        assert row.unknown == "traffic"
        assert row.fair_share_bps is None
        assert "goodput_bps" not in marks(scenario)
