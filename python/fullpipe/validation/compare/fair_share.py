"""Sentences on goodput shares and fair shares, on all sides, and on subjects without their own sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from fullpipe.analysis.outcome import called, short
from fullpipe.analysis.points import varying, with_flows
from fullpipe.analysis.regions import region
from fullpipe.analysis.shown import (
    LONGEST,
    begun,
    listed,
    metric_shown,
    number_shown,
    p_in_words,
    unit_shown,
    words_in,
)
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE, fair_shares, shares, told_paths
from fullpipe.validation.compare.finding import DIFFERENT, WORSE, Finding, claims
from fullpipe.validation.compare.rules import ALIKE, ERROR, paired
from fullpipe.validation.compare.sentence import (
    Names,
    Part,
    ends,
    fitted,
    largest,
    margin_in_words,
    moves,
    name_of,
    number,
    range_in_words,
    signed,
    value,
    why_open,
)

FAIR_WORDS = "its fair share"
"""Words that every sentence on a fair share has."""
_SIDES = {"higher": "more than", "lower": "less than", "equivalent": "equivalent to"}


def share_at_points(values: pl.DataFrame, entry: int, labels: Labels | None = None) -> str:
    """A sentence on the goodput share of an entry of `flows`: at how many points it is more or less than its
    fair share, and at how many this is undecided. Empty if the entry has no fair share.

    The tests are those of `contrast.fair_shares`, corrected over all points and groups.

    Args:
        values: See `contrast.shares`.
        entry: Index in `flows`.
        labels: Words for paths and values; default: those of the model.
    """
    own, labels = shares(values).filter(pl.col("entry") == entry), labels or Labels()
    if own.is_empty():
        return ""
    findings = paired(fair_shares(values, entry))
    tested = {repr(each.point): each for each in findings if each.subject.entry == entry}
    points = own.select(told_paths(values)).unique(maintain_order=True).to_dicts() or [{}]
    if len(points) == len(tested) == 1:
        return fair_share(next(iter(tested.values())), len(findings))
    keys = [repr({path: value for path, value in each.items() if value is not None}) for each in points]
    verdicts = [tested[key].verdict if key in tested else "undecided" for key in keys]
    even = own[EQUAL_SHARE].unique().to_list()
    of = f" of {number_shown(even[0], '1', EQUAL_SHARE)} {unit_shown('1', EQUAL_SHARE)}"
    fair, told = f"{FAIR_WORDS}{of if len(even) == 1 else ''}", list[str]()
    for verdict, words in _SIDES.items():
        places = [place for place, each in enumerate(verdicts) if each == verdict]
        if places:
            where = region(points, places, labels.names(varying(points)), labels.value)
            at = f"all {_points(len(points))}" if not where else f"{len(places)} of {_points(len(points))}"
            is_short = 0 < words_in(where) <= LONGEST
            told.append(f"{words} {fair} at {at}{f', where {where}' if is_short else ''}")
    if any(each.verdict in ("higher", "lower") and each.p_corrected is not None for each in tested.values()):
        corrected = f" after Holm's correction for {len(findings)} tests" if len(findings) > 1 else ""
        last = sum(each in verdicts for each in ("higher", "lower")) - 1
        told[last] += f" (p < {ERROR:g}{corrected})"
    rest = verdicts.count("undecided")
    others = f"the other {_points(rest) if rest > 1 else 'point'}" if told else _points(rest)
    told += [f"undecided at {others}"] if rest else []
    name = called(own["of"].unique(maintain_order=True).to_list(), entry)
    return short(begun(f"{metric_shown(SHARE, name)}: {'; '.join(told)}."))


def _points(count: int) -> str:
    return f"{count:,} point{'s' if count > 1 else ''}"


def fair_share(found: Finding, tests: int = 1) -> str:
    """A sentence on the goodput share of a group beside others: share, interval, verdict, p value, seeds.

    Args:
        found: A finding of `contrast.fair_shares`.
        tests: Number of tests that are corrected together.
    """
    low, high = (found.reference + end for end in ends(found) or (0.0, 0.0))
    interval = f" [{number(low, found)}, {number(high, found)}]" if found.interval else ""
    fair = f"{FAIR_WORDS} of {value(found.reference, found)}"
    verdict = {
        "higher": f", more than {fair}",
        "lower": f", less than {fair}",
        "equivalent": f", equivalent to {fair}, within {margin_in_words(found)}",
    }.get(found.verdict, f"; undecided against {fair}")
    p = [] if found.p_corrected is None else [p_in_words(found.p_corrected)]
    corrected = f" after Holm's correction for {tests} tests" if p and tests > 1 else ""
    why = ", ".join([*(f"{each}{corrected}" for each in p), f"{found.runs:,} seeds"])
    reason = f"; {found.reason}" if found.reason == ALIKE else ""
    return f"{found.of} gets {value(found.other, found)} of the goodput{interval}{verdict} ({why}){reason}."


def with_fair_share(
    told: Sequence[str], values: pl.DataFrame, most: int, labels: Labels | None = None
) -> list[str]:
    """Sentences on runs; after the first, a sentence is inserted on the group whose share differs most from
    its fair share. Nothing is inserted if no share can be tested.

    Args:
        told: The sentences.
        values: See `contrast.shares`.
        most: Maximum number of sentences.
        labels: Words for paths and values; default: those of the model.
    """
    contrasts = fair_shares(values)
    if not contrasts:
        return list(told[:most])
    first = max(contrasts, key=lambda each: abs(each.difference))
    return [*told[:1], share_at_points(values, first.subject.entry or 0, labels), *told[1:]][:most]


# Sentences on the subjects of a comparison that have no sentence of their own.


_MOST_NAMED = 4
"""Maximum number of subjects that a sentence names for each verdict, besides losses."""
_Of = Sequence[Finding]
"""Findings on one subject at all points."""


def besides(rest: Sequence[_Of], room: int, names: Names, is_loss: Callable[[Finding], bool]) -> list[str]:
    """Return sentences on the other subjects: the names of subjects that differ, and the number of the
    remaining subjects. There is a single sentence if `room` is 1.

    Subjects that are 0 in all runs are not counted.

    Args:
        rest: The subjects.
        room: Number of sentences for which there is room.
        names: Names of points.
        is_loss: Whether a finding says that an unchanged group is worse off. All losses are named.
    """
    named: dict[str, list[_Of]] = {}
    for verdict in DIFFERENT:
        of_verdict = ([each for each in of if each.outcome == verdict] for of in rest)
        if subjects := [found for found in of_verdict if found]:
            named[verdict] = sorted(subjects, key=lambda found: not is_loss(found[0]))
    left = [of for of in rest if not claims(of) and not all(each.is_zero for each in of)]
    open_ = sum(any(each.outcome == "undecided" for each in of) for of in left)
    word = "not worse" if any(each.outcome == "not worse" for of in left for each in of) else "equivalent"
    others = _others(len(left) - open_, open_, word)
    if not named:
        return others
    is_one = bool(others) and room == 1
    end = f"; {others[0][0].lower()}{others[0][1:]}" if is_one else "."
    points = " at some points" if any(len(of) > 1 for of in rest) else ""
    lists = [f"{_also(named, points, most, names, is_loss)}{end}" for most in range(_MOST_NAMED, -1, -1)]
    also = next((text for text in lists if words_in(text) <= LONGEST), lists[-1])
    return [also] if is_one else [also, *others]


def _also(
    named: Mapping[str, Sequence[_Of]],
    points: str,
    most: int,
    names: Names,
    is_loss: Callable[[Finding], bool],
) -> str:
    """Return a sentence with the subjects of each verdict.

    For each verdict, all losses and at most `most` other subjects are named, and the first is followed by
    its largest difference. If `most` is 0, a difference is given only for losses; without a loss, one subject
    is named without its difference.
    """
    parts = []
    for verdict, subjects in named.items():
        losses = [of for of in subjects if is_loss(of[0])]
        shown = subjects[len(losses) : len(losses) + (most or (0 if losses else 1))]
        told = list(_by_group(losses, points, names))
        told += [_named(of[0]) for of in shown]
        if most and not losses:
            told[0] += _largest_of(subjects[0], points, names)
        left = len(subjects) - len(losses) - len(shown)
        more = [f"{left} more"] if left else []
        parts.append(f"{verdict}: {', '.join([*told, *more])}")
    return f"Also{points} {'; '.join(parts)}"


def _by_group(losses: Sequence[_Of], points: str, names: Names) -> Iterator[str]:
    """Yield the metrics of every group that is worse, the first with its largest difference."""
    groups: dict[tuple[str, str], list[_Of]] = {}
    for of in losses:
        groups.setdefault((of[0].case, with_flows(of[0].of, of[0].flows or (), "")), []).append(of)
    for (case, group), subjects in groups.items():
        metrics = [metric_shown(of[0].metric) for of in subjects]
        metrics[0] += _largest_of(subjects[0], points, names)
        yield f"{listed(metrics)} of {group}{f' in {case}' if case else ''}"


def _named(found: Finding) -> str:
    """Metric and group in words, with the case if there is one."""
    return f"{name_of(found)} in {found.case}" if found.case else name_of(found)


def _largest_of(found: _Of, points: str, names: Names) -> str:
    """Return the largest of several differences in brackets, with its point if the findings cover several
    points; empty if single runs decide."""
    most = largest(found)
    place = f" at {names.point(most)}" if points and most.point else ""
    return "" if most.is_by_runs else f" ({signed(most)}{place})"


def _others(alike: int, open_: int, word: str) -> list[str]:
    """Return a sentence with the number of other subjects that are alike (called `word`), and of those that
    are undecided."""
    if not alike + open_:
        return []
    if not open_ or not alike:
        word, count = "undecided" if open_ else word, alike + open_
        all_of = "Both" if count == 2 else f"All {count:,}"
        every = "The other metric is" if count == 1 else f"{all_of} other metrics and groups are"
        return [f"{every} {word}."]
    verb = "is" if alike == 1 else "are"
    others = f"{alike:,} of {alike + open_:,} other metrics and groups {verb} {word}"
    return [f"{others} and {open_:,} undecided."]


# Sentences on all sides of a comparison.


_FIRST = (*DIFFERENT, "undecided", "equivalent", "not worse")
"""Order in which sentences name verdicts and decisions."""
ALIKE_WORDS = ("equivalent", "not worse")
"""Verdicts and decisions that may hide differences within the margin."""
_LONGEST_OF_SIDES = 50
"""Maximum number of words of a sentence on several sides."""
_MOST_SIZES = 3
"""Maximum number of sides of which a sentence on all sides has a difference each."""
Told = Sequence[tuple[str, Sequence[Finding]]]
"""Findings on one subject, by the name of their side."""


def by_verdict(found: Sequence[Finding]) -> dict[str, list[int]]:
    """Return the indices of findings by their outcome."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        places.setdefault(each.outcome, []).append(place)
    return {verdict: places[verdict] for verdict in _FIRST if verdict in places}


