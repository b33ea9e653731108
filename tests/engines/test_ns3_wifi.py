"""Wi-Fi cells on ns-3: the input of its program, what is refused, and real runs where it is installed."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import engines
from fullpipe.engines.ns3 import Ns3Engine343, remarks
from fullpipe.engines.ns3.input import problems, program_input
from fullpipe.runs import Run
from fullpipe.scenario import Scenario

NS3 = engines.engine("ns3")
LACKS = "; ".join(map(str, engines.missing(NS3)))
needs_ns3 = pytest.mark.skipif(bool(LACKS), reason=LACKS)
HT20: dict[str, Any] = {"standard": "802.11n"}
HE20: dict[str, Any] = {"width": "20 MHz"}


def cell(mcs: int | None, number: int = 1, **said: Any) -> dict[str, Any]:
    rate = {} if mcs is None else {"rate": {"mcs": mcs}}
    joined = [{"node": f"s{n}", **rate} for n in range(number)]
    base = {"name": "home", "kind": "wifi", "streams": 1, "bar": True, "queue": {"packets": 500}}
    return {**base, "stations": joined, **said}


def saturated(described: dict[str, Any], rate: str, *, upload: bool = False, **more: Any) -> Scenario:
    """Datagrams to or from every station, more than the cell carries."""
    workload = {"kind": "udp", "rate": rate, "size": "1472 B"}
    stations = enumerate(described["stations"])
    flows = [
        {"workload": workload, "station": s["node"], "upload": upload, "start": f"{n} ms"}
        for n, s in stations
    ]
    topology = {"kind": "dumbbell", "bottleneck": {"cell": "home"}}
    run = {"name": "test", "duration": "2 s", "warmup": "500 ms", "record": {"interval": "off"}}
    return Scenario(**{**run, "topology": topology, "cells": [described], "flows": flows, **more})


def tcp(described: dict[str, Any], cca: str, *, upload: bool = False, **more: Any) -> Scenario:
    flows = [{"cca": cca, "station": s["node"], "upload": upload} for s in described["stations"]]
    return saturated(described, "1 Mbit/s", **{"flows": flows, "ns3": {"algorithms": "fullpipe"}, **more})


def mbps(run: Run) -> float:
    return float(run.flows["goodput_bps"].sum()) / 1e6


def refusals(value: Scenario) -> list[str]:
    return [str(problem) for problem in problems(value, NS3.capabilities())]


def test_a_cell_is_written_with_its_stations_and_ports() -> None:
    described = cell(5, 2, **HE20, rts=True, queue={"kind": "codel", "limit": 70})
    described["stations"][1] = {
        "node": "b",
        "errors": 0.5,
        "snr": "20 dB",
        "rate": {"mcs": 0},
        "queue": {"packets": 9},
    }
    written = program_input(saturated(described, "9 Mbit/s"), seed=1).splitlines()
    assert written[1 : written.index("flow udp-1")] == [
        "cell home",
        "radio 80211ax 0 20 1 800",
        "access 1 1 1 30 0",
        "aggregate 6500631 256",
        "station 5 1 0 -1000",
        "station 0 1 0.5 20",
        "port home-s0-down",
        *codel(),
        "port home-s0-up",
        *codel(),
        "port home-b-down",
        *codel(),
        "port home-b-up",
        "fifo 9 0",
    ]


def codel() -> list[str]:
    law = ["Target 5000000ns", "Interval 100000000ns", "UseEcn false"]
    return ["queue ns3::CoDelQueueDisc 0", *(f"queue_attribute {line}" for line in ("MaxSize 70p", *law))]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"control_rate": "6 Mbit/s"},
            "cells[0].control_rate: in ns-3, control responses are sent at 24 Mbit/s",
        ),
        ({"queue": {"kind": "cake"}}, "cells[0].queue: the ns3 engine has no cake"),
        (
            {"stations": [{"node": "s0", "snr": "9 dB"}, {"node": "s1", "rate": {"mcs": 1}}]},
            "cells[0].stations: in ns-3, all stations of a cell have fixed rates,",
        ),
        (
            {"stations": [{"node": "s0", "rate": "minstrel"}, {"node": "s1"}]},
            "cells[0].stations: in ns-3, all stations of a cell have fixed rates,",
        ),
        (
            {"stations": [{"node": "s0", "snr": {"mean": "20 dB", "spread": "2 dB"}}]},
            "cells[0].stations[0].snr.spread: the signal-to-noise ratio is constant in the ns3 engine",
        ),
    ],
)
def test_what_ns3_has_not_is_refused(said: dict[str, Any], told: str) -> None:
    found = refusals(saturated(cell(5, 2, **said), "9 Mbit/s"))
    assert len(found) == 1
    assert found[0].startswith(told)


def test_packets_come_up_one_by_one_also_where_the_cell_says_otherwise() -> None:
    told = (
        "home: ns-3 delivers the packets of an aggregate one by one; on the native engine, release_each ="
        " true has this effect"
    )
    found = [list(remarks(saturated(cell(5, release_each=each), "9 Mbit/s"))) for each in (False, True)]
    assert found == [[told], []]


def test_datagrams_come_at_a_constant_rate() -> None:
    found = saturated(cell(5), "9 Mbit/s").with_values({"flows.0.workload.spacing": "poisson"})
    assert refusals(found) == [
        "flows[0].workload: the ns3 engine sends datagrams only at a constant rate; leave out other keys"
    ]


def test_older_versions_have_no_cells() -> None:
    can = Ns3Engine343().capabilities()
    [found] = problems(saturated(cell(5), "9 Mbit/s"), can)
    assert str(found).startswith("cells[0]: the ns3 engine has no cells of kind wifi")


@needs_ns3
@pytest.mark.parametrize(
    ("described", "wanted"),
    [
        (cell(7, **HT20), 59.60),
        (cell(7, **HT20, guard_interval="400 ns", band="2.4 GHz"), 65.44),
        (cell(9, standard="802.11ac", max_ampdu="65535 B"), 323.3),
        (cell(5, **HE20), 62.93),
        (cell(11, **HE20, max_ampdu="65535 B"), 128.3),
        (cell(11), 547.3),
        (cell(None, guard_interval="3200 ns", max_ampdu="65535 B"), 399.2),
    ],
)
def test_one_station_carries_what_a_program_of_ns3_alone_does(
    described: dict[str, Any], wanted: float
) -> None:
    """Measured with ns-3 3.44 alone: its devices, ARP, sockets and applications."""
    made = saturated(described, f"{int(1.3 * wanted)} Mbit/s", duration="1 s")
    assert mbps(NS3.run(made, seed=1)) == pytest.approx(wanted, rel=0.005)


@needs_ns3
def test_without_beacons_it_is_the_closed_form() -> None:
    """AIFS, 7.5 slots, 28 frames of 1544 B less padding, SIFS and a block ACK; IEEE 802.11, 10.23.2."""
    ppdu_us = 36 + 4 * -(-(16 + 6 + 8 * (28 * 1544 - 2)) // 260)
    cycle_us = 43 + 7.5 * 9 + ppdu_us + 16 + 32
    found = NS3.run(saturated(cell(7, **HT20, beacons=False), "78 Mbit/s", duration="4 s"), seed=1)
    assert mbps(found) == pytest.approx(28 * 1472 * 8 / cycle_us, rel=0.005)


@needs_ns3
def test_a_slow_station_takes_the_time_of_a_fast_one() -> None:
    described = cell(7, 2, **HT20)
    described["stations"][1]["rate"] = {"mcs": 0}
    found = NS3.run(saturated(described, "60 Mbit/s"), seed=1)
    fast, slow = found.flows["goodput_bps"]
    assert fast == pytest.approx(slow, rel=0.05)
    busy = dict(zip(found.links_summary["link"], found.links_summary["utilisation"], strict=True))
    assert busy["home-s1-down"] > 6 * busy["home-s0-down"]


@needs_ns3
def test_frames_that_are_lost_are_repeated_in_order_and_nothing_is_lost_to_tcp() -> None:
    described = cell(7, **HT20)
    described["stations"][0]["errors"] = 0.1
    clean, lossy = (
        NS3.run(tcp(one, "cubic", duration="2 s", warmup="1 s", tcp={"receive_buffer": "300 kB"}), seed=1)
        for one in (cell(7, **HT20), described)
    )
    assert lossy.flows["retransmitted_packets"].to_list() == [0]
    assert 0.6 * mbps(clean) < mbps(lossy) < 0.97 * mbps(clean)


@needs_ns3
@pytest.mark.parametrize("upload", [False, True])
@pytest.mark.parametrize("cca", ["cubic", "bbr1"])
def test_our_algorithms_fill_a_cell_in_which_their_acks_contend(cca: str, upload: bool) -> None:
    """128.3 Mbit/s of datagrams; ACKs in a third of an aggregate's accesses leave 100 to 120."""
    described = cell(11, **HE20, max_ampdu="65535 B")
    access = {"kind": "dumbbell", "bottleneck": {"cell": "home"}, "access": {"delay": "10 ms"}}
    made = tcp(described, cca, upload=upload, duration="1750 ms", warmup="1250 ms", topology=access)
    assert 95 < mbps(NS3.run(made, seed=1)) < 120


