"""The conclusion of comparisons: one to five sentences with magnitudes, units, intervals and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.table import leading
from fullpipe.analysis.regions import region
from fullpipe.analysis.shown import begun, listed
from fullpipe.validation.compare.comparison import Comparison, Entries
from fullpipe.validation.compare.fair_share import besides
from fullpipe.validation.compare.finding import DIFFERENT, MOST_LEADS, Finding, claims, weight
from fullpipe.validation.compare.sentence import (
    Names,
    Part,
    fitted,
    largest,
    moves,
    name_of,
    names_of,
    one_point,
    predicate,
    range_in_words,
    signed,
    why_open,
)

MOST = 5
"""Maximum number of sentences of a conclusion."""
_FIRST = (*DIFFERENT, "undecided", "equivalent", "not worse")
"""Order in which sentences name verdicts and decisions."""
_ALIKE = ("equivalent", "not worse")
"""Verdicts and decisions that may hide differences within the margin."""
_LONGEST_REGION = 70
"""Maximum number of characters of the words for a part of a sweep; a longer text is only in the table."""
_LONGEST_ALONG = 160
"""Maximum number of characters of the words for a part of a sweep in a sentence of its own."""
_FAIRNESS = "jain"

Subject = tuple[str, str, int | str, str]
"""Case; kind; entry or name; and metric of findings. All are equal at every point of a sweep."""
Group = tuple[str, str, int | str]
"""Case, kind, and entry or name."""


@dataclass(frozen=True)
class _Sides:
    """The comparisons of one side with the reference, one per point."""

    made: Sequence[Comparison]
    other: str
    names: Names
    family: Sequence[Finding]
    """Findings whose tests are corrected together."""

    @cached_property
    def changed(self) -> frozenset[Group]:
        """Entries of `flows` that the other side sets differently, by case."""
        return _in_cases(self.made, lambda found: found.changed)

    @cached_property
    def bulk(self) -> frozenset[Group]:
        """Entries of `flows` that are bulk flows, by case."""
        return _in_cases(self.made, lambda found: found.bulk)

    def is_loss(self, found: Finding) -> bool:
        """Whether an unchanged group of flows is worse beside the changed group."""
        group = found.case, found.kind, found.subject.cell[1]
        is_beside = found.entry is not None and bool(self.changed) and group not in self.changed
        return is_beside and found.outcome in ("regressed", "worse")

    @property
    def findings(self) -> list[Finding]:
        """The findings at all points."""
        return [each for one in self.made for each in one.findings if each.sides[1] == self.other]

    @property
    def named(self) -> str:
        """Both sides in words."""
        found = self.findings[0]
        is_replaced = found.rule == "paired" and not self.made[0].is_of_versions
        told = self.names.instead if is_replaced else self.names.against
        return told(self.other, found.sides[0])


def conclusion(
    made: Sequence[Comparison],
    asked: Sequence[str] = (),
    *,
    names: Names | None = None,
    family: Sequence[Finding] | None = None,
    most: int = MOST,
) -> list[str]:
    """Summarise the comparisons of a command: the changed flows first, then the unchanged flows.

    Args:
        made: Comparisons with one reference, of any number of sides and points.
        asked: Requested metrics; default: the leading metric of every group of flows or link.
        names: Names of sides and points; default: the names in the comparisons.
        family: Findings whose tests are corrected together; default: the findings of the comparisons.
        most: Maximum number of sentences, at least 4.

    Returns:
        One to `most` sentences. Each has about 35 words at most, without intervals and names of sides.
        The list is empty if nothing was compared.
    """
    names = names or names_of(made)
    made = names.shown(made)
    family = [each for one in made for each in one.findings] if family is None else family
    others = dict.fromkeys(name for one in made for name in one.others)
    sides_of = (_Sides(_with(made, name), name, names, family) for name in others)
    every = [sides for sides in sides_of if sides.findings]
    if len(every) == 1:
        return _of_one(every[0], asked, most)
    shown = every if len(every) <= most else every[: most - 1]
    several = [_of_several(sides, asked, most // len(every) or 1) for sides in shown]
    told = [sentence for of_sides, _ in several for sentence in of_sides]
    left = [(sides, found) for sides, (_, of_sides) in zip(shown, several, strict=True) for found in of_sides]
    if len(every) > len(shown):
        more = f"{len(every) - len(shown)} more variants"
        return [*told, f"{more}{' and the other groups' if left else ''} are in the table."]
    return [*told, *_of_neighbours(left, most - len(told))]


def _in_cases(made: Iterable[Comparison], chosen: Callable[[Entries], Collection[int]]) -> frozenset[Group]:
    """Chosen entries of `flows` in every case of each comparison."""
    return frozenset(
        (case, "flows", entry)
        for one in made
        for case in {each.case for each in one.findings}
        for entry in chosen(one.entries(case))
    )


def _with(made: Iterable[Comparison], other: str) -> list[Comparison]:
    return [one for one in made if other in one.others]


def _of_one(sides: _Sides, asked: Sequence[str], most: int) -> list[str]:
    """Return the sentences on the only side that is compared with the reference. The last sentences are on
    further differences of this side."""
    by_subject = _by_subject(sides.findings)
    chosen = _chosen(sides, by_subject, asked)
    first, *along = _with_region(by_subject[chosen[0]], sides)
    most -= len(along)
    least = min(len({subject[:3] for subject in chosen}), most - 1)
    for count in range(most, least - 1, -1):
        shown = chosen[:count]
        rest = [of for subject, of in by_subject.items() if subject not in shown]
        more = besides(rest, most - len(shown), sides.names, sides.is_loss)
        if len(shown) + len(more) <= most:
            break
    others = (begun(_sentence(by_subject[subject], sides)) for subject in shown[1:])
    return [first, *along, *[*others, *more][: most - 1]]


def _with_region(found: Sequence[Finding], sides: _Sides) -> list[str]:
    """Return the sentence on the leading subject, and one on the part of the sweep where its claims hold, if
    the first sentence has no room for all parts."""
    told = _sentence(found, sides, f"{sides.named}: ")
    names, points = sides.names, [each.point for each in found]
    parts = {
        verdict: _region(found, places, names)
        for verdict, places in _by_verdict(found).items()
        if verdict in DIFFERENT and len(places) < len(found) and _are_alike(points)
    }
    is_told = all(words in told for words in parts.values())
    if is_told or not all(0 < len(words) <= _LONGEST_ALONG for words in parts.values()):
        return [told]
    where = "; ".join(f"{predicate(verdict)} where {words}" for verdict, words in parts.items())
    return [told, begun(f"{name_of(found[0])} {where}.")]


def _of_several(sides: _Sides, asked: Sequence[str], room: int) -> tuple[list[str], list[Sequence[Finding]]]:
    """Return the sentences on one of several compared sides, and the leading subjects of groups without a
    sentence."""
    by_subject = _by_subject(sides.findings)
    first, *others = chosen = _chosen(sides, by_subject, asked)
    by_group = sorted(by_subject, key=lambda subject: _order(subject[:3], sides.changed))
    more = [subject for subject in [*others, *by_group] if claims(by_subject[subject])]
    shown = list(dict.fromkeys([first, *more, *others]))[:room]
    groups = {subject[:3] for subject in shown}
    leading_ones = {subject[:3]: subject for subject in reversed(chosen) if subject[:3] not in groups}
    left = sorted(leading_ones, key=lambda group: chosen.index(leading_ones[group]))
    told = _begun(sides, [by_subject[subject] for subject in shown])
    return told, [by_subject[leading_ones[group]] for group in left]


def _of_neighbours(left: Iterable[tuple[_Sides, Sequence[Finding]]], room: int) -> list[str]:
    """Return a sentence per subject whose group has no sentence yet: the verdicts on every compared side."""
    by_subject: dict[Subject, list[tuple[_Sides, Sequence[Finding]]]] = {}
    for sides, found in left:
        by_subject.setdefault(_subject(found[0]), []).append((sides, found))
    order = sorted(by_subject, key=lambda subject: _order(subject[:3], frozenset()))
    return [_of_all_sides(by_subject[subject]) for subject in order[:room]]


def _of_all_sides(told: Sequence[tuple[_Sides, Sequence[Finding]]]) -> str:
    """Return a sentence with the verdicts on one subject, each with the sides that have the verdict."""
    names: dict[str, list[str]] = {}
    findings: dict[str, list[Finding]] = {}
    for sides, found in told:
        names.setdefault(_verdicts(found), []).append(sides.names.value(sides.other))
        findings.setdefault(_verdicts(found), []).extend(found)
    first = told[0][1][0]
    case = f"in case {first.case}, " if first.case else ""
    parts = [Part(f"{case}{name_of(first)} is ")]
    for n, (verdicts, of_sides) in enumerate(names.items()):
        parts.append(Part(f"{'; ' if n else ''}{verdicts} with {listed(of_sides)}"))
        if verdicts in _ALIKE and not any(each.is_by_runs for each in findings[verdicts]):
            parts.append(Part(f" ({range_in_words(findings[verdicts])})", 1))
    return begun(fitted(parts))


def _verdicts(found: Sequence[Finding]) -> str:
    """Return the verdicts on one subject; if verdicts differ between points, each with its number of
    points."""
    verdicts = _by_verdict(found)
    if len(verdicts) == 1:
        return next(iter(verdicts))
    counts = listed(f"{verdict} at {len(places)}" for verdict, places in verdicts.items())
    return f"{counts} of {len(found)} points"


def _begun(sides: _Sides, subjects: Sequence[Sequence[Finding]]) -> list[str]:
    """One sentence per subject; the first sentence names the sides."""
    first, *others = subjects
    told = (_sentence(of, sides) for of in others)
    return [
        _sentence(first, sides, f"{sides.named}: "),
        *map(begun, told),
    ]


def _by_subject(findings: Iterable[Finding]) -> dict[Subject, list[Finding]]:
    found: dict[Subject, list[Finding]] = {}
    for each in findings:
        found.setdefault(_subject(each), []).append(each)
    return found


def _subject(found: Finding) -> Subject:
    return found.case, *found.subject.cell


def _chosen(
    sides: _Sides, by_subject: Mapping[Subject, Sequence[Finding]], asked: Sequence[str]
) -> list[Subject]:
    """Return the subjects of the conclusion, the most important first; subjects with the decision "regressed"
    lead.

    If metrics were requested, the subjects are these metrics: see `_asked_of`. Otherwise the subjects are the
    leading metric of the changed flows, the leading metric of the unchanged flows, fairness, the leading
    metric of links, and the second metric of the changed flows.
    """
    known = list(by_subject)
    groups = sorted(dict.fromkeys(key[:3] for key in known), key=lambda group: _order(group, sides.changed))
    chosen: list[Subject] = []
    if any(key[3] in asked for key in known):
        chosen = _asked_of(groups, known, asked, sides)
        return sorted(chosen, key=lambda subject: not _is_regressed(by_subject[subject]))
    seconds: list[Subject] = []
    for group in groups:
        of = group[2]
        metrics = [key[3] for key in known if key[:3] == group]
        leads = _leading(group, metrics, sides) or metrics
        if of in TOTALS:
            leads = [_FAIRNESS] if _FAIRNESS in metrics else [] if len(groups) > 1 else leads
        chosen += [(*group, metric) for metric in leads[:1]]
        seconds += [(*group, metric) for metric in leads[1:2] if group in sides.changed]
    chosen += seconds
    if not sides.changed:  # without a changed group, differences come first
        chosen.sort(key=lambda subject: not claims(by_subject[subject]))
    return sorted(chosen or known, key=lambda subject: not _is_regressed(by_subject[subject]))


def _asked_of(
    groups: Sequence[Group], known: Sequence[Subject], asked: Sequence[str], sides: _Sides
) -> list[Subject]:
    """Return the requested metrics of all groups: the first of every group, then the second, and so on.

    Of up to `MOST` metrics, each is among the first subjects, which are in the order of the request.
    """
    of_groups = [_asked_of_group(group, known, asked, sides) for group in groups]
    turns = [[each for each in turn if each is not None] for turn in zip_longest(*of_groups)]
    every = [subject for turn in turns for subject in turn]
    if len(asked) > MOST:
        return every
    order = {metric: place for place, metric in enumerate(asked)}

    def place(subject: Subject) -> tuple[int, int]:
        return order[subject[3]], groups.index(subject[:3])

    own = sorted((each for each in turns[0] if each[2] not in TOTALS), key=place)
    of_metrics = {each[3]: each for each in sorted(every, key=place, reverse=True)}
    found = list(dict.fromkeys([*own, *sorted(of_metrics.values(), key=place), *every]))
    return [*sorted(found[:MOST], key=place), *found[MOST:]]


def _asked_of_group(
    group: Group, known: Sequence[Subject], asked: Sequence[str], sides: _Sides
) -> list[Subject]:
    metrics = [metric for metric in asked if (*group, metric) in known]
    first = _leading(group, metrics, sides) if len(asked) > MOST else []
    fair = [_FAIRNESS] if group[2] in TOTALS and _FAIRNESS in metrics and len(asked) > MOST else []
    return [(*group, metric) for metric in dict.fromkeys((*fair, *first, *metrics))]


def _leading(group: Group, metrics: Collection[str], sides: _Sides) -> list[str]:
    """Return the metrics of a group in the order in which its users notice them; metrics without a rank are
    left out."""
    is_bulk = group in sides.bulk or (group[1] == "flows" and group[2] in TOTALS)
    return leading(metrics, is_bulk=is_bulk)


def _is_regressed(found: Iterable[Finding]) -> bool:
    return any(each.decision == "regressed" for each in found)


def _order(group: Group, changed: frozenset[Group]) -> tuple[int, int]:
    """Sorting key: changed flows, then unchanged flows, all flows together, and links."""
    _, kind, of = group
    if isinstance(of, int):
        return (0 if group in changed else 1), of
    return (2, 0) if kind == "flows" else (3, 0)


def _sentence(found: Sequence[Finding], sides: _Sides, start: str = "") -> str:
    parts = one_point(found[0], sides.family) if len(found) == 1 else _over_points(found, sides)
    case = f"in case {found[0].case}, " if found[0].case else ""
    return f"{start}{case}{fitted(parts)}"


def _over_points(found: Sequence[Finding], sides: _Sides) -> Iterator[Part]:
    """Verdicts on one subject at several points, with the range of points and the size of the difference."""
    total, names, is_claimed = len(found), sides.names, bool(claims(found))
    verdicts = _by_verdict(found)
    yield Part(f"{name_of(found[0])} ")
    for n, (verdict, places) in enumerate(verdicts.items()):
        is_rest = is_claimed and verdict not in DIFFERENT
        is_all, of_verdict = len(places) == total, [found[place] for place in places]
        yield Part(
            f"{f'; {verdict}' if n else predicate(verdict)} at {f'all {total}' if is_all else len(places)}"
        )
        yield Part(" points" if is_all else f" of {total} points", 7 if is_rest else 0)
        yield Part(_where(found, places, names), 6 if is_rest else 4)
        yield from _sizes(of_verdict, names, is_all=is_all)
        if verdict in _ALIKE and not any(each.is_by_runs for each in of_verdict):
            told = range_in_words(of_verdict)
            yield Part(f" ({told})" if is_all else f", {told}", 8 if is_rest else 5)
        elif verdict == "undecided" and not is_claimed and not any(each.is_by_runs for each in of_verdict):
            yield Part(f" ({range_in_words(of_verdict, has_margin=False)})", 2)
    if "undecided" in verdicts and not claims(found):
        yield from _nearest([found[place] for place in verdicts["undecided"]], sides)


def _where(found: Sequence[Finding], places: Sequence[int], names: Names) -> str:
    """Return some of the points in words; empty if all points are meant, or if the words are too long."""
    points = [each.point for each in found]
    if len(places) == len(found) or not _are_alike(points):
        return ""
    where = _region(found, places, names)
    is_short = len(where) <= _LONGEST_REGION or len(places) == 1
    return f" ({where})" if where and is_short else ""


def _region(found: Sequence[Finding], places: Sequence[int], names: Names) -> str:
    points = [each.point for each in found]
    words = names.labels.names(list(dict.fromkeys(path for point in points for path in point)))
    return region(points, places, words, names.labels.value)


def _nearest(found: Sequence[Finding], sides: _Sides) -> Iterator[Part]:
    """The undecided finding with the smallest p: its point, difference and reason."""
    first = min(found, key=lambda each: 2.0 if each.p_raw is None else each.p_raw)
    yield Part("; ")
    yield Part(f"at {sides.names.point(first)}, ", 1)
    yield Part(f"{signed(first)}: ")
    yield from why_open(first, sides.family)


def _are_alike(points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all points have the same paths."""
    return len({tuple(point) for point in points}) == 1 and bool(points[0])


