"""Flent's tests on simulated paths: timings, markings, names, and what their probes see."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullpipe as library
from fullpipe import Scenario
from fullpipe.scenario.flent.build import (
    PRESETS,
    TESTS,
    Choices,
    declared,
    path_of,
    scenario_of,
    with_streams,
)
from fullpipe.scenario.flent.families import flow_of

Cli = Callable[..., Any]
WIRED = path_of(Scenario.named("ethernet-100m"))
COUNTS = [f"tcp_{n}{way}" for n in (1, 2, 4, 6, 8, 12) for way in ("up", "down")]
WANTED = [
    *COUNTS, "tcp_50up", "tcp_nup", "tcp_ndown", "tcp_upload", "tcp_download", "tcp_bidirectional", "rrul",
    "rrul_be", "rrul_noclassification", "rtt_fair", "rtt_fair4be", "rtt_fair6be", "rtt_fair_up",
    "rtt_fair_var", "cubic_bbr", "cubic_reno", "cubic_dctcp", "voip", "http", "rrul_be_nflows",
    "voip-rrul", "http-rrul", "rrul_var", "rrul_prio", "rrul_torrent", "rtt_fair_var_mixed",
    "tcp_1up_noping", "tcp_2up_delay", "tcp_2up_square", "tcp_4up_squarewave", "cubic_ledbat_1", "udp_flood",
]  # fmt: skip

DURATIONS = {
    **dict.fromkeys(("ping", "voip", "http", "tcp_1up_noping", "tcp_2up_square"), (60, 0)),
    "tcp_2up_delay": (65, 0),
    "tcp_4up_squarewave": (90, 0),
}
"""Of tests that do not take 5 s more than their streams before and after them, with the warm-up."""
SPANS = {
    ("tcp_1up_noping", "TCP upload"): (0, 60),
    ("tcp_2up_delay", "TCP stream 1"): (0, 65),
    ("tcp_2up_square", "TCP cubic"): (0, 60),
    ("tcp_2up_square", "TCP cubic 2"): (5, 10),
    ("tcp_2up_square", "TCP reno"): (15, 20),
    ("tcp_2up_square", "TCP westwood"): (25, 30),
    ("tcp_4up_squarewave", "TCP bbr 1"): (0, 60),
    ("tcp_4up_squarewave", "TCP cubic 3"): (25, 85),
    ("tcp_4up_squarewave", "TCP bbr 4"): (15, 75),
}


def deep(delay: str = "10 ms", queue: str = '{ size = "1 s" }') -> Scenario:
    return Scenario.from_toml(
        f'name = "deep"\nduration = "1 s"\n[topology]\nkind = "dumbbell"\n[topology.bottleneck]\n'
        f'rate = "20 Mbit/s"\ndelay = "{delay}"\nqueue = {queue}\n[[flows]]\ncca = "cubic"\n'
    )


def test_what_is_wanted_is_declared() -> None:
    assert set(WANTED) <= set(TESTS)


@pytest.mark.parametrize("path", PRESETS)
@pytest.mark.parametrize("name", TESTS)
def test_every_test_is_a_scenario_on_every_path(name: str, path: str) -> None:
    test = TESTS[name]
    scenario = scenario_of(test, path_of(Scenario.named(path)))
    names = [flow.name for flow in scenario.flows]
    assert names == ["VoIP" if one.startswith("VoIP") else flow_of(one) for one in test.series]
    assert (scenario.duration_s, scenario.warmup_s) == DURATIONS.get(name, (70, 5))
    assert scenario.record.interval_s == 0.2
    for flow, series in zip(scenario.flows, test.series, strict=True):
        assert flow.is_upload == ("download" not in series and "HTTP" not in series)
        if series.startswith(("TCP", "UDP")):
            assert (flow.start_s, flow.stop_s) == SPANS.get((name, series), (5, 65))
            assert (flow.workload is None) == series.startswith("TCP")
        else:
            assert flow.workload is not None
            assert (flow.start_s, flow.stop_s) == (0, None)


def test_markings_are_those_of_the_classes() -> None:
    marks = {flow.name: flow.dscp for flow in scenario_of(declared("rrul"), WIRED).flows}
    streams = {"BE": None, "BK": 8, "CS5": 40, "EF": 46}
    assert marks == {
        **{f"TCP {way} {word}": dscp for way in ("upload", "download") for word, dscp in streams.items()},
        "Ping UDP EF": 46, "Ping UDP BK": 8, "Ping UDP BE": None, "Ping ICMP": None,
    }  # fmt: skip
    far = [flow.dscp for flow in scenario_of(declared("rtt_fair"), WIRED).flows]
    assert far == [None, None, None] * 2 + [8, 8, None] * 2
    assert not any(flow.dscp for flow in scenario_of(declared("rrul_be"), WIRED).flows)
    torrent = [flow.dscp for flow in scenario_of(declared("rrul_torrent"), WIRED).flows]
    assert torrent[:14] == ([8] * 6 + [None]) * 2
    first = {flow.name: flow.dscp for flow in scenario_of(declared("rrul_prio"), WIRED).flows if flow.dscp}
    assert first == {"Ping UDP PRIO": 0x10 >> 2, "Ping ICMP PRIO": 0x10 >> 2}


def test_eight_classes_are_marked_by_their_names() -> None:
    flows = scenario_of(declared("rrul_cs8"), WIRED).flows
    uploads = [flow.dscp or 0 for flow in flows if flow.name and flow.name.startswith("TCP upload")]
    assert uploads == [8 * n for n in range(8)]


def test_algorithms_take_turns_unless_the_test_names_them() -> None:
    def kinds(name: str, choices: Choices) -> list[str]:
        return [flow.cca.kind for flow in scenario_of(declared(name), WIRED, choices).flows if flow.cca]

    assert kinds("tcp_4up", Choices(("cubic", "bbr3"))) == ["cubic", "bbr3"] * 2
    assert kinds("tcp_bidirectional", Choices(("bbr3",), server_cca="reno")) == ["reno", "bbr3"]
    assert kinds("cubic_bbr", Choices(("vegas",))) == ["cubic", "bbr1"] * 4
    assert kinds("rrul_torrent", Choices(("reno",))) == (["ledbat"] * 6 + ["reno"]) * 2
    assert kinds("tcp_2up_square", Choices(("vegas",))) == ["cubic", "cubic", "reno", "westwood"]


def test_servers_are_as_far_as_is_said() -> None:
    scenario = scenario_of(declared("rtt_fair"), WIRED, Choices(extra_rtts_ms=(0, 10, 20, 40)))
    rtts = [round(flow.access.delay_s * 4e3, 6) if flow.access else 0 for flow in scenario.flows]
    assert rtts == [0, 0, 0, 10, 10, 10, 20, 20, 20, 40, 40, 40]
    run = library.run(scenario.with_values({"duration": "6 s"}))
    rtt_ms = run.probes.group_by("flow", maintain_order=True).agg(pl.col("rtt_s").min())["rtt_s"] * 1e3
    assert rtt_ms.sort().to_list() == pytest.approx([1.51, 11.51, 21.51, 41.51], abs=0.03)


@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_ping_waits_in_the_queue_that_a_stream_fills(cca: str) -> None:
    scenario = scenario_of(declared("tcp_1up"), path_of(deep()), Choices((cca,)))
    run = library.run(scenario)
    loaded = pl.col("time_s").is_between(10, 64)
    ping_s = np.median(run.probes.filter(loaded)["rtt_s"].drop_nulls())
    waits = run.links.filter(loaded & (pl.col("link") == "bottleneck-reverse"))["sojourn_s"]
    wait_s = np.median(waits.drop_nulls())
    assert wait_s > 0.5
    assert ping_s == pytest.approx(0.020 + wait_s, rel=0.02)


def test_expedited_probes_stay_near_the_base_under_cake() -> None:
    path = path_of(deep(queue='{ kind = "cake", bandwidth_bps = 19000000 }'))
    run = library.run(scenario_of(declared("rrul"), path))
    loaded = run.probes.filter(pl.col("time_s").is_between(10, 64) & (pl.col("flow") == "Ping UDP EF"))
    rtt_ms = loaded["rtt_s"].drop_nulls().to_numpy() * 1e3
    one_frame_ms = 1514 * 8 / 19e3
    # the frame in service and one of each of the other eight streams, both ways, are the most that is ahead
    assert np.median(rtt_ms) < 20 + 2 * 2 * one_frame_ms
    assert np.percentile(rtt_ms, 95) < 20 + 2 * 9 * one_frame_ms


def test_the_queue_of_the_test_host_is_that_which_is_asked_for() -> None:
    path = path_of(Scenario.named("ethernet-100m"), {"kind": "cake"})
    scenario = scenario_of(declared("tcp_1up"), path)
    assert scenario.hosts is not None
    assert scenario.hosts[0].nic is not None
    assert scenario.hosts[0].nic.queue is not None
    assert (scenario.hosts[0].nic.queue.kind, scenario.hosts[0].nic.rate_bps) == ("cake", 10**9)


def test_a_number_of_streams_goes_with_the_tests_of_n() -> None:
    assert with_streams(declared("tcp_nup"), 3).parameters == {"upload_streams": 3}
    assert len(with_streams(declared("tcp_ndown"), 3).series) == 4
    assert with_streams(declared("rrul"), 3) is declared("rrul")
    pairs = with_streams(declared("rrul_var"), 2)
    assert pairs.series[:2] == ("TCP upload::0 (CS0)", "TCP upload::1 (CS0)")
    assert (len(pairs.series), pairs.parameters) == (7, {"bidir_streams": 2})
    mixed = with_streams(declared("rtt_fair_var_mixed"), 3)
    assert mixed.series[::2] == (
        "TCP upload BE server1",
        "TCP download BE server2",
        "TCP upload BE server3",
    )
    assert (mixed.hosts, mixed.parameters) == (3, {"data_directions": "up,down,up"})
    assert with_streams(declared("rtt_fair_var"), 5).hosts == 5


def test_the_command_runs_keeps_and_writes(fullpipe: Cli) -> None:
    done = fullpipe("flent", "tcp_2up", "--length", "3 s", "--cca", "reno,cubic", "-o", "a.flent.gz")
    assert done.exit_code == 0, done.output
    assert "TCP upload 2" in done.stdout
    assert Path("a.flent.gz").exists()
    assert len(list(Path("runs").glob("*/native-1"))) == 1


def test_the_command_for_real_hosts(fullpipe: Cli) -> None:
    done = fullpipe("flent", "tcp_nup", "--streams", "3", "--cca", "bbr3", "--qdisc", "fq", "--print-command")
    first, second = done.stdout.splitlines()
    assert first == "tc qdisc replace dev IFACE root fq"
    assert second.startswith("flent tcp_nup -l 60 -D 5 -H SERVER --test-parameter upload_streams=3 ")
    assert "tcp_cong_control=bbr" in second
    assert not Path("runs").exists()


def test_the_scenario_is_printed(fullpipe: Cli) -> None:
    done = fullpipe("flent", "rrul", "--path", "dsl", "--show")
    assert Scenario.from_toml(done.stdout).name == "rrul"


def test_tests_are_listed(fullpipe: Cli) -> None:
    assert set(json.loads(fullpipe("list", "flent-tests", "--json").stdout)) == set(TESTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tcp_1upp",), 'unknown test "tcp_1upp"; did you mean'),
        (("rrul", "--streams", "3"), "applies only to tcp_nup, tcp_ndown"),
        (("rrul", "--cca", ","), "name at least one algorithm"),
        (("rrul", "--cca", "cubicc"), "cubicc"),
        (("rrul", "--path", "parking-lot"), "is a graph; name a scenario with a dumbbell"),
        (("rrul", "--path", "nowhere"), "nowhere"),
        (("rrul", "--length", "0 s"), "more than 0 s"),
        (("rrul", "--length", "5"), "unit"),
    ],
)
def test_mistakes_end_with_two(fullpipe: Cli, arguments: tuple[str, ...], message: str) -> None:
    done = fullpipe("flent", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())
