"""The conclusion of comparisons: one to five sentences with magnitudes, units, intervals and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.table import BY_NAME, leading
from fullpipe.analysis.shown import begun
from fullpipe.validation.compare.comparison import Comparison, Entries
from fullpipe.validation.compare.fair_share import (
    ALIKE_WORDS,
    Told,
    are_alike,
    besides,
    by_verdict,
    harm,
    harmed,
    in_brief,
    is_worse,
    nearest,
    of_subjects,
    region_of,
    sizes,
    where,
)
from fullpipe.validation.compare.finding import (
    DIFFERENT,
    MOST_LEADS,
    WORSE,
    Finding,
    claims,
    clearness,
    family_size,
    of_queues,
    repeats_drops,
    weight,
)
from fullpipe.validation.compare.sentence import (
    Names,
    Part,
    fitted,
    largest,
    name_of,
    names_of,
    needed_in_words,
    one_point,
    predicate,
    range_in_words,
)

MOST = 5
"""Maximum number of sentences of a conclusion."""
_LONGEST_ALONG = 160
"""Maximum number of characters of the words for a part of a sweep in a sentence of its own."""
_LONGEST = 40
"""Maximum number of words of a sentence on one side, without the names of the sides."""
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
        """Whether a finding says that an unchanged group of flows is worse off because of the changed
        group."""
        group = found.case, found.kind, found.subject.cell[1]
        is_beside = found.entry is not None and bool(self.changed) and group not in self.changed
        return is_beside and found.outcome in WORSE

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


_BySide = tuple[_Sides, Mapping[Subject, Sequence[Finding]]]
"""A side with its findings by subject."""


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
        One to `most` texts. A text is a sentence of about 40 words at most (45 on several sides), without
        intervals and without the names of the sides at its start. With several sides, the last text may have
        several sentences. The list is empty if nothing was compared.
    """
    names = names or names_of(made)
    made = names.shown(made)
    family = [each for one in made for each in one.findings] if family is None else family
    sides_of = (_Sides(_with(made, name), name, names, family) for name in _others(made))
    every = [sides for sides in sides_of if sides.findings]
    if len(every) == 1:
        return _of_one(every[0], asked, most)
    return _with_undecided(_of_several(every, asked, most), every, most)


def brief(made: Sequence[Comparison], asked: Sequence[str] = ()) -> list[str]:
    """A sentence with the verdicts of several sides on the leading metric of the changed flows, and of the
    flows beside them: the answer to the question of a comparison. Empty for a single side."""
    names, found = names_of(made), list[tuple[str, list[Sequence[Finding]]]]()
    made = names.shown(made)
    for name in _others(made):
        sides = _Sides(_with(made, name), name, names, ())
        by_subject = _by_subject(sides.findings)
        chosen = _chosen(sides, by_subject, asked) if by_subject else []
        beside = [each for each in chosen[1:] if each[:3] not in sides.changed and isinstance(each[2], int)]
        if chosen:
            found.append((names.value(name), [by_subject[each] for each in (chosen[0], *beside[:1])]))
    reference = names.value(made[0].reference) if made else ""
    return [in_brief(found, reference, names)] if len(found) > 1 else []


def _with_undecided(told: Sequence[str], every: Sequence[_Sides], most: int) -> list[str]:
    """Return the texts with the number of undecided findings; the last text has this sentence if there is no
    room for another text."""
    found = [each for sides in every for each in sides.findings]
    open_ = sum(each.outcome == "undecided" for each in found)
    if not open_:
        return list(told)
    tests = family_size(every[0].family)
    corrected = f" after Holm's correction for {tests:,} tests" if tests > 1 else ""
    verb = "is" if open_ == 1 else "are"
    sentence = f"{open_:,} of {len(found):,} findings {verb} undecided{corrected}."
    return [*told, sentence] if len(told) < most else [*told[:-1], f"{told[-1]} {sentence}"]


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
    """Return the sentence on the leading subject. If this sentence has no room for all its parts, a second
    sentence names the part of the sweep where its claims hold."""
    told = _sentence(found, sides, f"{sides.named}: ")
    names, points = sides.names, [each.point for each in found]
    parts = {
        verdict: region_of(found, places, names)
        for verdict, places in by_verdict(found).items()
        if verdict in DIFFERENT and len(places) < len(found) and are_alike(points)
    }
    is_told = all(words in told for words in parts.values())
    if is_told or not all(0 < len(words) <= _LONGEST_ALONG for words in parts.values()):
        return [told]
    where = "; ".join(f"{predicate(verdict)} where {words}" for verdict, words in parts.items())
    return [told, begun(f"{name_of(found[0])} {where}.")]