def _by_verdict(found: Sequence[Finding]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        places.setdefault(each.outcome, []).append(place)
    return {verdict: places[verdict] for verdict in _FIRST if verdict in places}


def _sizes(found: Sequence[Finding], names: Names, *, is_all: bool) -> Iterator[Part]:
    """The largest of several differences with its interval and point; empty if no difference is claimed.

    `is_all` is true if the findings are of all points. At other points, differences without a verdict may be
    larger.
    """
    if found[0].is_by_runs or not claims(found):
        return
    most, among = largest(found), "" if is_all else " of these"
    yield Part(f",{among} most at {names.point(most)}" if len(found) > 1 else "", 3)
    yield Part(f": it {moves(most)}")


def ranked(made: Sequence[Comparison], asked: Sequence[str] = ()) -> list[Finding]:
    """Findings in the order of the conclusion, for figures and tables that show the first of them.

    Findings with the decision "regressed" come first. For each side, the subjects of its sentences follow,
    decided or not, and then all other subjects: those in which unchanged groups are worse, and the rest by
    `weight`. The first subject comes at all its points before the others, if a short table has room. Sides
    alternate, and so do the other subjects.

    Args:
        made: See `conclusion`.
        asked: See `conclusion`.
    """
    found: list[list[Finding]] = []
    for name in dict.fromkeys(name for one in made for name in one.others):
        sides = _Sides(_with(made, name), name, Names(), ())
        by_subject = _by_subject(sides.findings)
        found.append(_ordered(sides, by_subject, _chosen(sides, by_subject, asked) if by_subject else []))
    return [each for turn in zip_longest(*found) for each in turn if each is not None]


def _ordered(
    sides: _Sides, by_subject: Mapping[Subject, Sequence[Finding]], chosen: Sequence[Subject]
) -> list[Finding]:
    """The findings of a side: the first of the chosen subjects, then the chosen subjects in turn, each by
    `weight`, and then all others."""
    of_chosen = [sorted(by_subject[subject], key=weight) for subject in chosen]
    lead = of_chosen.pop(0) if of_chosen and len(of_chosen[0]) <= MOST_LEADS else []
    first = [*lead, *(each for turn in zip_longest(*of_chosen) for each in turn if each is not None)]
    rest = [each for subject, of in by_subject.items() if subject not in chosen for each in of]
    rest.sort(key=lambda each: (not sides.is_loss(each), weight(each)))
    return sorted([*first, *rest], key=lambda each: each.decision != "regressed")
