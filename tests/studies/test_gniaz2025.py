"""The study of links that vary: transcribed whole, every claim can be checked, quantities are as by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import studies
from fullpipe.engines.ns3 import Ns3Engine
from fullpipe.engines.ns3.input import problems
from fullpipe.runs import Run
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.network import resolve
from fullpipe.studies import gniaz2025, tables
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.gniaz2025 import measures
from fullpipe.studies.gniaz2025.measures import PHASES, WITH_HEADERS, Phases
from fullpipe.studies.study import Plan
from fullpipe.studies.verdicts import Verdict
from tests.studies.todo import jobs


def series(rates: list[float], windows: list[int], flow: str = "one", step_s: float = 1.0) -> pl.DataFrame:
    """Samples of a flow, rates in Mbit/s of payload."""
    times = [step_s * (n + 1) for n in range(len(rates))]
    goodput = [rate * 1e6 for rate in rates]
    return pl.DataFrame({"time_s": times, "goodput_bps": goodput, "cwnd_bytes": windows}).with_columns(
        pl.lit(flow).alias("flow")
    )


@cache
def quantities(experiment: str) -> list[str]:
    """Every quantity that the measure of an experiment gives, from a run that only looks like one."""
    if experiment == gniaz2025.GOING_ON:
        return ["cubic_on", "bbr_on"]
    phases = PHASES[experiment]
    names = ("CUBIC", "BBRv1") if experiment == gniaz2025.TWO_FLOWS else ("one",)
    samples = int(phases.edges[-1])
    flows = pl.DataFrame(
        {"flow": names, "delivered_bytes": [10_240] * len(names), "lost_packets": [1] * len(names)}
    ).with_columns(goodput_bps=pl.lit(1e6))
    links = pl.DataFrame({"link": ["bottleneck"], "dropped_packets": [1]})
    lines = pl.concat([series([1.0] * samples, [1000] * samples, name) for name in names])
    measure = measures.two_flows if len(names) == 2 else measures.lone_flow
    return list(measure(made(flows=flows, links_summary=links, series=lines), phases))


def made(**tables: pl.DataFrame) -> Run:
    """A run of which only tables exist."""
    return type("Made", (), tables)()  # type: ignore[no-any-return]


def test_every_claim_that_is_not_of_wifi_can_be_judged_under_every_setting() -> None:
    found = Measurements()
    for job in jobs("gniaz2025", seeds=2):
        found.add(job, dict.fromkeys(quantities(job.point["experiment"]), 1.0 + 0.01 * job.seed))
    claims = gniaz2025.transcription().claims
    checked = gniaz2025.check_claims(claims, found)
    assert {j.claim.id for j in checked if j.verdict is Verdict.NOT_TESTABLE} == {"3.1, 4.2: wireless"}
    readings = [j.reading for j in checked if j.claim.id == "S6: adaptation"]
    assert readings == list(gniaz2025.READINGS)
    shown = tables.report(
        gniaz2025.transcription(), checked, 2, gniaz2025.REMARKS, setup=gniaz2025.SETUP
    ).text
    assert all(claim.id in shown for claim in claims)


def test_five_per_cent_are_not_the_least_of_the_table() -> None:
    shares = {
        c.id: c.between
        for c in gniaz2025.transcription().claims
        if c.id.startswith("Table 2") and "loss" in c.id
    }
    low = min(expected.middle for expected in shares.values() if expected)
    assert low == pytest.approx(4.3)
    assert {c.id for c in gniaz2025.transcription().claims if c.kind == "contradicted"} == {
        "S1: loss",
        "S6: BBRv1 and CUBIC, packets",
    }


def test_jobs_cover_scenarios_settings_delays_and_algorithms() -> None:
    todo = jobs("gniaz2025", seeds=5)
    counts = {name: sum(job.point["experiment"] == name for job in todo) for name in PHASES}
    # Seven settings, five seeds, and twice as much for two delays and for two algorithms.
    assert counts == {
        "large step": 140,
        "small step": 140,
        "two flows": 70,
        "small spikes": 70,
        "big spike": 70,
        "rate and delay": 70,
    }


def test_over_wifi_data_passes_a_cell_before_the_bottleneck_and_one_behind_it() -> None:
    wired, wireless = (
        next(j.scenario for j in jobs("gniaz2025", seeds=1) if j.point[gniaz2025.SETTING] == reading)
        for reading in (gniaz2025.CODED, gniaz2025.WIFI)
    )
    network, link = resolve(wireless), resolve(wired).links[0]
    names = [network.hops[i].name for i in network.flows[0].forward]
    assert names == ["wifi-left-sender-1-up", "bottleneck", "wifi-right-receiver-1-down"]
    names = [network.hops[i].name for i in network.flows[0].reverse]
    assert names == ["wifi-right-receiver-1-up", "bottleneck-reverse", "wifi-left-sender-1-down"]
    (same,) = (other for other in network.links if other.name == "bottleneck")
    assert (same.queue, same.delay_s, same.changes) == (link.queue, link.delay_s, link.changes)


def test_on_another_engine_the_study_is_as_coded_wired_and_over_wifi() -> None:
    todo = jobs("gniaz2025", seeds=1, engine="ns3")
    assert {job.point[gniaz2025.SETTING] for job in todo} == {gniaz2025.CODED, gniaz2025.WIFI}


def test_ns3_refuses_nothing_of_what_was_coded() -> None:
    can = Ns3Engine().capabilities()
    todo = jobs("gniaz2025", seeds=1, engine="ns3")
    assert [str(problem) for job in todo for problem in problems(job.scenario, can)] == []


def test_queues_hold_what_was_coded() -> None:
    """2 x rate x one-way delay, in packets of 1024 B."""
    held: dict[tuple[Any, ...], set[int]] = {}
    for job in jobs("gniaz2025", seeds=1):
        queue = resolve(job.scenario).links[0].queue
        assert isinstance(queue, Discipline)
        reading, where = job.point[gniaz2025.SETTING], (job.point["experiment"], job.point.get("delay"))
        key = "highest" if reading == gniaz2025.HIGHEST else "first"
        held.setdefault((key, *where), set()).add(queue.params["packets"])
    assert {where[1:]: packets for where, packets in held.items() if where[0] == "first"} == {
        ("large step", 50): {61},
        ("large step", 100): {122},
        ("small step", 50): {366},
        ("small step", 100): {732},
        ("two flows", 50): {12},
        ("two flows", 100): {24},
        (gniaz2025.GOING_ON, 50): {12},
        (gniaz2025.GOING_ON, 100): {24},
        ("small spikes", None): {61},
        ("big spike", None): {12},
        ("rate and delay", None): {244},
    }
    assert held["highest", "large step", 50] == {1_220}


def test_without_a_device_the_bucket_is_all_there_is() -> None:
    of = [j for j in jobs("gniaz2025", seeds=1) if j.point[gniaz2025.SETTING] == gniaz2025.NO_DEVICE]
    links = [link for job in of for link in resolve(job.scenario).links]
    assert {(link.rate_bps, link.device_packets) for link in links} == {(None, None)}


def test_phases_of_the_measures_are_those_of_the_scenarios() -> None:
    firsts = {job.point["experiment"]: job.scenario for job in reversed(jobs("gniaz2025", seeds=1))}
    for name, phases in PHASES.items():
        changes = resolve(firsts[name]).links[0].changes
        assert tuple(change.at_s for change in changes) == phases.edges[1:-1]
        assert firsts[name].duration_s == phases.edges[-1]


def test_a_flow_fills_a_link_when_a_second_reaches_the_rate() -> None:
    samples = series([1.0, 2.0, 10.0, 10.0], [1000] * 4)
    assert measures.seconds_to_fill(samples, 10.0, 0.0, 4.0) == 3.0
    assert measures.seconds_to_fill(samples, 100.0, 0.0, 4.0) == math.inf


def test_the_window_is_halved_and_cut_when_it_is() -> None:
    samples = series([1.0] * 6, [1000, 1000, 900, 700, 450, 450])
    assert measures.seconds_to_halve(samples, 2.0, 6.0) == 3.0
    assert measures.seconds_to_halve(samples, 5.0, 6.0) == math.inf
    assert measures.seconds_to_double(series([1.0] * 4, [100, 150, 199, 201]), 1.0, 4.0) == 3.0
    assert measures.last_cut(samples) == 5.0
    assert measures.last_cut(series([1.0] * 3, [1, 2, 3])) == math.inf


def test_a_fall_is_one_of_the_phase_before() -> None:
    samples = series([4.0, 4.0, 1.0, 1.0, 4.0], [1000, 1000, 900, 800, 700])
    found = measures.of_phases(samples, Phases((0, 2, 4), (4, 1)))
    assert found["drop_2"] == pytest.approx(0.75)
    assert found["cut_2"] == pytest.approx(0.3)  # and the second after the phase
    assert found["end_2"] == pytest.approx(2 * WITH_HEADERS)


def test_loss_and_rates_of_a_lone_flow_by_hand() -> None:
    # 190 times 1024 B of IP.
    flows = pl.DataFrame({"delivered_bytes": [190 * 1024 / WITH_HEADERS], "goodput_bps": [2e6]})
    links = pl.DataFrame({"link": ["bottleneck", "bottleneck-reverse"], "dropped_packets": [10, 99]})
    run = made(flows=flows, links_summary=links, series=series([1.0, 1.0, 3.0, 3.0], [1000] * 4))
    found = measures.lone_flow(run, Phases((0, 2, 4), (1, 3)))
    assert (found["lost"], found["lost_percent"]) == (10, pytest.approx(5))
    assert found["rate_1"] == pytest.approx(WITH_HEADERS)
    assert found["rate_2"] == pytest.approx(3 * WITH_HEADERS)


def abridged(plan: Callable[..., Plan]) -> Callable[..., Plan]:
    """The plan of the study with two settings, of which figures are drawn; others in two scenarios of six."""

    def made(**arguments: Any) -> Plan:
        return [
            (experiment, algorithms)
            for experiment, algorithms in plan(**arguments)
            if {*experiment.variants[gniaz2025.SETTING]} <= {gniaz2025.CODED, gniaz2025.LARGE_SOCKETS}
            or experiment.name in (gniaz2025.TWO_FLOWS, "big spike")
        ]

    return made


@pytest.mark.slow
def test_the_study_with_one_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gniaz2025, "plan", abridged(gniaz2025.plan))
    report = studies.run("gniaz2025", seeds=1, workers=2, out=tmp_path, echo=None)
    stems = {path.stem for path in report.figures}
    assert stems == {f"figure-{n}" for n in range(2, 16)} | {"sockets"}
    assert all(path.exists() for path in report.files)
    # The socket buffer of 1 MiB caps a flow at 41.9 Mbit/s of payload over 200 ms.
    table = pl.read_csv(report.folder / "measured.csv").filter(
        (pl.col("quantity") == "late_2") & pl.col("conditions").str.starts_with("delay 100, setting as coded")
    )
    cap = 8 * (1 << 20) / 0.2 / 1e6 * WITH_HEADERS
    assert table.filter(pl.col("experiment") == "large step")["mean"].max() <= 1.01 * cap  # type: ignore[operator]
