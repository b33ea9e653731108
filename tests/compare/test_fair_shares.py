"""Groups of flows within the same runs: the share of each against its fair share, tested over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from fullpipe import Run, Scenario, run
from fullpipe.analysis.values import values_of
from fullpipe.report.runs.page import page_of
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE, fair_shares
from fullpipe.validation.compare.fair_share import fair_share, share_at_points, with_fair_share
from fullpipe.validation.compare.rules import ALIKE, paired

FullPipe = Callable[..., Any]
SHARES = [0.58, 0.66, 0.61, 0.65, 0.60, 0.63, 0.59, 0.64]


def table(points: Sequence[Mapping[str, Sequence[float]]], even: float | None = None) -> pl.DataFrame:
    """Values as `values_of` gives them: the shares of the groups of every point, one per seed."""
    rows = [
        (place, seed, "native", "flows", entry, of, metric, value, "1")
        for place, groups in enumerate(points)
        for entry, (of, shares) in enumerate(groups.items())
        for seed, share in enumerate(shares, 1)
        for metric, value in ((SHARE, share), (EQUAL_SHARE, even or 1 / len(groups)))
    ]
    columns = ["place", "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def two(shares: Sequence[float]) -> dict[str, list[float]]:
    return {"cubic": [1 - share for share in shares], "bbr3": [*shares]}


def test_the_test_is_the_t_test_of_one_sample() -> None:
    (found,) = paired(fair_shares(table([two(SHARES)])))
    expected = stats.ttest_1samp(SHARES, 0.5)
    interval = expected.confidence_interval(0.95)
    assert found.p_raw == pytest.approx(expected.pvalue)
    assert found.interval
    assert found.interval.low == pytest.approx(interval.low - 0.5)
    assert found.interval.high == pytest.approx(interval.high - 0.5)
    assert (found.of, found.verdict) == ("bbr3", "higher")
    fair = "more than its fair share of 50.0 % (p < 0.0001, 8 seeds)."
    assert fair_share(found) == f"bbr3 gets 62.0 % of the goodput [59.6, 64.4], {fair}"


def test_several_points_and_groups_are_one_family() -> None:
    near = [0.5 + (share - np.mean(SHARES)) + 0.03 for share in SHARES]
    both = paired(fair_shares(table([two(SHARES), two(near)])))
    p = [stats.ttest_1samp(shares, 0.5).pvalue for shares in (SHARES, near)]
    assert [each.p_corrected for each in both] == [pytest.approx(2 * min(p)), pytest.approx(max(p))]
    third = {"a": SHARES, "b": [0.2] * 7 + [0.21], "c": [0.8 - share for share in SHARES[:7]] + [0.15]}
    told = with_fair_share(["First."], table([third]), 5)
    assert told[1].startswith(
        "a gets 62.0 % of the goodput [59.6, 64.4], more than its fair share of 33.3 % (p "
    )
    assert "after Holm's correction for 3 tests, 8 seeds)" in told[1]


def test_nothing_is_tested_without_rivals_or_seeds() -> None:
    assert fair_shares(table([{"bbr3": [1.0, 1.0]}])) == []
    assert fair_shares(table([two([0.6])])) == []
    assert with_fair_share(["First."], table([two([0.6])]), 5) == ["First."]
    (alike,) = paired(fair_shares(table([two([0.6] * 4)])))
    assert (alike.verdict, alike.reason) == ("undecided", ALIKE)
    assert fair_share(alike) == (
        f"bbr3 gets 60.0 % of the goodput; undecided against its fair share of 50.0 % (4 seeds); {ALIKE}."
    )


def test_equal_shares_of_runs_that_differ_are_decided() -> None:
    starved = table([two([1.0] * 4), two([0.6] * 4), two([0.5] * 4)])
    goodput_bps = pl.when(pl.col("place") == 1).then(1e6).otherwise(pl.col("seed") * 1e6)
    goodput = starved.filter(metric=SHARE).with_columns(metric=pl.lit("goodput"), value=goodput_bps)
    findings = paired(fair_shares(pl.concat([starved, goodput])))
    assert [each.verdict for each in findings] == ["higher", "undecided", "equivalent"]
    assert [each.reason == ALIKE for each in findings] == [False, True, False]
    assert fair_share(findings[0]) == (
        "bbr3 gets 100.0 % of the goodput [100.0, 100.0], more than its fair share of 50.0 % (4 seeds)."
    )
    told = share_at_points(pl.concat([starved, goodput]), 1)
    assert "more than its fair share of 50.0 % at 1 of 3 points" in told
    assert "p <" not in told  # values without variance have no test


def test_a_starved_flow_has_less_than_its_fair_share(fullpipe: FullPipe, tmp_path: Path) -> None:
    tree = runs_of(["cubic", "cubic"], "1 bdp", seeds=1)[0].scenario.to_dict()
    tree["flows"][1] |= {"start": "29.99 s", "start_jitter": "0 s"}
    (tmp_path / "starved.toml").write_text(Scenario(**tree).to_toml(), encoding="utf-8")
    for asked in ((), ("--metric", "share")):
        told = " ".join(fullpipe("run", "starved.toml", "--seeds", 3, *asked).stdout.split())
        assert "f0 gets 100.0 % of the goodput [100.0, 100.0], more than its fair share of 50.0 %" in told


def test_a_sentence_over_points_counts_the_findings_of_the_test() -> None:
    around = [share - np.mean(SHARES) for share in SHARES]
    points = [SHARES, [1 - share for share in SHARES], [0.5 + each / 50 for each in around], [0.6] * 2]
    values = table([*map(two, points), two([0.6]), {"bbr3": [1.0, 1.0]}])
    findings = paired(fair_shares(values))
    assert [each.verdict for each in findings] == ["higher", "higher", "equivalent", "undecided"]
    holm = "(p < 0.05 after Holm's correction for 4 tests)"
    told = (
        "Goodput share of {}: more than its fair share of 50.0 % at 1 of 5 points, where place = {}."
        f" Less than its fair share of 50.0 % at 1 of 5 points, where place = {{}} {holm}."
        " Equivalent to its fair share of 50.0 % at 1 of 5 points, where place = 2."
        " Undecided at the other 2 points."
    )
    assert share_at_points(values, 0) == told.format("cubic", 1, 0)
    assert share_at_points(values, 1) == told.format("bbr3", 0, 1)
    assert with_fair_share(["First."], values, 5) == ["First.", told.format("bbr3", 0, 1)]
    assert share_at_points(table([two(SHARES), two(SHARES)]), 1) == (
        "Goodput share of bbr3: more than its fair share of 50.0 % at all 2 points"
        " (p < 0.05 after Holm's correction for 2 tests)."
    )
    assert share_at_points(table([two([0.6]), two([0.7])]), 1).endswith(": undecided at 2 points.")
    assert share_at_points(table([{"bbr3": [1.0, 1.0]}]), 0) == ""


def test_uncorrected_intervals_alone_say_nothing() -> None:
    near = [0.575 + 3 * (share - np.mean(SHARES)) for share in SHARES]
    assert 0.025 < stats.ttest_1samp(near, 0.5).pvalue < 0.05
    assert "more than its fair share" in share_at_points(table([two(near)]), 1)
    assert share_at_points(table([two(near)] * 2), 1) == "Goodput share of bbr3: undecided at 2 points."


def test_points_of_several_engines_are_apart() -> None:
    one = table([two(SHARES)])
    other = table([two([0.5 - 0.2 * each for each in SHARES])])
    both = pl.concat([one, other.with_columns(engine=pl.lit("ns3"))])
    assert [each.point for each in paired(fair_shares(both))] == [
        {"place": 0, "engine": "native"},
        {"place": 0, "engine": "ns3"},
    ]
    assert "at 1 of 2 points, where engine = native" in share_at_points(both, 1)


def test_a_fair_division_is_rarely_called_unfair() -> None:
    generator, trials = np.random.default_rng(7), 400
    called = 0
    for _ in range(trials):
        (found,) = paired(fair_shares(table([two(list(0.5 + 0.1 * generator.standard_normal(6)))])))
        called += found.verdict in ("higher", "lower")
    assert called <= 0.05 * trials + 2 * (0.05 * trials) ** 0.5


def runs_of(ccas: Sequence[str], size: str, seeds: int = 6) -> list[Run]:
    made = Scenario(
        name="duel",
        duration="30 s",
        warmup="10 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"size": size}},
        },
        flows=[{"name": f"f{n}", "cca": cca, "start_jitter": "1 s"} for n, cca in enumerate(ccas)],
        record={"interval": "off"},
    )
    return [run(made, seed=seed) for seed in range(1, seeds + 1)]


@pytest.mark.parametrize(
    ("ccas", "size", "told"),
    [
        (["cubic", "bbr1"], "0.5 bdp", "f1 gets "),  # BBRv1 in a shallow buffer takes most of it
        (["cubic", "vegas"], "4 bdp", "f0 gets "),  # CUBIC fills the buffer, from which Vegas retreats
        (["cubic", "cubic"], "1 bdp", None),
    ],
)
def test_reports_say_which_flow_wins(ccas: list[str], size: str, told: str | None) -> None:
    runs = runs_of(ccas, size)
    (part,) = page_of(runs).parts
    sentence = part.conclusion[1]
    assert " % of the goodput [" in sentence
    assert ("more than its fair share of 50.0 % (p " in sentence) is (told is not None)
    assert sentence.startswith(told or "f")
    assert any(section.heading == "Fair shares" for section in part.details)
    values = values_of([({}, each) for each in runs], (SHARE, EQUAL_SHARE))
    assert with_fair_share([""], values, 5)[1] == sentence


def test_a_call_beside_has_no_fair_share() -> None:
    (duel, *_) = runs_of(["cubic", "bbr3"], "1 bdp")
    flows = [*duel.scenario.to_dict()["flows"], {"name": "call", "workload": "voip"}]
    made = Scenario(**{**duel.scenario.to_dict(), "flows": flows, "duration": "12 s"})
    runs = [run(made, seed=seed) for seed in (1, 2)]
    assert not any("fair share" in line for line in page_of(runs).parts[0].conclusion)


def test_run_over_seeds_says_it(fullpipe: FullPipe, tmp_path: Path) -> None:
    made = runs_of(["cubic", "bbr1"], "0.5 bdp")[0].scenario
    (tmp_path / "duel.toml").write_text(made.to_toml(), encoding="utf-8")
    told = " ".join(fullpipe("run", "duel.toml", "--seeds", 6).stdout.split())
    assert "f1 gets " in told
    assert "more than its fair share of 50.0 % (p " in told
    assert "fair share" not in fullpipe("run", "duel.toml", "--seeds", 6, "--metric", "rtt_mean").stdout
    sweep = {"topology.bottleneck.queue.size": ["0.5 bdp", "1 bdp"]}
    (tmp_path / "sweep.toml").write_text(made.with_values({"sweep": sweep}).to_toml(), encoding="utf-8")
    for asked in ((), ("--metric", "share")):
        told = " ".join(fullpipe("run", "sweep.toml", "--seeds", 6, *asked).stdout.split())
        assert "Goodput share of f1: more than its fair share of 50.0 % at " in told
        assert "(p < 0.05 after Holm's correction for 2 tests)" in told


def test_pings_beside_do_not_hide_the_fair_share() -> None:
    (duel, *_) = runs_of(["cubic", "bbr1"], "0.5 bdp")
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}}
    flows = [*duel.scenario.to_dict()["flows"], ping]
    made = Scenario(**{**duel.scenario.to_dict(), "flows": flows, "duration": "12 s"})
    runs = [run(made, seed=seed) for seed in (1, 2, 3)]
    assert any("more than its fair share of 50.0 % (p " in line for line in page_of(runs).parts[0].conclusion)
    values = values_of([({}, each) for each in runs], (SHARE, EQUAL_SHARE))
    (found,) = fair_shares(values)
    assert (found.subject.of, found.reference) == ("f1", [0.5] * 3)


def test_comparisons_test_the_share_of_the_changed_flow_on_every_side(
    fullpipe: FullPipe, tmp_path: Path
) -> None:
    (duel,) = runs_of(["cubic", "cubic"], "0.5 bdp", seeds=1)
    (tmp_path / "duel.toml").write_text(duel.scenario.to_toml(), encoding="utf-8")
    asked = ["compare", "duel.toml", "--over", "flows.1.cca=cubic,bbr1", "--seeds", 4]
    told = " ".join(fullpipe(*asked).stdout.split())
    assert "goodput share of f1: more than its fair share of 50.0 % at 1 of 2 points, where algorithm" in told
    assert "fair share" not in fullpipe(*asked, "--metric", "rtt_mean").stdout


def test_reports_name_the_algorithm_and_number_of_flows_of_a_group() -> None:
    (duel,) = runs_of(["cubic", "bbr1"], "0.5 bdp", seeds=1)
    tree = duel.scenario.to_dict()
    flows = [{**tree["flows"][0], "name": "old", "count": 2}, {**tree["flows"][1], "name": "new"}]
    runs = [run(Scenario(**{**tree, "flows": flows, "duration": "12 s"}), seed=seed) for seed in (1, 2)]
    told = " ".join(page_of(runs).parts[0].conclusion)
    assert "Mbit/s for old (2 cubic flows, sum) and " in told
    assert "Mbit/s for new (bbr1)" in told
