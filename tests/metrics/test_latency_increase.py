"""Latency under load: the RTT of the idle path, where it is from, and where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

import fullpipe as library
from fullpipe import Run, Scenario
from fullpipe.analysis.metrics import measured
from fullpipe.analysis.metrics.delay import idle_times, of_idle_path
from fullpipe.analysis.metrics.paths import echo_rtts_s
from fullpipe.analysis.metrics.table import without_idle_rtt
from fullpipe.engines.flent import read_run
from tests.flent import made

Cli = Callable[..., Any]
Part = dict[str, Any]
LINK: Part = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}}
JITTER: Part = {"jitter": {"spread": "1 ms"}}
LOAD: Part = {"name": "load", "cca": "cubic"}
NEAR: Part = {"name": "near", "workload": {"kind": "ping", "interval": "50 ms"}}
FAR: Part = {**NEAR, "name": "far", "access": {"delay": "100 ms"}}
ECHO_S = 0.02 + 2 * 98 * 8 / 10e6
"""RTT of the idle path: 10 ms each way, and 98 B on the wire at 10 Mbit/s, there and back."""


def run_of(*flows: Part, link: Part = LINK, lasts: str = "4 s") -> Run:
    topology = {"kind": "dumbbell", "bottleneck": link}
    return library.run(Scenario(name="loaded", duration=lasts, topology=topology, flows=list(flows)))


def increase(run: Run, of: str) -> float | None:
    found = measured(run, metrics=["latency_increase"]).filter(of=of)["value"].to_list()
    return None if found == [None] else float(found[0])


def loaded_s(run: Run, flow: str) -> float:
    return fmean(run.probes.filter(flow=flow)["rtt_s"].drop_nulls().to_list())


def after(time: str, ping: Part) -> Part:
    return {**ping, "start": time}


def test_a_ping_that_starts_under_load_is_compared_with_the_path_of_its_scenario() -> None:
    run = run_of(LOAD, after("2 s", NEAR))
    assert increase(run, "near") == pytest.approx(loaded_s(run, "near") - ECHO_S)
    assert (
        min(run.probes["rtt_s"].drop_nulls().to_list()) > ECHO_S + 0.01
    )  # its own smallest RTT has a queue in it


def test_the_path_is_that_of_each_server() -> None:
    run = run_of(LOAD, after("2 s", NEAR), after("2 s", FAR))
    assert increase(run, "far") == pytest.approx(loaded_s(run, "far") - ECHO_S - 0.4)
    both = [increase(run, of) for of in ("near", "far")]
    assert increase(run, "all flows") == pytest.approx(sum(each or 0.0 for each in both) / 2)


def test_when_a_ping_starts_does_not_change_what_the_idle_path_takes() -> None:
    first, late = run_of(NEAR, {**LOAD, "start": "1 s"}), run_of(LOAD, after("2 s", NEAR))
    idle_s = first.probes["rtt_s"].min()
    assert echo_rtts_s(late.scenario)["near"] == pytest.approx(idle_s)


@pytest.mark.parametrize(
    "link",
    [
        {**LINK, "queue": {"kind": "cake", "bandwidth_bps": 2_000_000}},
        {**LINK, "queue": {"kind": "fq_codel"}},
        {"rate": "200 kbit/s", "delay": "3 ms"},
    ],
)
def test_the_rtt_of_a_scenario_is_what_a_ping_alone_takes(link: Part) -> None:
    run = run_of(NEAR, {"name": "probe", "workload": "probe", "upload": True}, link=link, lasts="1 s")
    found = {row["flow"]: row["rtt_min_s"] for row in run.rows("flows")}
    assert echo_rtts_s(run.scenario) == pytest.approx(found)


def test_without_an_idle_path_of_known_rtt_there_is_no_increase() -> None:
    run = run_of(LOAD, after("2 s", NEAR), link={**LINK, **JITTER})
    assert increase(run, "near") is None
    assert increase(run, "all flows") is None
    assert without_idle_rtt(run) == ["near"]


def test_a_group_has_none_if_one_of_its_pings_has_none() -> None:
    run = run_of(NEAR, {**LOAD, "start": "1 s"}, after("2 s", FAR), link={**LINK, **JITTER})
    assert increase(run, "near") is not None
    assert increase(run, "all flows") is None


def test_a_ping_that_is_there_before_the_load_measures_the_idle_path() -> None:
    run = run_of(NEAR, {**LOAD, "start": "1 s"}, link={**LINK, **JITTER})
    begin_s = run.flows.filter(flow="load")["start_s"][0]
    back_s = pl.col("time_s") + pl.col("rtt_s")
    idle, loaded = run.probes.filter(back_s <= begin_s), run.probes.filter(pl.col("time_s") >= begin_s)
    wanted_s = fmean(loaded["rtt_s"].drop_nulls()) - fmean(idle["rtt_s"])
    assert increase(run, "near") == pytest.approx(wanted_s)
    assert without_idle_rtt(run) == []


@pytest.mark.parametrize(
    "part",
    [{"reordering": {"every": 3, "extra": "20 ms"}}, {"jitter": {"spread": "20 ms"}}, {"batch": "10 ms"}],
)
def test_a_ping_beside_the_load_has_no_increase_on_a_path_whose_delay_is_uneven(part: Part) -> None:
    def link(name: str, **more: Any) -> Part:
        return {
            "from": name,
            "to": f"{name}-end",
            "duplex": True,
            "rate": "10 Mbit/s",
            "delay": "10 ms",
        } | more

    nodes = ["ping", "ping-end", "load", "load-end"]
    topology = {"kind": "graph", "nodes": nodes, "links": [link("ping", **part), link("load")]}
    ping = {**NEAR, "from": "ping", "to": "ping-end", "workload": {"kind": "ping", "interval": "1 ms"}}
    load = {**LOAD, "from": "load", "to": "load-end", "start": "2 s"}
    run = library.run(Scenario(name="apart", duration="4 s", topology=topology, flows=[ping, load]))
    assert increase(run, "near") == pytest.approx(0.0, abs=5e-4)


def test_a_path_that_changes_has_no_increase() -> None:
    link = {**LINK, "changes": [{"at": "1 s", "delay": "100 ms"}]}
    run = run_of(NEAR, {**LOAD, "start": "2 s"}, link=link)
    assert increase(run, "near") is None
    assert without_idle_rtt(run) == ["near"]


def test_a_path_that_others_use_is_not_idle() -> None:
    udp = {"name": "flood", "workload": {"kind": "udp", "rate": "9 Mbit/s"}}
    run = run_of(NEAR, udp, {**LOAD, "start": "1 s"}, link={**LINK, **JITTER})
    assert increase(run, "near") is None


def test_what_a_load_has_left_is_not_an_idle_path() -> None:
    flows = pl.DataFrame({"start_s": [0.0, 1.0, None], "end_s": [2.0, 3.0, None]})
    idle_s = idle_times(flows)
    assert idle_s == [(-float("inf"), 0.0), (3.0, float("inf"))]
    probes = pl.DataFrame({"time_s": [2.9, 3.0, 3.2, 3.4], "rtt_s": [0.5, 0.3, 0.2, 0.02]})
    assert of_idle_path(probes, idle_s)["rtt_s"].to_list() == [0.02]
    assert of_idle_path(probes.head(3), idle_s).is_empty()  # sent while the ping before was still on its way


def imported(tmp_path: Path, from_s: float) -> Run:
    """An upload from 5 to 65 s as Flent has it, and pings that begin later than usual."""
    tree = made.upload()
    points = tree["raw_values"]["Ping (ms) ICMP"]
    tree["raw_values"]["Ping (ms) ICMP"] = [
        point for point in points if from_s <= point["t"] - made.T0 and point["t"] - made.T0 < 64
    ]
    return read_run(made.write(tree, tmp_path / "a.flent.gz"))


def test_an_imported_ping_needs_an_idle_line(tmp_path: Path) -> None:
    assert increase(imported(tmp_path, 0), "Ping ICMP") == pytest.approx(0.04)
    late = imported(tmp_path, 20)
    assert increase(late, "Ping ICMP") is None
    assert without_idle_rtt(late) == ["Ping ICMP"]


def test_the_command_says_why_there_is_a_dash(fullpipe: Cli, tmp_path: Path) -> None:
    run = run_of(LOAD, after("2 s", NEAR), link={**LINK, **JITTER})
    folder = library.run(run.scenario, out=tmp_path).folder
    assert "latency_increase of near is unknown: " in fullpipe("metrics", folder).stdout.replace("\n", " ")
    assert json.loads(fullpipe("metrics", folder, "--json").stdout)["without_idle_rtt"] == ["near"]
