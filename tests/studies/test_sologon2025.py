"""The study of routes that change: transcribed whole, claims can be checked, quantities are as by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import studies
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.network import resolve
from fullpipe.studies import sologon2025, tables
from fullpipe.studies.experiments import Experiment, Measurements, Variants
from fullpipe.studies.sologon2025 import measures
from fullpipe.studies.sologon2025.measures import MBPS, WITH_HEADERS
from fullpipe.studies.verdicts import Verdict
from tests.studies.todo import jobs

STEP_S = 0.5


def made(scenario: Scenario, **tables: pl.DataFrame) -> Run:
    """A run of which only the scenario and tables exist."""
    return type("Made", (), {"scenario": scenario, **tables})()  # type: ignore[no-any-return]


def sampled(scenario: Scenario, mbps: float = 1.0, window: int = 1000) -> Run:
    """A run in which nothing ever changes."""
    names = [flow.name for flow in scenario.flows]
    times = [STEP_S * (n + 1) for n in range(int(scenario.duration_s / STEP_S))]
    series = pl.DataFrame({"time_s": times}).join(pl.DataFrame({"flow": names}), how="cross")
    series = series.with_columns(goodput_bps=pl.lit(mbps / MBPS), cwnd_bytes=pl.lit(window))
    flows = pl.DataFrame({"flow": names}).with_columns(goodput_bps=pl.lit(mbps / MBPS))
    links = pl.DataFrame({"time_s": times}).join(pl.DataFrame({"link": ["link 1", "link 2"]}), how="cross")
    return made(scenario, series=series, flows=flows, links=links.with_columns(utilisation=pl.lit(1.0)))


def test_every_claim_can_be_judged_as_stated() -> None:
    found, measure = Measurements(), {e.name: e.measure for e in sologon2025.experiments(quick=False)}
    for job in jobs("sologon2025", seeds=1):
        if job.point.get(sologon2025.SETTING) == sologon2025.STATED:
            found.add(job, measure[job.point["experiment"]](sampled(job.scenario)))
    claims = sologon2025.transcription().claims
    checked = sologon2025.check_claims(claims, found)
    assert not [j.claim.id for j in checked if j.verdict is Verdict.NOT_TESTABLE]
    assert {j.reading for j in checked} == {"", sologon2025.STATED}
    shown = tables.report(
        sologon2025.transcription(),
        checked,
        1,
        sologon2025.REMARKS,
        sections=sologon2025.text_sections(found),
    ).text
    assert all(claim.id in shown for claim in claims)


def test_half_is_not_what_the_printed_rates_lose() -> None:
    claims = {c.id: c for c in sologon2025.transcription().claims}
    before, after = claims["Fig. 3: BBRv3, 10 s, 30 ms"], claims["Fig. 13: CUBIC, 3 s, other flows"]
    assert before.between
    assert after.between
    assert 100 * (1 - after.between.middle / before.between.middle) == pytest.approx(39, abs=0.5)
    assert {c.id for c in claims.values() if c.kind == "contradicted"} == {
        "Abstract, 4.1: CUBIC, 3 s",
        "8: CUBIC, 5 s and less",
        "4.1: CUBIC, longer flows",
    }


def test_jobs_cover_intervals_settings_and_algorithms() -> None:
    todo = jobs("sologon2025", seeds=5)
    counts = Counter(job.point["experiment"] for job in todo)
    # Two algorithms, five seeds; four intervals by five settings; five settings; three policies.
    assert counts == {"routes": 10 * 4 * 5, "links": 10 * 5, "controller": 10 * 3}
    dynamic = [job.scenario.flows for job in todo if job.point["experiment"] == "links"]
    assert {flows[0].cca.kind for flows in dynamic} == {"bbr3", "cubic"}
    assert {tuple(f.cca.kind for f in flows[1:]) for flows in dynamic} == {("bbr3",) * 4 + ("cubic",) * 4}


def test_quick_jobs_are_shorter_where_the_schedule_allows() -> None:
    lasting = {
        (job.point["experiment"], job.scenario.duration_s) for job in studies.jobs("sologon2025", quick=True)
    }
    assert lasting == {("routes", 70), ("links", 120), ("controller", 60)}


def test_ways_differ_by_ten_milliseconds_and_only_data_takes_the_other() -> None:
    network = resolve(Scenario.named("sologon2025-routes"))
    for delay, routed in zip(measures.DELAYS_MS, network.flows, strict=True):
        assert network.base_rtt_s(routed) == pytest.approx(2e-3 * delay)
        first = routed.reroutes[0]
        assert first.reverse is None
        assert first.forward
        assert sum(network.links[i].delay_s for i in first.forward) == pytest.approx(1e-3 * (delay + 10))


def test_the_dynamic_flow_begins_on_link_1_and_moves_every_20_s() -> None:
    network = resolve(Scenario.named("sologon2025-links"))
    names = [[network.links[i].name for i in routed.forward][-1] for routed in network.flows]
    assert names == ["link 1"] * 5 + ["link 2"] * 4
    reroutes = network.flows[0].reroutes
    assert [reroute.at_s for reroute in reroutes][:3] == [20, 40, 60]
    assert [network.links[(new.forward or (0,))[-1]].name for new in reroutes][:2] == ["link 2", "link 1"]


def test_four_flows_by_hand() -> None:
    run = sampled(Scenario.named("sologon2025-routes"), mbps=50)
    at_20_s = (pl.col("time_s") > 20) & (pl.col("time_s") <= 22) & (pl.col("flow") == "30 ms")
    run.series = run.series.with_columns(  # type: ignore[misc]
        cwnd_bytes=pl.when(at_20_s).then(pl.lit(800)).otherwise(pl.col("cwnd_bytes"))
    )
    found = measures.four_flows(run)
    assert found["mean"] == pytest.approx(50 * WITH_HEADERS)
    assert found["long_below_80"] == 3
    # One of four flows at one of the five changes to the faster route that leave two seconds to look at.
    assert found["cuts_percent"] == pytest.approx(100 / 20)
    assert found["cwnd_slow"] == pytest.approx(1)


def test_nine_flows_by_hand() -> None:
    found = measures.nine_flows(sampled(Scenario.named("sologon2025-links"), mbps=10))
    assert found["dynamic_on_bbr"] == found["dynamic_on_cubic"] == pytest.approx(10 * WITH_HEADERS)
    assert found["dynamic_unevenness"] == pytest.approx(0)
    # Two of four flows, and the fifth for 40 of 100 s.
    assert found["long_share_percent"] == pytest.approx(100 * 2 / 4.4)
    assert found["jain_cubic_shared"] == pytest.approx(1)
    assert (found["bbr_gap_s"], found["cubic_gap_max_s"], found["link_1"]) == (0, 0, 100)


def test_a_link_is_not_full_while_a_second_is_not() -> None:
    times = [n / 10 for n in range(1, 201)]
    used = [0.8 if 50 < n <= 70 else 1.0 for n in range(1, 201)]
    links = pl.DataFrame({"time_s": times, "utilisation": used}).with_columns(link=pl.lit("link 1"))
    # A second's mean falls below 95 % with its third sample of 80 % and until less than three are left.
    assert measures.seconds_not_full(links, "link 1", 4.0) == pytest.approx(2.5, abs=0.11)
    assert measures.seconds_not_full(links, "link 1", 10.0) == 0


def only(names: Collection[str], settings: Callable[..., Variants]) -> Callable[..., Variants]:
    """Some settings of an experiment."""
    return lambda **how: {name: values for name, values in settings(**how).items() if name in names}


def small(seconds: Mapping[str, float], experiments: Callable[..., list[Experiment]]) -> Any:
    """Experiments of other durations, on links of a fifth of the rate with queues that are as long."""

    def values(name: str) -> dict[str, str]:
        links = range(sologon2025.FLOWS if name == "routes" else sologon2025.LINKS)
        return {f"topology.links.{i}.rate": "20 Mbit/s" for i in links} | {"duration": f"{seconds[name]} s"}

    return lambda **how: [
        replace(each, scenario=each.scenario.with_values(values(each.name))) for each in experiments(**how)
    ]


@pytest.mark.slow
def test_the_study_on_tiny_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"routes": 21, "links": 60, "controller": 21}  # every route changes twice, in both directions
    monkeypatch.setattr(sologon2025, "QUICK_S", tiny["routes"])
    monkeypatch.setattr(sologon2025, "experiments", small(tiny, sologon2025.experiments))
    some = (
        sologon2025.STATED,
        sologon2025.ACKS_TOO,
        sologon2025.DUPLICATES,
    )  # the other two have queues that these have
    for settings in ("_routes", "_links"):
        monkeypatch.setattr(sologon2025, settings, only(some, getattr(sologon2025, settings)))
    report = studies.run("sologon2025", seeds=1, workers=2, out=tmp_path, quick=True, echo=None)
    stems = {path.stem for path in report.figures}
    routes = {"figures-3-5-7", "figures-4-6-8", "figures-9-11-13", "figures-10-12-14"}
    assert stems == routes | {f"figure-{n}" for n in range(15, 21)}
    assert all(path.exists() for path in report.files)


def test_short_transfers_beside_controlled_flows_by_hand() -> None:
    flows = pl.DataFrame({"flow": ["one", "two", "short"], "goodput_bps": [1e6, 3e6, 9e6]})
    transfers = pl.DataFrame({"flow": ["short"] * 3 + ["other"], "fct_s": [0.1, 0.2, None, 9.0]})
    times = {"time_s": [1.0, 2.0] * 2, "link": ["link 1"] * 2 + ["link 2"] * 2}
    links = pl.DataFrame({**times, "utilisation": [0.5, 1.0, 0.0, 0.2]})
    controlled = Scenario.named("sologon2025-controller")
    found = measures.controlled_flows(made(controlled, flows=flows, transfers=transfers, links=links))
    assert found["long_mean"] == pytest.approx(2 * WITH_HEADERS)
    assert found["jain"] == pytest.approx(16 / 20)
    assert (found["link_1"], found["link_2"]) == (pytest.approx(75), pytest.approx(10))
    assert (found["short_median_ms"], found["short_p95_ms"]) == (pytest.approx(150), pytest.approx(195))
