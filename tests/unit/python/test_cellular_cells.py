"""Cellular cells in a scenario: ports, presets, what they carry, and what they refuse."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario, ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import resolve
from fullpipe.scenario.model.cells.presets import LTE_RESOURCE_BLOCKS
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.network.parts import Port

Cli = Callable[..., Any]
CELL: dict[str, Any] = {"name": "mast", "kind": "lte", "users": [{"node": "phone"}]}


def scenario(*flows: dict[str, Any], cell: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """A dumbbell around a cell; one download with CUBIC, if nothing else is said."""
    return Scenario(
        **{
            "name": "x",
            "duration": "6 s",
            "warmup": "2 s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"cell": "mast"},
                "access": {"rate": "10 Gbit/s", "delay": "10 ms"},
            },
            "cells": [{**CELL, **(cell or {})}],
            "flows": list(flows) or [{"cca": "cubic"}],
            "record": {"interval": "off"},
            **more,
        }
    )


def buffer_of(port: Port) -> DropTail:
    """Its queue, which drops what comes when it is full."""
    assert isinstance(port.queue, DropTail)
    return port.queue


def goodput_mbps(run: Run, flow: int = 0) -> float:
    return float(run.flows["goodput_bps"][flow]) / 1e6


def test_every_user_has_a_port_down_and_one_up_with_a_buffer_of_its_own() -> None:
    [medium] = resolve(scenario()).media
    assert [(port.name, port.node) for port in medium.ports] == [
        ("mast-phone-down", "base-station"),
        ("mast-phone-up", "phone"),
    ]
    assert [buffer_of(port).limit_bytes for port in medium.ports] == [1_500_000] * 2
    own = scenario(cell={"users": [{"node": "phone", "queue": {"packets": 9}}]})
    assert buffer_of(resolve(own).media[0].ports[1]).packets == 9


def test_a_size_relative_to_the_path_goes_by_the_transport_blocks() -> None:
    """75,376 bits a millisecond times 20 ms, in segments of 1514 B."""
    [medium] = resolve(scenario(cell={"queue": {"size": "1 bdp"}})).media
    assert buffer_of(medium.ports[0]).packets == int(75_376_000 * 0.02 / 8 / 1514)


def test_the_preset_of_ns_3_carries_udp_and_tcp_as_ns_3_does() -> None:
    """ns-3.44, 100 resource blocks, SISO, MSS 1400, 1.5 MB of RLC: 73.7 Mbit/s of UDP, 72.5 of TCP."""
    ns3 = {"preset": "ns3"}
    udp = {"workload": {"kind": "udp", "rate": "150 Mbit/s", "size": "1400 B"}}
    mbps = float(fullpipe.run(scenario(udp, cell=ns3)).flows["goodput_bps"][0]) / 1e6
    assert mbps == pytest.approx(73.7, rel=0.01)
    for cca in ("cubic", "bbr1"):
        tcp = scenario({"cca": cca}, cell=ns3, tcp={"mss": "1400 B"}, duration="8 s")
        assert goodput_mbps(fullpipe.run(tcp)) == pytest.approx(72.5, rel=0.015), cca


def test_cubic_fills_the_buffer_and_bbr_does_not() -> None:
    """1.5 MB at 72.5 Mbit/s are 166 ms (cellular RLC), above a base of 20 ms, grants and slots."""
    ways = {
        cca: fullpipe.run(scenario({"cca": cca}, duration="20 s", warmup="5 s")) for cca in ("cubic", "bbr1")
    }
    rtt_ms = {cca: 1e3 * float(run.flows["rtt_p95_s"][0]) for cca, run in ways.items()}
    assert 180 < rtt_ms["cubic"] < 230
    assert rtt_ms["bbr1"] < 90
    assert goodput_mbps(ways["bbr1"]) > 0.9 * goodput_mbps(ways["cubic"])


def test_ns_3_s_default_buffer_starves_cubic() -> None:
    """10 kB of RLC, with which ns-3 gets 1.75 of 72.5 Mbit/s."""
    starved = scenario(cell={"preset": "ns3", "queue": {"bytes": "10240 B"}}, tcp={"mss": "1400 B"})
    assert goodput_mbps(fullpipe.run(starved)) < 10


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    noisy = {"users": [{"node": "phone", "snr": {"mean": "15 dB", "spread": "5 dB", "memory": "1 s"}}]}
    runs = [fullpipe.run(scenario(cell=noisy, duration="3 s", warmup="1 s"), seed=seed) for seed in (1, 1, 2)]
    assert runs[0].flows.equals(runs[1].flows)
    assert not runs[0].flows.equals(runs[2].flows)


def test_what_is_used_is_shown() -> None:
    record = {"interval": "100 ms", "variables": True}
    run = fullpipe.run(
        scenario(cell={"users": [{"node": "phone", "snr": "12 dB"}]}, record=record, duration="3 s")
    )
    shown = set(run.variables["name"])
    assert {"blocks", "retries", "resource_blocks", "window", "snr", "mcs", "cell_slots"} <= shown


@pytest.mark.parametrize("preset", ["lte-20mhz", "ns3"])
def test_a_key_beside_a_preset_takes_the_place_of_what_it_sets(preset: str) -> None:
    [medium] = resolve(scenario(cell={"preset": preset, "width": "5 MHz"})).media
    assert medium.params["resource_blocks"] == LTE_RESOURCE_BLOCKS["5 MHz"]


def test_a_pattern_divides_slots() -> None:
    [medium] = resolve(scenario(cell={"pattern": "DSUDDDSUDD", "special": "6:4:4"})).media
    assert medium.params["down_symbols"] == [14, 6, 0, 14, 14, 14, 6, 0, 14, 14]
    assert medium.params["up_symbols"] == [0, 4, 14, 0, 0, 0, 4, 14, 0, 0]


def test_cells_survive_toml() -> None:
    users = [
        {"node": "phone", "rate": "cqi", "snr": {"mean": "20 dB", "spread": "3 dB", "memory": "2 s"}},
        {"node": "tablet", "rate": {"mcs": 9}, "errors": 0.1},
    ]
    found = scenario(
        {"cca": "cubic", "station": "phone"}, cell={"preset": "ns3", "users": users, "rlc": "am"}
    )
    assert Scenario.from_toml(found.to_toml()) == found


FILE = """
name = "bad"
duration = "1 s"
topology = {{ kind = "dumbbell", bottleneck = {{ cell = "mast" }}, access = {{ delay = "10 ms" }} }}
flows = [{{ cca = "cubic" }}]

