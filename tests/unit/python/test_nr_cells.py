"""NR cells in a scenario: patterns, handovers, blockage, background users, and what they refuse."""

from itertools import pairwise
from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario, ScenarioError
from fullpipe.scenario import resolve
from fullpipe.scenario.model.cells.presets import NR_RESOURCE_BLOCKS

PHONE = {"node": "phone"}


def scenario(cell: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """One download with CUBIC to a phone in an NR cell."""
    return Scenario(
        **{
            "name": "x",
            "duration": "8 s",
            "warmup": "2 s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"cell": "mast"},
                "access": {"rate": "10 Gbit/s", "delay": "10 ms"},
            },
            "cells": [{"name": "mast", "kind": "nr", "users": [{**PHONE, **(user or {})}], **(cell or {})}],
            "flows": [{"cca": "cubic"}],
            "record": {"interval": "off"},
            **more,
        }
    )


def params(**cell: Any) -> dict[str, Any]:
    return resolve(scenario(cell)).media[0].params


def test_resource_blocks_are_those_of_width_and_spacing() -> None:
    assert params(width="100 MHz")["resource_blocks"] == 273
    assert params(width="400 MHz", spacing="120 kHz")["resource_blocks"] == 264
    for numerology, (spacing, widths) in enumerate(NR_RESOURCE_BLOCKS.items()):
        for mhz, blocks in widths.items():
            found = params(width=f"{mhz} MHz", spacing=spacing)
            assert (found["resource_blocks"], found["numerology"]) == (blocks, numerology)
            used = blocks * 12 * 15 * 2**numerology / 1000  # MHz
            assert 0.75 * mhz < used < mhz, (spacing, mhz)


def test_a_pattern_divides_slots() -> None:
    found = params(pattern="DDDSU")
    assert found["down_symbols"] == [14, 14, 14, 10, 0]
    assert found["up_symbols"] == [0, 0, 0, 2, 14]


def test_times_of_harq_go_by_the_slot() -> None:
    assert [params(width="50 MHz", spacing=s)["harq_round_trip_ns"] for s in ("15 kHz", "120 kHz")] == [
        8 * 10**6,
        10**6,
    ]
    assert params(harq={"round_trip": "3 ms", "tries": 7})["harq_round_trip_ns"] == 3 * 10**6


@pytest.mark.parametrize("preset", ["nr-100mhz", "nr-mmwave", "starlink-like"])
def test_a_key_beside_a_preset_takes_the_place_of_what_it_sets(preset: str) -> None:
    assert params(preset=preset, layers=1, width="50 MHz", spacing="120 kHz")["resource_blocks"] == 32


def test_a_handover_loses_nothing_and_costs_its_gap() -> None:
    """60 ms without service: no packet lost, no timeout, and a round trip that is longer by it."""
    # A buffer of 60 ms and more, so that what comes while the user is away finds room.
    cell = {"queue": {"bytes": "20 MB"}, "uplink": {"request_period": "1 ms", "grant_delay": "1 ms"}}
    flow = [{"cca": "bbr1"}]
    without = fullpipe.run(scenario(cell, {"rate": {"mcs": 10}}, flows=flow)).flows
    with_one = fullpipe.run(
        scenario(cell, {"rate": {"mcs": 10}, "handovers": [{"at": "5 s", "gap": "60 ms"}]}, flows=flow)
    ).flows
    assert (with_one["retransmitted_packets"][0], with_one["timeouts"][0]) == (0, 0)
    assert 0.97 < with_one["goodput_bps"][0] / without["goodput_bps"][0] < 1.0


def test_a_long_handover_makes_a_sender_time_out_in_vain() -> None:
    """1 s is more than a retransmission timeout: nothing was lost, and yet it repeats."""
    cell = {"queue": {"bytes": "20 MB"}}
    user = {"rate": {"mcs": 10}, "handovers": [{"at": "5 s", "gap": "1 s"}]}
    run = fullpipe.run(scenario(cell, user, flows=[{"cca": "bbr1"}]))
    assert run.flows["timeouts"][0] > 0
    assert run.links_summary["dropped_packets"].sum() == 0


def test_what_stands_in_the_way_takes_rate() -> None:
    free = {"snr": "20 dB"}
    blocked = {**free, "blockage": {"depth": "25 dB", "lasting": "500 ms", "free": "500 ms"}}
    way = [
        fullpipe.run(scenario({}, user, duration="22 s")).flows["goodput_bps"][0] for user in (free, blocked)
    ]
    assert 0.3 < way[1] / way[0] < 0.75


def test_background_users_take_their_part() -> None:
    ways = [
        fullpipe.run(scenario({"background": {"users": users, "load": 1}}, {"rate": {"mcs": 15}}))
        for users in (0, 3)
    ]
    alone, shared = (float(run.flows["goodput_bps"][0]) for run in ways)
    assert shared / alone == pytest.approx(1 / 4, rel=0.02)


def least_rtts_ms(found: fullpipe.Run, times_s: list[float]) -> list[float]:
    """Smallest RTTs of the probes between successive times, without half a second at both ends."""
    rtt = found.probes.drop_nulls("rtt_s").sort("time_s")
    spans = [
        rtt.filter((rtt["time_s"] > begin + 0.5) & (rtt["time_s"] < end - 0.5))
        for begin, end in pairwise(times_s)
    ]
    return [1e3 * float(span["rtt_s"].min()) for span in spans]


