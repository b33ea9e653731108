"""The conclusion of comparisons: one to five sentences with magnitudes, units, intervals and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.headlines import RANKED, leading
from fullpipe.analysis.regions import region
from fullpipe.analysis.shown import number_shown, point_shown, unit_shown
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.comparison import Comparison
from fullpipe.validation.compare.finding import Finding

MOST = 5
"""Sentences of a conclusion."""
_FIRST = ("worse", "better", "lower", "higher", "undecided", "equivalent")
"""Order in which verdicts are named."""
_LONGEST_REGION = 70
"""Characters of a part of a sweep in words; a longer one is left to the table."""
_FAIRNESS = "jain"
_MOST_NAMED = 4
_MOST_DIGITS = 2

Subject = tuple[str, int | str, str]
"""Kind, entry or name, and metric: the same at every point."""


@dataclass(frozen=True)
class _Sides:
    """The comparisons of one side with the reference, one per point."""

    made: Sequence[Comparison]
    other: str

    @property
    def changed(self) -> frozenset[int]:
        """Entries of `flows` that the other side sets in another way."""
        return frozenset[int]().union(*(one.changed for one in self.made))

    @property
    def bulk(self) -> frozenset[int]:
        """Entries of `flows` that are bulk flows."""
        return frozenset[int]().union(*(one.bulk for one in self.made))

    @property
    def findings(self) -> list[Finding]:
        """The findings at all points."""
        return [each for one in self.made for each in one.findings if each.sides[1] == self.other]

    @property
    def named(self) -> str:
        """Both sides in words."""
        found = self.findings[0]
        is_replaced = found.rule == "paired" and not self.made[0].is_of_versions
        return f"{self.other} {'instead of' if is_replaced else 'against'} {found.sides[0]}"


def conclusion(made: Sequence[Comparison], asked: Sequence[str] = ()) -> list[str]:
    """Say what the comparisons of a command found, the changed flows first, then those beside them.

    Args:
        made: Comparisons with one reference, of any number of sides and points.
        asked: Metrics that were asked for; left out, those that lead for every group of flows or link.

    Returns:
        One to five sentences. Nothing if nothing was compared.
    """
    others = dict.fromkeys(name for one in made for name in one.others)
    every = [sides for name in others if (sides := _Sides(_with(made, name), name)).findings]
    if len(every) == 1:
        return _of_one(every[0], asked)
    room = max(1, MOST // max(len(every), 1))
    told = [sentence for sides in every[:MOST] for sentence in _of_several(sides, asked, room)]
    if len(every) > MOST:
        told[-1] = f"{len(every) - MOST + 1} more variants are in the table."
    return told


def _with(made: Iterable[Comparison], other: str) -> list[Comparison]:
    return [one for one in made if other in one.others]


def _of_one(sides: _Sides, asked: Sequence[str]) -> list[str]:
    """The sentences on a single other side, with those that are decided besides."""
    by_subject = _by_subject(sides.findings)
    chosen = _chosen(sides, by_subject, asked)
    shown = chosen[:MOST] if len(by_subject) <= MOST else chosen[: MOST - 1]
    told = _begun(sides, [_sentence(by_subject[subject]) for subject in shown])
    rest = [of for subject, of in by_subject.items() if subject not in shown]
    return [*told, *_besides(rest)]


def _of_several(sides: _Sides, asked: Sequence[str], room: int) -> list[str]:
    """The sentences on one of several other sides."""
    by_subject = _by_subject(sides.findings)
    first, *others = _chosen(sides, by_subject, asked)
    by_group = sorted(by_subject, key=lambda subject: _order(subject[:2], sides.changed))
    more = [subject for subject in [*others, *by_group] if _claims(by_subject[subject])]
    shown = list(dict.fromkeys([first, *more, *others]))[:room]
    return _begun(sides, [_sentence(by_subject[subject]) for subject in shown])


def _begun(sides: _Sides, told: Sequence[str]) -> list[str]:
    """Sentences, the first of which names the sides."""
    first, *others = told
    return [f"{sides.named}: {first}", *(f"{each[0].upper()}{each[1:]}" for each in others)]


def _by_subject(findings: Iterable[Finding]) -> dict[Subject, list[Finding]]:
    found: dict[Subject, list[Finding]] = {}
    for each in findings:
        found.setdefault(_subject(each), []).append(each)
    return found


def _subject(found: Finding) -> Subject:
    return found.kind, found.of if found.entry is None else found.entry, found.metric


def _chosen(
    sides: _Sides, by_subject: Mapping[Subject, Sequence[Finding]], asked: Sequence[str]
) -> list[Subject]:
    """The subjects that the conclusion is of, the most important first.

    Of metrics that were asked for, every group; else of every group the metric that leads, of changed flows
    the one that follows it, too, then fairness, then links.
    """
    known = list(by_subject)
    groups = sorted(dict.fromkeys(key[:2] for key in known), key=lambda group: _order(group, sides.changed))
    if asked:
        return [(*group, metric) for group in groups for metric in asked if (*group, metric) in by_subject]
    chosen: list[Subject] = []
    for kind, of in groups:
        metrics = [metric for *group, metric in known if tuple(group) == (kind, of)]
        leads = leading(metrics, is_bulk=kind == "flows" and (of in sides.bulk or of in TOTALS)) or metrics
        if of in TOTALS:
            leads = [_FAIRNESS] if _FAIRNESS in metrics else [] if len(groups) > 1 else leads
        chosen += [(kind, of, metric) for metric in leads[: 2 if of in sides.changed else 1]]
    if not sides.changed:  # nothing is asked of one group: what differs comes first
        chosen.sort(key=lambda subject: not _claims(by_subject[subject]))
    return chosen or known


def _claims(found: Iterable[Finding]) -> list[Finding]:
    """Findings that claim a difference."""
    return [each for each in found if each.verdict not in ("equivalent", "undecided")]


def _order(group: tuple[str, int | str], changed: frozenset[int]) -> tuple[int, int]:
    """Changed flows, then those beside them, all flows, and links."""
    kind, of = group
    if isinstance(of, int):
        return (0 if of in changed else 1), of
    return (2, 0) if kind == "flows" else (3, 0)


def _sentence(found: Sequence[Finding]) -> str:
    return one(found[0]) if len(found) == 1 else _over_points(found)


def one(found: Finding) -> str:
    """A finding in a sentence: group, metric, direction, size with interval, value with unit, verdict."""
    name, values = name_of(found), _from_to(found)
    if found.rule == "lacking":
        return f"{name} is {found.verdict}: {found.reason}."
    if found.verdict == "equivalent":
        return (
            f"{name} is equivalent: {values}, {difference_in_words(found)}, within {margin_in_words(found)}."
        )
    if found.verdict == "undecided":
        return f"{name} is undecided: {values}, {difference_in_words(found)}; {_why_open(found)}."
    return f"{name} is {found.verdict}: it {moves(found)}."


def margin_in_words(found: Finding) -> str:
    """The margin in words."""
    amount = _value(found.margin.absolute, found) if found.margin.absolute else ""
    share = f"{100 * found.margin.relative:g} %" if found.margin.relative else ""
    return f"the margin of {' or '.join(filter(None, (share, amount))) or '0'}"


def _why_open(found: Finding) -> str:
    """The reason why nothing is decided, and the seeds that would decide."""
    seeds = f"about {found.seeds:,} seeds would decide" if found.seeds else found.reason
    p, corrected = found.p_raw, found.p_corrected
    if p is not None and corrected is not None and p < 0.05 <= corrected:
        return f"p = {p:.2g} is {corrected:.2g} after Holm's correction, {seeds}"
    return seeds


def name_of(found: Finding) -> str:
    """Metric and group in words."""
    label = BY_NAME[found.metric].label or found.metric
    return f"{label} {'at' if found.kind == 'link' else 'of'} {found.of}"


def moves(found: Finding) -> str:
    """Direction, size with interval, and the value reached."""
    verb = "rises" if found.difference > 0 else "falls"
    size = _size(found)
    if _is_share(found):
        return f"{verb} by {size} to {_value(found.other, found)}"
    return f"{verb} from {_number(found.reference, found)} to {_value(found.other, found)}, by {size}"


def _is_share(found: Finding) -> bool:
    """Whether differences are given in per cent: of rates and times, and not of shares, scores or counts."""
    return found.unit in ("bit/s", "s", "bit/s²") and bool(found.reference) and bool(found.margin.relative)


def _ends(found: Finding) -> tuple[float, float] | None:
    """The ends of the interval within the bounds of the metric."""
    if found.interval is None:
        return None
    within = found.interval.clipped(*bounds_of_difference(found.metric, found.reference))
    return within.low, within.high


def _size(found: Finding) -> str:
    """The size of a difference without its sign, with its interval in the same direction."""
    sign = 1 if found.difference > 0 else -1
    return _with_interval([sign * found.difference, *sorted(sign * end for end in _ends(found) or ())], found)


def difference_in_words(found: Finding) -> str:
    """A difference with sign, unit and interval."""
    return f"a difference of {_with_interval([found.difference, *(_ends(found) or ())], found, '+')}"


def _with_interval(values: Sequence[float], found: Finding, sign: str = "") -> str:
    """A difference and the ends of its interval, with decimals enough to tell the ends apart."""
    texts = [_scaled(value, found, sign) for value in values]
    for digits in range(_MOST_DIGITS + 1) if _is_share(found) and len(values) > 1 else ():
        told = [_scaled(value, found, sign, digits) for value in values]
        if texts[1] == texts[2] and told[1] != told[2]:
            texts = told
    unit = " %" if _is_share(found) else f" {unit_shown(found.unit)}".rstrip()
    interval = f" [{', '.join(texts[1:])}]" if len(texts) > 1 else ""
    return f"{texts[0]}{unit}{interval}"


def _scaled(value: float, found: Finding, sign: str = "", digits: int | None = None) -> str:
    if _is_share(found):
        percent = 100 * value / abs(found.reference)
        places = (0 if abs(percent) >= 10 else 1) if digits is None else digits
        return f"{percent:{sign},.{places}f}"
    text = number_shown(value, found.unit, found.metric)
    return f"+{text}" if sign and value > 0 else text


def _number(value: float, found: Finding) -> str:
    return number_shown(value, found.unit, found.metric)


def _value(value: float, found: Finding) -> str:
    return f"{_number(value, found)} {unit_shown(found.unit)}".rstrip()


def _from_to(found: Finding) -> str:
    """Both means with their unit."""
    if found.rule == "lacking":
        return _value(found.reference, found)
    return f"{_number(found.reference, found)} and {_value(found.other, found)}"


def _over_points(found: Sequence[Finding]) -> str:
    """Verdicts on one subject at several points: where along the axes, and how much."""
    total = len(found)
    verdicts = _by_verdict(found)
    paths = list(dict.fromkeys(path for each in found for path in each.point))
    labels = Labels()
    points, words = [each.point for each in found], labels.names(paths)
    parts = []
    for verdict, places in verdicts.items():
        at = f"at all {total} points" if len(places) == total else f"at {len(places)} of {total} points"
        where = (
            region(points, places, words, labels.value) if len(places) < total and _are_alike(points) else ""
        )
        at += f" ({where})" if where and len(where) <= _LONGEST_REGION else ""
        parts.append(f"{verdict} {at}{_sizes([found[place] for place in places])}")
    if "undecided" in verdicts and not _claims(found):
        parts.append(_nearest([found[place] for place in verdicts["undecided"]]))
    return f"{name_of(found[0])} is {'; '.join(parts)}."


def _nearest(found: Sequence[Finding]) -> str:
    """The undecided finding with the smallest p: its point, difference and reason."""
    first = min(found, key=lambda each: 2.0 if each.p_raw is None else each.p_raw)
    return f"at {', '.join(_place(first))} {difference_in_words(first)}, {_why_open(first)}"


def _are_alike(points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all points have the same paths."""
    return len({tuple(point) for point in points}) == 1 and bool(points[0])


