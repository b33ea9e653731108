"""What of a table of values can be tested, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.validation.test import Family, answer, designs
from fullpipe.validation.test.design import factor_called
from fullpipe.validation.test.tests import WITHOUT_PAIRS, follow_ups

CCA, RATE = "flows.0.cca", "topology.bottleneck.rate"


def table(
    ccas: Iterable[str] = ("cubic", "bbr3"),
    rates: Iterable[str] = ("10 Mbit/s",),
    seeds: int = 6,
    spread: float = 1.0,
    metric: str = "goodput",
) -> pl.DataFrame:
    """Runs of one entry: the second algorithm is faster by 5."""
    random, rows = np.random.default_rng(1), []
    shared = random.normal(0, spread, seeds)
    for (n, cca), rate in product(enumerate(ccas), rates):
        for seed in range(seeds):
            value = 100 + 5 * n + shared[seed] + random.normal(0, spread / 3)
            rows.append((cca, rate, seed + 1, "native", "flows", 0, f"{cca}-1", metric, value, "bit/s"))
    columns = [CCA, RATE, "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def family(**more: object) -> Family:
    return Family.model_validate({"metrics": ["goodput"], "factors": [CCA], **more})


@pytest.mark.parametrize("factors", [[CCA], [CCA, RATE]])
def test_a_test_that_leaves_pairs_out_says_so(factors: list[str]) -> None:
    values = table(("cubic", "bbr1", "bbr3"), ("10 Mbit/s", "20 Mbit/s"))
    rows = answer(values, {"a": family(factors=factors)}).rows
    assert {WITHOUT_PAIRS in row.assumptions for row in rows if row.is_primary} == {True}
    apart = values.with_columns(seed=pl.int_range(values.height))
    rows = answer(apart, {"a": family(factors=factors)}).rows
    assert not any(WITHOUT_PAIRS in row.assumptions for row in rows)


def test_entries_of_several_names_are_one_subject() -> None:
    (design,), notes = designs(table(), [CCA])
    assert (design.subject.of, design.levels, notes) == ("flows.0", (("cubic", "bbr3"),), [])
    assert design.is_blocked


def test_other_paths_make_points_of_their_own() -> None:
    found, _ = designs(table(rates=("10 Mbit/s", "20 Mbit/s")), [CCA])
    assert [design.subject.point for design in found] == [{RATE: "10 Mbit/s"}, {RATE: "20 Mbit/s"}]


def test_levels_that_are_quantities_are_in_their_order() -> None:
    (design,), _ = designs(table(rates=("100 Mbit/s", "20 Mbit/s"), ccas=["cubic"]), [RATE])
    assert design.levels == (("20 Mbit/s", "100 Mbit/s"),)


def test_another_reference() -> None:
    (design,), _ = designs(table(), [CCA], reference="bbr3")
    assert design.levels == (("bbr3", "cubic"),)


def test_one_run_per_cell_is_refused() -> None:
    with pytest.raises(ScenarioError, match="cubic has one run, so its spread is unknown; run it"):
        designs(table(seeds=1), [CCA])


def test_seeds_that_change_nothing_are_refused() -> None:
    with pytest.raises(ScenarioError, match="all seeds gave the same values of goodput"):
        designs(table(spread=0), [CCA])


def test_a_metric_that_no_seed_changes_is_left_out_beside_others() -> None:
    both = pl.concat([table(), table(spread=0, metric="jain")])
    found, notes = designs(both, [CCA])
    assert [design.subject.metric for design in found] == ["goodput"]
    assert notes == ["jain of flows.0 is left out: seeds change nothing"]


def test_a_missing_seed_is_refused_if_seeds_are_blocks() -> None:
    values = table().filter(~((pl.col(CCA) == "bbr3") & (pl.col("seed") == 4)))
    with pytest.raises(ScenarioError, match="bbr3 has no run of seed 4; run the missing cells, or leave out"):
        designs(values, [CCA], blocked=True)
    (design,), _ = designs(values, [CCA])
    assert not design.is_blocked


def test_a_missing_cell_of_two_factors_is_refused() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s"))
    values = values.filter(~((pl.col(CCA) == "bbr3") & (pl.col(RATE) == "20 Mbit/s")))
    with pytest.raises(ScenarioError, match="no run has bbr3 with 20 Mbit/s; run the missing cells"):
        designs(values, [CCA, RATE])


def test_a_level_that_a_point_lacks_is_refused_if_seeds_are_blocks_and_else_left_out() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s"))
    values = values.filter(~((pl.col(CCA) == "bbr3") & (pl.col(RATE) == "20 Mbit/s")))
    with pytest.raises(ScenarioError, match="no run has bbr3; run the missing cells, or choose runs with"):
        designs(values, [CCA], blocked=True)
    found, notes = designs(values, [CCA])
    assert [design.subject.point for design in found] == [{RATE: "10 Mbit/s"}]
    assert notes == [f"points with one level of {CCA} are left out"]


def test_two_values_of_a_run_are_refused() -> None:
    twice = pl.concat([table(), table().with_columns(pl.col("value") + 1)])
    with pytest.raises(ScenarioError, match="two runs of seed 1 differ in goodput, and one number per seed"):
        designs(twice, [CCA])


def test_the_same_run_twice_is_one_run() -> None:
    (design,), _ = designs(pl.concat([table(), table()]), [CCA])
    assert len(design.values(("cubic",))) == 6


def test_what_some_runs_do_not_have_is_left_out() -> None:
    values = table().with_columns(pl.when(pl.col("seed") > 1).then("value"))
    with pytest.raises(ScenarioError, match=r"goodput of flows\.0 is left out: 2 of 12 runs have no value"):
        designs(values, [CCA])


def test_unknown_names_say_which_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r'unknown factor "queue"; there is flows\.0\.cca'):
        factor_called("queue", table())
    with pytest.raises(UnknownNameError, match="unknown group of flows or link"):
        designs(table(), [CCA], of=["vegas-1"])
    with pytest.raises(UnknownNameError, match="unknown reference"):
        designs(table(), [CCA], reference="vegas")


def test_time_is_no_factor() -> None:
    with pytest.raises(ScenarioError, match="samples of one run are not replicates"):
        factor_called("time_s", table())


def test_two_levels_are_compared_by_pairs_of_seeds() -> None:
    (row,) = answer(table(), {"speed": family()}).rows
    assert (row.test, row.levels, row.verdict) == ("paired difference", ("cubic", "bbr3"), "better")
    assert row.difference == pytest.approx(5, abs=0.5)
    assert [effect.name for effect in row.effects] == ["ratio", "Hedges' g of pairs", "Cliff's delta"]


def test_the_seeds_that_would_decide_are_more_than_there_are() -> None:
    draw, rates = np.random.default_rng(3), [f"{n} Mbit/s" for n in range(1, 9)]
    noise = np.concatenate([draw.normal(100 + 4 * (n % 2), 4, 12) for n in range(16)])
    values = table(rates=rates, seeds=12).sort(RATE, CCA).with_columns(value=pl.Series(noise))
    rows = answer(values, {"speed": family()}).rows
    open_rows = [row for row in rows if row.p < 0.05 < row.p_corrected]
    assert open_rows
    assert all(row.seeds is not None and row.seeds > 12 for row in rows if row.verdict == "undecided")


def test_runs_of_other_seeds_are_compared_as_independent() -> None:
    values = table().filter((pl.col(CCA) == "cubic") | (pl.col("seed") < 6))
    found = answer(values, {"speed": family()})
    assert [row.test for row in found.rows] == ["Welch difference"]
    assert "taken as independent" in found.notes[0]


def test_a_wide_margin_makes_levels_equivalent() -> None:
    (row,) = answer(table(), {"speed": family(margins={"goodput": "10%"})}).rows
    assert (row.verdict, row.margin) == ("equivalent", pytest.approx(10, rel=0.05))


def test_several_levels() -> None:
    rows = answer(table(ccas=("cubic", "bbr1", "bbr3")), {"speed": family()}, classical=True).rows
    tests = [row.test for row in rows]
    assert [tests.count(test) for test in ("Welch ANOVA", "ANOVA", "Friedman")] == [1, 1, 1]
    assert [tests.count(test) for test in ("Games-Howell", "Tukey HSD", "paired difference")] == [3, 3, 3]
    assert [row.test for row in rows if row.is_primary] == ["Welch ANOVA"]


def test_several_levels_without_pairs_are_ranked_together() -> None:
    values = table(ccas=("cubic", "bbr1", "bbr3"))
    values = values.filter((pl.col(CCA) == "cubic") | (pl.col("seed") < 6))
    tests = [row.test for row in answer(values, {"speed": family()}).rows]
    assert (tests.count("Kruskal-Wallis"), tests.count("Dunn")) == (1, 3)


def equal_levels(points: int, draw: np.random.Generator) -> pl.DataFrame:
    """Runs of three levels that do not differ, at several points."""
    parts = [table(("a", "b", "c"), (f"{n} Mbit/s",), seeds=5) for n in range(1, points + 1)]
    noise = pl.Series(draw.normal(100, 5, 15 * points))
    return pl.concat(parts).with_columns(value=noise)


@pytest.mark.parametrize("least", [0, 2], ids=["paired", "independent"])
def test_of_equal_levels_a_pair_differs_in_few_families(least: int) -> None:
    draw, families = np.random.default_rng(5), 20
    kept = (pl.col(CCA) == "a") | (pl.col("seed") >= least)
    wrong = sum(
        any(row.verdict in ("better", "worse") for row in answer(values, {"speed": family()}).rows)
        for values in (equal_levels(4, draw).filter(kept) for _ in range(families))
    )
    assert wrong <= binom.ppf(0.9999, families, 0.05)


def test_pairs_have_verdicts_by_one_procedure() -> None:
    values = table(ccas=("cubic", "bbr1", "bbr3"))
    alone = values.filter((pl.col(CCA) == "cubic") | (pl.col("seed") < 6))
    for found, test in ((values, "paired difference"), (alone, "Games-Howell")):
        rows = answer(found, {"speed": family()}, classical=True).rows
        assert [row.test for row in rows if row.levels and row.verdict] == [test] * 3


def test_no_pair_differs_unless_levels_do() -> None:
    draw = np.random.default_rng(8)
    shared = 10 * draw.normal(0, 1, 6)
    noise = np.concatenate([shared + shift + draw.normal(0, 0.1, 6) for shift in (0, 1, 2)])
    values = table(ccas=("a", "b", "c")).with_columns(value=pl.Series(100 + noise))
    rows = answer(values, {"speed": family(margins={"goodput": "0.01%"})}).rows
    assert {row.verdict for row in rows if row.is_primary or row.is_follow_up} == {"undecided"}
    assert max(row.p for row in rows if row.is_follow_up) < 0.001


def test_pairs_are_corrected_over_the_points_that_are_left() -> None:
    rows = answer(table(ccas=("a", "b", "c"), rates=("1 Mbit/s", "2 Mbit/s")), {"speed": family()}).rows
    pairs = sorted((row for row in rows if row.is_follow_up), key=lambda row: row.p)
    assert follow_ups(pairs)[0] == pytest.approx(2 * pairs[0].p)
    assert follow_ups(pairs)[-1] == pytest.approx(max(pairs[-1].p, follow_ups(pairs)[-2]))


def test_two_factors_and_their_interaction() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s"))
    rows = answer(values, {"speed": family(factors=[CCA, RATE])}).rows
    primary = {row.effect: row.verdict for row in rows if row.is_primary}
    assert primary == {CCA: "different", RATE: "undecided", f"{CCA} x {RATE}": "undecided"}
    assert sum(row.test == "mixed model" for row in rows) == 3


def test_three_factors_and_all_their_interactions() -> None:
    values = pl.concat(
        table(rates=("10 Mbit/s", "20 Mbit/s")).select(pl.lit(delay).alias("delay"), pl.all())
        for delay in ("1 ms", "2 ms")
    )
    rows = answer(values, {"speed": family(factors=[CCA, RATE, "delay"])}, classical=True).rows
    for test in ("Welch-James", "ANOVA", "mixed model"):
        effects = [row.effect.count(" x ") for row in rows if row.test == test]
        assert effects == [0, 0, 0, 1, 1, 1, 2]
    assert [row.test for row in rows if row.is_primary] == ["Welch-James"] * 7


@pytest.mark.parametrize("factors", [[CCA], [CCA, RATE]], ids=len)
def test_the_interval_of_an_explained_share_is_given_once(factors: list[str]) -> None:
    values = table(("cubic", "bbr1", "bbr3"), ("10 Mbit/s", "20 Mbit/s"))
    for row in answer(values, {"speed": family(factors=factors)}).rows:
        if row.is_primary:
            assert [(effect.name, effect.interval is None) for effect in row.effects] == [
                ("omega²", True),
                ("eta²", False),
            ]


def test_a_factor_is_named_once() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s"))
    with pytest.raises(ScenarioError, match=r"cca: flows\.0\.cca is named twice; name each factor once"):
        answer(values, {"speed": family(factors=[CCA, "cca"])})


def test_p_values_of_a_family_are_corrected_together() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s", "30 Mbit/s"))
    rows = answer(values, {"speed": family(), "again": family()}, planned=["speed"]).rows
    smallest = min((row for row in rows if row.family == "speed"), key=lambda row: row.p)
    assert smallest.p_corrected == pytest.approx(3 * smallest.p)
    assert {row.family: row.is_planned for row in rows} == {"speed": True, "again": False}


def test_a_family_may_limit_the_share_of_false_discoveries() -> None:
    values = table(rates=("10 Mbit/s", "20 Mbit/s"))
    rows = answer(values, {"speed": family(correction="bh")}).rows
    assert [row.p_corrected for row in rows] == pytest.approx([row.q for row in rows])


def test_all_metrics_at_once_stand_beside_each_of_them() -> None:
    random = np.random.default_rng(2)
    delay = table(metric="rtt_mean").with_columns(value=pl.Series(random.normal(1, 0.1, 12)))
    rows = answer(
        pl.concat([table(), delay]), {"both": family(metrics=["goodput", "rtt_mean"])}, together=True
    ).rows
    assert [row.test for row in rows] == ["paired difference", "paired difference", "MANOVA"]
    assert rows[-1].assumptions
    assert not rows[-1].verdict


def test_as_json_a_row_has_no_number_that_json_lacks() -> None:
    (row,) = answer(table(spread=1e-3), {"speed": family()}).to_dict()["rows"]
    assert row["effects"][2] == {"name": "Cliff's delta", "value": 1.0, "interval": None}
