"""The conclusion of comparisons: which sentences, in which order, and on a terminal before any table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.shown import metric_shown
from fullpipe.errors import UnknownNameError
from fullpipe.report.findings import first_table
from fullpipe.validation.compare import Subject
from fullpipe.validation.compare.conclusion import MOST, conclusion, ranked
from fullpipe.validation.compare.contrast import Contrast, distinct
from fullpipe.validation.compare.finding import NOT_SETTLED, leads
from fullpipe.validation.compare.rules import paired
from fullpipe.validation.compare.sentence import (
    Part,
    fitted,
    moves,
    name_of,
    needed_in_words,
    one,
    verdict_of,
)
from fullpipe.validation.compare.side import check_groups
from tests.compare.contrasts import ALL, SIZE, compared, contrast, losses

DUEL = """
name = "duel"
duration = "4 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", size = "1 bdp" }
[[flows]]
name = "mine"
cca = "cubic"
start_jitter = "500 ms"
[[flows]]
name = "beside"
cca = "cubic"
start_jitter = "500 ms"
[record]
interval = "off"
[sweep]
"topology.bottleneck.queue.size" = ["0.5 bdp", "1 bdp", "2 bdp", "4 bdp"]
"""


def test_the_order_of_findings_is_that_of_the_sentences_decided_or_not() -> None:
    made = compared([*ALL, contrast("goodput", "mine", 0, 0.001, "4 bdp")])
    found = [(each.metric, each.of) for each in ranked([made])]
    assert found == [
        *[("goodput", "mine"), ("goodput", "mine"), ("goodput", "beside"), ("jain", "all flows")],
        *[("sojourn_mean", "bottleneck"), ("rtt_mean", "mine"), ("goodput", "all flows")],
    ]


def test_the_leading_metric_is_in_the_first_table_at_all_points_decided_or_not() -> None:
    points = [f"{size} bdp" for size in (1, 2, 4, 8, 16)]
    wide = np.linspace(-4.0, 4.0, 12) * 5e6
    lead = [contrast("goodput", "mine", 0, -0.6 if n == 1 else 0.1, point) for n, point in enumerate(points)]
    lead = [lead[0], lead[1], *(replace(each, other=list(each.other + wide)) for each in lead[2:])]
    others = [contrast("rtt_mean", of, n, 0.5, point) for n, of in enumerate("ab", 1) for point in points]
    made = compared([*others, *lead])
    order = ranked([made])
    assert [each.verdict for each in leads(order)][:-1] == ["worse", "better", *["undecided"] * 3]
    names = [column.name for column in first_table(made.findings, order).columns]
    rows = [dict(zip(names, row, strict=True)) for row in first_table(made.findings, order).rows]
    assert [row["buffer"] for row in rows if row["flows or link"] == "mine"] == [
        f"{size} BDP" for size in (1, 2, 4, 8, 16)
    ]
    several = leads([replace(each, sides=("cubic", f"{n}")) for n in range(3) for each in order])
    assert {each.metric for each in several} == {"rtt_mean"}


def test_the_changed_flow_comes_first_then_those_beside_it_then_the_link() -> None:
    told = conclusion([compared(ALL)])
    assert [line.partition(" is ")[0] for line in told[:4]] == [
        "vegas instead of cubic: goodput of mine",
        "Goodput of beside",
        "Jain's index of all flows",
        "Mean sojourn time at bottleneck",
    ]
    assert told[0] == (
        "vegas instead of cubic: goodput of mine is worse: it falls by 60.0 % [59.9, 60.1] to 2.00 Mbit/s."
    )
    assert told[2].startswith("Jain's index of all flows is worse: it falls from 0.900 ")
    assert told[4] == (
        "Also better: mean RTT of mine (-20.0 % [-20.1, -19.8]); the other metric is equivalent."
    )


@pytest.mark.parametrize(
    ("flows", "told"),
    [((2, 2), " (2 flows, {})"), ((1, 4), " (1 -> 4 flows, {})"), ((1, 1), ""), (None, "")],
)
def test_a_group_of_several_flows_says_what_its_value_is(flows: tuple[int, int] | None, told: str) -> None:
    made = compared([replace(each, flows=flows) for each in ALL if each.subject.of == "mine"])
    names = {each.metric: name_of(each) for each in made.findings}
    assert names["goodput"] == f"goodput of mine{told.format('sum')}"
    assert names["rtt_mean"] == f"mean RTT of mine{told.format('mean')}"
    (goodput, *_) = conclusion([made])
    assert goodput.startswith(f"vegas instead of cubic: goodput of mine{told.format('sum')} is worse: ")
    rows = first_table(made.findings, ranked([made])).rows
    assert {row[0] for row in rows} == {f"mine{told.format(each)}" for each in ("sum", "mean")}


def test_entries_of_two_cases_are_two_subjects() -> None:
    cases = {"bulk": ("cubic-1", 0.0), "call": ("call", 0.4)}
    findings = [
        replace(each, subject=replace(each.subject, case=case))
        for case, (of, change) in cases.items()
        for each in paired([contrast("goodput", of, 0, change)])
    ]
    every = compared([]).only(findings)
    first, second = conclusion([every])
    assert first.startswith("vegas instead of cubic: in case bulk, goodput of cubic-1 is equivalent: ")
    assert second.startswith("In case call, goodput of call is better: it rises by 40.0 % ")
    assert [each.of for each in ranked([every])] == ["cubic-1", "call"]


def test_subjects_in_a_list_are_named_with_their_case() -> None:
    made = compared([contrast("goodput", name, n, 0.4) for n, name in enumerate("abcdef")])
    found = [replace(each, subject=replace(each.subject, case="short")) for each in made.findings]
    told = conclusion([made.only(found)])
    assert told[-1] == "Also better: goodput of e in short (+40.0 % [+39.8, +40.3]), goodput of f in short."


def test_losses_of_unchanged_groups_are_all_named() -> None:
    points = [f"{size} bdp" for size in (1, 2, 4)]
    metrics = ("rtt_mean", "rtt_p95", "srtt_mean", "srtt_p95", "loss_rate", "dropped_share", "owd_mean")
    rtt = {point: contrast("rtt_mean", "beside", 1, 0.1, point) for point in points}
    losses = [
        replace(of, subject=replace(of.subject, metric=metric), flows=(2, 2))
        for metric in metrics
        for of in rtt.values()
    ]
    own = [
        contrast("goodput", of, n, -0.5, point) for n, of in enumerate(("mine", "beside")) for point in points
    ]
    gains = [contrast("rtt_mean", "mine", 0, -0.2, point) for point in points]
    told = conclusion([compared([*own, *gains, *losses])])
    also = next(line for line in told if line.startswith("Also"))
    assert all(metric_shown(metric) in " ".join(told) for metric in metrics)
    assert " of beside (2 flows)" in also
    assert " more" not in also
    table = first_table(*[[*compared([*own, *gains, *losses]).findings]] * 2)
    metric = [column.name for column in table.columns].index("metric")
    assert {row[metric] for row in table.rows} >= {"goodput (Mbit/s)", "mean RTT (ms)"}


def test_short_tables_have_a_difference_of_delay_and_of_loss() -> None:
    points = [f"{size} bdp" for size in range(1, 11)]
    lead = [contrast("goodput", "mine", 0, 0.1, point) for point in points]
    delay = [contrast("rtt_mean", "mine", 0, 0.2, point) for point in points]
    loss = [replace(each, subject=replace(each.subject, metric="loss_rate", unit="1")) for each in delay]
    made = compared([*lead, *delay, *loss])
    order = ranked([made])
    found = [each.metric for each in leads(order)]
    assert (found.count("goodput"), found.count("rtt_mean"), found.count("loss_rate")) == (10, 1, 1)
    assert len(first_table(made.findings, order).rows) == 12


def test_where_no_flow_is_changed_what_differs_comes_first() -> None:
    told = conclusion([compared([*ALL[:5], contrast("goodput", "mine", 0, 0.0)], changed=None)])
    assert told[0].startswith("vegas instead of cubic: goodput of beside is better")


def test_a_metric_that_is_asked_for_is_told_of_every_group() -> None:
    told = conclusion([compared(ALL)], ["goodput"])
    named = [line.partition(" is ")[0].rpartition("oodput of ")[2] for line in told[:3]]
    assert named == ["mine", "beside", "all flows"]


@pytest.mark.parametrize(
    ("worse_at", "where"), [(("1 bdp", "2 bdp"), "buffer <= 2 BDP"), (("4 bdp",), "buffer = 4 BDP")]
)
def test_a_sweep_says_where_along_the_axis_a_verdict_holds(worse_at: Sequence[str], where: str) -> None:
    points = ["1 bdp", "2 bdp", "4 bdp"]
    made = [
        compared(
            [contrast("goodput", "mine", 0, -0.5 if point in worse_at else 0.0, point)], point={SIZE: point}
        )
        for point in points
    ]
    (told,) = conclusion(made)
    assert f"worse at {len(worse_at)} of 3 points ({where})" in told
    assert f"; equivalent at {3 - len(worse_at)}" in told
    assert (" of these most at buffer 1 BDP: " in told) == (len(worse_at) > 1)
    assert "it falls by 50.0 % [49.9, 50.1] to 2.5" in told


def test_the_only_point_with_a_difference_is_named_by_both_axes() -> None:
    delay, points = "topology.bottleneck.delay", [(size, ms) for size in (1, 2, 4) for ms in (20, 100)]
    made = []
    for size, ms in points:
        point = {SIZE: f"{size} bdp", delay: f"{ms} ms"}
        wide = contrast("goodput", "cubic-1 -> vegas-1", 0, -0.7 if (size, ms) == (4, 20) else 0.02)
        spread = np.linspace(-0.4, 0.4, 12) * 5e6
        other = wide.other if (size, ms) == (4, 20) else list(wide.other + spread)
        subject = replace(wide.subject, point=point)
        made.append(compared([replace(wide, other=other, subject=subject)], point=point))
    (told,) = conclusion(made)
    assert told.startswith(
        "vegas instead of cubic: goodput of cubic-1 -> vegas-1 is worse at 1 of 6 points"
        " (buffer = 4 BDP with one-way delay = 20 ms): it falls by 70.0 % "
    )
    assert told.endswith("to 1.50 Mbit/s; undecided at 5.")


def test_the_rest_of_the_points_is_left_out_before_the_place_of_the_difference() -> None:
    parts = [Part("word " * 30), Part("place " * 5, 4), Part("; undecided at 5 of 6 points", 6)]
    assert fitted(parts).endswith("place .")


def test_every_point_is_counted_where_few_of_many_differ() -> None:
    delay, points = (
        "topology.bottleneck.delay",
        [(size, ms) for size in range(1, 7) for ms in (5, 20, 50, 100)],
    )
    made = []
    for size, ms in points:
        point = {SIZE: f"{size} bdp", delay: f"{ms} ms"}
        is_better = (size, ms) in ((4, 20), (6, 100))
        of_point = contrast("goodput", "cubic-1 -> vegas-1", 0, 0.7 if is_better else 0.02)
        wide = of_point.other if is_better else list(of_point.other + np.linspace(-0.4, 0.4, 12) * 5e6)
        subject = replace(of_point.subject, point=point)
        made.append(compared([replace(of_point, other=wide, subject=subject)], point=point))
    told, along = conclusion(made)
    assert "is better at 2 of 24 points" in told
    assert along == (
        "Goodput of cubic-1 -> vegas-1 is better where buffer = 4 BDP with one-way delay = 20 ms,"
        " and buffer = 6 BDP with one-way delay = 100 ms."
    )
    assert "; undecided at 22" in told


def test_an_equivalent_verdict_has_the_range_of_differences_and_the_margin() -> None:
    changes = {"1 bdp": -0.021, "2 bdp": 0.006, "4 bdp": 0.0}
    found = [contrast("goodput", "mine", 0, change, point) for point, change in changes.items()]
    (told,) = conclusion([compared(found)])
    assert told == (
        "vegas instead of cubic: goodput of mine is equivalent at all 3 points"
        " (differences -2.1 to +0.6 %, margin 3 %)."
    )
    two_parts = [replace(each, stated=Margin(0.03, 2e5)) for each in found]
    (told,) = conclusion([compared(two_parts)])
    assert told.endswith(", margin 3 % or 0.20 Mbit/s, whichever is larger).")


def test_the_largest_difference_is_the_largest_in_the_unit_that_is_shown() -> None:
    sides = {"1 bdp": (0.001, 0.004), "2 bdp": (0.01, 0.02)}
    found = [
        Contrast(
            [before + 1e-6 * n for n in range(8)],
            [after + 2e-6 * n for n in range(8)],
            1e-4,
            "lower",
            subject=Subject("flows", 0, "mine", "loss_rate", "1", {SIZE: point}),
            sides=("cubic", "vegas"),
            stated=Margin(absolute=1e-4),
        )
        for point, (before, after) in sides.items()
    ]
    (told,) = conclusion([compared(found)])
    assert "is worse at all 2 points, most at buffer 2 BDP: it rises from 1.00 to 2.00 %, by 1.00 pp" in told


def test_metrics_that_are_0_in_all_runs_are_not_counted_as_equivalent() -> None:
    zero = replace(contrast("goodput", "mine", 0, 0.0), reference=[0.0] * 12, other=[0.0] * 12)
    zeros = [replace(zero, subject=Subject("flows", 0, "mine", "retransmitted", "packets"))]
    told = conclusion([compared([*ALL, *zeros])])
    assert told[-1].endswith("; the other metric is equivalent.")


def test_each_group_has_a_sentence_if_many_metrics_are_asked_for() -> None:
    changes = [contrast(metric, "mine", 0, -0.6) for metric in ("goodput", "rtt_mean", "jain")]
    asked = ["jain", "share", "retransmitted", "rtt_mean", "wire", "loss_rate", "goodput", "sojourn_mean"]
    told = conclusion([compared([*changes, *ALL[:4]])], asked)
    assert [line.partition(" is ")[0].rpartition(": ")[2] for line in told[:4]] == [
        "goodput of mine",
        "Goodput of beside",
        "Jain's index of all flows",
        "Mean sojourn time at bottleneck",
    ]


@pytest.mark.parametrize(
    ("sides", "named"),
    [
        (("cubic", "reno"), "reno instead of cubic"),
        (("algorithm of b cubic", "algorithm of b reno"), "algorithm of b reno instead of cubic"),
        (("bbr", "bbr tuned"), "bbr tuned instead of bbr"),
    ],
)
def test_the_path_of_both_sides_is_named_once(sides: tuple[str, str], named: str) -> None:
    finding = replace(paired([contrast("goodput", "mine", 0, -0.5)])[0], sides=sides)
    made = replace(compared([]), sides=dict.fromkeys(sides, range(12)), findings=[finding])
    assert conclusion([made])[0].startswith(f"{named}: goodput of mine is worse")


def test_an_undecided_finding_says_what_would_decide() -> None:
    spread = np.random.Generator(np.random.PCG64(5)).normal(5e6, 1e6, (2, 4)).tolist()
    subject = Subject("flows", 0, "mine", "goodput", "bit/s")
    wide = Contrast(*spread, 1e5, "higher", subject=subject, sides=("cubic", "vegas"))
    (told,) = conclusion([compared([wide])])
    assert " is undecided: " in told
    assert told.endswith(" seeds in total would decide.")


def test_seeds_that_would_decide_are_a_range_and_doubtful_points_need_longer_runs() -> None:
    made = paired([contrast("goodput", "mine", 0, 0.1, f"{size} bdp") for size in (1, 2, 4)])
    open_ = [replace(each, verdict="undecided", decision="undecided") for each in made]
    seeds = [replace(each, seeds=n) for each, n in zip(open_, (19, 13, 30), strict=True)]
    assert needed_in_words(seeds) == "13 to 30 seeds in total would decide all 3"
    assert needed_in_words([seeds[0], replace(seeds[1], seeds=None)]) == (
        "19 seeds in total would decide 1 of them"
    )
    doubtful = [*seeds[:2], replace(seeds[2], doubts=(NOT_SETTLED,))]
    (told,) = conclusion([compared([]).only(doubtful)])
    assert " is undecided at all 3 points (all differences +10 %†); at buffer 1 BDP" in told.replace(
        ".0 %", " %"
    )
    assert told.endswith("13 to 19 seeds in total would decide 2 of them, longer runs the rest†.")
    assert verdict_of(doubtful[2]) == "undecided† (longer runs)"
    (one_,) = conclusion([compared([]).only(doubtful[2:])])
    assert one_.endswith("longer runs are needed.")


def test_a_difference_is_that_of_the_values_as_shown_or_has_one_value() -> None:
    """0.076 and 0.404 % differ by 0.328 pp: 0.33, not 0.40 - 0.08 = 0.32."""
    (found,) = paired(
        [replace(losses(["1 bdp"], 0.0)[0], reference=[0.00076] * 11 + [0.000761], other=[0.00404] * 12)]
    )
    assert moves(found).startswith("rises by 0.33 pp ")
    assert moves(found).endswith(" to 0.40 %")


def test_subjects_that_repeat_others_are_tested_once() -> None:
    ping = contrast("rtt_mean", "ping", 2, 0.1)
    flow = contrast("goodput", "mine", 0, 0.1)

    def like(of: Contrast, metric: str, entry: int | None, name: str) -> Contrast:
        return replace(of, subject=replace(of.subject, metric=metric, entry=entry, of=name))

    total, smoothed = like(ping, "rtt_mean", None, "all flows"), like(ping, "srtt_mean", 2, "ping")
    zeros = replace(like(ping, "retransmitted", 2, "ping"), reference=[0.0] * 12, other=[0.0] * 12)
    jain = contrast("jain", "all flows", None, -0.1)
    every = [flow, ping, like(jain, "jain", 1, "beside"), total, smoothed, zeros, jain]
    assert distinct([every, every]) == [[flow, ping, jain]] * 2
    other = [*every[:3], replace(total, other=[value + 1e-3 for value in total.other]), *every[4:]]
    kept = distinct([every, other])
    assert [total.subject in [each.subject for each in of_pair] for of_pair in kept] == [True, True]
    assert distinct([[zeros]]) == [[zeros]]


def test_a_p_that_holms_correction_lifts_is_told_with_both_values() -> None:
    steps = 0.5 + 0.614 * np.resize([1.0, -1.0], 12)  # p = 0.02
    values = [5.0] * 12, (5 + steps).tolist()
    subject, sides = Subject("flows", 0, "a", "goodput", "bit/s"), ("cubic", "vegas")
    chance = np.random.Generator(np.random.PCG64(7)).normal(0, 1, (2, 12)).tolist()
    others = [Contrast(*chance, 0.1, "", sides=sides, subject=Subject("flows", 1, "b", "jain", "1"))] * 5
    first, *_ = conclusion(
        [compared([Contrast(*values, 0.1, "higher", subject=subject, sides=sides), *others])]
    )
    assert "; p = 0.021, but 0.12 after Holm's correction for 6 tests; about 16 seeds in total" in first
    assert "`" not in first


def test_a_corrected_p_of_1_is_one_point_zero() -> None:
    (found,) = paired([contrast("goodput", "mine", 0, 0.0)])
    open_ = replace(found, verdict="undecided", p_raw=0.017, p_corrected=1.0, seeds=None)
    assert one(open_, [open_] * 3).endswith("; p = 0.017, but 1.0 after Holm's correction for 3 tests.")


def test_a_group_is_named_by_either_side_or_by_its_place() -> None:
    subject = Subject("flows", 1, "cubic-1 -> vegas-1", "goodput", "bit/s")
    for name in ("cubic-1", "vegas-1", "flows.1", "cubic-1 -> vegas-1"):
        check_groups([name], [(subject, ("cubic-1", "vegas-1"))])
    with pytest.raises(UnknownNameError, match="cubic-2"):
        check_groups(["cubic-2"], [(subject, ("cubic-1", "vegas-1"))])


class TestCommand:
    """`fullpipe compare` as users meet it."""

    WORDS = ("--over", "flows.0.cca=cubic,vegas,bbr3", "--seeds", 4, "--jobs", 1)

    @pytest.fixture
    def duel(self, fullpipe: Callable[..., Any]) -> Callable[..., Any]:
        Path("duel.toml").write_text(DUEL, encoding="utf-8")
        return lambda *words: fullpipe("compare", "duel.toml", *self.WORDS, *words)

    def test_the_conclusion_is_the_first_paragraph_and_the_answer_fits_a_screen(
        self, duel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "100")
        short, whole = duel().stdout, duel("--all").stdout
        first = " ".join(short.partition("\n\n")[0].split())
        assert first.startswith("vegas instead of cubic: goodput of mine ")
        assert "bbr3 instead of cubic: goodput of mine " in first
        assert len(short.splitlines()) <= 60
        assert whole.count("\n goodput") == 2 * 4 * 3 > short.count("\n goodput")
        assert max(map(len, whole.splitlines())) <= 100
        assert "15 % or 1.00 ms" in " ".join(whole.split())
        assert "margin (larger) verdict" in whole

    def test_json_and_file_have_the_conclusion_and_the_findings(self, duel: Callable[..., Any]) -> None:
        lines = [json.loads(line) for line in duel("--json", "-o", "found.json").stdout.splitlines()]
        kept = json.loads(Path("found.json").read_text(encoding="utf-8"))
        assert all(len(line["findings"]) == len(line["rows"]) for line in lines)
        assert all(1 <= len(line["conclusion"]) <= MOST for line in lines)
        assert kept["conclusion"][0].startswith("vegas instead of cubic: goodput of mine ")
        assert {tuple(each["sides"]) for each in kept["findings"]} == {("cubic", "vegas"), ("cubic", "bbr3")}

    def test_one_group_is_compared_and_its_findings_alone_are_one_family(
        self, duel: Callable[..., Any]
    ) -> None:
        whole, own = (
            [
                each
                for line in duel("--json", *words).stdout.splitlines()
                for each in json.loads(line)["findings"]
            ]
            for words in ((), ("--of", "mine"))
        )
        same = [each for each in whole if each["of"] == "mine"]
        assert [(each["metric"], each["p"]) for each in own] == [(each["metric"], each["p"]) for each in same]
        corrected = [(one["p_corrected"], other["p_corrected"]) for one, other in zip(own, same, strict=True)]
        assert all(one <= other for one, other in corrected if one is not None)
        assert any(one < other for one, other in corrected if one is not None)
        assert duel("--of", "nothing").exit_code == 2
