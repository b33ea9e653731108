"""The conclusion of comparisons of several variants with one reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fullpipe.report.findings import first_table
from fullpipe.validation.compare import VariantComparison
from fullpipe.validation.compare.conclusion import MOST, brief, conclusion, quoted, ranked
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import leads
from fullpipe.validation.compare.rules import paired
from tests.compare.contrasts import ALL, compared, contrast, losses


def _of_variant(changes: Sequence[Contrast], name: str) -> VariantComparison:
    """The comparison of the variant with cubic."""
    found = [replace(each, sides=("cubic", name)) for each in paired(changes)]
    return replace(compared([]), sides={"cubic": range(1, 13), name: range(1, 13)}, findings=found)


OWN_GAIN = contrast("goodput", "mine", 0, 0.2)


def test_sides_take_turns_and_what_is_regressed_is_never_displaced() -> None:
    made = compared(ALL)
    other = replace(made, sides={"cubic": range(1, 13), "bbr3": range(1, 13)})
    regressed = [replace(each, sides=("cubic", "bbr3")) for each in made.findings]
    regressed[2] = replace(regressed[2], decision="regressed")
    first = ranked([made, other.only(regressed)])[:4]
    assert [(each.sides[1], each.metric, each.of) for each in first] == [
        ("vegas", "goodput", "mine"),
        ("bbr3", "goodput", "all flows"),
        ("vegas", "goodput", "beside"),
        ("bbr3", "goodput", "mine"),
    ]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_flows_beside_the_changed_one_are_in_the_sentences_on_several_variants(count: int) -> None:
    changes = [contrast("goodput", "mine", 0, -0.6), contrast("goodput", "beside", 1, 0.4), *ALL[:3]]
    made = [_of_variant(changes, name) for name in "abcd"[:count]]
    told = conclusion(made)
    assert len(told) <= MOST
    assert [line[0] for line in told if "goodput of mine" in line] == list("abcd"[:count])
    first = told.index(next(line for line in told if "oodput of beside is better" in line))
    assert all("sojourn" not in line for line in told[:first])
    if count == 4:
        assert told[-1] == (
            "Goodput of beside is better with all 4 (largest: a +40.0 % [+39.8, +40.3] to 7.00 Mbit/s)."
            " Jain's index of all flows is worse with all 4 (largest: a -0.270 [-0.271, -0.268] to 0.630)."
        )


def test_verdicts_on_a_neighbour_are_counted_by_points_where_they_differ() -> None:
    made = [
        _of_variant(
            [
                contrast("goodput", "mine", 0, -0.6, point),
                contrast("goodput", "beside", 1, change if point == "1 bdp" else 0.0, point),
            ],
            name,
        )
        for name, change in (("a", 0.4), ("b", -0.4), ("c", 0.0), ("d", 0.4))
        for point in ("1 bdp", "2 bdp", "4 bdp")
    ]
    assert conclusion(made)[-1] == (
        "Goodput of beside is worse at 1 and equivalent at 2 of 3 points with b"
        " (largest: -40.0 % [-40.1, -39.9]);"
        " better at 1 and equivalent at 2 of 3 points with a and d"
        " (largest: a +40.0 % [+39.8, +40.3], d +40.0 % [+39.8, +40.3]); equivalent at all 3 points with c"
        " (all differences 0.0 %, margin 3 %)."
    )


def test_many_variants_share_the_sentences_on_every_subject() -> None:
    told = conclusion([_of_variant(ALL, name) for name in "abcdefgh"])
    assert [line.partition(" is ")[0] for line in told] == [
        "Against cubic: goodput of mine",
        "Goodput of beside",
        "Jain's index of all flows",
        "Mean RTT of mine",
        "Mean sojourn time at bottleneck",
    ]
    assert told[0].endswith(" is worse with all 8 (largest: a -60.0 % [-60.1, -59.9] to 2.00 Mbit/s).")
    one_differs = [_of_variant(ALL if name != "h" else [*ALL[:5], OWN_GAIN], name) for name in "abcdefgh"]
    (first, *_) = conclusion(one_differs)
    assert "; better with h (+20.0 % " in first


def test_losses_of_two_variants_are_both_told_though_one_is_undecided_in_goodput() -> None:
    points = ["1 bdp", "2 bdp", "4 bdp"]
    gain = [contrast("goodput", "mine", 0, 0.4, point) for point in points]
    wide = np.linspace(-0.6, 0.6, 12) * 5e6
    open_ = [replace(each, other=list(np.add(each.reference, wide + 1e5))) for each in gain]
    beside = [contrast("goodput", "beside", 1, -0.3, point) for point in points]
    own = {"a": [*gain, *beside, *losses(points, 0.02)], "b": [*open_, *losses(points, 0.003)]}
    own["b"] += [contrast("goodput", "beside", 1, 0.0, point) for point in points]
    *told, last = conclusion([_of_variant(changes, name) for name, changes in own.items()])
    assert [line.partition(" is ")[2].split()[0] for line in told] == [
        "better", "undecided", "worse", "worse",
    ]  # fmt: skip
    assert last == "3 of 18 findings are undecided after Holm's correction for 18 tests."
    assert told[2].startswith("Goodput of beside is worse at all 3 points with a (largest: -30.0 % ")
    assert "; equivalent at all 3 points with b (" in told[2]
    assert told[3].startswith(
        "Dropped data packet share of mine is worse at all 3 points with both (largest: a +2.00 pp "
    )
    assert ", b +0.30 pp [" in told[3]
    *swapped, _ = conclusion([_of_variant(own[name], name) for name in "ba"])
    assert len(swapped) == len(told)
    assert "worse at all 3 points with both (largest: b +0.30 pp " in swapped[3]


def test_sentences_that_share_a_text_account_for_every_point_and_side() -> None:
    points = ["1 bdp", "2 bdp", "4 bdp"]
    own: dict[str, list[Contrast]] = {}
    for name, worse in (("a", 2), ("b", 0)):
        own[name] = [contrast("goodput", "mine", 0, 0.4, point) for point in points]
        own[name] += [contrast("goodput", "beside", 1, -0.3, point) for point in points]
        own[name] += [
            contrast("jain", "all flows", None, -0.3 if place < worse else 0.0, point)
            for place, point in enumerate(points)
        ]
        own[name] += [contrast("owd_mean", "beside", 1, 0.4, point) for point in points]
        own[name] += losses(points, 0.02)
    told = conclusion([_of_variant(changes, name) for name, changes in own.items()])
    assert len(told) == MOST
    assert "all flows is worse at 2 and equivalent at 1 of 3 points with a (largest: -0.270 [" in told[3]
    assert "; equivalent at all 3 points with b (" in told[3]
    assert told[4].count(". ") == 1
    assert told[4].count(" at all 3 points with both (largest: a ") == 2


def test_pings_and_one_way_delays_tell_of_delay_before_rtts_of_bulk_flows() -> None:
    """RTTs of bulk flows have the delay of their ACKs."""
    found = [
        contrast("goodput", "mine", 0, 0.4),
        contrast("goodput", "beside", 1, -0.3),
        contrast("rtt_p95", "beside", 1, 0.4),
        contrast("rtt_mean", "ping", 2, 0.0),
    ]
    made = [_of_variant(found, name) for name in "ab"]
    told = conclusion(made)
    assert any("Mean RTT of ping is equivalent with both" in line for line in told)
    assert not any("p95 RTT of beside" in line for line in told)
    shown = leads(ranked(made))
    assert [each.of for each in shown if "rtt" in each.metric] == ["ping", "ping"]
    without = conclusion([_of_variant(found[:3], name) for name in "ab"])
    assert any("p95 RTT of beside is worse with both" in line for line in without)


def test_short_tables_have_the_harm_to_neighbours_and_the_delay_of_the_conclusion() -> None:
    found = [
        contrast("goodput", "mine", 0, 0.4),
        contrast("goodput", "beside", 1, -0.3),
        contrast("rtt_mean", "ping", 2, -0.1),
        contrast("owd_mean", "ping", 2, -0.2),
        contrast("jain", "all flows", None, -0.3),
    ]
    made = [_of_variant(found, "a")]
    shown = [(each.metric, each.of) for each in leads(ranked(made))]
    assert shown == [("goodput", "mine"), ("goodput", "beside"), ("rtt_mean", "ping")]
    assert any(line.startswith("Mean RTT of ping is better") for line in conclusion(made))
    harmless = [each for each in found if each.subject.of != "beside"]
    assert ("jain", "all flows") in [
        (each.metric, each.of) for each in leads(ranked([_of_variant(harmless, "a")]))
    ]


def test_no_side_is_worse_in_an_aspect_without_a_word() -> None:
    """One side delays its own packets, the other those of the flow beside it."""
    own = {
        name: [OWN_GAIN, contrast("goodput", "beside", 1, 0.0), *delays]
        for name, delays in {
            "a": [contrast("rtt_mean", "mine", 0, 0.5), contrast("rtt_mean", "beside", 1, 0.0)],
            "b": [contrast("rtt_mean", "mine", 0, 0.0), contrast("rtt_mean", "beside", 1, 0.3)],
        }.items()
    }
    told = conclusion([_of_variant(changes, name) for name, changes in own.items()])
    assert any(line.startswith("Mean RTT of mine is worse with a (+50.0 % ") for line in told)
    assert any(" of beside is worse with b (+30.0 % " in line for line in told)


def test_both_variants_lose_and_the_sentences_say_so_alike() -> None:
    changes = {"a": -0.6, "b": -0.4}
    made = [
        _of_variant(
            [contrast("goodput", "mine", 0, change), contrast("goodput", "beside", 1, -change / 2)], name
        )
        for name, change in changes.items()
    ]
    told = conclusion(made)
    assert told[0].startswith("a instead of cubic: goodput of mine is worse: it falls by 60.0 % ")
    assert told[1].startswith("b instead of cubic: goodput of mine is worse: it falls by 40.0 % ")
    assert told[2].startswith("Goodput of beside is better with both (a +30.0 % [")
    assert ", b +20.0 % [" in told[2]


def test_the_answer_in_brief_has_the_verdicts_of_every_side_on_both_groups() -> None:
    made = [
        _of_variant(
            [
                contrast("goodput", "mine", 0, gain if point == "1 bdp" else 0.0, point),
                contrast("goodput", "beside", 1, loss, point),
            ],
            name,
        )
        for name, gain, loss in (("a", 0.4, -0.2), ("b", 0.0, 0.0), ("c", 0.0, 0.0))
        for point in ("1 bdp", "2 bdp", "4 bdp")
    ]
    assert brief(made) == [
        "Against cubic, a is better in goodput of mine at 1 of 3 points (buffer = 1 BDP) and worse in goodput"
        " of beside at all 3 points; b and c are equivalent in goodput of mine and goodput of beside at all 3"
        " points."
    ]
    assert brief(made[:3]) == [], "the first sentence of the conclusion is the answer"


def test_a_loss_of_one_side_precedes_an_equivalent_delay_of_another_in_short_tables() -> None:
    points = ("1 bdp", "2 bdp", "3 bdp", "4 bdp", "5 bdp")
    made = [
        _of_variant(
            [
                *(contrast("goodput", "mine", 0, 0.0, point) for point in points),
                *(contrast("rtt_mean", "ping", 2, 0.0, point) for point in points),
                *losses(points, loss),
            ],
            name,
        )
        for name, loss in (("a", 0.0), ("b", 0.02))
    ]
    shown = leads(ranked(made))
    assert ("b", "dropped_share") in {(each.sides[1], each.metric) for each in shown}


def test_the_first_table_has_the_findings_that_the_conclusion_quotes() -> None:
    """At 0.5 BDP one side has the most loss, at 4 BDP the other; one metric of loss is shown for both."""
    made = []
    for name, most in (("a", "0.5 bdp"), ("b", "4 bdp")):
        found: list[Contrast] = []
        dropped: list[Contrast] = []
        for at in ("0.5 bdp", "1 bdp", "4 bdp"):
            more = 0.1 if at == most else 0.0
            found.append(contrast("goodput", "mine", 0, 0.2 + more, at))
            found.append(contrast("goodput", "beside", 1, -0.3 - more, at))
            found.append(contrast("jain", "all flows", None, -0.2 - more, at))
            dropped += losses([at], 0.01 + more)
        lost = [replace(each, subject=replace(each.subject, metric="loss_rate")) for each in dropped]
        made.append(_of_variant([*found, *lost, *dropped], name))
    told, own = " ".join(conclusion(made)), quoted(made)
    assert "Dropped data packet share of mine" in told
    assert "arked lost" not in told
    shown = first_table([each for one in made for each in one.findings], ranked(made), quoted=own).rows
    for metric in ("goodput (Mbit/s)", "Jain's index", "dropped data packet share (%)"):
        assert {row[1] for row in shown if row[0] == "a" and row[3] == metric} >= {"0.5 BDP"}
        assert {row[1] for row in shown if row[0] == "b" and row[3] == metric} >= {"4 BDP"}
    assert not [row for row in shown if row[3].startswith("marked lost")]
    assert {id(each) for each in own} <= {id(each) for each in leads(ranked(made), own)}


def test_a_group_called_better_or_equivalent_is_also_told_to_be_worse() -> None:
    """A ping gets a shorter mean RTT and more jitter."""
    points = ("1 bdp", "4 bdp")
    made = []
    for name, more in (("a", 1.3), ("b", 0.4)):
        found = [contrast("goodput", "mine", 0, 0.4, at) for at in points]
        found += [contrast("rtt_mean", "ping", 2, -0.3 if at == "4 bdp" else 0.0, at) for at in points]
        found += [contrast("jitter", "ping", 2, more if at == "4 bdp" else 0.0, at) for at in points]
        made.append(_of_variant(found, name))
    (told,) = [line for line in conclusion(made) if "RTT of ping is better" in line]
    assert "is better at 1 and equivalent at 1 of 2 points with both" in told
    assert "; equivalent: within the margin of 3 %. Interarrival jitter of ping is worse at 2 of 4" in told
    assert " findings (a +130.1 % [" in told
    assert " ms at buffer 4 BDP, b +40.0 % [" in told
    assert told.endswith(" at buffer 4 BDP).")
    jitter = [each for each in quoted(made) if each.metric == "jitter"]
    assert [(each.sides[1], *each.point.values()) for each in jitter] == [("a", "4 bdp"), ("b", "4 bdp")]


def test_the_delay_of_a_queue_is_told_once() -> None:
    """The delay of the ping has the sojourn time of the link, unless the link is worse."""
    for change, is_told in ((0.0, False), (0.5, True)):
        found = [contrast("goodput", "mine", 0, 0.4), contrast("rtt_mean", "ping", 2, -0.3)]
        found.append(contrast("sojourn_mean", "bottleneck", None, change))
        told = " ".join(conclusion([_of_variant(found, name) for name in "ab"]))
        assert "Mean RTT of ping is better with both" in told
        assert ("sojourn time at bottleneck" in told) is is_told