def test_another_satellite_is_another_least_rtt_at_12_27_and_42_s() -> None:
    """Between takeovers it stays as it is; the seed draws the steps, of 7.6 ms at most."""
    path = Scenario.named("starlink-like")
    probe = {"workload": {"kind": "ping", "interval": "7 ms"}, "station": "dish"}
    tree = {**path.to_dict(), "flows": [probe], "duration": "57 s", "warmup": "0 s"}
    quiet = Scenario(**tree).with_values({"cells.0.background.users": 0, "cells.0.users.0.snr": "30 dB"})
    runs = [fullpipe.run(quiet, seed) for seed in (1, 1, 2)]
    thirds_s = [0, 4, 8, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57]
    found = [least_rtts_ms(run, thirds_s) for run in runs]
    assert found[0] == found[1] != found[2]
    for rtts_ms in found:
        times = [rtts_ms[n : n + 3] for n in range(0, 12, 3)]
        assert all(max(same) - min(same) < 0.1 for same in times)
        steps = [abs(after[0] - before[0]) for before, after in pairwise(times)]
        assert all(0.1 < step <= 7.7 for step in steps)
        assert all(least > 2 * (8 + 4 + 3.7) for least in rtts_ms)


def test_nothing_is_reordered_when_a_nearer_satellite_takes_over() -> None:
    cell = {"satellites": {"at": "500 ms", "every": "250 ms", "low": "1 ms", "high": "20 ms"}}
    udp = {"workload": {"kind": "udp", "rate": "20 Mbit/s", "size": "1400 B"}}
    packets = {"record": {"interval": "off", "packets": ["receiver"]}}
    found = fullpipe.run(scenario(cell, {"rate": {"mcs": 10}}, flows=[udp], **packets))
    numbers = found.packets.sort("time_ns", maintain_order=True)["seq"].to_list()
    assert len(numbers) > 1_000
    assert numbers == sorted(numbers)


def test_users_that_sleep_are_reached_late() -> None:
    """Probes every 300 ms to a user that listens in 10 ms of 160 ms wait for its windows."""
    probe = {"workload": {"kind": "ping", "interval": "300 ms"}}
    cells: list[dict[str, Any]] = [{}, {"drx": {"cycle": "160 ms"}}]
    waits_ms = [
        1e3 * run.links_summary.filter(link="mast-phone-down")["sojourn_p95_s"][0]
        for run in (fullpipe.run(scenario(cell, duration="30 s", flows=[probe])) for cell in cells)
    ]
    assert waits_ms[0] < 3
    assert 50 < waits_ms[1] < 170


def test_cells_survive_toml() -> None:
    user = {
        "snr": "20 dB",
        "blockage": {"depth": "25 dB", "lasting": "500 ms", "free": "4 s"},
        "handovers": [{"at": "3 s", "gap": "50 ms"}],
    }
    cell = {
        "preset": "nr-mmwave",
        "background": {"users": 2},
        "gaps": [{"at": "1 s", "gap": "9 ms", "every": "2 s"}],
    }
    found = scenario(cell, user)
    assert Scenario.from_toml(found.to_toml()) == found
    assert resolve(found).media[0].params["user_gaps_ns"] == [
        [10**9, 9 * 10**6, 2 * 10**9, 3 * 10**9, 50 * 10**6, 0]
    ]


@pytest.mark.parametrize(
    ("cell", "user", "told"),
    [
        ({"width": "400 MHz"}, {}, "cells[0].width: a spacing of 30 kHz has no 400 MHz"),
        ({"resource_blocks": 0}, {}, "cells[0].resource_blocks: must be at least 1, got 0"),
        (
            {"pattern": "DDSX"},
            {},
            'cells[0].pattern: expected "FDD" or slots D, S and U such as "DDDSU", got "DDSX"',
        ),
        ({"spacing": "240 kHz"}, {}, 'cells[0].spacing: unknown value "240 kHz"'),
        ({"layers": 9}, {}, "cells[0].layers: must be at most 8, got 9"),
        ({}, {"rate": {"mcs": 28}}, "cells[0].users[0].rate.mcs: nr has the MCS 0 to 27, got 28"),
        ({}, {"snr": "nan dB"}, "cells[0].users[0].snr: expected a ratio such as"),
        (
            {},
            {"blockage": {"depth": "25 dB", "lasting": "500 ms", "free": "4 s"}},
            "cells[0].users[0].snr: missing, but a blockage lowers it",
        ),
        (
            {"gaps": [{"at": "1 s", "gap": "2 s", "every": "1 s"}]},
            {},
            "cells[0].gaps[0].every: must be longer than",
        ),
        (
            {
                "gaps": [
                    {"at": "0 s", "gap": "500 ms", "every": "1 s"},
                    {"at": "500 ms", "gap": "500 ms", "every": "1 s"},
                ]
            },
            {},
            "cells[0].gaps: the interruptions leave no time to send",
        ),
        ({"background": {"load": 0}}, {}, "cells[0].background.load: must be at least 0.001, got 0"),
    ],
)
def test_a_mistake_has_one_line(cell: dict[str, Any], user: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError) as found:
        scenario(cell, user)
    assert len(found.value.problems) == 1
    assert str(found.value).startswith(told)
