"""The first study on tables made up by hand: quantities, printed numbers, verdicts, text and figures."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fullpipe import Scenario, studies
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Store
from fullpipe.studies import kato2025, tables
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.kato2025 import (
    BOTH,
    EXPERIMENT,
    LARGE,
    NS3_340,
    RECEIVE,
    ROWS,
    cap_text,
    comparison,
    jain,
    measures,
    printed_cell,
    table_text,
)
from fullpipe.studies.verdicts import Expectation
from tests.studies.todo import jobs

SOCKETS = (LARGE, RECEIVE)


def flows(seeds: int = 3) -> pl.DataFrame:
    """Sixteen flows per run that share 960 Mbit/s with a known ripple, or half of that with capped
    sockets."""
    rows = []
    for sockets in SOCKETS:
        top = 60e6 if sockets == LARGE else 30e6
        for buffer in kato2025.BUFFERS:
            for seed in range(1, seeds + 1):
                for flow in range(16):
                    ripple = (1 if flow % 2 else -1) * 1e6 * seed
                    rows.append((buffer, sockets, seed, f"bbr1-{flow + 1}", top + ripple))
    return pl.DataFrame(rows, schema=["buffer", "sockets", "seed", "flow", "goodput_bps"], orient="row")


def series() -> pl.DataFrame:
    """Sixteen flows that cycle through 0.75, 1.25 and six times 1 of 70 Mbit/s, sampled every second for 48
    s."""
    gains = [1.25, 0.75, 1, 1, 1, 1, 1, 1]
    rows = [
        (float(t), f"bbr1-{flow + 1}", 70e6 * gains[(t + flow) % 8], int(t == 3 and flow < 2))
        for t in range(1, 49)
        for flow in range(16)
    ]
    return pl.DataFrame(rows, schema=["time_s", "flow", "pacing_bps", "retransmitted_packets"], orient="row")


def ours(seeds: int = 3) -> Measurements:
    """What the study measures of such runs, with the rates of `series` where a receive buffer limits."""
    found = Measurements()
    for job in kato2025.jobs(studies.Settings(Path(), Store(Path()), tuple(range(1, seeds + 1)))):
        if job.point["experiment"] != EXPERIMENT:
            continue
        buffer, sockets = job.point["buffer"], job.point["sockets"]
        at = (pl.col("buffer") == buffer) & (pl.col("sockets") == sockets) & (pl.col("seed") == job.seed)
        rates = flows(seeds).filter(at)
        if rates.height:
            sampled = measures.of_samples(series()) if (buffer, sockets) == (100, RECEIVE) else {}
            found.add(job, measures.of_flows(rates) | sampled)
    return found


def printed(quantity: str, buffer: int) -> Expectation:
    """What is printed of ns-3 3.40."""
    (claim,) = [
        c
        for c in kato2025.transcription().claims
        if (c.quantity, c.where.get("buffer"), c.simulator) == (quantity, buffer, "ns-3 3.40")
        and c.between
        and not c.id.startswith("III.B")
    ]
    assert claim.between
    return claim.between


def least_sd(flows: int, starved: int, total: float, limit: float = 1.0) -> float:
    """The smallest sample standard deviation of flows of this total of which so many lie below a limit.

    It is reached when all starved flows sit at the limit and all others share the rest evenly.
    """
    if starved in (0, flows):
        return 0.0
    fast = (total - starved * limit) / (flows - starved)
    variance = starved * (flows - starved) / flows * (fast - limit) ** 2 / (flows - 1)
    return float(variance**0.5)


def test_quantities_of_a_run_by_hand() -> None:
    # Two flows: 0.5 and 59.5 Mbit/s. Mean 30, sample sd 59/sqrt(2), Jain 60^2 / (2 * (0.25 + 3540.25)).
    run = measures.of_flows(pl.DataFrame({"goodput_bps": [0.5e6, 59.5e6]}))
    assert run["mean_mbps"] == pytest.approx(30)
    assert run["sd_mbps"] == pytest.approx(59 / 2**0.5)
    assert run["total_mbps"] == pytest.approx(60)
    assert run["jain"] == pytest.approx(3600 / 7081)
    assert (run["below_1"], run["above_50"], run["in_between"]) == (1, 1, 0)
    assert run["efficiency_percent"] == pytest.approx(6)


def test_pacing_levels_are_those_of_the_gain_cycle_and_one_number_per_run() -> None:
    levels = measures.of_samples(series())
    assert levels["pacing_low"] == pytest.approx(52.5)
    assert levels["pacing_cruise"] == levels["pacing_slowest"] == pytest.approx(70)
    assert levels["pacing_slowest_late"] == pytest.approx(70)
    assert levels["pacing_high"] == pytest.approx(87.5)
    assert (levels["pacing_spread"], levels["early_losers"]) == (pytest.approx(1), 2)


def test_printed_numbers_agree_with_each_other() -> None:
    for buffer in kato2025.BUFFERS:
        mean, total = printed("mean_mbps", buffer).middle, printed("total_mbps", buffer).middle
        assert total == pytest.approx(16 * mean, abs=0.05 * 17)
    efficiency = {
        c.where["buffer"]: c.between
        for c in kato2025.transcription().claims
        if c.quantity == "efficiency_percent"
    }
    for buffer, percent in efficiency.items():
        assert percent
        total = printed("total_mbps", int(buffer)).middle
        assert percent.low - 0.1 <= total / 10 <= percent.high + 0.1


def test_the_printed_spread_leaves_room_for_the_printed_number_of_starved_flows() -> None:
    for buffer in (100, 500, 1000):
        fewest, sd = int(printed("below_1", buffer).low), printed("sd_mbps", buffer).high
        assert least_sd(16, fewest, printed("total_mbps", buffer).middle) <= sd
    # With seven starved flows of 1000 packets, nine share 577.9 - 7: the least is 32, and 28.5 is printed.
    assert least_sd(16, 7, 577.9) == pytest.approx(32.0, abs=0.1)


def test_least_sd_by_hand() -> None:
    # One of two flows at 1, the other at 9: deviations of 4, sample variance 32.
    assert least_sd(2, 1, 10.0) == pytest.approx(32**0.5)
    assert least_sd(2, 0, 10.0) == 0.0


def test_jain_from_mean_and_sd() -> None:
    # 1 / (1 + 31^2 * 15/16 / 39.5^2).
    assert jain(39.5, 31.0) == pytest.approx(0.634, abs=5e-4)


def test_printed_cells() -> None:
    source = kato2025.transcription()
    cells = [printed_cell(source, 100, quantity, "ns-3 3.40") for quantity in ROWS]
    assert cells == ["39.5", "31.0", "632.0", "6", "(0.63)"]
    assert printed_cell(source, 100, "total_mbps", "ns-3 3.44") == "~632"
    assert printed_cell(source, 100, "below_1", "ns-3 3.44") == "≤ 0"
    assert printed_cell(source, 500, "below_1", "ns-3 3.40") == "6-7"
    assert printed_cell(source, 500, "total_mbps", "ns-3 3.44") == ""


def test_comparison_has_every_condition() -> None:
    table = comparison(kato2025.transcription(), ours())
    assert table.height == 5 * len(ROWS) * 2
    total = table.filter((pl.col("quantity") == "total_mbps") & (pl.col("sockets") == LARGE))
    assert total["ours"].to_list() == [pytest.approx(960)] * 5
    sd = table.filter((pl.col("quantity") == "sd_mbps") & (pl.col("sockets") == LARGE)).row(0, named=True)
    # Spreads of 1, 2 and 3 times sqrt(16/15): mean 2, half width t(2) = 4.302653 times 1 / sqrt(3).
    assert sd["ours"] == pytest.approx(2 * (16 / 15) ** 0.5)
    assert sd["ours_high"] == pytest.approx((2 + 4.302653 / 3**0.5) * (16 / 15) ** 0.5, rel=1e-5)


def test_verdicts_follow_from_the_numbers() -> None:
    table = kato2025._columns(tables.table(kato2025.check_claims(ours())))
    found = {(row["where"], row["sockets"]): row["verdict"] for row in table.iter_rows(named=True)}
    assert found["Fig. 2, 100: starved flows", LARGE] == "not reproduced"
    assert found["III.C: starved flows", LARGE] == "reproduced"
    assert found["Table II, 5000: mean", RECEIVE] == "not reproduced"
    assert found["Fig. 4: the fast flow", RECEIVE] == "reproduced"
    assert found["Fig. 4: the fast flow", LARGE] == "not testable here"
    assert found["V: cause", ""] == "not testable here"
    assert set(table.filter(pl.col("where") == "V: cause")["simulator"]) == {"ns-3 3.40 with files of 3.44"}


def test_text_shows_theirs_beside_ours_and_the_cap() -> None:
    shown = str(table_text(comparison(kato2025.transcription(), ours()), SOCKETS))
    first = shown.splitlines()[2].split()
    assert first[:4] == ["100", "packets", "mean", "39.5"]
    assert "60.0 [" in shown.splitlines()[2]
    cap = cap_text(ours(), 1 << 20, 100)
    assert "none can exceed 69.9 Mbit/s" in cap
    assert "87 Mbit/s" in cap
    assert "at most 629 to 699 Mbit/s" in cap
    assert "moves 960 Mbit/s here with large sockets and 480 with a receive buffer of 1 MiB" in cap


def test_one_run_has_no_interval() -> None:
    table = comparison(kato2025.transcription(), ours(seeds=1))
    assert table["ours_low"].null_count() == table.height
    assert "[" not in str(table_text(table, SOCKETS))


def test_figures_come_with_their_numbers(tmp_path: Path) -> None:
    summary = pl.DataFrame({"flow": [f"bbr1-{i}" for i in range(1, 17)], "goodput_bps": range(16)})
    tables = {"series": series(), "flows": summary}
    written = measures.draw(flows(), {RECEIVE: tables}, tmp_path, small=100)
    names = {path.name for path in written}
    assert names == {f"figure-{n}.{suffix}" for n in (2, 3, 4, 5, 6) for suffix in ("png", "svg", "csv")}
    pacing = pl.read_csv(tmp_path / "figure-4.csv")
    assert set(pacing["actor"]) == {"bbr1-16", "bbr1-1"}
    assert set(pl.read_csv(tmp_path / "figure-6.csv")["actor"]) == {"bbr1-5"}
    bars = pl.read_csv(tmp_path / "figure-2.csv")
    # The fastest of each run has 61, 62 and 63 Mbit/s.
    assert bars.row(0) == (LARGE, "100 packets", 1, pytest.approx(62.0))


def test_jobs_cover_all_conditions_and_sample_the_smallest_buffer() -> None:
    todo = jobs("kato2025", seeds=2)
    assert len(todo) == (4 * 5 + 3) * 2
    assert len({job.scenario.digest for job in todo}) == 4 * 5 + 2, "one of the three is the fourth setting"
    sampled = [job for job in todo if job.scenario.record.interval_s]
    assert {job.scenario.topology.bottleneck.queue.packets for job in sampled} == {100}
    sockets = dict.fromkeys(job.point["sockets"] for job in sampled if "sockets" in job.point)
    assert list(sockets) == [LARGE, BOTH, RECEIVE, NS3_340]
    capped = sampled[2].scenario.tcp
    assert (capped.send_buffer_bytes, capped.receive_buffer_bytes) == (1 << 20, 1 << 20)
    assert len(studies.jobs("kato2025", quick=True)) == (4 * 5 + 3) * 3


def test_the_fourth_setting_has_the_switches_of_the_ablation_and_ported_code_all_but_one() -> None:
    ablation = Scenario.named("kato2025-ablation")
    points = {job.point.get("transport"): job.scenario.tcp for job in jobs("kato2025", seeds=1)}
    assert points[kato2025.NS3_340] == ablation.expand()[-1].tcp
    left = {path: getattr(points[kato2025.PORTED], path.removeprefix("tcp.")) for path in kato2025.SWITCHES}
    assert left == {**kato2025.SWITCHES, kato2025.IN_PORTED_FILES: None}
    assert not any(getattr(points[kato2025.LINUX], path.removeprefix("tcp.")) for path in kato2025.SWITCHES)


def test_unknown_studies_and_no_seeds_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        studies.title("kato2024")
    with pytest.raises(ValueError, match="seeds"):
        studies.jobs("kato2025", seeds=[])


def test_intervals_stay_within_what_a_quantity_can_be() -> None:
    rows = comparison(kato2025.transcription(), ours()).to_dicts()
    limits = {"jain": (1 / 16, 1), "below_1": (0, 16)}
    for row in rows:
        low, high = limits.get(row["quantity"], (0, float("inf")))
        assert low <= row["ours_low"] <= row["ours"] <= row["ours_high"] <= high
    # Spreads of 1, 2 and 3: 2 ± 2.48 would reach below zero.
    assert {row["ours_low"] for row in rows if row["quantity"] == "sd_mbps"} == {0.0}


def test_a_cut_off_peak_is_announced_in_the_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(measures.plots, "save", lambda figure, *_: drawn.append(figure) or [])
    peak = pl.DataFrame(
        {"time_s": [0.5], "flow": ["bbr1-5"], "pacing_bps": [900e6], "retransmitted_packets": [0]}
    )
    summary = pl.DataFrame({"flow": [f"bbr1-{i}" for i in range(1, 17)], "goodput_bps": range(16)})
    recorded = {LARGE: series(), RECEIVE: pl.concat([peak, series()])}
    measures.figure_6({name: {"series": s, "flows": summary} for name, s in recorded.items()}, tmp_path)
    calm, cut = (place.get_title() for place in drawn[0].axes)
    assert "cut off" not in calm
    assert "cut off above: start-up, up to 900 Mbit/s" in cut
