"""Sentences on comparisons: names of sides and points, notes, and sentences on single findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from math import isnan
from typing import Any, NamedTuple

from fullpipe.analysis.limits import bounds_of_difference
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.points import as_definition, with_flows
from fullpipe.analysis.shown import (
    LARGER_PART,
    LONGEST,
    begun,
    difference_shown,
    difference_unit_shown,
    listed,
    margin_shown,
    metric_shown,
    number_shown,
    p_in_words,
    p_shown,
    point_shown,
    unit_shown,
    words_in,
)
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.comparison import C, Comparison
from fullpipe.validation.compare.finding import Finding, Note, family_size, is_open_by_correction
from fullpipe.validation.compare.side import BETWEEN, joint

# Names of sides, points and values in sentences and tables: the users' labels, or names from the scenario.


_BARE = re.compile(r"[-+]?[0-9][-+0-9.,e]*( \S+)?|on|off|default")


def _is_bare(text: str) -> bool:
    """Whether a value needs the name of its path to be understood."""
    return _BARE.fullmatch(text) is not None


class Names:
    """The displayed names. Keys and values of JSON stay as in scenarios.

    Args:
        labels: Words for paths and values.
        settings: Values that each side sets, by path.

    >>> names = Names(settings={"1": {"flows.0.count": 1}, "4": {"flows.0.count": 4}})
    >>> names.side("4"), names.value("4"), names.instead("4", "1")
    ('number of flows 4', '4', 'number of flows 4 instead of 1')
    """

    def __init__(
        self, labels: Labels | None = None, settings: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.labels = labels or Labels()
        self._settings = settings or {}

    def in_print(self) -> Names:
        """Return the names of figures: see `Labels.in_print`."""
        return Names(self.labels.in_print(), self._settings)

    def group(self, of: str) -> str:
        """Return the label of a group of flows; both labels if the sides name the group differently."""
        return of if of in TOTALS else joint({each: self.labels.group(each) for each in of.split(BETWEEN)})

    def shown(self, made: Sequence[C]) -> list[C]:
        """Return the comparisons with the name of each group of flows replaced by its label."""
        if not self.labels.words:
            return [*made]
        return [
            one.only([self.finding(each) for each in one.findings]).noted([self.note(n) for n in one.notes])
            for one in made
        ]

    def finding(self, found: Finding) -> Finding:
        """Return the finding with the label of its group of flows."""
        if found.kind != "flows":
            return found
        labels = found.labels if any(found.labels) else (found.of, found.of)
        return replace(found, subject=replace(found.subject, of=self.group(found.of)), labels=labels)

    def note(self, note: str) -> Note:
        """Return the note with the labels of its groups of flows."""
        found = note if isinstance(note, Note) else Note(note)
        return found.with_groups([self.group(of) for of in found.groups])

    def side(self, name: str) -> str:
        """The values that a side sets, in words; without settings, the name of the side.

        A number, "on", "off" and "default" follow the name of their path.
        """
        settings = self._settings.get(name, {})
        paths = self.labels.names([*settings])
        told = (
            self.labels.at(path, value, paths[path]) if _is_bare(text) else text
            for path, value in settings.items()
            for text in [self.labels.value(path, value)]
        )
        return " with ".join(told) or name

    def value(self, name: str) -> str:
        """The values of a side without the names of their paths."""
        values = (self.labels.value(*each) for each in self._settings.get(name, {}).items())
        return " with ".join(values) or name

    def instead(self, other: str, reference: str) -> str:
        """Both sides, joined by "instead of"; leading words that both sides share appear once."""
        return f"{self.side(other)} instead of {self.apart(reference, other)}"

    def against(self, other: str, reference: str) -> str:
        """Both sides, joined by "against"."""
        return f"{self.side(other)} against {self.apart(reference, other)}"

    def apart(self, name: str, other: str) -> str:
        """The words of a side, without the leading words that both sides share, such as the name of a path.
        If no word remains, all words are kept."""
        words, others = self.side(name).split(" "), self.side(other).split(" ")
        shared = 0
        while shared < min(len(words), len(others)) and words[shared] == others[shared]:
            shared += 1
        return " ".join(words[shared:] or words)

    def point(self, found: Finding) -> str:
        """The point of a finding."""
        return ", ".join(point_shown(found.point, self.labels))

    def place(self, found: Finding, *, with_side: bool = False, with_group: bool = True) -> str:
        """Side, case, point and group of a finding, if requested and present."""
        side = self.side(found.sides[1]) if with_side else ""
        group = with_flows(found.subject.flows, found.flows or (), "") if with_group else ""
        return ", ".join(filter(None, [side, found.case, self.point(found), group]))


def names_of(made: Sequence[Comparison], given: Mapping[str, str] | None = None) -> Names:
    """The names of comparisons with one reference.

    Args:
        made: The comparisons. Labels come from the scenarios of the comparisons, in all cases and at all
            points.
        given: Further labels, which take precedence over those of the scenarios.
    """
    ran = {id(one): one for each in made for one in each.ran}.values()
    scenarios = {one.key: one.scenario for one in ran}.values()
    trees: Iterable[Mapping[str, Any]] = (
        each if isinstance(each, Mapping) else each.to_dict() for each in scenarios
    )
    settings = {side: values for each in made for side, values in each.settings.items()}
    return Names(Labels(given, trees), settings)


# Notes of many comparisons, merged into one line for each metric.


_MOST_SIDES = 4
"""Maximum number of sides that a line names."""


def merged(notes: Iterable[str], names: Names, *, whole: bool = False, in_words: bool = False) -> list[str]:
    """Return notes as lines: one line per metric that some runs lack, and a line for every other note,
    without repetitions.

    With `whole`, notes on one metric are not merged. With `in_words`, lines have labels of metrics.
    """
    lines: dict[str, list[Note]] = {}
    for each in dict.fromkeys(notes):
        note = names.note(each)
        lines.setdefault(note.metric if note.lacking and not whole else f"note {note}", []).append(note)
    return [_line(of_metric, names, in_words=in_words) for of_metric in lines.values()]


def _line(notes: Sequence[Note], names: Names, *, in_words: bool) -> str:
    """Return several notes on one metric as one line, or the text of a single note."""
    metric = notes[0].metric
    label = metric_shown(metric) if in_words and metric else metric
    if len(notes) > 1:
        return _left_out(label, notes, names)
    text = as_definition(str(notes[0]))
    return text.replace(f"{metric} of ", f"{label} of ", 1) if metric else text


def _left_out(label: str, notes: Sequence[Note], names: Names) -> str:
    """Return a line with the number of runs that have a metric, for each side where some runs lack the
    metric."""
    found: dict[str, set[int]] = {}
    for note in notes:
        for side, (having, _) in note.lacking.items():
            found.setdefault(side, set()).add(having)
    runs = max(total for note in notes for _, total in note.lacking.values())
    counts: list[str] = []
    for side, of_side in list(found.items())[:_MOST_SIDES]:
        all_runs = "" if counts else f" of {runs} runs"
        counts.append(f"{_range(of_side)}{all_runs}{f' of {names.side(side)}' if side else ''}")
    left = len(found) - _MOST_SIDES
    more = [f"{left} more side{'s' if left > 1 else ''}"] if left > 0 else []
    return f"{label} is left out where only {listed([*counts, *more])} have it"


def _range(counts: Iterable[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


# Sentences on one finding: metric and group, direction, size, interval, unit, margin and reason.


_MOST_DIGITS = 2


class Part(NamedTuple):
    """A part of a sentence, and its rank. Parts of the highest rank are left out first; parts of rank 0 are
    never left out."""

    text: str
    rank: int = 0


def fitted(parts: Iterable[Part], longest: int = LONGEST) -> str:
    """A sentence with the parts that fit into `longest` words."""
    kept = list(parts)
    while words_in("".join(part.text for part in kept)) > longest and any(part.rank for part in kept):
        kept.remove(max(kept, key=lambda part: part.rank))
    return f"{''.join(part.text for part in kept)}."


def one(found: Finding, family: Sequence[Finding] = ()) -> str:
    """A sentence on a finding: group, metric, direction, size with interval, value with unit, verdict.

    `family` has the findings whose tests are corrected together.
    """
    return fitted(one_point(found, family))


def one_point(found: Finding, family: Sequence[Finding]) -> Iterator[Part]:
    """The parts of a sentence on a finding."""
    name, values = name_of(found), _from_to(found)
    yield Part(f"{name} {predicate(found.outcome)}: ")
    if found.is_by_runs:
        yield Part(found.reason)
    elif found.outcome == "undecided":
        yield Part(f"{values}, a difference of {signed(found)}; ")
        yield from why_open(found, family)
    elif found.verdict in ("equivalent", "undecided"):
        yield Part(f"{values}, a difference of {signed(found)}")
        yield Part(f", within {margin_in_words(found)}" if found.verdict == "equivalent" else "")
    else:
        yield Part(f"it {moves(found)}")


def predicate(outcome: str) -> str:
    """The outcome with its verb."""
    return outcome if outcome == "regressed" else f"is {outcome}"


def margin_in_words(found: Finding) -> str:
    """The margin in words."""
    return f"the margin of {_margin(found)}"


def _margin(found: Finding) -> str:
    """The margin with its unit, and the rule for a margin of two parts."""
    told = margin_shown(found.margin, found.unit, found.metric, has_unit=True)
    return f"{told}, {LARGER_PART}" if found.margin.has_two_parts else told


def range_in_words(found: Sequence[Finding], *, has_margin: bool = True) -> str:
    """The range of differences at several points, and the margin."""
    amounts, is_share = _amounts(found), all(each.is_relative for each in found)
    least, most = min(amounts), max(amounts)
    ends = [_percent(end, "+") if is_share else _amount(end, found[0], "+") for end in (least, most)]
    unit = "%" if is_share else difference_unit_shown(found[0].unit, found[0].metric)
    told = f"all differences {ends[0]}" if ends[0] == ends[1] else f"differences {' to '.join(ends)}"
    mark = DOUBTED if any(each.doubts for each in found) else ""
    return f"{told} {unit}".rstrip() + mark + (f", margin {_margin(found[0])}" if has_margin else "")


def largest(found: Sequence[Finding]) -> Finding:
    """The finding with the largest difference as sentences show it: in per cent or in the unit of the
    metric."""
    sizes = [abs(amount) for amount in _amounts(found)]
    return found[sizes.index(max(sizes))]


def _amounts(found: Sequence[Finding]) -> list[float]:
    """Differences as shares of the reference if sentences show all of them in per cent, else in the unit of
    the metric."""
    is_share = all(each.is_relative for each in found)
    return [each.difference / abs(each.reference) if is_share else each.difference for each in found]


def why_open(found: Finding, family: Sequence[Finding], others: Sequence[Finding] = ()) -> Iterator[Part]:
    """The reason why a finding is undecided: Holm's correction, too few seeds, or runs that are too short.

    The number of seeds is that of the finding and of `others`, undecided findings at other points.
    """
    needed = needed_in_words([found, *others])
    if not is_open_by_correction(found):
        yield Part(needed or found.reason)
        return
    yield Part(f"{p_in_words(found.p_raw)}, but {p_shown(found.p_corrected)} after Holm's correction")
    tests = family_size(family)
    yield Part(f" for {tests:,} tests" if tests > 1 else "", 5 if others else 0)
    yield Part(f"; {needed}" if needed else "", 3)


def needed_in_words(found: Sequence[Finding]) -> str:
    """The seeds that would decide findings on one subject at several points; where means are doubtful,
    longer runs. Empty if nothing is known."""
    doubtful = sum(bool(each.doubts) for each in found)
    seeds = sorted(each.seeds for each in found if each.seeds and not each.doubts)
    if len(found) == 1:
        return "longer runs are needed" if doubtful else seeds_in_words(found[0].seeds)
    told = []
    if seeds:
        least = f"{seeds[0]:,} to " if seeds[0] != seeds[-1] else ""
        those = f"all {len(found)}" if len(seeds) == len(found) else f"{len(seeds)} of them"
        told.append(f"{least}{seeds[-1]:,} seeds in total would decide {those}")
    if doubtful:
        rest = "the rest" if len(seeds) + doubtful == len(found) else f"{doubtful} more"
        told.append(f"longer runs {rest}" if seeds else f"longer runs are needed at {doubtful}")
        told[-1] += DOUBTED
    return ", ".join(told)


def seeds_in_words(seeds: int | None) -> str:
    """The number of seeds that would decide in words; empty if it is not known.

    >>> seeds_in_words(9)
    'about 9 seeds in total would decide'
    """
    return f"about {seeds:,} seeds in total would decide" if seeds else ""


def name_of(found: Finding) -> str:
    """Metric and group in words."""
    return f"{metric_shown(found.metric)} {'at' if found.kind == 'link' else 'of'} {found.group}"


def moves(found: Finding) -> str:
    """Direction, size with interval, and the value reached."""
    verb = "rises" if found.difference > 0 else "falls"
    size = _size(found)
    mark = DOUBTED if found.doubts else ""
    ends = number(found.reference, found), number(found.other, found)
    if found.is_relative or not _adds_up(*ends, size.split()[0]):
        return f"{verb} by {size} to {value(found.other, found)}{mark}"
    return f"{verb} from {ends[0]} to {value(found.other, found)}{mark}, by {size}"


def _adds_up(before: str, after: str, size: str) -> bool:
    """Whether a difference is that of two rounded values as shown."""
    try:
        one, other, apart = (Decimal(text.replace(",", "")) for text in (before, after, size))
    except InvalidOperation:
        return False
    return abs(other - one) == apart


def ends(found: Finding) -> tuple[float, float] | None:
    """The ends of the interval within the bounds of the metric: see `Finding.interval_shown`."""
    within = found.interval_shown
    if within is None:
        return None
    return within.low, within.high


_ROUNDING = 1e-9
"""Share of the reference by which rounding may move an end of an interval."""
TRUNCATED = "truncated at the metric's bounds"
"""Words on intervals of `is_truncated`."""


def is_truncated(found: Finding) -> bool:
    """Whether the interval is shown with an end at a bound of the metric, such as 0."""
    whole = abs(found.reference) if found.is_relative else 1.0
    interval = found.relative if found.is_relative else found.interval
    if interval is None:
        return False
    low, high = bounds_of_difference(found.metric, found.reference)
    slack = _ROUNDING * abs(found.reference)
    return whole * interval.low < low - slack or whole * interval.high > high + slack


def _size(found: Finding) -> str:
    """The size of a difference without its sign, with its interval in the same direction."""
    sign = 1 if found.difference > 0 else -1
    return _with_interval([sign * found.difference, *sorted(sign * end for end in ends(found) or ())], found)


def signed(found: Finding) -> str:
    """A difference with sign, unit and interval."""
    told = _with_interval([found.difference, *(ends(found) or ())], found, "+")
    return f"{told}{DOUBTED if found.doubts else ''}"


def _with_interval(values: Sequence[float], found: Finding, sign: str = "") -> str:
    """A difference and the ends of its interval, with enough decimals to tell the ends apart."""
    texts = [_scaled(value, found, sign) for value in values]
    for digits in range(_MOST_DIGITS + 1) if found.is_relative and len(values) > 1 else ():
        told = [_scaled(value, found, sign, digits) for value in values]
        if texts[1] == texts[2] and told[1] != told[2]:
            texts = told
    unit = "%" if found.is_relative else difference_unit_shown(found.unit, found.metric)
    interval = f" [{', '.join(texts[1:])}]" if len(texts) > 1 else ""
    return f"{f'{texts[0]} {unit}'.rstrip()}{interval}"


def _scaled(value: float, found: Finding, sign: str = "", digits: int | None = None) -> str:
    if found.is_relative:
        return _percent(value / abs(found.reference), sign, digits)
    return _amount(value, found, sign)


def _percent(share: float, sign: str = "", digits: int | None = None) -> str:
    """A share in per cent, with one decimal below 10 %; 0 has no sign."""
    percent = 100 * share
    places = (0 if abs(percent) >= 10 else 1) if digits is None else digits
    text = f"{percent:{sign},.{places}f}"
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")


def _amount(value: float, found: Finding, sign: str = "") -> str:
    text = number_shown(value, found.unit, found.metric)
    return f"+{text}" if sign and value > 0 else text


def number(value: float, found: Finding) -> str:
    return number_shown(value, found.unit, found.metric)


def value(value: float, found: Finding) -> str:
    return f"{number(value, found)} {unit_shown(found.unit, found.metric)}".rstrip()


def _from_to(found: Finding) -> str:
    """Both means with their unit; means of engines also with the names of the engines."""
    if found.is_by_runs:
        return value(found.reference, found)
    if found.rule == "independent":
        first, last = found.sides
        return f"{number(found.reference, found)} ({first}) and {value(found.other, found)} ({last})"
    return f"{number(found.reference, found)} and {value(found.other, found)}"


def verdict_of(found: Finding) -> str:
    """Return the outcome with the number of seeds that would decide, or with the reason if single runs
    decide. A doubtful outcome is followed by `DOUBTED`; if it is undecided, it needs longer runs."""
    outcome = f"{found.outcome}{DOUBTED if found.doubts else ''}"
    if found.doubts and found.seeds:
        return f"{outcome} (longer runs)"
    return f"{outcome}: {found.reason}" if found.is_by_runs else with_seeds(outcome, found.seeds)


DOUBTED = "\N{DAGGER}"
"""Mark of an outcome whose means are doubtful."""


def doubts_in_words(findings: Iterable[Finding]) -> list[str]:
    """A line on the mark of doubtful outcomes, if there are any."""
    reasons = dict.fromkeys(doubt for each in findings for doubt in each.doubts)
    return [f"{DOUBTED} {', or '.join(reasons)}: see the warnings"] if reasons else []


def with_seeds(verdict: str, seeds: int | None) -> str:
    """A verdict with the number of seeds that would decide, if it is known.

    >>> with_seeds("undecided", 12), with_seeds("better", None)
    ('undecided (about 12 seeds)', 'better')
    """
    return f"{verdict} (about {seeds:,} seeds)" if seeds else verdict


def difference_of(found: Finding, *, has_unit: bool = False) -> str:
    """The difference with its interval, for a table; a dash if it is not known."""
    if isnan(found.difference):
        return "-"
    of = found.reference, found.unit, found.metric, found.margin, found.relative
    return difference_shown(found.difference, found.interval, *of, has_unit=has_unit)


def placed(found: Finding, names: Names | None = None) -> str:
    """A sentence on a finding that begins with its case and point."""
    place, told = (names or Names()).place(found, with_group=False), one(found)
    return f"{place}: {told}" if place else begun(told)
