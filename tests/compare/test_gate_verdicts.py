"""The verdicts of a gate: at one look at the seeds and at several, and in sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fullpipe.report.content import Forest
from fullpipe.report.findings import first_table, forest_of
from fullpipe.validation.compare import Subject
from fullpipe.validation.compare.conclusion import conclusion
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import weight
from fullpipe.validation.compare.rules import one_sided, paired
from fullpipe.validation.compare.sentence import one, verdict_of
from tests.compare.contrasts import compared, contrast

MARGIN = 0.03
MINE = Subject("flows", 0, "mine", "goodput", "bit/s")


def over_looks(noise: Any) -> list[str]:
    """What is said of metrics, a row each, at the first of four looks that decides, or at the last."""
    looks, words = (10, 20, 40, 80), [""] * len(noise)
    for seeds in looks:
        contrasts = [Contrast([1.0] * seeds, list(1 + row[:seeds]), MARGIN, "higher") for row in noise]
        for i, said in enumerate(one_sided(contrasts, len(looks))):
            words[i] = words[i] if words[i] in ("regressed", "not worse") else said.decision
    return words


class TestVerdicts:
    def contrast(self, shift: float, better: Any = "higher", n: int = 20) -> Contrast:
        noise = np.random.default_rng(1).normal(0, 0.01, n)
        return Contrast([1.0] * n, list(1.0 + shift + noise), 0.02, better)

    @pytest.mark.parametrize(
        ("shift", "better", "verdict"),
        [
            (0.0, "higher", "not worse"),
            (0.5, "higher", "not worse"),
            (-0.1, "higher", "regressed"),
            (0.1, "lower", "regressed"),
            (-0.5, "lower", "not worse"),
            (0.1, "", "regressed"),
            (-0.1, "", "regressed"),
        ],
    )
    def test_a_difference_has_its_word(self, shift: float, better: str, verdict: str) -> None:
        assert one_sided([self.contrast(shift, better)], 1)[0].decision == verdict

    def test_few_runs_that_vary_are_undecided(self) -> None:
        said = one_sided([Contrast([1.0] * 3, [0.99, 1.03, 0.96], 0.02, "higher")], 1)[0]
        assert (said.decision, said.seeds is not None) == ("undecided", True)

    def test_runs_that_are_all_alike_decide_nothing(self) -> None:
        said = one_sided([Contrast([1.0] * 5, [0.5] * 5, 0.02, "higher", seeds_change_nothing=True)], 1)[0]
        assert (said.verdict, said.reason) == ("undecided", "all seeds gave the same run, which is one")

    def test_looking_several_times_asks_for_more(self) -> None:
        contrast = self.contrast(-0.008, n=8)
        once, often = (one_sided([contrast], looks)[0] for looks in (1, 100))
        assert (once.decision, often.decision) == ("not worse", "undecided")

    def test_a_suite_of_equals_regresses_in_one_of_twenty(self, cases: Callable[[int], int]) -> None:
        n, rng = cases(2_000), np.random.default_rng(7)
        wrong = sum("regressed" in over_looks(rng.normal(0.0, 0.03, (6, 80))) for _ in range(n))
        assert wrong <= n * 0.05 + 2 * (n * 0.05) ** 0.5

    def test_a_loss_of_the_margin_passes_in_one_of_twenty(self, cases: Callable[[int], int]) -> None:
        n, rng = cases(2_000), np.random.default_rng(8)
        wrong = sum("not worse" in over_looks(rng.normal(-MARGIN, 0.03, (1, 80))) for _ in range(n))
        assert wrong <= n * 0.05 + 2 * (n * 0.05) ** 0.5


def test_a_gate_calls_worse_what_it_refuses_and_better_what_it_shows() -> None:
    findings = one_sided([contrast("goodput", "mine", 0, change) for change in (-0.5, 0.5, 0.0)], 1)
    assert [(each.verdict, each.decision) for each in findings] == [
        ("worse", "regressed"),
        ("better", "not worse"),
        ("equivalent", "not worse"),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (-0.5, "regressed: it falls by 50.0 % "),
        (0.5, "is not worse: it rises by 50.0 % "),
        (0.0, "is not worse: 5.00 and 5.00 Mbit/s, a difference of "),
    ],
)
def test_a_finding_of_a_gate_has_one_word_in_sentences_tables_and_figures(change: float, told: str) -> None:
    (found,) = one_sided([contrast("goodput", "mine", 0, change)], 1)
    (sentence,) = conclusion([compared([]).only([found])])
    assert f"goodput of mine {told}" in sentence
    drawn = forest_of([found], [found])
    assert drawn is not None
    assert isinstance(drawn.chart, Forest)
    words = [drawn.chart.differences[0].verdict, verdict_of(found), first_table([found], [found]).rows[0][-1]]
    assert words == [found.decision] * 3


@pytest.mark.parametrize("asked", [(), ("goodput",)])
def test_what_regressed_is_said_first_also_beside_the_changed_flow(asked: Sequence[str]) -> None:
    changes = {"mine": 0.0, "beside": -0.5}
    found = one_sided(
        [contrast("goodput", of, n, change) for n, (of, change) in enumerate(changes.items())], 1
    )
    first, second = conclusion([compared([]).only(found)], asked)
    assert "goodput of beside regressed: " in first
    assert second.startswith("Goodput of mine is not worse: ")


def test_a_gain_that_few_seeds_show_is_not_undecided_in_a_gate() -> None:
    (found,) = one_sided([Contrast([1.0] * 4, [1.5, 1.0, 1.4, 1.1], 0.5, "higher", subject=MINE)], 5)
    assert (found.verdict, found.outcome) == ("undecided", "not worse")
    assert one(found).startswith("goodput of mine is not worse: ")


def test_several_findings_of_a_gate_are_counted_by_their_decision() -> None:
    points = {"1 bdp": -0.5, "2 bdp": 0.5, "4 bdp": 0.0}
    of_points = [contrast("goodput", "mine", 0, change, point) for point, change in points.items()]
    others = [contrast("jain", f"group {n}", None, 0.0) for n in range(6)]
    told = conclusion([compared([]).only(one_sided([*of_points, *others], 1))])
    assert "goodput of mine regressed at 1 of 3 points (buffer = 1 BDP): it falls by 50.0 % " in told[0]
    assert told[0].endswith(
        "; not worse at 2 of 3 points (buffer >= 2 BDP), differences 0.0 to +50 %, margin 3 %."
    )
    assert told[-1] == "All 3 other metrics and groups are not worse."


def test_what_regressed_comes_first_in_a_short_table_whatever_its_metric() -> None:
    changes = {"goodput": 0.5, "jain": 0.0, "rtt_mean": 0.5}
    findings = one_sided([contrast(metric, "mine", 0, changes[metric]) for metric in changes], 1)
    noise = contrast("sojourn_mean", "bottleneck", None, 0.0)
    wide = [value * factor for value, factor in zip(noise.other, np.linspace(0.5, 1.5, 12), strict=True)]
    undecided = paired([replace(noise, other=wide)])
    ordered = sorted([*findings, *undecided], key=weight)
    assert [(each.metric, each.decision) for each in ordered] == [
        ("rtt_mean", "regressed"),
        ("goodput", "not worse"),
        ("sojourn_mean", "undecided"),
        ("jain", "not worse"),
    ]