@needs_ns3
@pytest.mark.parametrize("retries", [1, 2])
def test_a_frame_is_given_up_after_as_many_retries_as_natively(retries: int) -> None:
    """Every other try is lost, so that half of the frames are given up of those that one try less leaves."""
    described = cell(7, **HT20, retries=retries)
    described["stations"][0]["errors"] = 0.5
    made = saturated(described, "10 Mbit/s")
    for engine in (NS3, engines.engine("native")):
        arrives = mbps(engine.run(made, seed=1)) / 10
        assert arrives == pytest.approx(1 - 0.5 ** (retries + 1), abs=0.04), engine.name


@needs_ns3
def test_fair_queues_keep_a_station_s_delay_low() -> None:
    made = tcp(cell(7, **HT20), "cubic", duration="2 s", warmup="500 ms")
    deep, fair = (
        NS3.run(made.with_values({"cells.0.queue": queue}), seed=1)
        for queue in ({"packets": 1000}, {"kind": "fq_codel"})
    )
    assert fair.flows["rtt_mean_s"][0] < 0.5 * deep.flows["rtt_mean_s"][0]
    assert mbps(fair) > 0.8 * mbps(deep)


@needs_ns3
def test_the_same_seed_gives_the_same_tables_and_another_one_others() -> None:
    made = tcp(cell(7, 2, **HT20), "cubic", upload=True, duration="1 s", record={"interval": "100 ms"})
    first, second, other = (NS3.run(made, seed=seed) for seed in (3, 3, 4))
    assert all(first.tables[name].equals(second.tables[name]) for name in first.tables)
    assert not first.flows.equals(other.flows)