def _by_verdict(found: Sequence[Finding]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        places.setdefault(each.verdict, []).append(place)
    return {verdict: places[verdict] for verdict in _FIRST if verdict in places}


def _sizes(found: Sequence[Finding]) -> str:
    """The largest of several differences with its interval and point; nothing where none is claimed."""
    if found[0].verdict in ("equivalent", "undecided") or found[0].rule == "lacking":
        return ""
    most = max(found, key=_change)
    return (
        f", most at {', '.join(_place(most))}: it {moves(most)}" if len(found) > 1 else f": it {moves(most)}"
    )


def _place(found: Finding) -> list[str]:
    return [word for word in (found.case, *point_shown(found.point)) if word]


def _change(found: Finding) -> float:
    """The size of a difference, as a share of the reference if it has one."""
    return abs(found.difference / found.reference) if found.reference else abs(found.difference)


def _besides(rest: Sequence[Sequence[Finding]]) -> list[str]:
    """A sentence on all other subjects: those that differ by name, the rest by number."""
    if not rest:
        return []
    parts: list[str] = []
    for verdict in _FIRST[:4]:
        names = [name_of(of[0]) for of in rest if any(each.verdict == verdict for each in of)]
        more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
        parts += [f"{verdict}: {', '.join([*names[:_MOST_NAMED], *more])}"] if names else []
    left = [of for of in rest if not _claims(of)]
    open_ = sum(any(each.verdict == "undecided" for each in of) for of in left)
    points = " at some points" if any(len(of) > 1 for of in rest) else ""
    also = [f"Also{points} {'; '.join(parts)}"] if parts else []
    told = "; ".join([*also, *_others(len(left) - open_, open_)])
    return [f"{told[0].upper()}{told[1:]}."]


def _others(alike: int, open_: int) -> list[str]:
    """The numbers of other metrics that are equivalent and undecided."""
    if not alike + open_:
        return []
    if not open_ or not alike:
        word = "undecided" if open_ else "equivalent"
        count = alike + open_
        return [f"the other metric is {word}" if count == 1 else f"all {count:,} other metrics are {word}"]
    verb = "is" if alike == 1 else "are"
    return [f"of {alike + open_:,} other metrics, {alike:,} {verb} equivalent and {open_:,} undecided"]


def placed(found: Finding) -> str:
    """A finding in a sentence that begins with its case and point."""
    place = ", ".join(_place(found))
    return f"{place}: {one(found)}" if place else f"{one(found)[0].upper()}{one(found)[1:]}"


def weight(found: Finding) -> tuple[int, int, float]:
    """Sorting key of findings in a short table: by verdict, then by the rank of their metric, then by size.

    What a gate calls regressed comes first, then differences, then what is undecided.
    """
    standing = next(
        place
        for place, holds in enumerate(
            (found.decision == "regressed", _claims([found]), found.verdict == "undecided", True)
        )
        if holds
    )
    rank = RANKED.index(found.metric) if found.metric in RANKED else len(RANKED)
    return standing, rank, -_change(found)
