"""Linux's queues for Wi-Fi, and what hosts behind them do."""

from typing import Any

import pytest

from fullpipe import Run, Scenario, ScenarioError, run
from fullpipe.scenario import resolve
from fullpipe.scenario.model.link.queues import Discipline

FIFO = {"packets": 1_000}
ANOMALY = Scenario.named("wifi-anomaly").with_values({"duration": "5 s", "warmup": "1 s"})
PROBE = {"name": "probe", "workload": {"kind": "ping", "interval": "20 ms"}}


def home(flow: dict[str, Any], *, queue: Any = "mac80211", tcp: dict[str, Any] | None = None) -> Run:
    """A laptop on 802.11ax, 143 Mbit/s, and a wire of 20 ms there and back."""
    cell = {"name": "home", "kind": "wifi", "width": "20 MHz", "streams": 1, "queue": queue}
    topology = {"kind": "dumbbell", "bottleneck": {"cell": "home"}, "access": {"delay": "10 ms"}}
    return run(
        Scenario(
            name="x",
            duration="4 s",
            warmup="1 s",
            topology=topology,
            cells=[{**cell, "stations": [{"node": "laptop"}]}],
            flows=[{"name": "bulk", "cca": "cubic", **flow}, PROBE],
            tcp=tcp or {},
            record={"interval": "500 ms", "variables": True},
        )
    )


def column(found: Run, name: str, flow: str = "bulk") -> float:
    return float(dict(zip(found.flows["flow"], found.flows[name], strict=True))[flow])


def aggregate(found: Run, port: str) -> float:
    """Packets of a mean aggregate of a port."""
    rows = zip(*(found.variables[name] for name in ("link", "name", "value")), strict=True)
    return [value for link, name, value in rows if (link, name) == (f"home-laptop-{port}", "aggregate_mean")][
        -1
    ]


def goodputs(queue: object) -> list[float]:
    """Goodputs of the near and the far station of the anomaly."""
    return list(run(ANOMALY.with_values({"cells.0.queue": queue})).flows["goodput_bps"])


def test_behind_a_fifo_stations_get_equal_goodput_and_behind_mac80211_what_their_rates_permit() -> None:
    near, far = goodputs(FIFO)
    assert near == pytest.approx(far, rel=0.01)
    fast, slow = goodputs("mac80211")
    # Each in half of the time, less access and answers: 21 packets in 4.032 ms, 2 in 3.840 ms.
    assert fast / slow == pytest.approx(21 / 4.032 / (2 / 3.840), rel=0.02)
    assert fast > 5 * near


def test_its_name_stands_for_it_and_the_preset_has_it() -> None:
    cell = {"name": "home", "kind": "wifi", "preset": "home-ax", "stations": [{"node": "laptop"}]}
    for said in ({}, {"queue": "mac80211"}, {"queue": {"kind": "mac80211"}}):
        found = Scenario(
            name="x",
            duration="1 s",
            topology={"kind": "dumbbell", "bottleneck": {"cell": "home"}},
            cells=[{**cell, **said}],
            flows=[{"cca": "cubic"}],
        )
        [medium] = resolve(found).media
        queues = [port.queue for port in medium.ports]
        assert all(isinstance(queue, Discipline) and queue.kind == "mac80211" for queue in queues)


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        ("mac8021", 'cells[0].queue: unknown queue "mac8021"; did you mean "mac80211"?'),
        ({"kind": "mac80211", "target_ms": 0}, "cells[0].queue.target_ms: "),
        ({"kind": "mac80211", "aql": "on"}, "cells[0].queue.aql: "),
    ],
)
def test_a_mistake_has_one_line(queue: object, message: str) -> None:
    with pytest.raises(ScenarioError) as told:
        ANOMALY.with_values({"cells.0.queue": queue})
    assert str(told.value).startswith(message)
    assert len(told.value.problems) == 1


def test_an_upload_has_little_in_its_host_but_enough_for_aggregates() -> None:
    upload = {"upload": True, "cca": "bbr1"}
    usual, tight, loose = (
        home(upload, tcp=tcp) for tcp in ({}, {"pacing_shift": 10}, {"small_queues": False})
    )
    assert column(usual, "rtt_mean_s") < 0.7 * column(loose, "rtt_mean_s")
    assert aggregate(tight, "up") < 0.8 * aggregate(usual, "up")
    assert column(tight, "goodput_bps") < column(usual, "goodput_bps")


def test_a_fifo_in_a_driver_tells_its_host_nothing() -> None:
    fifo = home({"upload": True}, queue=FIFO)
    free = home({"upload": True}, queue=FIFO, tcp={"small_queues": False})
    assert fifo.flows.equals(free.flows)


def test_a_station_acknowledges_what_an_aggregate_delivers_as_one() -> None:
    usual, each = home({}), home({}, tcp={"gro": "0 s"})
    assert aggregate(each, "up") > 3 * aggregate(usual, "up")
    assert column(usual, "goodput_bps") > column(each, "goodput_bps")
    # Neither a wired host nor one that counts packets does so.
    assert aggregate(home({"upload": True}), "down") > 3 * aggregate(usual, "up")
    assert aggregate(home({}, tcp={"ack_every": 2}), "up") > 3 * aggregate(usual, "up")