@needs_ns3
def test_packets_are_delivered_dropped_or_under_way() -> None:
    found = NS3.run(saturated(cell(7, 2, **HT20), "60 Mbit/s", upload=True, warmup="0 s"), seed=1)
    for sent, link in ((0, "home-s0-up"), (1, "home-s1-up")):
        [port] = found.links_summary.filter(found.links_summary["link"] == link).to_dicts()
        inside = found.flows["sent_packets"][sent] - port["forwarded_packets"] - port["dropped_packets"]
        assert 0 <= inside <= 500 + 64


@needs_ns3
@pytest.mark.parametrize(
    ("rate", "snr", "share"),
    [({"mcs": 4}, "16.4 dB", 0.01), ("ideal", "18 dB", 0.005), ("minstrel", "20 dB", 0.02)],
)
def test_noise_and_chosen_rates_carry_what_they_do_natively(rate: Any, snr: str, share: float) -> None:
    """The law of errors is the same; ideal rates and Minstrel are ns-3's own. MCS 4 loses a fifth of its
    frames."""
    described = cell(None, **HT20, bar=False, stations=[{"node": "s0", "rate": rate, "snr": snr}])
    made = saturated(described, "80 Mbit/s", duration="5 s", warmup="2 s")
    native, found = (mbps(engines.engine(name).run(made, seed=1)) for name in ("native", "ns3"))
    assert native == pytest.approx(found, rel=share)