def _of_several(every: Sequence[_Sides], asked: Sequence[str], most: int) -> list[str]:
    """Return the sentences on several compared sides, with the same subjects for all of them.

    Each side has a sentence on its leading subject; many sides share one. Every further subject has a
    sentence with the verdicts on all sides. If there are too many subjects, the sentences on claimed ones
    share the last text, and others are left out. The last sentence counts the undecided findings.
    """
    by_side = [(sides, _by_subject(sides.findings)) for sides in every]
    if not by_side:
        return []
    has_own = len(every) < most
    firsts, subjects = _subjects(by_side, asked, has_own=has_own)
    leads = [of[first] for first, (_, of) in zip(firsts, by_side, strict=True)]
    pairs = zip(by_side, leads, strict=True)
    told = [_sentence(found, sides, f"{sides.named}: ") for (sides, _), found in pairs]
    names = every[0].names
    of_sides = [_told(each, by_side, names) for each in subjects]
    harms = [harm(worse, names) for worse in _harmed(subjects, by_side, names)]
    by_metric = {each[3]: place for place, each in reversed([*enumerate(subjects)]) if each[3] in asked}
    if has_own:
        due = [place for metric, place in by_metric.items() if metric not in {each[3] for each in firsts}]
        return [*told, *of_subjects(of_sides, harms, names, most - len(told), len(every), due)]
    against = names.side(every[0].findings[0].sides[0])
    first, *rest = of_subjects(of_sides, harms, names, most, len(every), [0, *by_metric.values()])
    return [f"Against {against}: {first[0].lower()}{first[1:]}", *rest]


def _subjects(
    by_side: Sequence[_BySide], asked: Sequence[str], *, has_own: bool
) -> tuple[list[Subject], list[Subject]]:
    """Return the leading subject of each side, and the subjects of the sentences on all sides.

    With `has_own`, each side has a sentence on its leading subject.
    """
    chosen = [_chosen(*each, asked) for each in by_side]
    firsts = [own[0] for own in chosen]
    every = [*firsts, *(each for own in chosen for each in own[1:])]
    later = dict.fromkeys(each for each in every if not (has_own and {*firsts} == {each}))
    return firsts, [*later] if asked else _with_aspects(later, by_side, firsts)


def _told(subject: Subject, by_side: Sequence[_BySide], names: Names) -> Told:
    return [(names.value(sides.other), of[subject]) for sides, of in by_side if subject in of]


def _harmed(
    subjects: Sequence[Subject], by_side: Sequence[_BySide], names: Names
) -> Iterator[list[tuple[Told, int]]]:
    """Yield the findings of `harmed` for each subject."""
    known = [each for each in dict.fromkeys(each for _, of in by_side for each in of) if each not in subjects]
    for own in subjects:
        others = [_told(each, by_side, names) for each in known if each[:3] == own[:3]]
        yield harmed(_told(own, by_side, names), others)


def _with_aspects(
    chosen: Iterable[Subject],
    by_side: Sequence[_BySide],
    firsts: Collection[Subject],
) -> list[Subject]:
    """Return the chosen subjects with those that are clearest in delay and in loss, in the order of groups.

    Every side that is worse in delay or loss is worse in one of the subjects. They replace the second metric
    of changed flows. The subjects in delay are those of `of_queues`, if there are any; links are then left
    out unless a side is worse.
    """
    found = [each for each in chosen if each in firsts or each[:3] not in by_side[0][0].changed]
    links = [each for each in found if each[1] == "link"]
    found = [each for each in found if each not in links]
    every = [each for sides, _ in by_side for each in sides.findings]
    queues, repeated = of_queues(every), repeats_drops(every)
    for aspect in ("delay", "loss"):
        clear: dict[Subject, tuple[int, float]] = {}
        worse: dict[Subject, set[int]] = {}
        for number, (_, by_subject) in enumerate(by_side):
            for subject, of in by_subject.items():
                is_of_aspect = BY_NAME[subject[3]].aspect == aspect and id(of[0]) not in repeated
                if not is_of_aspect or all(each.is_zero for each in of):
                    continue
                if aspect == "delay" and queues and id(of[0]) not in queues:
                    continue
                clear[subject] = min([*map(clearness, of), *([clear[subject]] if subject in clear else [])])
                worse.setdefault(subject, set()).update({number} if is_worse(of) else ())
        is_told = any(subject in found for subject in clear)
        left = set().union(*worse.values()).difference(*(worse.get(subject, ()) for subject in found))
        while clear and (left or not is_told):
            best = min(clear, key=lambda each: (-len(worse[each] & left), clear[each]))
            found, left, is_told = [*found, best], left - worse[best], True
    if any(id(of[each][0]) in queues for _, of in by_side for each in found if each in of):
        links = [each for each in links if any(is_worse(of.get(each, ())) for _, of in by_side)]
    return [*found, *links]


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

    If at most `MOST` metrics are requested, each of them is among the first subjects, which are in the order
    of the request.
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
    return f"{start}{case}{fitted(parts, _LONGEST)}"


