"""LTE cells on ns-3: the input of its program, what is refused, and real runs where it is installed."""

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
BUFFER_BYTES = 1_500_000


def cell(number: int = 1, **said: Any) -> dict[str, Any]:
    users = [{"node": f"u{n}"} for n in range(number)]
    return {"name": "mast", "kind": "lte", "preset": "ns3", "users": users, **said}


def around(described: dict[str, Any], flows: list[dict[str, Any]], **more: Any) -> Scenario:
    topology = {"kind": "dumbbell", "bottleneck": {"cell": "mast"}, "access": {"delay": "10 ms"}}
    run = {"name": "test", "record": {"interval": "off"}}
    return Scenario(**{**run, "topology": topology, "cells": [described], "flows": flows, **more})


def udp(described: dict[str, Any], rate: str = "150 Mbit/s", **more: Any) -> Scenario:
    workload = {"kind": "udp", "rate": rate, "size": "1400 B"}
    flows = [{"workload": workload, "station": user["node"]} for user in described["users"]]
    return around(described, flows, **{"duration": "1500 ms", "warmup": "500 ms", **more})


def tcp(described: dict[str, Any], *ccas: str, upload: bool = False, **more: Any) -> Scenario:
    users = described["users"]
    flows = [
        {"cca": cca, "station": users[n % len(users)]["node"], "upload": upload} for n, cca in enumerate(ccas)
    ]
    ours = {"tcp": {"mss": "1400 B"}, "ns3": {"algorithms": "fullpipe"}}
    return around(described, flows, **ours, **more)


def mbps(run: Run) -> float:
    return float(run.flows["goodput_bps"].sum()) / 1e6


def refusals(value: Scenario) -> list[str]:
    return [str(problem) for problem in problems(value, NS3.capabilities())]


def test_a_cell_is_written_with_its_users_and_ports() -> None:
    described = cell(2, rlc="am", scheduler="round_robin", delay="1 ms")
    described["users"][1]["queue"] = {"packets": 9}
    written = program_input(udp(described), seed=1).splitlines()
    begin = written.index("cell mast")
    assert written[begin : written.index("flow udp-1")] == [
        "cell mast",
        "lte 100 2 0 1 1000000",
        "port mast-u0-down",
        "fifo 0 1500000",
        "port mast-u0-up",
        "fifo 0 1500000",
        "port mast-u1-down",
        "fifo 0 1500000",
        "port mast-u1-up",
        "fifo 9 0",
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"resource_blocks": 40}, "cells[0].resource_blocks: ns-3 has carriers of 6, 15, 25, 50, 75, 100"),
        ({"layers": 2}, "cells[0].layers: the ns3 engine has one spatial layer"),
        ({"uplink": {"layers": 2}}, "cells[0].uplink.layers: the ns3 engine has one"),
        ({"pattern": "DDDSU"}, "cells[0].pattern: ns-3 has no time division"),
        ({"fairness_slots": 50}, "cells[0].fairness_slots: ns-3 averages over 99"),
        ({"processing": "2 ms"}, "cells[0].processing: ns-3 has a fixed"),
        (
            {"uplink": {"grant_delay": "4 ms"}},
            "cells[0].uplink.grant_delay: ns-3 has fixed times and sizes of grants",
        ),
        ({"queue": "fq_codel"}, "cells[0].queue: the RLC buffer in ns-3 is a FIFO"),
        (
            {"users": [{"node": "u0", "queue": {"kind": "codel"}}]},
            "cells[0].users[0].queue: the RLC buffer in ns-3 is a FIFO",
        ),
        (
            {"users": [{"node": "u0", "rate": {"mcs": 20}}]},
            "cells[0].users[0].rate.mcs: ns-3 chooses the MCS",
        ),
        ({"users": [{"node": "u0", "snr": "9 dB"}]}, "cells[0].users[0].snr: LTE cells of the ns3 engine"),
        (
            {"background": {"users": 1}},
            "cells[0].background: the ns3 engine has no users besides the given ones",
        ),
        ({"drx": {"cycle": "160 ms"}}, "cells[0].drx: users in ns-3 always listen"),
        ({"gaps": [{"at": "1 s", "gap": "50 ms"}]}, "cells[0].gaps: the ns3 engine has no gaps"),
        (
            {"users": [{"node": "u0", "handovers": [{"at": "1 s", "gap": "50 ms"}]}]},
            "cells[0].users[0].handovers: the ns3 engine has no gaps",
        ),
        ({"users": [{"node": "u0", "errors": 0.1}]}, "cells[0].users[0].errors: LTE cells of the ns3 engine"),
    ],
)
def test_what_ns3_has_not_is_refused(said: dict[str, Any], told: str) -> None:
    found = refusals(udp(cell(**said)))
    assert len(found) == 1
    assert found[0].startswith(told)


def test_nr_is_not_in_the_wheel() -> None:
    [found] = refusals(udp({"name": "mast", "kind": "nr", "users": [{"node": "u0"}]}))
    assert found.startswith(
        "cells[0]: the ns3 engine has no cells of kind nr; it has lte, wifi; NR needs 5G-LENA"
    )


def test_older_versions_have_no_cells() -> None:
    [found] = problems(udp(cell()), Ns3Engine343().capabilities())
    assert str(found).startswith("cells[0]: the ns3 engine has no cells of kind lte")


