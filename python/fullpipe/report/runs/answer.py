"""The conclusion of runs in sentences, and the first table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from fullpipe.analysis.limits import TIMES, unanswered
from fullpipe.analysis.metrics.measure import View
from fullpipe.analysis.metrics.table import RANKED, names_in
from fullpipe.analysis.outcome import extremes, leads, outcome, short
from fullpipe.analysis.over_seeds import are_equal_over_seeds
from fullpipe.analysis.shown import (
    begun,
    decimals_of,
    difference_shown,
    is_relative,
    mean_shown,
    metric_shown,
    point_shown,
)
from fullpipe.analysis.values import value_text
from fullpipe.report.content import Column, Table, rows_of
from fullpipe.report.path import made_by, setup_of
from fullpipe.report.rows import Budget, tally
from fullpipe.report.runs.figures import rows_of_subject
from fullpipe.report.runs.points import SHARE_RATIO, Points
from fullpipe.report.runs.tables import (
    Comparisons,
    by_row,
    by_sides,
    headed,
    is_doubtful,
    named_paths,
    sentences,
)
from fullpipe.report.text import counted, folded, left_out, listed
from fullpipe.validation.compare import Comparison, Finding, VariantComparison
from fullpipe.validation.compare.conclusion import MOST, conclusion, ranked
from fullpipe.validation.compare.contrast import SHARE
from fullpipe.validation.compare.fair_share import share_at_points, with_fair_share
from fullpipe.validation.compare.finding import DIFFERENT, claims
from fullpipe.validation.compare.sentence import DOUBTED, Names, largest, moves, name_of, names_of

_TOLD = names_in(View.SENTENCE)
"""Metrics for which the conclusion names the highest and lowest mean, unless the user names metrics."""
_MOST_GROUPS, _MOST_NAMED = 8, 4
"""Maximum numbers of groups, and of points that are named."""
_ALIKE = {"equivalent", "undecided"}
"""Verdicts that claim no difference."""
_MOST_COLUMNS = 5
"""Maximum number of metrics in the first table."""
_Row = tuple[Mapping[str, Any], Finding]
_Subject = tuple[str, int | str]
"""A metric of an entry of `flows`, of a total or of a link."""


def answer(found: Points, made: Comparisons) -> tuple[list[str], list[str]]:
    """The conclusion, and further sentences for the details.

    Metrics that the user names come first, then the differences between variants, then the points with the
    highest and the lowest mean. If variants are compared and the user names no metric, the conclusion is that
    of `fullpipe compare`, with one further sentence if other paths are swept, too. Several paths with
    variants have sentences of their own: see `_of_paths`.
    """
    swept = [path for path in found.paths if path not in named_paths(found)]
    if are_several(found, made):
        concluded = list(_of_paths(found, made))
    else:
        concluded = conclusion(made, found.metrics, most=MOST - 1 if swept else MOST)
    told = list(dict.fromkeys(_told(found, made, concluded, is_swept=bool(swept))))
    most = len(concluded) + bool(swept) if concluded and not found.metrics else max(MOST, len(concluded))
    return told[:most], told[most:]


def are_several(found: Points, made: Comparisons) -> bool:
    """Whether several paths have variants, or metrics are asked for and a path has several variants."""
    sides = {(one.reference, one.other) for one in made}
    return len({reference for reference, _ in sides}) > 1 or (bool(found.metrics) and len(sides) > 1)


def _of_paths(found: Points, made: Comparisons) -> Iterator[str]:
    """Yield the sentences on several paths with variants.

    Every path has a sentence on its main subject, and one on the main metrics of the other groups of flows
    that differ. Every metric that the user names has a sentence per path instead.
    """
    names = names_of(made)
    made = names.shown(made)
    of_paths = [[one for one in made if one.reference == each] for each in _references(made)]
    for subject in _asked(found):
        yield from filter(None, (_of_path(of_path, subject, names) for of_path in of_paths))
    if found.metrics:
        return
    family = [each for one in made for each in one.findings]
    for of_path in of_paths:
        first, *others = _by_effect(found, of_path)
        is_one_changed = len({entry for one in of_path for entry in one.changed}) == 1
        is_open = not any(_effect(of_path, each) for each in (first, *others))
        if (is_one_changed or is_open) and len({one.other for one in of_path}) == 1:
            yield conclusion(of_path, names=names, family=family)[0]
        else:
            yield _of_path(of_path, first, names)
        parts = (_effects(of_path, subject, names) for subject in others)
        if told := [part for part in parts if part]:
            yield short(f"Also with {_instead(of_path, names)}: {'; '.join(told)}.")


def _references(made: Comparisons) -> list[str]:
    return list(dict.fromkeys(one.reference for one in made))


def _instead(of_path: Comparisons, names: Names) -> str:
    """The variants of a path and their reference in words."""
    *others, last = dict.fromkeys(one.other for one in of_path)
    words = names.instead(last, of_path[0].reference)
    return f"{', '.join(map(names.side, others))} or {words}" if others else words


def _by_effect(found: Points, made: Comparisons) -> list[_Subject]:
    """The main metrics of the groups of flows: of changed groups first, then the largest effect first."""
    changed = {entry for one in made for entry in one.changed}
    subjects: list[_Subject] = [(metric, entry) for entry, metric in found.telling.items()]
    return sorted(subjects, key=lambda each: (each[1] not in changed, -_effect(made, each)))


def _effect(made: Comparisons, subject: _Subject) -> float:
    """The largest claimed difference between means, as the logarithm of their ratio.

    The effect is 0 without a claimed difference, and infinite if only one of the means is 0.
    """
    rows = claims(row for _, row in _rows(made, *subject))
    pairs = [(abs(row.other), abs(row.reference)) for row in rows]
    return max((abs(math.log(a / b)) if a > 0 and b > 0 else math.inf for a, b in pairs), default=0.0)


def _of_path(of_path: Comparisons, subject: _Subject, names: Names) -> str:
    """A sentence on one subject, with the verdicts on every variant of a path and the largest difference.
    Empty without a finding."""
    rows = [row for _, row in _rows(of_path, *subject)]
    if not rows:
        return ""
    told = f"{_instead(of_path, names)}: {name_of(rows[0])} is {_by_variant(of_path, subject, names)}"
    if not (different := claims(rows)):
        return f"{told}."
    most = largest(different)
    variant = f" with {names.value(most.sides[1])}" if len({one.other for one in of_path}) > 1 else ""
    point = f" at {names.point(most)}" if len(different) > 1 and most.point else ""
    return f"{told}{f'; most{variant}{point}' if variant or point else ''}: it {moves(most)}."


def _by_variant(of_path: Comparisons, subject: _Subject, names: Names, *, is_claimed: bool = False) -> str:
    """The verdicts on one subject with every variant of a path; with `is_claimed`, only differences."""
    told: dict[str, list[str]] = {}
    others = list(dict.fromkeys(one.other for one in of_path))
    for other in others:
        rows = _rows([one for one in of_path if one.other == other], *subject)
        words = [
            word
            for word, _ in tally({"verdict": row.verdict} for _, row in rows)
            if word in DIFFERENT or not is_claimed
        ]
        parts = []
        for word in words:
            own = [(point, row) for point, row in rows if row.verdict == word]
            count = f"{len(own)}{f' of {len(rows)} points' if word == words[-1] else ''}"
            if len(own) == len(rows):
                count = "both points" if len(rows) == 2 else f"all {len(rows)} points"
            if len(own) == 1 and len(rows) <= _MOST_NAMED:
                count = names.point(own[0][1])
            at = f" at {count}" if len(rows) > 1 else ""
            parts.append(f"{word}{at}{_changes(own) if is_claimed else ''}")
        if parts:
            told.setdefault(listed(parts), []).append(names.value(other))
    if len(others) == 1:
        return next(iter(told), "")
    return ", ".join(f"{verdicts} with {listed(variants)}" for verdicts, variants in told.items())


def _effects(of_path: Comparisons, subject: _Subject, names: Names) -> str:
    """The claimed differences of a subject with every variant of a path; empty if no difference is
    claimed."""
    rows = [row for _, row in _rows(of_path, *subject)]
    told = _by_variant(of_path, subject, names, is_claimed=True)
    return f"{name_of(rows[0])} is {told}" if told else ""


def order(found: Points, made: Comparisons) -> list[Finding]:
    """Findings in the order of the first table and the first figure.

    The order is that of `ranked`. If several paths have variants, or several metrics are asked for, the
    largest difference of every subject with every variant comes first.
    """
    every = ranked(made, found.metrics)
    if not are_several(found, made):
        return every
    of_sides = []
    for at in by_sides(made).values():
        subjects = _asked(found) or _by_effect(found, at)
        rows = ([row for _, row in _rows(at, *subject)] for subject in subjects)
        of_sides.append([largest(claims(each) or each) for each in rows if each])
    turns = list(zip_longest(*of_sides))
    first = [row for turn in turns for row in turn if row is not None]
    chosen = {id(row) for row in first}
    return [*first, *(row for row in every if id(row) not in chosen)]


def lead(found: Points, made: Sequence[Comparison]) -> _Subject | None:
    """The metric and group of the first figure.

    The first choice is the metric that the user names. The second choice is the main metric of a changed
    entry of `flows`, unless the effect on the main metric of another group is more than twice as large. The
    third choice is the metric that leads the conclusion.
    """
    for metric in found.metrics:
        for of in found.asked_of(metric):
            return metric, found.entries.get(of, of)
    changed = sorted({entry for one in made for entry in one.changed})
    entry = next((each for each in changed if each in found.telling), next(iter(found.telling), None))
    if entry is None:
        return None
    if not made:
        metric, of = next(leads(found.leading))
        entries = found.leading.filter(of=of)["entry"]
        return metric, of if entries[0] is None else entries[0]
    own: _Subject = found.telling[entry], entry
    compared = [one for one in made if isinstance(one, VariantComparison)]
    most = max(_by_effect(found, compared), key=lambda each: _effect(compared, each), default=own)
    return most if _effect(compared, most) > 2 * _effect(compared, own) else own


def _told(found: Points, made: Comparisons, concluded: Sequence[str], *, is_swept: bool) -> Iterator[str]:
    """Yield the sentences.

    If variants are compared, the conclusion already has their means. Means of points are then given only for
    completion times, with counts of unfinished transfers, and if a sweep varies more than the variants
    (`is_swept`).
    """
    for metric in found.metrics:
        for of in found.asked_of(metric):
            yield from _share_at_points(found, metric, of)
    yield from concluded
    for metric in found.metrics:
        if made and not is_swept and metric not in TIMES:
            continue
        for of in found.asked_of(metric):
            yield from _extremes(found, metric, of)
            if metric == SHARE and found.sharing != SHARE:
                yield from _extremes(found, found.sharing, of)
    if found.metrics:
        return
    leading = lead(found, made)
    if leading and made and is_swept:
        yield from _extremes(found, *leading)
    if leading and not made:
        told = outcome(
            found.leading, labels=found.labels, called=found.with_algorithm, values=found.every_value
        )
        yield from with_fair_share(told, found.every_value, MOST, found.labels)
    if 1 < len(found.telling) <= _MOST_GROUPS:
        yield from (_in_short(found, sides, at) for sides, at in by_sides(made).items())
    else:
        yield from sentences(made)
    led: set[tuple[str, str]] = set() if made else {*leads(found.leading)}
    for metric in _TOLD:
        for of in found.totals_of(metric):
            if (metric, of) in led:
                continue
            yield from _extremes(found, metric, of)


def warnings(found: Points) -> Iterator[str]:
    """Runs that are too short for means, times that are no swept paths but differ, metrics without a value,
    and seeds that change nothing."""
    yield from found.doubts.warnings
    mixed = [path for path in found.paths if path in ("duration", "warmup")]
    if mixed and not any(path in run.meta.point for run in found.runs for path in mixed):
        yield (
            f"Runs differ in {listed(mixed)} without a sweep of it, so it is a factor. Named variants are"
            " shown by their values. Run each duration into an --out folder of its own."
        )
    known = {*found.values.drop_nulls("value")["metric"].to_list()}
    missing = unanswered(found.metrics, known)
    if missing:
        first = begun(missing[0])
        yield f"{first}." if len(missing) == 1 else f"{first}; {len(missing) - 1} more also have no value."
    if are_equal_over_seeds(list(zip(found.points, found.runs, strict=True))):
        yield "All seeds gave the same run, so no mean has an interval: nothing in the scenario is random."


def scope(found: Points) -> str:
    """Runs, points, seeds, engine, version, and the durations of the runs."""
    over = f" over {listed(found.words.values())}" if found.paths else ""
    places = len({str(point) for point in found.points})
    runs = f"{counted(len(found.runs), 'run')} of {counted(places, 'point')}{over}"
    versions = dict.fromkeys(run.meta.versions.get("fullpipe", "") for run in found.runs)
    version = f"fullpipe {listed(filter(None, versions))}" if any(versions) else ""
    told = ", ".join(filter(None, [runs, _seeds(found), made_by(found.runs), version]))
    is_of_a_file = any(run.meta.engine.is_of_a_file for run in found.runs)
    return f"{told}. Each run: {setup_of((run.scenario for run in found.runs), is_of_a_file=is_of_a_file)}."


def _seeds(found: Points) -> str:
    """Return the seeds in words, or the numbers of seeds per point if these numbers differ."""
    places = zip(found.points, found.runs, strict=True)
    counts = Counter((str(point), run.meta.engine.name) for point, run in places).values()
    if min(counts) < max(counts):
        return f"{min(counts)} to {max(counts)} seeds per point"
    seeds = found.seeds
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{len(seeds)} seeds"


def _rows(at: Sequence[VariantComparison], metric: str, of: int | str) -> list[_Row]:
    """Findings on a metric of an entry of `flows`, a total or a link, at every point."""
    rows = ((one.point, row) for one in at for row in one.rows if row.metric == metric)
    return [(point, row) for point, row in rows if of in (row.entry, row.of)]


def _in_short(found: Points, sides: str, at: Sequence[VariantComparison]) -> str:
    """A sentence with the number of each verdict, for the main metric of every group and for fairness."""
    subjects: list[tuple[str, int | str, str]] = [
        (metric, entry, found.called(entry)) for entry, metric in found.telling.items()
    ]
    subjects += [("jain", of, of) for of in found.totals_of("jain")]
    told = []
    for metric, of, name in subjects:
        rows = _rows(at, metric, of)
        told += [f"{metric_shown(metric, name)} {_where(rows)}"] if rows else []
    return short(f"{sides}: {'; '.join(told) or 'nothing was compared'}.")


def _changes(rows: Sequence[_Row]) -> str:
    """The smallest and the largest change among findings that claim a difference.

    Empty if no finding claims a difference, or if a reference is not positive.
    """
    changed = [row for _, row in rows if row.verdict not in _ALIKE]
    if not changed or any(row.reference <= 0 for row in changed):
        return ""
    first = changed[0]
    in_percent = is_relative(first.unit, first.metric, first.reference, first.margin)
    return f" ({_percents(changed) if in_percent else _differences(changed)})"


def _percents(rows: Sequence[Finding]) -> str:
    changes = sorted({round(100 * (row.other / row.reference - 1)) for row in rows}, key=abs)
    ends = dict.fromkeys((changes[0], changes[-1]))
    return f"{' to '.join(f'{end:+d}' for end in ends)} %"


def _differences(rows: Sequence[Finding]) -> str:
    """The smallest and the largest change as differences, not ratios, for a metric such as a share or a
    score."""
    changes = sorted(rows, key=lambda row: abs(row.difference))
    told = (
        difference_shown(row.difference, None, row.reference, row.unit, row.metric, row.margin)
        for row in (changes[0], changes[-1])
    )
    return " to ".join(dict.fromkeys(told))


def _where(rows: Sequence[_Row]) -> str:
    """The verdicts with their changes and their points; with many points, only the number of points."""
    found, are_named = tally({"verdict": row.verdict} for _, row in rows), len(rows) <= _MOST_NAMED
    parts = []
    for word, count in found:
        own = [(point, row) for point, row in rows if row.verdict == word]
        at = listed(_point(point) for point, _ in own) if are_named else str(count)
        parts.append(f"{word}{f' at {at}' if len(found) > 1 else ''}{_changes(own)}")
    if len(found) == 1:
        return parts[0]
    return ", ".join(parts) if are_named else f"{listed(parts)} of {len(rows)} points"


def _point(point: Mapping[str, Any]) -> str:
    """A point in words; with a single path, only its value."""
    return value_text(next(iter(point.values()))) if len(point) == 1 else ", ".join(point_shown(point))


def _share_at_points(found: Points, metric: str, of: int | str) -> Iterator[str]:
    """A sentence on the points where the share of a group is more or less than its fair share."""
    entry = found.entries.get(of) if isinstance(of, str) else of
    if metric in (SHARE, SHARE_RATIO) and entry is not None:
        yield from filter(None, [share_at_points(found.every_value, entry, found.labels)])


def _extremes(found: Points, metric: str, group: str | int) -> Iterator[str]:
    """The points where a metric of a group or link, or of an entry, is highest and lowest."""
    key = group if isinstance(group, int) else found.entries.get(group, group)
    rows = found.means_of(metric, key)
    if rows:
        name, values = found.group_of(metric, group), rows_of_subject(found, metric, key)
        yield extremes(rows, metric, name, found.told, values)


def _how(found: Points) -> str:
    """Return the words for the numbers in a table with a row per point."""
    return "means over seeds, with 95 % intervals" if len(found.seeds) > 1 else "values of one seed"


def by_group(found: Points, budget: Budget) -> Table | None:
    """A row per point, and a column per group of flows with its main metric; None with a single group."""
    if len(found.telling) < 2:
        return None
    subjects: list[_Subject] = [(metric, of) for of, metric in found.telling.items()]
    return _by_point(found, f"Main metric per flow group: {_how(found)}", subjects, budget.rows)


def has_all_groups(found: Points) -> bool:
    """Whether the first table has every point and the main metric of every group."""
    total = len(list(by_row(found.means, found.paths, "metric")))
    subjects = {(metric, of) for of, metric in found.telling.items()}
    return rows_of(total) >= total and subjects <= set(_first_subjects(found))


def asked(found: Points, budget: Budget) -> Table | None:
    """A row per point, and a column per metric that the user names; None if the user names none."""
    subjects = _asked(found)
    return _by_point(found, begun(_how(found)), subjects, budget.rows) if subjects else None


def first_table(found: Points) -> Table | None:
    """The first `rows_of` points.

    The columns are the metrics that the user names, or the leading metric and the main metrics of groups.
    """
    subjects = _first_subjects(found)
    if not subjects:
        return None
    total = len(list(by_row(found.means, found.paths, "metric")))
    most = rows_of(total)
    made = _by_point(found, begun(_how(found)), subjects, most)
    own = made.note.removesuffix(left_out(most, total, "points")).strip()
    notes = [own, folded(most, total, "points", "Means")]
    return replace(made, note=" ".join(filter(None, notes)), is_tight=True)


def _first_subjects(found: Points) -> list[_Subject]:
    """The columns of the first table."""
    subjects = _asked(found)
    if not subjects:
        leading = lead(found, ())
        subjects = [*([leading] if leading else [])]
        subjects += [(metric, of) for of, metric in list(found.telling.items())[:_MOST_COLUMNS]]
        others = [(metric, found.whole) for metric in RANKED if found.means_of(metric, found.whole)]
        subjects += others[: max(0, _MOST_COLUMNS - len(subjects))]
    return list(dict.fromkeys(subjects))[:_MOST_COLUMNS]


def _asked(found: Points) -> list[_Subject]:
    """The metrics that the user names; with a share, also `share_ratio` if fair shares differ."""
    wanted: list[_Subject] = []
    for metric in found.metrics:
        shown = (metric, found.sharing) if metric == SHARE else (metric,)
        wanted += [(name, found.entries.get(of, of)) for of in found.asked_of(metric) for name in shown]
    return list(dict.fromkeys(wanted))


def _by_point(found: Points, caption: str, subjects: Sequence[_Subject], most: int) -> Table:
    columns = [{repr(point): row for point, row in _at_points(found, *each)} for each in subjects]
    digits = [decimals_of(column.values()) for column in columns]
    points = [key for key, _ in by_row(found.means, found.paths, "metric")]

    def cell(row: Mapping[str, Any] | None, places: int) -> str:
        mark = DOUBTED if row and found.runs and is_doubtful(found, row) else ""
        return f"{mean_shown(row, digits=places)}{mark}" if row else "-"

    told = [
        [
            *(found.said(path, point[path]) for path in found.paths),
            *(cell(column.get(repr(point)), places) for column, places in zip(columns, digits, strict=True)),
        ]
        for point in points
    ]
    heads = [
        *(Column(found.words[path]) for path in found.paths),
        *(
            Column(f"{found.group_of(metric, of)}: {headed(metric).name}", is_number=True)
            for metric, of in subjects
        ),
    ]
    has_mark = any(text.endswith(DOUBTED) for row in told[:most] for text in row)
    legend = f"{DOUBTED} A warning is about this mean." if has_mark else ""
    left = left_out(most, len(told), "points" if found.paths else "rows")
    return Table(caption, heads, told[:most], " ".join(filter(None, [legend, left])))


def _at_points(found: Points, metric: str, of: int | str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every point with the mean of a metric for an entry of `flows`, a total or a link."""
    rows = found.means_of(metric, of)
    yield from (({path: row[path] for path in found.paths}, row) for row in rows)