def _over_points(found: Sequence[Finding], sides: _Sides) -> Iterator[Part]:
    """Verdicts on one subject at several points, with the range of points and the size of the difference."""
    total, names, is_claimed = len(found), sides.names, bool(claims(found))
    verdicts = by_verdict(found)
    yield Part(f"{name_of(found[0])} ")
    for n, (verdict, places) in enumerate(verdicts.items()):
        is_rest = is_claimed and verdict not in DIFFERENT
        is_all, of_verdict = len(places) == total, [found[place] for place in places]
        yield Part(
            f"{f'; {verdict}' if n else predicate(verdict)} at {f'all {total}' if is_all else len(places)}"
        )
        yield Part(" points" if is_all else f" of {total} points", 7 if is_rest else 0)
        yield Part(where(found, places, names), 6 if is_rest else 4)
        yield from sizes(of_verdict, names, is_all=is_all)
        if verdict in ALIKE_WORDS and not any(each.is_by_runs for each in of_verdict):
            told = range_in_words(of_verdict)
            yield Part(f" ({told})" if is_all else f", {told}", 8 if is_rest else 5)
        elif verdict == "undecided" and not is_claimed and not any(each.is_by_runs for each in of_verdict):
            yield Part(f" ({range_in_words(of_verdict, has_margin=False)})", 2)
    open_ = [found[place] for place in verdicts.get("undecided", ())]
    if open_ and not is_claimed:
        yield from nearest(open_, sides.family, sides.names)
    elif open_ and (needed := needed_in_words(open_)):
        yield Part(f": {needed}", 9)


def ranked(made: Sequence[Comparison], asked: Sequence[str] = ()) -> list[Finding]:
    """Findings in the order of the conclusion, for figures and tables that show the first of them.

    Findings with the decision "regressed" come first. For each side, the subjects of its sentences follow,
    decided or not, and then all other subjects: those in which unchanged groups are worse, and the rest by
    `weight`. The findings on the first subject, at all points, precede those on the other subjects if a short
    table has room for them. Sides take turns, and so do the other subjects.

    Args:
        made: See `conclusion`.
        asked: See `conclusion`.
    """
    found: list[list[Finding]] = []
    for name in _others(made):
        sides = _Sides(_with(made, name), name, Names(), ())
        by_subject = _by_subject(sides.findings)
        found.append(_ordered(sides, by_subject, _chosen(sides, by_subject, asked) if by_subject else []))
    return [each for turn in zip_longest(*found) for each in turn if each is not None]


def quoted(made: Sequence[Comparison], asked: Sequence[str] = ()) -> list[Finding]:
    """Findings whose values the conclusion gives: for each subject and side the largest difference, and of
    the leading subject also the largest value of every other verdict."""
    names = Names()
    sides_of = (_Sides(_with(made, name), name, names, ()) for name in _others(made))
    by_side = [(sides, _by_subject(sides.findings)) for sides in sides_of if sides.findings]
    if len(by_side) < 2:
        return []
    firsts, subjects = _subjects(by_side, asked, has_own=len(by_side) < MOST)
    found: list[Finding] = []
    for first, (_, of) in zip(firsts, by_side, strict=True):
        verdicts = by_verdict(of[first]).values()
        found += [largest([of[first][place] for place in places]) for places in verdicts]
    lead = {*map(id, found)}
    for subject, worse in zip(subjects, _harmed(subjects, by_side, names), strict=True):
        own = [*_told(subject, by_side, names), *(each for told, _ in worse[:1] for each in told)]
        found += [largest(claims(of_side)) for _, of_side in own if claims(of_side)]
    found.sort(key=lambda each: (not claims([each]), id(each) not in lead, each.outcome not in WORSE))
    return list({id(each): each for each in found}.values())


def _others(made: Iterable[Comparison]) -> list[str]:
    """The names of the sides that are compared with the reference."""
    return list(dict.fromkeys(name for one in made for name in one.others))


def _ordered(
    sides: _Sides, by_subject: Mapping[Subject, Sequence[Finding]], chosen: Sequence[Subject]
) -> list[Finding]:
    """The findings of a side: those on the first chosen subject, then one of each other chosen subject in
    turn, and then all others. The findings on a subject are sorted by `weight`."""
    of_chosen = [sorted(by_subject[subject], key=weight) for subject in chosen]
    lead = of_chosen.pop(0) if of_chosen and len(of_chosen[0]) <= MOST_LEADS else []
    first = [*lead, *(each for turn in zip_longest(*of_chosen) for each in turn if each is not None)]
    rest = [each for subject, of in by_subject.items() if subject not in chosen for each in of]
    rest.sort(key=lambda each: (not sides.is_loss(each), weight(each)))
    return sorted([*first, *rest], key=lambda each: each.decision != "regressed")
