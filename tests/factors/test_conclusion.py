"""The sentences that an answer begins with."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe.analysis.shown import LONGEST, words_in
from fullpipe.scenario.labels import Labels
from fullpipe.validation.test import Answer, Family, answer, conclusion
from fullpipe.validation.test.conclusion import in_order

CCA, SIZE, RATE = "flows.0.cca", "topology.bottleneck.queue.size", "topology.bottleneck.rate"
COUNT = "flows.1.count"
Mean = Callable[[dict[str, str]], float]


def values(
    axes: dict[str, list[str]],
    mean: Mean,
    *,
    spread: float = 0.2,
    groups: tuple[str, ...] = ("mine",),
    metrics: tuple[str, ...] = ("goodput",),
    seeds: int = 8,
) -> pl.DataFrame:
    """Runs at all points of a sweep; goodput in Mbit/s."""
    draw, rows = np.random.default_rng(3), []
    shared = draw.normal(0, spread, seeds)
    for levels in product(*axes.values()):
        at = dict(zip(axes, levels, strict=True))
        for seed, (entry, group), metric in product(range(seeds), enumerate(groups), metrics):
            value = 1e6 * (mean(at) + shared[seed] + draw.normal(0, spread))
            unit = {"goodput": "bit/s", "jain": "1"}.get(metric, "s")
            rows.append((*levels, seed + 1, "native", "flows", entry, group, metric, value, unit))
    columns = [*axes, "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def answered(table: pl.DataFrame, *factors: str, **more: Any) -> Answer:
    metrics = tuple(table["metric"].unique(maintain_order=True))
    return answer(table, {"a": Family.model_validate({"metrics": metrics, "factors": factors, **more})})


def one(found: Answer) -> str:
    (sentence,) = conclusion(found)
    return sentence


def test_two_levels_have_direction_size_unit_and_interval() -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda at: 5 + (at[CCA] == "bbr3"))
    start = "Algorithm matters: with bbr3 instead of cubic, goodput of mine rises by "
    assert_fits(one(answered(table, CCA)), rf"{start}\d+ % \[\d+, \d+\] to 5\.\d\d Mbit/s\.")


def test_a_factor_that_lowers_a_metric_has_the_size_without_a_sign() -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda at: 6 - (at[CCA] == "bbr3"))
    assert_fits(
        one(answered(table, CCA)), r".* goodput of mine falls by \d+ % \[\d+, \d+\] to \d\.\d\d Mbit/s\."
    )


def test_several_levels_have_the_highest_and_the_lowest() -> None:
    means = {"cubic": 5.0, "bbr1": 8.0, "vegas": 2.0}
    found = one(answered(values({CCA: list(means)}, lambda at: means[at[CCA]]), CCA))
    number = r"\(\d\.\d\d Mbit/s\)"
    assert_fits(
        found,
        rf"Algorithm matters: goodput of mine is highest with bbr1 {number} and lowest with vegas {number}, "
        r"eta² 0\.\d\d \[0\.\d\d, [01]\.\d\d\]\.",
    )


def test_bare_numbers_are_called_by_their_factor() -> None:
    table = values({"flows.1.count": ["1", "16"]}, lambda at: 5 - (at["flows.1.count"] == "16"))
    assert "with number of flows 16 instead of 1," in one(answered(table, "count"))


def test_a_probability_is_in_per_cent_behind_the_name_of_its_factor() -> None:
    path = "topology.bottleneck.loss.probability"
    table = values({path: ["0.0", "0.001"]}, lambda at: 5 - (at[path] == "0.001"))
    assert "with loss 0.1 % instead of 0 %," in one(answered(table, "probability"))


def test_equivalent_levels_have_the_largest_difference_and_the_margin() -> None:
    table = values({CCA: ["cubic", "bbr1", "bbr3"]}, lambda _: 50.0)
    assert_fits(
        one(answered(table, CCA)),
        r"Algorithm does not matter: goodput of mine has at most a difference of [-+]\d\.\d % \[[-+\d., ]+\]"
        r" between \w+ and \w+, within the margin of 3 %\.",
    )


def test_two_equivalent_levels_are_named_once() -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda _: 50.0)
    start = "Algorithm does not matter: with bbr3 instead of cubic, goodput of mine has a difference of"
    assert one(answered(table, CCA)).startswith(start)


@pytest.mark.parametrize("levels", [["cubic", "bbr3"], ["cubic", "bbr1", "bbr3"]], ids=len)
def test_what_is_open_has_the_seeds_that_would_decide(levels: list[str]) -> None:
    table = values({CCA: levels}, lambda at: 5 + 0.1 * (at[CCA] == "bbr3"), spread=0.3)
    found = one(answered(table, CCA))
    assert_fits(found, r"Algorithm is undecided: .*; about \d+ seeds in total would decide\.")


def test_what_is_open_by_correction_has_both_p_values() -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda at: 5 + 0.1 * (at[CCA] == "bbr3"), groups=tuple("abcd"))
    found = answered(table, CCA)
    open_ = [row for row in found.rows if row.p < 0.05 <= row.p_corrected]
    assert open_
    said = " ".join(conclusion(found))
    for row in open_:
        assert f", p = {row.p:.2g} is {row.p_corrected:.2g} after correction for 4 tests; about" in said


def test_what_is_open_along_a_sweep_has_the_point_of_its_numbers() -> None:
    axes = {CCA: ["cubic", "bbr3"], RATE: [f"{n} Mbit/s" for n in range(1, 10)]}
    found = one(answered(values(axes, lambda at: 5 + 0.12 * (at[CCA] == "bbr3")), CCA))
    assert_fits(
        found,
        r"Algorithm is undecided at 9 of 9 points: .*\] at rate \d Mbit/s;"
        r" about \d+ seeds in total would decide\.",
    )


@pytest.mark.parametrize("levels", [["cubic", "bbr3"], ["cubic", "bbr1", "bbr3"]], ids=len)
def test_the_seeds_that_would_decide_are_those_of_the_point_that_is_named(levels: list[str]) -> None:
    axes = {CCA: levels, RATE: [f"{n} Mbit/s" for n in range(1, 7)]}
    found = answered(values(axes, lambda at: 5 + 0.12 * (at[CCA] == "bbr3")), CCA)
    of_point = {each.subject.point[RATE]: each.seeds for each in found.factors}
    said = re.search(r"at rate (\d Mbit/s); about (\d+) seeds", one(found))
    assert said
    assert len(set(of_point.values())) > 1
    assert int(said[2]) == of_point[said[1]]


def test_along_a_sweep_it_is_said_where_and_where_most() -> None:
    axes = {CCA: ["cubic", "bbr3"], RATE: ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4 Mbit/s"]}

    def mean(at: dict[str, str]) -> float:
        rate = int(at[RATE][0])
        return 50.0 + (at[CCA] == "bbr3") * (rate > 2) * rate

    first, second = conclusion(answered(values(axes, mean), CCA))
    assert "rises at 2 of 4 points, of these most at rate 4 Mbit/s: it rises by" in first
    assert first.endswith("; does not matter at 2.")
    assert second == "Algorithm matters for goodput of mine where rate >= 3 Mbit/s."


def test_where_it_matters_is_in_the_first_sentence_if_there_is_room() -> None:
    axes = {CCA: ["cubic", "bbr3"], COUNT: ["1", "2", "3", "4"]}

    def mean(at: dict[str, str]) -> float:
        return 50.0 + (at[CCA] == "bbr3") * (at[COUNT] > "1") * int(at[COUNT])

    found = answered(values(axes, mean, groups=("a",)), CCA)
    (told,) = conclusion(found, Labels({COUNT: "load", f"{COUNT}.4": "crowd"}))
    assert "goodput of a rises at 3 of 4 points (load >= 2), of these most at crowd: it rises by " in told
    assert told.endswith("; does not matter at 1.")


def test_where_it_matters_is_left_out_if_five_sentences_are_needed() -> None:
    axes = {CCA: ["cubic", "bbr3"], RATE: ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4 Mbit/s"]}

    def mean(at: dict[str, str]) -> float:
        return 50.0 + (at[CCA] == "bbr3") * (at[RATE] > "2") * 5

    found = conclusion(answered(values(axes, mean, groups=tuple("abcd")), CCA))
    assert len(found) == 5
    assert sum(" where rate >= 2 Mbit/s." in sentence for sentence in found) == 1


def test_what_holds_at_the_other_points_is_counted() -> None:
    axes = {CCA: ["cubic", "bbr1", "bbr3"], RATE: ["1 Mbit/s", "2 Mbit/s"]}

    def mean(at: dict[str, str]) -> float:
        return 50.0 + 5 * (at[CCA] == "bbr3") * (at[RATE] == "2 Mbit/s")

    assert one(answered(values(axes, mean), CCA)).endswith("; does not matter at 1.")


def test_a_long_point_is_left_to_the_table() -> None:
    axes = {
        CCA: ["cubic", "bbr3"],
        SIZE: ["1 bdp", "2 bdp"],
        RATE: ["1 Mbit/s", "2 Mbit/s"],
        "topology.delay": ["1 ms", "2 ms"],
    }
    found = one(answered(values(axes, lambda at: 5 + (at[CCA] == "bbr3")), CCA))
    assert_fits(found, r".* rises at 8 of 8 points: it rises by .* Mbit/s where it differs most\.")


def test_both_directions_are_counted() -> None:
    axes = {CCA: ["cubic", "bbr3"], RATE: ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]}

    def mean(at: dict[str, str]) -> float:
        return 5 + (at[CCA] == "bbr3") * (-1) ** int(at[RATE][0])

    assert "rises at 1 and falls at 2 of 3 points, most at" in one(answered(values(axes, mean), CCA))


def test_three_factors_have_a_sentence_each_and_one_on_their_interaction() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"], RATE: ["1 Mbit/s", "2 Mbit/s"]}

    def mean(at: dict[str, str]) -> float:
        both = (at[CCA] == "bbr3") * (at[SIZE] == "2 bdp")
        return 50 + 5 * (at[CCA] == "bbr3") + 10 * (at[SIZE] == "2 bdp") + 8 * both

    found = conclusion(answered(values(axes, mean), CCA, SIZE, RATE))
    starts = [
        "Algorithm matters:",
        "Buffer matters:",
        "Rate does not matter:",
        "Effects depend on each other in goodput of mine:",
    ]
    assert [sentence[: len(start)] for sentence, start in zip(found, starts, strict=True)] == starts
    assert_fits(found[-1], r".*: algorithm x buffer \(eta² 0\.\d\d \[0\.\d\d, [01]\.\d\d\]\)\.")


def test_a_factor_that_does_not_matter_on_average_is_said_to_interact() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"]}
    table = values(axes, lambda at: 50 + 2 * (-1) ** ((at[CCA] == "bbr3") + (at[SIZE] == "2 bdp")))
    first, *_ = conclusion(answered(table, CCA, SIZE))
    assert first.startswith(
        "Algorithm does not matter on average but interacts with buffer: with bbr3 instead of cubic,"
    )


def test_the_flows_that_a_factor_is_a_setting_of_come_first() -> None:
    table = values(
        {"flows.1.cca": ["cubic", "bbr3"]}, lambda at: 5 + (at["flows.1.cca"] == "bbr3"), groups=("a", "b")
    )
    first, second = conclusion(answered(table, "flows.1.cca"))
    assert "goodput of b rises" in first
    assert "goodput of a rises" in second


def test_many_subjects_are_counted_in_the_last_sentence() -> None:
    table = values(
        {CCA: ["cubic", "bbr3"]},
        lambda at: 5 + (at[CCA] == "bbr3"),
        groups=tuple("abcdef"),
        metrics=("goodput", "rtt_mean"),
    )
    found = conclusion(answered(table, CCA))
    assert len(found) == 5
    assert found[-1] == "Elsewhere algorithm matters in 8 tests."


def test_of_other_metrics_and_groups_no_status_is_dropped() -> None:
    table = values(
        {CCA: ["cubic", "bbr3"]},
        lambda at: 50 + 5 * (at[CCA] == "bbr3"),
        groups=tuple("abcdef"),
        metrics=("goodput", "rtt_mean"),
    )
    same = values({CCA: ["cubic", "bbr3"]}, lambda _: 50.0, groups=tuple("abcdef"), metrics=("owd_mean",))
    *_, last = conclusion(answered(pl.concat([table, same]), CCA))
    assert last == "Elsewhere algorithm matters in 9 tests and does not matter in 5."


def test_every_metric_has_a_sentence_before_one_has_two() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"]}
    moved = values(axes, lambda at: 50 + 5 * (at[CCA] == "bbr3"), groups=("a", "b"), metrics=("rtt_mean",))
    open_ = values(axes, lambda _: 5.0, spread=2, groups=("a", "b"), metrics=("goodput", "owd_mean"))
    found = answered(pl.concat([moved, open_]), CCA, SIZE)
    first = " ".join(conclusion(found)[:3])
    assert all(name in first for name in ("mean RTT of a", "goodput of a", "mean one-way delay of a"))
    assert all(f"{name} " in first for name in ("Algorithm", "Buffer"))


def test_factors_of_a_file_have_the_order_of_the_sentences() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"], "flows.1.cca": ["cubic", "reno"]}
    moved = values(axes, lambda at: 50 + 5 * (at[CCA] == "bbr3"), groups=("a", "b"), metrics=("rtt_mean",))
    open_ = values(axes, lambda _: 5.0, spread=2, groups=("a", "b"), metrics=("goodput", "owd_mean"))
    found = answered(pl.concat([open_, moved]), CCA, SIZE)
    every = list(in_order(found, Labels()))
    key = [(each.path, each.subject.key) for each in every]
    assert sorted(key) == sorted((each.path, each.subject.key) for each in found.factors)
    words = {CCA: "algorithm", SIZE: "buffer"}
    label = {"rtt_mean": "mean RTT", "goodput": "goodput", "owd_mean": "mean one-way delay"}
    subjects = dict.fromkeys(
        (words[each.path], f"{label[each.subject.metric]} of {each.subject.of}") for each in every
    )
    *told, last = conclusion(found)
    assert last.startswith("Elsewhere ")
    for sentence, (factor, subject) in zip(told, subjects, strict=False):
        assert re.match(rf"{factor} .*\b{subject}\b", sentence, re.IGNORECASE), (sentence, factor, subject)


def test_the_last_sentence_has_every_status_of_every_factor() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"]}
    names = tuple("abcdef")
    moved = values(axes, lambda at: 50 + 5 * (at[CCA] == "bbr3"), groups=names, metrics=("rtt_mean",))
    open_ = values(axes, lambda _: 5.0, spread=2, groups=names)
    *_, last = conclusion(answered(pl.concat([moved, open_]), CCA, SIZE))
    assert last == (
        "Elsewhere algorithm matters in 5 tests and is undecided in 5; buffer does not matter in 5 and is"
        " undecided in 5."
    )


def test_several_levels_along_a_sweep_have_the_highest_and_the_lowest() -> None:
    means = {"cubic": 5.0, "bbr1": 8.0, "vegas": 2.0}
    axes = {CCA: list(means), RATE: ["1 Mbit/s", "2 Mbit/s"]}
    assert_fits(
        one(answered(values(axes, lambda at: means[at[CCA]]), CCA)),
        r"Algorithm matters: goodput of mine differs at 2 of 2 points, most at rate \d Mbit/s: it is"
        r" highest with bbr1 \(\d\.\d\d Mbit/s\) and lowest with vegas \(\d\.\d\d Mbit/s\).*\.",
    )


def test_a_number_of_flows_is_a_singular_subject() -> None:
    path = "flows.1.count"
    labels = Labels(scenarios=[{"flows": [{"cca": "cubic"}, {"cca": "bbr1"}]}])
    pair = answered(values({path: ["1", "16"]}, lambda at: 5 - (at[path] == "16")), path)
    several = answered(values({path: ["1", "2", "16"]}, lambda at: 5 - (at[path] == "16")), path)
    (said,) = conclusion(pair, labels)
    assert said.startswith("The number of BBRv1 flows matters: with 16 BBRv1 flows instead of 1, goodput")
    (said,) = conclusion(several, labels)
    assert "and lowest with 16 BBRv1 flows (" in said
    assert re.search(r"highest with (1 BBRv1 flow|2 BBRv1 flows) \(", said)


def test_an_interval_is_called_paired_if_the_p_value_is_not() -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"]}
    table = values(axes, lambda at: 5 + (at[CCA] == "bbr3"))
    first, *_ = conclusion(answered(table, CCA, SIZE))
    assert first.endswith(" Mbit/s (paired by seed).")
    apart = table.with_columns(seed=pl.int_range(table.height))
    assert "paired" not in " ".join(conclusion(answered(apart, CCA, SIZE)))
    assert "paired" not in one(answered(values({CCA: axes[CCA]}, lambda at: 5 + (at[CCA] == "bbr3")), CCA))


def test_no_sentence_is_long_however_names_and_points_are() -> None:
    axes = {
        "flows.0.cca": ["cubic", "bbr3", "python:somewhere.brake_and_more:BrakeVeryMuch"],
        "topology.bottleneck.queue.size": ["0.5 bdp", "8 bdp"],
        "topology.bottleneck.rate": ["10 Mbit/s", "100 Mbit/s"],
        "topology.access.delay": ["1 ms", "30 ms"],
    }
    draw = np.random.default_rng(7)
    table = values(axes, lambda _: draw.normal(5, 1), groups=("the download from upstairs", "b"), seeds=4)
    for count in (1, 2, 3):
        for factors in ([*axes][:count], [*axes][-count:]):
            found = conclusion(answered(table, *factors))
            assert 1 <= len(found) <= 5
            assert max(map(words_in, found)) <= LONGEST


def assert_fits(sentence: str, pattern: str) -> None:
    assert re.fullmatch(pattern, sentence), sentence