_LONGEST_BRIEF = 60
"""Maximum number of words of the sentence that answers the question of a comparison."""
_LONGEST_REGION = 70
"""Maximum number of characters of the words for a part of a sweep; a longer text is only in the table."""


def where(found: Sequence[Finding], places: Sequence[int], names: Names) -> str:
    """Return some of the points in words; empty if all points are meant, or if the words are too long."""
    points = [each.point for each in found]
    if len(places) == len(found) or not are_alike(points):
        return ""
    where = region_of(found, places, names)
    is_short = len(where) <= _LONGEST_REGION or len(places) == 1
    return f" ({where})" if where and is_short else ""


def region_of(found: Sequence[Finding], places: Sequence[int], names: Names) -> str:
    """Return some of the points in words."""
    points = [each.point for each in found]
    words = names.labels.names(list(dict.fromkeys(path for point in points for path in point)))
    return region(points, places, words, names.labels.value)


def are_alike(points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all points have the same paths."""
    return len({tuple(point) for point in points}) == 1 and bool(points[0])


def in_brief(told: Sequence[tuple[str, Sequence[Sequence[Finding]]]], reference: str, names: Names) -> str:
    """Return a sentence with the verdicts on a few subjects, for each side against the reference. Points are
    named if there is room."""
    text = ""
    for has_places in (True, False):
        same: dict[str, list[str]] = {}
        for side, subjects in told:
            same.setdefault(_verdicts_of_side(subjects, names, has_places=has_places), []).append(side)
        sides = (f"{listed(of)} {'is' if len(of) == 1 else 'are'} {words}" for words, of in same.items())
        text = f"Against {reference}, {'; '.join(sides)}."
        if words_in(text) <= _LONGEST_BRIEF:
            break
    return text


def _verdicts_of_side(subjects: Sequence[Sequence[Finding]], names: Names, *, has_places: bool) -> str:
    """Return the verdicts on the subjects of a side, with the number of points of claimed differences."""
    same: dict[tuple[str, str], list[str]] = {}
    for found in subjects:
        verdicts, total = by_verdict(found), len(found)
        claimed = [verdict for verdict in verdicts if verdict in DIFFERENT]
        places = [place for verdict in claimed for place in verdicts[verdict]]
        at = " at both points" if total == 2 else f" at all {total} points" if total > 1 else ""
        if 0 < len(places) < total:
            at = f" at {len(places)} of {total} points{where(found, places, names) if has_places else ''}"
        same.setdefault((" or ".join(claimed or verdicts), at), []).append(name_of(found[0]))
    return listed(f"{verdict} in {listed(of)}{at}" for (verdict, at), of in same.items())


def of_all_sides(told: Told, names: Names, sides: int) -> str:
    """Return a sentence with the verdicts on a subject at all points, each with the sides that have them.

    Args:
        told: Findings on the subject.
        names: Names of points.
        sides: Number of all sides.
    """
    for has_places in (True, False):
        parts = [*_of_sides(told, names, sides, has_places=has_places)]
        if words_in("".join(part.text for part in parts)) <= _LONGEST_OF_SIDES:
            break
    return begun(fitted(parts, _LONGEST_OF_SIDES))


def _of_sides(told: Told, names: Names, sides: int, *, has_places: bool) -> Iterator[Part]:
    """The verdicts on one subject, each with the largest differences or the range of differences."""
    same: dict[str, list[tuple[str, Sequence[Finding]]]] = {}
    for each in sorted(told, key=lambda each: min(map(_FIRST.index, by_verdict(each[1])))):
        same.setdefault(_verdicts(each[1]), []).append(each)
    first = told[0][1][0]
    case = f"in case {first.case}, " if first.case else ""
    yield Part(f"{case}{name_of(first)} is ")
    for n, (verdicts, of) in enumerate(same.items()):
        every = "both" if sides == 2 else f"all {sides}"
        who = every if len(of) == sides else listed(name for name, _ in of)
        yield Part(f"{'; ' if n else ''}{verdicts} with {who}")
        findings = [each for _, found in of for each in found]
        if any(each.is_by_runs for each in findings):
            continue
        if not claims(findings):
            has_margin = verdicts.startswith(ALIKE_WORDS)
            yield Part(f" ({range_in_words(findings, has_margin=has_margin)})", 2 if has_margin else 3)
            continue
        yield Part(_largest_by_side(of, names, has_places=has_places), 1)
    alike = [verdicts for verdicts in same if any(word in verdicts for word in ALIKE_WORDS)]
    if alike and not any(verdicts.startswith(ALIKE_WORDS) for verdicts in alike) and not first.is_by_runs:
        yield Part(f"; {_alike_word(alike)}: within {margin_in_words(first)}", 2)


def _alike_word(verdicts: Iterable[str]) -> str:
    """The word of verdicts without a difference beyond the margin."""
    return next(word for word in ALIKE_WORDS if any(word in each for each in verdicts))


def harmed(told: Told, others: Iterable[Told]) -> list[tuple[Told, int]]:
    """Return the worse findings of a group on each further metric with their total number, most of them
    first. The list is empty if the group is worse in its own sentence, too.

    Args:
        told: Findings of the sentence on the group.
        others: Findings on metrics of the same group that have no sentence.
    """
    if told[0][1][0].entry is None or any(is_worse(found) for _, found in told):
        return []
    worse: list[tuple[Told, int]] = []
    for each in others:
        own = [(name, [one for one in found if one.outcome in WORSE]) for name, found in each]
        if any(found for _, found in own):
            total = sum(len(found) for _, found in each)
            worse.append(([(name, found) for name, found in own if found], total))
    return sorted(worse, key=lambda each: -sum(len(found) for _, found in each[0]))


def harm(worse: Sequence[tuple[Told, int]], names: Names) -> str:
    """Return a sentence on the first metric of `harmed`, and the number of others; empty without metrics."""
    if not worse:
        return ""
    own, total = worse[0]
    first, count = own[0][1][0], sum(len(found) for _, found in own)
    case, at = f"in case {first.case}, " if first.case else "", f" at {count} of {total} findings"
    many = len(worse) - 1
    more = f"; {many} more of its metrics {'is' if many == 1 else 'are'} worse" if many else ""
    start = begun(f"{case}{name_of(first)} is worse{at if total > 1 else ''}")
    sizes = "" if first.is_by_runs else _largest_by_side(own, names, has_places=True)
    return f"{start}{sizes}{more}."


def _largest_by_side(told: Told, names: Names, *, has_places: bool) -> str:
    """Return the largest claimed difference of each side in brackets; of many sides, only the largest."""
    most = [(name, largest(claims(found))) for name, found in told]
    shown = most if len(most) <= _MOST_SIZES else [max(most, key=lambda each: abs(each[1].difference))]
    sizes = []
    for name, each in shown:
        side = f"{name} " if len(told) > 1 else ""
        to = f" to {value(each.other, each)}" if has_places else ""
        at = f" at {names.point(each)}" if has_places and each.point else ""
        sizes.append(f"{side}{signed(each)}{to}{at}")
    is_most = len(shown) < len(most) or any(len(found) > 1 for _, found in told)
    return f" ({'largest: ' if is_most else ''}{', '.join(sizes)})"


def _verdicts(found: Sequence[Finding]) -> str:
    """Return the verdicts on one subject with their numbers of points."""
    verdicts = by_verdict(found)
    if len(verdicts) == 1:
        return f"{next(iter(verdicts))}{f' at all {len(found)} points' if len(found) > 1 else ''}"
    counts = listed(f"{verdict} at {len(places)}" for verdict, places in verdicts.items())
    return f"{counts} of {len(found)} points"


def is_worse(found: Iterable[Finding]) -> bool:
    """Whether any finding is worse."""
    return any(each.outcome in WORSE for each in found)


def of_subjects(
    subjects: Sequence[Told],
    harms: Sequence[str],
    names: Names,
    room: int,
    sides: int,
    due: Collection[int],
) -> list[str]:
    """Return a sentence per subject; if there are more subjects than sentences, the last text has a sentence
    on each of several subjects. These are claimed, or their indices are in `due`.

    The sentence on a subject is followed by its text in `harms`: see `harm`.
    """

    def rank(place: int) -> int:
        found = [each for _, of_side in subjects[place] for each in of_side]
        return 0 if place in due or harms[place] or is_worse(found) else 1 if claims(found) else 2

    order = sorted(range(len(subjects)), key=rank)
    claimed = sum(rank(place) < 2 for place in order)
    shown = [
        " ".join(filter(None, [of_all_sides(subjects[place], names, sides), harms[place]]))
        for place in sorted(order[: max(claimed, room)])
    ]
    sentences, together = (shown, []) if len(shown) <= room else (shown[: room - 1], shown[room - 1 :])
    last = " ".join(together)
    return [*sentences, last] if together else sentences


def sizes(found: Sequence[Finding], names: Names, *, is_all: bool) -> Iterator[Part]:
    """The largest of several differences with its interval and point; empty if no difference is claimed.

    `is_all` is true if the findings cover all points. At other points, differences without a verdict may be
    larger.
    """
    if found[0].is_by_runs or not claims(found):
        return
    most, among = largest(found), "" if is_all else " of these"
    yield Part(f",{among} most at {names.point(most)}" if len(found) > 1 else "", 3)
    yield Part(f": it {moves(most)}")


def nearest(found: Sequence[Finding], family: Sequence[Finding], names: Names) -> Iterator[Part]:
    """The undecided finding with the smallest p: its point, difference and reason."""
    order = sorted(found, key=lambda each: 2.0 if each.p_raw is None else each.p_raw)
    yield Part("; ")
    yield Part(f"at {names.point(order[0])}, ", 1)
    yield Part(f"{signed(order[0])}: ")
    yield from why_open(order[0], family, order[1:])
