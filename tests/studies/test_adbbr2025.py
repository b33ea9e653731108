"""The study of Ad-BBR: the transcription is whole, every claim can be checked, quantities are as by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import studies
from fullpipe.analysis.metrics import jain
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import adbbr2025, tables
from fullpipe.studies.adbbr2025 import figures, measures, mobile, wifi
from fullpipe.studies.claim_checks import ClaimResult
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.verdicts import Verdict
from fullpipe.sweeps import Update
from tests.studies.todo import jobs

QUANTITIES = {
    "loss": ("goodput_mbps", "rtt_ms"),
    "fairness": (
        "short_mbps",
        "long_mbps",
        "total_mbps",
        "gap_mbps",
        "lead_mbps",
        "short_share",
        "jain",
        "drops_per_100s",
        "regular_drops_percent",
    ),
    "join-leave": tuple(measures.SPANS_S),
    "retransmissions": ("retransmitted_percent", "rtt_ms", "queue_ms"),
    "latency": ("retransmitted_percent", "rtt_ms", "queue_ms"),
    adbbr2025.LONE: ("goodput_mbps", "rtt_ms"),
} | {
    name: quantities
    for names in (
        (wifi.DOWNLOAD, wifi.FAIRNESS),
        (mobile.DOWNLOAD, mobile.FAIRNESS),
        (mobile.LTE_DOWNLOAD, mobile.LTE_FAIRNESS),
    )
    for name, quantities in zip(
        names,
        (("goodput_mbps", "nominal_percent", "rtt_ms"), ("short_mbps", "long_mbps", "short_share", "jain")),
        strict=True,
    )
}

SEVERAL = ("7-10ms", "7-20ms", "7-50ms", "12-share", "12-index", "13-share", "13-index")
FIGURES = (2, 3, 5, 6, 8, 9, 10, 11, 14, 15, 16, *SEVERAL)


class Made:
    """A run of which only tables exist."""

    def __init__(self, **tables: Any) -> None:
        self.tables = tables

    def __getattr__(self, name: str) -> Any:
        return self.tables[name]


def run(**tables: Any) -> Run:
    return Made(**tables)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def checked() -> list[ClaimResult]:
    """Every claim, judged by numbers that are all the same but for the seed."""
    found = Measurements()
    for job in jobs("adbbr2025", seeds=2):
        found.add(job, dict.fromkeys(QUANTITIES[job.point["experiment"]], 1.0 + 0.01 * job.seed))
    return adbbr2025.check_claims(adbbr2025.transcription().claims, adbbr2025.with_growth(found))


def test_every_claim_can_be_judged(checked: list[ClaimResult]) -> None:
    assert not [j.claim.id for j in checked if j.verdict is Verdict.NOT_TESTABLE]


def test_claims_about_the_subject_are_judged_for_every_reading(checked: list[ClaimResult]) -> None:
    readings = [j.reading for j in checked if j.claim.id == "5.5: Ad-BBR"]
    assert readings == list(adbbr2025.READINGS)
    assert [j.reading for j in checked if j.claim.id == "5.5: BBQ and BBRv3"] == [""]


def test_the_readings_fitted_to_the_claims_are_run_beside_the_others() -> None:
    kinds = [job.scenario.flows[0].cca.model_dump() for job in jobs("adbbr2025", seeds=1)]
    ran = {(kind["preset"], kind.get("trigger")) for kind in kinds if isinstance(kind, dict)}
    assert {("reduce", None), ("reduce_dynamic", None), ("sane", "counters")} <= ran


def test_thirty_per_cent_do_not_fit_on_an_index_of_nine_tenths() -> None:
    (claim,) = [c for c in adbbr2025.transcription().claims if c.kind == "contradicted"]
    assert "at most 11 %" in claim.what
    assert 1 / (jain([1 / 3, 2 / 3]) or 0) == pytest.approx(1.111, abs=1e-3)


def test_jobs_cover_all_conditions() -> None:
    todo = jobs("adbbr2025", seeds=5)
    counts = {name: sum(job.point["experiment"] == name for job in todo) for name in QUANTITIES}
    expected = {"loss": 390, "fairness": 130, "join-leave": 65, "retransmissions": 650, "latency": 325}
    expected |= {adbbr2025.LONE: 10, wifi.DOWNLOAD: 13 * 6 * 2 * 3 * 2 * 5, wifi.FAIRNESS: 13 * 6 * 2 * 2 * 5}
    expected |= {mobile.DOWNLOAD: 13 * 6 * 2 * 2 * 5, mobile.FAIRNESS: 13 * 6 * 2 * 2 * 5}
    expected |= {mobile.LTE_DOWNLOAD: 13 * 2 * 2 * 5, mobile.LTE_FAIRNESS: 13 * 2 * 2 * 5}
    assert counts == expected
    kinds = {flow.cca.kind for job in todo for flow in job.scenario.flows}
    assert kinds == {"ad_bbr", "bbr1", "bbr3", "bbq", "cubic", "reno"}
    presets = {job.scenario.flows[0].cca.params.get("preset") for job in todo}
    assert presets == {*adbbr2025.PRESETS, None}


def test_quick_jobs_are_shorter_where_the_schedule_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adbbr2025, "ALGORITHMS", {"CUBIC": "cubic"})  # durations are the same for all
    seconds = {
        job.point["experiment"]: job.scenario.duration_s for job in studies.jobs("adbbr2025", quick=True)
    }
    assert seconds["join-leave"] == 150
    files = (wifi.DOWNLOAD, mobile.DOWNLOAD, mobile.LTE_DOWNLOAD)
    timed = [name for name in QUANTITIES if name not in ("join-leave", *files)]
    assert all(seconds[name] <= 30 for name in timed)


def test_two_flows_by_hand() -> None:
    flows = pl.DataFrame({"goodput_bps": [100e6, 300e6]})
    samples = [(t / 10, "bottleneck", 0.2 if t in (103, 104, 205) else 1.0) for t in range(1, 251)]
    links = pl.DataFrame(samples, schema=["time_s", "link", "utilisation"], orient="row")
    found = measures.two_flows(run(flows=flows, links=links))
    assert (found["total_mbps"], found["lead_mbps"], found["short_share"]) == (400, 200, 0.25)
    # 400^2 / (2 * (100^2 + 300^2)); drops at 10.3 and 20.5 s, of the 20 s after the first 5 s.
    assert found["jain"] == pytest.approx(0.8)
    assert found["drops_per_100s"] == pytest.approx(10)
    assert found["regular_drops_percent"] == 100


def test_every_ten_seconds_is_a_matter_of_the_times_between_drops() -> None:
    def regular(*drops: int) -> float:
        samples = [(t / 10, "bottleneck", 0.2 if t in drops else 1.0) for t in range(1, 501)]
        links = pl.DataFrame(samples, schema=["time_s", "link", "utilisation"], orient="row")
        return measures.regular_drops_percent(links)

    assert regular(100, 150, 200, 250) == 0  # every five seconds
    assert regular(100, 200, 250, 350) == pytest.approx(200 / 3)
    assert regular(100) == 0


def test_jain_counts_flows_only_while_they_are_there() -> None:
    flows = pl.DataFrame({"flow": ["a", "b"], "start_s": [0.05, 2.02], "end_s": [4.0, 3.9]})
    rows = [(t, f, 3.0 if f == "a" else 1.0) for t in (1.0, 2.0, 3.0, 4.0) for f in ("a", "b")]
    series = pl.DataFrame(rows, schema=["time_s", "flow", "goodput_bps"], orient="row")
    index = measures.jain_over_time(run(flows=flows, series=series))
    # Both are there from 2 to 3 s: 4^2 / (2 * 10); b leaves before 4 s.
    assert index["jain"].to_list() == [1.0, 1.0, pytest.approx(0.8), 1.0]


def test_many_flows_by_hand() -> None:
    flows = pl.DataFrame(
        {"sent_packets": [100, 300], "retransmitted_packets": [10, 10], "rtt_mean_s": [0.05, 0.07]}
    )
    links = pl.DataFrame({"link": ["bottleneck", "other"], "sojourn_mean_s": [0.01, 0.5]})
    found = measures.many_flows(run(flows=flows, links_summary=links))
    expected = {"retransmitted_percent": 5, "rtt_ms": pytest.approx(60), "queue_ms": pytest.approx(10)}
    assert found == expected
    blind = links.with_columns(sojourn_mean_s=pl.lit(None, pl.Float64))
    assert math.isnan(measures.many_flows(run(flows=flows, links_summary=blind))["queue_ms"])


def test_text_has_every_claim_and_the_set_up(checked: list[ClaimResult]) -> None:
    shown = tables.report(adbbr2025.transcription(), checked, 2, adbbr2025.REMARKS).text
    for claim in adbbr2025.transcription().claims:
        assert claim.id in shown
    assert "nine values (contradicted by their own data)" in shown
    assert 'Under the reading "Ad-BBR si" (49 counted): ' in shown
    assert tables.table(checked).height == len(checked)
    assert len(tables.markdown(checked).splitlines()) == 2 + len(adbbr2025.transcription().claims)


@pytest.mark.slow
def test_the_study_on_tiny_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = dict.fromkeys(adbbr2025.QUICK_DURATION, "1 s")
    monkeypatch.setattr(adbbr2025, "QUICK_DURATION", tiny)
    monkeypatch.setattr(wifi, "QUICK_FILE", {"flows.0.size": "1 MB"})
    monkeypatch.setattr(wifi, "QUICK_TIME", {"duration": "1 s"})
    for part in (wifi, mobile):  # two cells of six: the others differ in numbers only
        monkeypatch.setattr(part, "GRID", dict(list(part.GRID.items())[-2:]))
    readings = ("Ad-BBR faithful", "Ad-BBR sane counters")  # two of eight, which differ in parameters only
    some = {name: adbbr2025.READINGS[name] for name in readings} | adbbr2025.OTHERS
    monkeypatch.setattr(adbbr2025, "ALGORITHMS", some)
    prepared = studies.prepare("adbbr2025", seeds=1, workers=2, out=tmp_path, quick=True)
    report = prepared.run()
    names = {path.name for path in report.files}
    figures = {f"figure-{n}.{suffix}" for n in FIGURES for suffix in ("png", "svg", "csv")}
    assert names == figures | {"measured.csv", "points.md", "verdicts.csv", "verdicts.md", "report.html"}
    assert all(path.exists() for path in report.files)

    states: set[str] = set()

    def progress(update: Update) -> None:
        if update.state != "running":
            states.add(update.state)

    monkeypatch.setattr(adbbr2025.figures, "draw", lambda *_: [])  # once is enough
    again = prepared.run(progress)
    assert states == {"stored"}
    assert again.text == report.text


def test_points_of_operation_by_hand(tmp_path: Path) -> None:
    scenario = Scenario.named("adbbr2025-fairness").expand()[1]
    rows = [
        (time_s, flow, in_flight, rate, rtt_s, shortest_s, rate)
        for time_s in (1.0, 6.0, 7.0)
        for flow, in_flight, rate, rtt_s, shortest_s in (
            ("10 ms", 1_000_000 * time_s, 100e6, 0.1, 0.01),
            ("50 ms", 9_000_000.0, 800e6, 0.15, 0.05),
        )
    ]
    names = ["time_s", "flow", "in_flight_bytes", "goodput_bps", "srtt_s", "min_rtt_s", "delivery_bps"]
    series = pl.DataFrame(rows, schema=names, orient="row")
    flows = pl.DataFrame({"flow": ["10 ms", "50 ms"]})
    made = run(series=series, flows=flows, scenario=scenario)
    found = figures.points(made)
    # Half of 1 Gbit/s for 10 and 50 ms is 0.625 and 3.125 MB; settled, the short flow has 6 and 7 MB.
    assert found["point"].to_list() == ["A", "B", "C", "D"]
    assert found["inflight_mb"].to_list() == pytest.approx([0.625, 3.125, 6.5, 9])
    assert found["rate_mbps"].to_list() == pytest.approx([500, 500, 100, 800])
    assert found["rtt_ms"].to_list() == pytest.approx([10, 50, 100, 150])
    written = figures.figure_3(made, tmp_path)
    assert {path.suffix for path in written} == {".png", ".svg", ".csv"}


def test_rates_and_times_over_what_is_in_flight_are_medians() -> None:
    columns = ["in_flight_bytes", "delivery_bps", "srtt_s"]
    rows = [(0, 5e6, 0.01), (20_000, 1e6, 0.05), (21_000, 3e6, 0.07), (100_000, 9e6, 0.09)]
    found = figures.over_inflight(run(series=pl.DataFrame(rows, schema=columns, orient="row")))
    assert found["inflight_mb"].to_list() == pytest.approx([0.02, 0.1])
    assert found["rate_mbps"].to_list() == pytest.approx([2, 9])
    assert found["rtt_ms"].to_list() == pytest.approx([60, 90])