[[cells]]
name = "mast"
kind = "lte"
{cell}
"""
PHONE = 'users = [{ node = "phone" }]'


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (f"resource_blocks = 0\n{PHONE}", "cells[0].resource_blocks: must be at least 1, got 0"),
        (f"resource_blocks = 101\n{PHONE}", "cells[0].resource_blocks: must be at most 100, got 101"),
        (f'pattern = "DDXU"\n{PHONE}', 'cells[0].pattern: expected "FDD" or slots D, S and U'),
        (f'pattern = "DDD"\n{PHONE}', 'cells[0].pattern: expected "FDD" or slots D, S and U'),
        ('users = [{ node = "phone", snr = nan }]', "cells[0].users[0].snr: expected a ratio such as"),
        ("users = []", "cells[0].users: has 0, must have at least 1"),
        ("", "cells[0].users: missing; write for example users = ["),
        (
            'users = [{ node = "phone", rate = { mcs = 29 } }]',
            "cells[0].users[0].rate.mcs: lte has the MCS 0 to 28, got 29",
        ),
        (f"layers = 5\n{PHONE}", "cells[0].layers: lte has at most 4 layers, got 5"),
        (f"uplink = {{ layers = 5 }}\n{PHONE}", "cells[0].uplink.layers: lte has at most 4 layers, got 5"),
        (f'preset = "ns4"\n{PHONE}', 'cells[0].preset: unknown value "ns4"; did you mean "ns3"?'),
    ],
)
def test_a_cell_that_cannot_be_is_refused_in_one_line(fullpipe: Cli, cell: str, told: str) -> None:
    Path("bad.toml").write_text(FILE.format(cell=cell))
    done = fullpipe("run", "bad.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"fullpipe: {told}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_hundred_thousand_users_are_refused_at_once(fullpipe: Cli) -> None:
    many = "users = [" + '{ node = "phone" }, ' * 100_000 + "]"
    Path("bad.toml").write_text(FILE.format(cell=many))
    done = fullpipe("run", "bad.toml")
    told = "fullpipe: bad.toml: larger than 1 MB; a scenario is a short TOML file\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", told)
    with pytest.raises(ScenarioError, match=r"^cells\[0\].users: has 100000, must have at most 10000$"):
        scenario(cell={"users": [{"node": "phone"}] * 100_000})
