"""The conclusion of tests of factors: one to five sentences with magnitudes, units and intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.regions import region
from fullpipe.analysis.shown import begun, number_shown, p_in_words, p_shown, point_shown, unit_shown
from fullpipe.analysis.statistics import Effect
from fullpipe.errors import brief
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.conclusion import MOST
from fullpipe.validation.compare.finding import Finding, Verdict, word
from fullpipe.validation.compare.rules import LEVEL, OPEN
from fullpipe.validation.compare.sentence import (
    Part,
    fitted,
    margin_in_words,
    moves,
    name_of,
    seeds_in_words,
    signed,
)
from fullpipe.validation.test.answer import PREDICATES, STATUSES, Answer, Told, by_subject, grouped, ranked
from fullpipe.validation.test.factor import INTERACTION, Factor, LevelPair, Row, Status, effect_shown

_LONGEST_REGION = 60
"""Maximum number of characters of the words for a part of a sweep; a longer text is only in the table."""
_LONGEST_LEVEL = 30
_LONGEST_PLACE = 5
"""Maximum number of words for a point in a sentence."""
_NUMBER = re.compile(r"[-+.\d]+( [^\s\d]+)?|true|false", re.IGNORECASE)
"""A value that needs the name of its factor: a number, with a unit or without, or a switch."""


def conclusion(found: Answer, labels: Labels | None = None) -> list[str]:
    """Say for every factor whether, where, and how much it matters.

    Every metric and every factor has one sentence before a metric or factor has a second sentence. The
    sentence is on the flows that have the factor as a setting, or else on a group for which the factor
    matters. If the sentence is too long to name the part of the sweep where the factor matters, a second
    sentence names that part. Interactions and a count of all other tests follow.

    Args:
        found: The answer.
        labels: Words for paths and values; default: the names in the model of scenarios.

    Returns:
        One to five sentences, each of at most 35 words without intervals. The list is empty without tests.
    """
    shown, rest, crossed = _chosen(found, labels or Labels())
    others = [*crossed, *_elsewhere(rest)]
    first = {_sentence(each): each for each in shown}
    left = MOST - len(first) - len(others)
    sentences: list[str] = []
    for sentence, each in first.items():
        where = _own_sentence(each, sentence) if left else ""
        left -= bool(where)
        sentences += filter(None, (sentence, where))
    return list(dict.fromkeys([*sentences, *others]))


def in_order(found: Answer, labels: Labels) -> Iterator[Factor]:
    """Yield the factors at every point, in the order of the sentences and then by rank."""
    shown, rest, _ = _chosen(found, labels)
    for each in (*shown, *rest):
        yield from each.factors


def _chosen(found: Answer, labels: Labels) -> tuple[list[Told], list[Told], list[str]]:
    """Return the factors that have a sentence, all others, and the sentences on interactions."""
    told = ranked(by_subject(found, labels))
    crossed = _interactions(told[: MOST - 1])
    room = MOST - len(crossed)
    if len(told) > room:
        room -= 1
    return list(grouped(told[:room])), list(told[room:]), crossed


def _own_sentence(told: Told, sentence: str) -> str:
    """Return a sentence on the part of a sweep where a factor has its status; empty if `sentence` names this
    part."""
    found = told.having(told.status)
    where = "" if told.status == "undecided" else _region(told, found)
    place = ", ".join(point_shown(found[0].subject.point, told.labels))
    if not where or f"({where})" in sentence or (len(found) == 1 and place in sentence):
        return ""
    return begun(f"{told.subject} {PREDICATES[told.status]} for {_named(told, found[0])} where {where}.")


def _sentence(told: Told) -> str:
    say = {"matters": _matters, "does not matter": _does_not_matter, "undecided": _undecided}[told.status]
    others = [
        f"{PREDICATES[status]} at {len(told.having(status))}"
        for status in STATUSES
        if status != told.status and told.having(status)
    ]
    return begun(fitted([*say(told), Part(f"; {' and '.join(others)}" if others else "")]))


def _matters(told: Told) -> Iterator[Part]:
    """Direction and size for two levels; for several levels, the extreme levels with the effect size."""
    found = told.having("matters")
    most = max(found, key=_size)
    start = f"{told.subject} matters: {_with(told, most)}{_named(told, most)}"
    if len(told.factors) == 1:
        yield from _magnitude(told, most, f"{start} ")
        return
    place = ", ".join(point_shown(most.subject.point, told.labels))
    is_short = len(place.split()) <= _LONGEST_PLACE
    among = "" if len(found) == len(told.factors) else "of these "
    at = f", {f'{among}most ' if len(found) > 1 else ''}at {place}" if is_short else ""
    yield Part(f"{start} {_directions(found)} of {len(told.factors)} points")
    yield Part(_where(told, found) if len(found) > 1 or not at else "", 2)
    yield from _magnitude(told, most, f"{at}: it ", "" if at else " where it differs most")


def _magnitude(told: Told, found: Factor, start: str, end: str = "") -> Iterator[Part]:
    """The difference of two levels; for several levels, the extreme levels with the effect size."""
    if _has_two_levels(found):
        yield Part(f"{start}{moves(_finding(told, found))}{end}")
        yield Part(_by_seed(found), 1)
        return
    yield Part(f"{start}is {_extremes(told, found)}{end}")
    yield Part(f", {_effect(found.effect)}" if found.effect else "", 1)


def _directions(found: Sequence[Factor]) -> str:
    """Numbers of points at which the second of two levels is higher, and lower; with more than two levels,
    the number of points at which levels differ."""
    if not _has_two_levels(found[0]):
        return f"differs at {len(found)}"
    rises = sum(each.levels.pairs[0].contrast.difference > 0 for each in found)
    counts = {"rises": rises, "falls": len(found) - rises}
    return " and ".join(f"{verb} at {count}" for verb, count in counts.items() if count)


def _does_not_matter(told: Told) -> Iterator[Part]:
    """The pair of levels with the weakest evidence of equivalence."""
    found = told.having("does not matter")
    widest = max(found, key=lambda each: (each.levels.p_equivalent, _size(each)))
    pair = widest.levels.widest
    finding = _finding(told, widest, pair)
    crossed = dict.fromkeys(
        path for each in found for row in each.interactions for path in row.factors if path != each.path
    )
    partners = " and ".join(told.names[path] for path in crossed)
    yield Part(f"{told.subject} does not matter")
    yield Part(f" on average but interacts with {partners}" if partners else "")
    is_everywhere = len(found) == len(told.factors) > 1
    yield Part(f" at any of {len(found)} points" if is_everywhere else _at(told, found))
    yield Part(_where(told, found), 2)
    yield Part(f": {_with(told, widest)}{name_of(finding)} has ")
    yield Part("" if len(found) == 1 and _has_two_levels(widest) else "at most ")
    yield Part(f"a difference of {signed(finding)}")
    yield Part("" if _has_two_levels(widest) else f" between {_apart(told, pair)}", 2)
    yield Part(
        f" at {', '.join(point_shown(widest.subject.point, told.labels))}" if len(told.factors) > 1 else "", 1
    )
    yield Part(f", within {margin_in_words(finding)}")


def _undecided(told: Told) -> Iterator[Part]:
    """The point with the smallest p value, and the number of seeds that would decide there."""
    found = told.factors
    closest = min(found, key=lambda each: each.test.p_corrected)
    named = f"{_with(told, closest)}{_named(told, closest)}"
    yield Part(f"{told.subject} is undecided")
    yield Part(_at(told, found), 1)
    yield Part(f": {named}")
    if _has_two_levels(closest):
        yield Part(f" has a difference of {signed(_finding(told, closest))}")
        yield Part(_by_seed(closest), 1)
    else:
        yield Part(f" is {_extremes(told, closest)}", 1)
        yield Part(_in_brackets(_effect(closest.effect)), 2)
    yield Part(
        f" at {', '.join(point_shown(closest.subject.point, told.labels))}" if len(found) > 1 else "", 1
    )
    raw, corrected = closest.test.p_raw, closest.test.p_corrected
    if raw < 1 - LEVEL <= corrected:
        adjusted = f"{p_shown(corrected)} after correction for {told.tests:,} tests"
        yield Part(f", {p_in_words(raw)} is {adjusted}", 2)
    seeds = seeds_in_words(closest.seeds)
    yield Part(f"; {seeds}" if seeds else "")


def _at(told: Told, found: Sequence[Factor]) -> str:
    """Return the number of points out of all points in words; empty with a single point."""
    total = len(told.factors)
    return f" at {len(found)} of {total} points" if total > 1 else ""


def _where(told: Told, found: Sequence[Factor]) -> str:
    """The part of a sweep in brackets: see `_region`."""
    return _in_brackets(_region(told, found))


def _region(told: Told, found: Sequence[Factor]) -> str:
    """The part of a sweep in words; empty for the whole sweep, or if the words are too long."""
    points = [each.subject.point for each in told.factors]
    if len(found) == len(points) or len({tuple(point) for point in points}) > 1:
        return ""
    places = [place for place, each in enumerate(told.factors) if each in found]
    text = region(points, places, {path: told.names[path] for path in points[0]}, told.labels.value)
    return text if len(text) <= _LONGEST_REGION else ""


def _in_brackets(text: str) -> str:
    return f" ({text})" if text and len(text) <= _LONGEST_REGION else ""


def _named(told: Told, found: Factor) -> str:
    return name_of(_finding(told, found))


def _has_two_levels(found: Factor) -> bool:
    return len(found.levels.names) == 2


def _with(told: Told, found: Factor) -> str:
    """Return both levels in words if the factor has two levels; else an empty text."""
    if not _has_two_levels(found):
        return ""
    reference, other = found.levels.names
    shown = _value(told, reference)
    return f"with {_level(told, other)} instead of {shown}, "


def _apart(told: Told, pair: LevelPair) -> str:
    return " and ".join(_level(told, level) for level in pair.levels)


def _level(told: Told, level: str) -> str:
    """A level in words; a bare number is combined with the name of its factor, or with "flows"."""
    shown = _value(told, level)
    if told.is_plural:
        return f"{shown} {told.name.removesuffix('s') if shown == '1' else told.name}"
    return f"{told.name} {shown}" if _NUMBER.fullmatch(shown) else shown


def _value(told: Told, level: str) -> str:
    """The value of a level in words: a loss of 0.001 is shown as 0.1 %."""
    return brief(told.labels.level(told.path, level), _LONGEST_LEVEL)


def _extremes(told: Told, found: Factor) -> str:
    """The levels with the highest and the lowest mean."""
    subject, levels = found.subject, found.levels
    unit = unit_shown(subject.unit, subject.metric)
    most, least = (
        f"{_level(told, levels.names[levels.means.index(mean)])}"
        f" ({number_shown(mean, subject.unit, subject.metric)} {unit}".rstrip()
        + ")"
        for mean in (max(levels.means), min(levels.means))
    )
    return f"highest with {most} and lowest with {least}"


def _effect(found: Effect | None) -> str:
    """The effect size with its interval."""
    return effect_shown(found, ".2f") if found else ""


def _by_seed(found: Factor) -> str:
    """Return the words "(paired by seed)" if the difference is paired by seed and the p value comes from an
    unpaired test."""
    has_pairs = any(pair.has_pairs for pair in found.levels.pairs)
    return " (paired by seed)" if has_pairs and found.test.pairs is None else ""


def _size(found: Factor) -> float:
    """Difference of two levels as a share of the reference; for several levels, the effect size."""
    if _has_two_levels(found):
        reference, other = found.levels.means
        return abs((other - reference) / reference) if reference else abs(other)
    return found.effect.value if found.effect else 0.0


def _finding(told: Told, found: Factor, pair: LevelPair | None = None) -> Finding:
    """Return a pair of levels as a finding, with the group in words. The default pair is the first two
    levels."""
    pair = pair or found.levels.pairs[0]
    better, difference = BY_NAME[found.subject.metric].better, pair.contrast.difference
    verdict: Verdict = "undecided"
    if found.status != "undecided":
        verdict = "equivalent" if found.status == "does not matter" else word(better, difference)
    return Finding(
        subject=replace(found.subject, of=told.labels.group(found.subject.of)),
        rule="paired" if pair.has_pairs else "independent",
        sides=pair.levels,
        values=pair.values,
        margin=found.margin,
        allowed=pair.allowed,
        better=better,
        verdict=verdict,
        decision=verdict,
        reason=OPEN,
        difference=difference,
        interval=pair.contrast.interval(LEVEL),
        relative_of_cells=None if pair.has_pairs else pair.relative,
        p_raw=found.test.p,
        p_corrected=found.test.p_corrected,
        seeds=found.seeds,
    )


def _interactions(first: Sequence[Told]) -> list[str]:
    """A sentence on the interactions of the first subject that has interactions."""
    for told in first:
        rows = [row for each in told.factors for row in each.interactions]
        if rows:
            by_effect: dict[tuple[str, ...], list[Row]] = {}
            for row in rows:
                by_effect.setdefault(row.factors, []).append(row)
            parts = [_interaction(told, of) for of in by_effect.values()]
            start = f"Effects depend on each other in {_named(told, told.factors[0])}: "
            return [fitted(_listed(start, parts))]
    return []


def _listed(start: str, parts: Sequence[str], between: str = ", ") -> list[Part]:
    """Return the parts of a sentence that lists items. The last items are left out if the sentence is too
    long."""
    first, *more = parts
    return [Part(f"{start}{first}"), *(Part(f"{between}{part}", rank) for rank, part in enumerate(more, 1))]


def _interaction(told: Told, rows: Sequence[Row]) -> str:
    largest = max(rows, key=lambda row: row.explained.value if row.explained else 0.0)
    name = INTERACTION.join(told.names[path] for path in largest.factors)
    at = f" at {len(rows)} of {len(told.factors)} points" if len(told.factors) > 1 else ""
    return f"{name}{_in_brackets(_effect(largest.explained))}{at}"


def _elsewhere(left: Sequence[Told]) -> list[str]:
    """A sentence on all other tests: for each factor, the number of tests with each status."""
    if not left:
        return []
    by_name: dict[str, list[Told]] = {}
    for told in left:
        by_name.setdefault(told.subject, []).append(told)
    parts: list[str] = []
    for name, of in by_name.items():
        counts = {PREDICATES[status]: n for status in STATUSES if (n := _count(of, status))}
        words = [f"{predicate} in {n:,}" for predicate, n in counts.items()]
        if not parts:
            words[0] += " tests" if next(iter(counts.values())) > 1 else " test"
        parts.append(f"{name} {' and '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}")
    return [fitted(_listed("Elsewhere ", parts, "; "))]


def _count(of: Sequence[Told], status: Status) -> int:
    """The number of points of all subjects with a status."""
    return sum(len(told.having(status)) for told in of)
