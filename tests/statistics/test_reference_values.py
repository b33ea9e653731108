"""Tests against numbers that others have published, and against other programs."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.oneway import anova_oneway
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from fullpipe import statistics

# NIST Statistical Reference Datasets, analysis of variance, SiRstv: resistivity by five instruments.
SIRSTV = [
    [196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
    [196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
    [196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
    [196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
    [196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
]
# Hollander and Wolfe 1973, "Nonparametric statistical methods", p. 140: three ways to round first base.
FIRST_BASE = [
    [5.40, 5.50, 5.55],
    [5.85, 5.70, 5.75],
    [5.20, 5.60, 5.50],
    [5.55, 5.50, 5.40],
    [5.90, 5.85, 5.70],
    [5.45, 5.55, 5.60],
    [5.40, 5.40, 5.35],
    [5.45, 5.50, 5.35],
    [5.25, 5.15, 5.00],
    [5.85, 5.80, 5.70],
    [5.25, 5.20, 5.10],
    [5.65, 5.55, 5.45],
    [5.60, 5.35, 5.45],
    [5.05, 5.00, 4.95],
    [5.50, 5.50, 5.40],
    [5.45, 5.55, 5.50],
    [5.55, 5.55, 5.35],
    [5.45, 5.50, 5.55],
    [5.50, 5.45, 5.25],
    [5.65, 5.60, 5.40],
    [5.70, 5.65, 5.55],
    [6.30, 6.30, 6.25],
]
# The same, p. 115: mucociliary efficiency.
EFFICIENCY = [[2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]]


def groups(seed: int = 4) -> list[np.ndarray]:
    """Three groups of several sizes and spreads."""
    random = np.random.default_rng(seed)
    return [random.normal(mean, sd, n) for mean, sd, n in ((10, 1, 12), (11, 3, 20), (12.5, 2, 9))]


def apart() -> list[np.ndarray]:
    """Three groups that differ clearly."""
    return [group + 2 * n for n, group in enumerate(groups())]


def cells(seed: int = 5) -> list[list[np.ndarray]]:
    random = np.random.default_rng(seed)
    return [[random.normal(i * j, 1 + i, 6 + 2 * j) for j in range(3)] for i in range(2)]


def test_anova_of_sirstv_is_certified() -> None:
    found = statistics.anova(SIRSTV)
    assert found.f == pytest.approx(1.18046237440255, rel=1e-11)
    assert statistics.eta_squared(found).value == pytest.approx(1.90999039051129e-01, rel=1e-11)


@pytest.mark.parametrize(("constant", "digits"), [(1.0, 1e-12), (1_000_000.0, 1e-7)])
def test_anova_of_smls_is_certified(constant: float, digits: float) -> None:
    # Like SmLs01 and SmLs04: nine treatments of 21 values; F is 21, whatever is added to all values.
    means = [0.4, 0.3, 0.5, 0.3, 0.5, 0.3, 0.5, 0.3, 0.5]
    shifts = [0.0, *([-0.1, 0.1] * 10)]
    made = [[constant + mean + shift for shift in shifts] for mean in means]
    found = statistics.anova(made)
    assert (found.df1, found.df2) == (8, 180)
    assert found.f == pytest.approx(21, rel=digits)


def test_welch_anova_is_that_of_statsmodels() -> None:
    expected = anova_oneway(groups(), use_var="unequal")
    found = statistics.welch_anova(groups())
    assert (found.f, found.df2, found.p) == pytest.approx(
        (expected.statistic, expected.df[1], expected.pvalue)
    )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_welch_anova_has_no_unit(scale: float) -> None:
    assert statistics.welch_anova([scale * group for group in groups()]).p == pytest.approx(
        statistics.welch_anova(groups()).p
    )


def test_two_way_anova_is_that_of_statsmodels() -> None:
    rows = [(i, j, value) for i, j in product(range(2), range(3)) for value in cells()[i][j]]
    frame = pd.DataFrame(rows, columns=["a", "b", "y"])
    table = sm.stats.anova_lm(smf.ols("y ~ C(a, Sum) * C(b, Sum)", frame).fit(), typ=3)
    found = statistics.two_way_anova(cells())
    expected = table["F"][["C(a, Sum)", "C(b, Sum)", "C(a, Sum):C(b, Sum)"]]
    assert [found[name].f for name in statistics.EFFECTS] == pytest.approx(list(expected))


def test_a_main_effect_of_two_levels_after_johansen_is_welchs_t_of_its_contrast() -> None:
    made = [row[:2] for row in cells()]
    found = statistics.welch_two_way_anova(made)["first"]
    values = [made[i][j] for i, j in product(range(2), range(2))]
    signs, variances = (1, 1, -1, -1), [x.var(ddof=1) / x.size for x in values]
    difference = sum(sign * x.mean() for sign, x in zip(signs, values, strict=True))
    freedom = sum(variances) ** 2 / sum(v**2 / (x.size - 1) for v, x in zip(variances, values, strict=True))
    assert found.f == pytest.approx(difference**2 / sum(variances))
    assert found.df2 == pytest.approx(freedom)


def three_factors(levels: tuple[int, int, int] = (2, 3, 2)) -> dict[tuple[int, ...], np.ndarray]:
    """Cells of several sizes and spreads."""
    random = np.random.default_rng(9)
    return {
        (i, j, k): random.normal(i * j + k, 1 + i + k, 5 + 2 * j + k)
        for i, j, k in product(*map(range, levels))
    }


def test_anova_of_three_factors_is_that_of_statsmodels() -> None:
    rows = [(*cell, value) for cell, values in three_factors().items() for value in values]
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "y"])
    model = smf.ols("y ~ C(a, Sum) * C(b, Sum) * C(c, Sum)", frame).fit()
    table = sm.stats.anova_lm(model, typ=3)
    found = statistics.factorial_anova(three_factors())
    words = [":".join(f"C({'abc'[place]}, Sum)" for place in places) for places in found]
    assert [test.f for test in found.values()] == pytest.approx(list(table["F"][words]))
    assert [test.p for test in found.values()] == pytest.approx(list(table["PR(>F)"][words]))


@pytest.mark.parametrize("places", [(1,), (0, 2), (0, 1, 2)], ids=str)
def test_an_effect_of_two_levels_each_after_johansen_is_welchs_t_of_its_contrast(
    places: tuple[int, ...],
) -> None:
    made = three_factors((2, 2, 2))
    found = statistics.welch_factorial_anova(made)[places]
    signs = {cell: (-1) ** sum(cell[place] for place in places) for cell in made}
    variances = {cell: x.var(ddof=1) / x.size for cell, x in made.items()}
    difference, variance = sum(signs[cell] * made[cell].mean() for cell in made), sum(variances.values())
    freedom = variance**2 / sum(v**2 / (made[cell].size - 1) for cell, v in variances.items())
    assert (found.f, found.df2) == pytest.approx((difference**2 / variance, freedom))


def test_two_factors_are_tested_as_several_are() -> None:
    made = {(i, j): cell for i, row in enumerate(cells()) for j, cell in enumerate(row)}
    for of_two, of_several in (
        (statistics.two_way_anova, statistics.factorial_anova),
        (statistics.welch_two_way_anova, statistics.welch_factorial_anova),
    ):
        assert list(of_two(cells()).values()) == list(of_several(made).values())


def test_a_combination_of_three_factors_that_is_missing_is_refused() -> None:
    made = three_factors()
    del made[1, 2, 1]
    with pytest.raises(ValueError, match="every combination"):
        statistics.welch_factorial_anova(made)


def test_a_contrast_of_two_cells_is_welchs_interval() -> None:
    first, second, _ = groups()
    found = statistics.contrast_of_cells([first, second], [-1, 1])
    expected = statistics.welch_interval(second, first, 0.95)
    assert (found.interval().low, found.interval().high) == pytest.approx((expected.low, expected.high))
    assert found.p_within(3.0) == pytest.approx(statistics.tost(first, second, 3.0).p)


def test_a_contrast_has_a_weight_for_every_cell() -> None:
    with pytest.raises(ValueError, match="3 cells and 2 weights; give one weight per cell"):
        statistics.contrast_of_cells(groups(), [-1, 1])


def test_kruskal_and_wallis_of_hollander_and_wolfe() -> None:
    found = statistics.kruskal_wallis(EFFICIENCY)
    assert found.statistic == pytest.approx(0.77143, abs=5e-6)
    assert found.p == pytest.approx(0.68, abs=5e-4)


def test_friedman_of_hollander_and_wolfe() -> None:
    found = statistics.friedman(FIRST_BASE)
    chi2 = found.effect * 22 * 2
    assert chi2 == pytest.approx(11.143, abs=5e-4)
    assert found.statistic == pytest.approx(21 * chi2 / (44 - chi2))  # Iman and Davenport 1980


def test_kruskal_with_ties_is_that_of_scipy() -> None:
    tied = [np.round(group) for group in groups()]
    expected = scipy.stats.kruskal(*tied)
    found = statistics.kruskal_wallis(tied)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_dunns_pair_of_two_groups_is_the_test_of_kruskal_and_wallis() -> None:
    tied = [np.round(group) for group in groups()[:2]]
    (pair,) = statistics.dunn(tied)
    assert pair.z**2 == pytest.approx(statistics.kruskal_wallis(tied).statistic)


@pytest.mark.parametrize(("test", "equal"), [(statistics.tukey_hsd, True), (statistics.games_howell, False)])
def test_pairs_are_those_of_scipy(test, equal: bool) -> None:  # type: ignore[no-untyped-def]
    expected = scipy.stats.tukey_hsd(*groups(), equal_var=equal)
    ends = expected.confidence_interval()
    for pair in test(groups()):
        place = (pair.second, pair.first)
        assert pair.p == pytest.approx(expected.pvalue[place], abs=1e-7)
        assert pair.interval.low == pytest.approx(ends.low[place], rel=1e-5)
        assert pair.interval.high == pytest.approx(ends.high[place], rel=1e-5)


def test_equivalence_is_that_of_statsmodels() -> None:
    first, second, _ = groups()
    expected, *_ = ttost_ind(second, first, -2, 2, usevar="unequal")
    assert statistics.tost(first, second, 2).p == pytest.approx(expected)
    expected, *_ = ttost_paired(second[:12], first, -2, 2)
    assert statistics.tost_of_pairs(first, second[:12], 2).p == pytest.approx(expected)


def test_welchs_t_is_that_of_scipy() -> None:
    first, second, _ = groups()
    expected = scipy.stats.ttest_ind(second, first, equal_var=False)
    found = statistics.welch_t(first, second)
    assert (found.t, found.df, found.p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))


@pytest.mark.parametrize(
    ("correct", "method"), [(statistics.holm, "holm"), (statistics.benjamini_hochberg, "fdr_bh")]
)
def test_corrections_are_those_of_statsmodels(correct, method: str) -> None:  # type: ignore[no-untyped-def]
    p = [0.001, 0.2, 0.01, 0.04, 0.04, 0.9]
    assert correct(p) == pytest.approx(list(multipletests(p, method=method)[1]))


def test_what_is_not_known_is_left_out_of_a_correction() -> None:
    found = statistics.benjamini_hochberg([0.01, math.nan, 0.04])
    assert math.isnan(found[1])
    assert (found[0], found[2]) == pytest.approx((0.02, 0.04))


@pytest.mark.parametrize("successes", [0, 4, 20])
def test_wilsons_interval_is_that_of_statsmodels(successes: int) -> None:
    found = statistics.wilson_interval(successes, 20)
    expected = proportion_confint(successes, 20, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


def test_hedges_g_and_its_interval_by_the_noncentral_t_of_scipy() -> None:
    first, second, _ = groups()
    found = statistics.hedges_g(first, second)
    t = scipy.stats.ttest_ind(first, second).statistic
    assert found.interval is not None
    scale = math.sqrt(1 / first.size + 1 / second.size)
    for end, share in ((found.interval.low, 0.975), (found.interval.high, 0.025)):
        assert scipy.stats.nct.cdf(t, first.size + second.size - 2, end / scale) == pytest.approx(share)
    # 1 - 3 / (4 ν - 1), Hedges' own approximation of the correction.
    assert found.value == pytest.approx(statistics.cohens_d(first, second) * (1 - 3 / (4 * 30 - 1)), rel=1e-3)


def test_the_interval_of_eta_squared_by_the_noncentral_f_of_scipy() -> None:
    found = statistics.anova(apart())
    interval = statistics.eta_squared(found).interval
    assert interval is not None
    for end, share in ((interval.low, 0.975), (interval.high, 0.025)):
        noncentrality = found.n * end / (1 - end)
        assert scipy.stats.ncf.cdf(found.f, found.df1, found.df2, noncentrality) == pytest.approx(share)


def test_epsilon_squared_and_its_interval_by_resampling_as_it_is_defined() -> None:
    found = statistics.epsilon_squared(apart(), seed=3)
    random, drawn = np.random.default_rng(9), []
    for _ in range(2000):
        draws = [random.choice(group, group.size) for group in apart()]
        drawn.append((scipy.stats.kruskal(*draws).statistic - 2) / (41 - 3))
    spread = np.quantile(drawn, 0.975) - np.quantile(drawn, 0.025)
    widening = math.sqrt(39 / 38) * scipy.stats.t.ppf(0.975, 38) / scipy.stats.norm.ppf(0.975)
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(spread * widening, rel=0.06)


def test_the_mixed_model_of_a_whole_design_is_the_analysis_of_randomised_blocks() -> None:
    random = np.random.default_rng(8)
    seeds = random.normal(0, 3, 12)
    values = {
        (i, j, n): float(i + seeds[n] + random.normal()) for i, j, n in product(range(2), range(3), range(12))
    }
    found = statistics.mixed_model(values)["first"]
    table = np.array([[values[i, j, n] for n in range(12)] for i, j in product(range(2), range(3))])
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    error = (rest**2).sum() / (5 * 11)
    levels = table.reshape(2, -1).mean(axis=1)
    assert found.df2 == 5 * 11
    assert found.f == pytest.approx(36 * ((levels - levels.mean()) ** 2).sum() / error, rel=1e-3)


def test_the_mixed_model_of_three_factors_is_the_analysis_of_randomised_blocks() -> None:
    random = np.random.default_rng(10)
    seeds = random.normal(0, 3, 10)
    keys = list(product(range(2), range(2), range(2), range(10)))
    values = {key: float(key[0] * key[1] + seeds[key[-1]] + random.normal()) for key in keys}
    found = statistics.factorial_mixed_model(values)
    table = np.array([values[key] for key in keys]).reshape(8, 10)
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    error = (rest**2).sum() / (7 * 9)
    for places, test in found.items():
        signs = np.array(
            [(-1) ** sum(cell[place] for place in places) for cell in product(range(2), repeat=3)]
        )
        assert test.df2 == 7 * 9
        assert test.f == pytest.approx((signs @ table.mean(axis=1)) ** 2 * 10 / 8 / error, rel=1e-3)


def test_pillais_trace_by_hand() -> None:
    random = np.random.default_rng(6)
    made = [random.normal(n / 2, 1, (10, 2)) for n in range(3)]
    together = np.vstack(made)
    within = sum((group - group.mean(axis=0)).T @ (group - group.mean(axis=0)) for group in made)
    total = (together - together.mean(axis=0)).T @ (together - together.mean(axis=0))
    found = statistics.manova(made)
    assert found.trace == pytest.approx(float(np.trace((total - within) @ np.linalg.inv(total))))


def test_samples_that_are_known_by_their_moments_are_tested_as_their_values() -> None:
    draw = np.random.default_rng(5)
    groups = [draw.normal(mean, sd, n) for mean, sd, n in ((0, 1, 9), (1, 2, 12), (0.5, 4, 7))]
    samples = [statistics.Sample(x.size, float(x.mean()), float(x.var(ddof=1))) for x in groups]
    for of_values, of_samples in (
        (statistics.anova, statistics.anova_of_samples),
        (statistics.welch_anova, statistics.welch_anova_of_samples),
    ):
        assert of_samples(samples).f == pytest.approx(of_values(groups).f)
        assert of_samples(samples).p == pytest.approx(of_values(groups).p)
    for one, other in zip(
        statistics.games_howell(groups), statistics.games_howell_of_samples(samples), strict=True
    ):
        assert one.p == pytest.approx(other.p)
    half = [statistics.Sample(s.n / 2, s.mean, s.variance) for s in samples]
    assert statistics.anova_of_samples(half).p > statistics.anova_of_samples(samples).p
    with pytest.raises(ValueError, match="effective size above 1"):
        statistics.anova_of_samples([samples[0], statistics.Sample(1.0, 0.0, 1.0)])


def test_an_autoregression_has_its_autocorrelation_time() -> None:
    draw, values = np.random.default_rng(8), [0.0]
    for shock in draw.normal(size=20_000):
        values.append(0.7 * values[-1] + float(shock))
    assert statistics.integrated_autocorrelation_time(values) == pytest.approx(1.7 / 0.3, rel=0.1)
    assert statistics.integrated_autocorrelation_time(draw.normal(size=20_000)) == pytest.approx(1, abs=0.1)
    assert statistics.integrated_autocorrelation_time([3.0] * 10) == 1
