"""Paces of applications: the guest gets them so that it hands out the same packets as the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.check import problems
from fullpipe.engines.linux.departures import Pace, paces
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.install.installed import Installed
from fullpipe.engines.native import NativeEngine
from fullpipe.scenario import resolve

MS = 1_000_000
A_MEGABIT = 1448 * 8 * 1000
"""Nanoseconds from one full segment to the next at 1 Mbit/s."""
CBR = {"kind": "cbr", "rate": "1 Mbit/s"}
ON_OFF = {"kind": "on_off", "rate": "1 Mbit/s", "on": "1 s", "off": "1 s"}


def paces_of(small: Scenario, start_ns: int = 0, **flow: Any) -> list[Pace]:
    scenario = small.with_values({"flows": [{"cca": "cubic", **flow}]})
    return list(paces(scenario.flows[0], scenario.tcp, start_ns, 4000 * MS))


def application(*entries: tuple[str, str | None]) -> dict[str, Any]:
    return {"application": [{"at": at} | ({"rate": rate} if rate else {}) for at, rate in entries]}


def test_without_an_application_there_is_always_more(small: Scenario) -> None:
    assert paces_of(small) == []


def test_a_pace_after_silence_begins_an_interval_earlier(small: Scenario) -> None:
    found = paces_of(small, **application(("0 s", "0 bit/s"), ("2 s", "1 Mbit/s")))
    assert found == [(0, 0), (2000 * MS - A_MEGABIT, 1_000_000)]


def test_any_other_pace_begins_with_a_packet_at_once(small: Scenario) -> None:
    found = paces_of(small, 5 * MS, **application(("0 s", "1 Mbit/s")))
    assert found == [(5 * MS, 1448 * 8 * 1_000_000_000), (5 * MS + 2, 1_000_000)]


def test_what_has_no_limit_stays_without(small: Scenario) -> None:
    assert paces_of(small, **application(("0 s", "0 bit/s"), ("2 s", None))) == [(0, 0), (2000 * MS, -1)]


def test_of_paces_before_the_start_only_the_last_is_left(small: Scenario) -> None:
    before = application(("0 s", None), ("100 ms", "0 bit/s"), ("3 s", None))
    assert paces_of(small, 200 * MS, **before) == [(200 * MS, 0), (3000 * MS, -1)]


def test_a_constant_rate_is_one_pace_from_the_start(small: Scenario) -> None:
    assert paces_of(small, 7, workload=CBR) == paces_of(small, 7, **application(("0 s", "1 Mbit/s")))


def test_activity_and_silence_take_turns_until_the_end(small: Scenario) -> None:
    found = paces_of(small, workload=ON_OFF)
    assert found[1:] == [
        (2, 1_000_000),
        (1000 * MS, 0),
        (2000 * MS - A_MEGABIT, 1_000_000),
        (3000 * MS, 0),
    ]


@pytest.mark.parametrize(
    ("flow", "path"),
    [
        ({"workload": {**CBR, "write": "4 kB"}}, "flows[0].workload.write"),
        ({"workload": {**ON_OFF, "periods": "exponential"}}, "flows[0].workload.periods"),
        ({"workload": {**ON_OFF, "on": "10 ms", "off": "10 ms"}}, "flows[0].workload"),
        (application(*((f"{n + 1} ms", "1 Mbit/s") for n in range(33))), "flows[0].application"),
    ],
)
def test_what_the_guest_cannot_pace_is_refused(
    small: Scenario, known: Installed, flow: dict[str, Any], path: str
) -> None:
    scenario = small.with_values({"flows": [{"cca": "cubic", **flow}]})
    assert [problem.path for problem in problems(scenario, resolve(scenario), known)] == [path]


@pytest.mark.parametrize("workload", [CBR, {**ON_OFF, "on": "900 ms", "off": "500 ms"}])
def test_as_much_is_handed_out_as_in_the_simulator(
    linux: LinuxEngine, small: Scenario, workload: dict[str, Any]
) -> None:
    scenario = small.with_values({"flows": [{"cca": "cubic", "workload": workload}]})
    ours, theirs = (engine.run(scenario, seed=1).flows for engine in (linux, NativeEngine()))
    assert ours["delivered_bytes"].to_list() == theirs["delivered_bytes"].to_list()