def test_narrow_carriers_lose_what_fills_no_group_of_resource_blocks() -> None:
    told = (
        "mast: ns-3 assigns only whole groups of resource blocks; on the native engine, resource_blocks = 48"
        " has this effect"
    )
    found = [list(remarks(udp(cell(width=width)))) for width in ("10 MHz", "20 MHz")]
    assert found == [[told], []]


def test_users_in_turn_have_slots_together() -> None:
    told = "mast: ns-3 divides slots among users; the native engine gives a user whole slots"
    assert list(remarks(udp(cell(2, scheduler="round_robin")))) == [told]


@needs_ns3
@pytest.mark.parametrize("rlc", ["um", "am"])
def test_datagrams_fill_transport_blocks_as_in_a_program_of_ns3_alone(rlc: str) -> None:
    """73.7 Mbit/s with ns-3 3.44 alone: core network, IP and applications; and natively within 2 %."""
    made = udp(cell(rlc=rlc))
    found = NS3.run(made, seed=1)
    assert mbps(found) == pytest.approx(73.7, rel=0.01)
    assert mbps(found) == pytest.approx(mbps(engines.engine("native").run(made, seed=1)), rel=0.02)


@needs_ns3
@pytest.mark.parametrize("cca", ["cubic", "bbr1", "bbr3"])
def test_our_algorithms_carry_what_they_do_natively(cca: str) -> None:
    """72.5 Mbit/s with ns-3 3.44 alone, of its CUBIC and BBR alike, 1.5 MB in RLC."""
    times = {"cubic": ("4500 ms", "3500 ms"), "bbr1": ("3 s", "2 s"), "bbr3": ("3500 ms", "2500 ms")}[cca]
    made = tcp(cell(), cca, **dict(zip(("duration", "warmup"), times, strict=True)))
    found = mbps(NS3.run(made, seed=1))
    if cca != "bbr3":
        assert found == pytest.approx(72.5, rel=0.015)
    assert found == pytest.approx(mbps(engines.engine("native").run(made, seed=1)), rel=0.02)


@needs_ns3
@pytest.mark.parametrize("buffer_bytes", [300_000, BUFFER_BYTES])
def test_a_full_buffer_delays_by_what_it_holds_over_the_rate(buffer_bytes: int) -> None:
    made = udp(cell(queue={"bytes": f"{buffer_bytes} B"}))
    found = NS3.run(made, seed=1)
    [port] = found.links_summary.filter(found.links_summary["link"] == "mast-u0-down").to_dicts()
    rate = port["forwarded_bytes"]  # in the second from the warm-up to the end
    assert port["sojourn_mean_s"] == pytest.approx(buffer_bytes / rate, rel=0.02)
    assert port["utilisation"] > 0.99


@needs_ns3
def test_the_buffer_that_ns3_has_by_itself_starves_cubic() -> None:
    """10,240 B, seven packets: 1.75 Mbit/s in a program of ns-3 alone, whose CUBIC it is."""
    small = tcp(cell(queue={"bytes": "10240 B"}), "cubic", duration="3 s", warmup="1500 ms")
    assert mbps(NS3.run(small, seed=1)) < 0.1 * 72.5


@needs_ns3
@pytest.mark.parametrize(("scheduler", "bits"), [("round_robin", 17_568), ("proportional_fair", 75_376 / 4)])
def test_users_share_alike(scheduler: str, bits: float) -> None:
    """In turn, each of four users has 6 of the 25 groups of 4 blocks in a slot, and the 25th stays empty:
    17,568 bits of 24 blocks by the table of TS 36.213, 7.1.7.2.1, where 100 have 75,376."""
    found = NS3.run(udp(cell(4, scheduler=scheduler), "40 Mbit/s"), seed=1)
    assert found.flows["goodput_bps"].to_list() == pytest.approx([73.7e6 * bits / 75_376] * 4, rel=0.01)


@needs_ns3
def test_an_upload_fills_the_way_up() -> None:
    made = tcp(cell(), "cubic", upload=True, duration="1500 ms", warmup="500 ms")
    found = NS3.run(made, seed=1)
    used = dict(zip(found.links_summary["link"], found.links_summary["forwarded_bytes"], strict=True))
    assert used["mast-u0-up"] > 20 * used["mast-u0-down"]
    assert mbps(found) > 30


@needs_ns3
def test_the_same_seed_gives_the_same_tables() -> None:
    made = tcp(cell(2), "cubic", "bbr1", duration="1 s", warmup="300 ms", record={"interval": "100 ms"})
    first, second = (NS3.run(made, seed=3) for _ in range(2))
    assert all(first.tables[name].equals(second.tables[name]) for name in first.tables)


@needs_ns3
def test_packets_are_delivered_dropped_or_under_way() -> None:
    found = NS3.run(udp(cell(), warmup="0 s"), seed=1)
    [port] = found.links_summary.filter(found.links_summary["link"] == "mast-u0-down").to_dicts()
    inside = found.flows["sent_packets"][0] - port["forwarded_packets"] - port["dropped_packets"]
    assert 0 <= inside <= BUFFER_BYTES / 1442 + 30 + 150  # in RLC, in the air, and in 10 ms before it
