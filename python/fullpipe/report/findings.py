"""Findings of a comparison or check as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import Any

import polars as pl

from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.shown import (
    axis_shown,
    margin_shown,
    metric_shown,
    number_shown,
    p_shown,
)
from fullpipe.analysis.statistics import t_interval
from fullpipe.analysis.values import MEASURED, column
from fullpipe.report.content import Column, Difference, Figure, Forest, Table, rows_of
from fullpipe.report.runs.points import VARIANT, Points
from fullpipe.report.text import folded, left_out, listed, told_apart
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.contrast import EQUAL_SHARE
from fullpipe.validation.compare.finding import Finding, family_size, is_open_by_correction, known, leads
from fullpipe.validation.compare.rules import EQUIVALENCE_LEVEL, LEVEL
from fullpipe.validation.compare.sentence import (
    TRUNCATED,
    difference_of,
    doubts_in_words,
    is_truncated,
    verdict_of,
)

# Findings in reports: tables, and the figure of the first differences in the ranking.


VERDICTS = "All verdicts"
"""Heading of the section with all findings."""
LARGER_MARGIN = "margin (larger)"
"""Heading of a column with margins of two parts, such as "15 % or 1.00 ms"."""
_LONGEST = 60
"""Maximum number of characters of a label of a row. Longer labels show values without the names of their
paths."""
_PLAIN = Labels()
_MOST_NAMED = 4
"""Maximum number of undrawn findings that the caption names."""


def _first(
    findings: Sequence[Finding], ranked: Sequence[Finding], most: int, quoted: Sequence[Finding] = ()
) -> list[Finding]:
    """Return the first findings of a ranking, sorted by sides and by subject, with points in their original
    order.

    In up to a third of the rows, decided findings from further down the ranking replace the last undecided
    findings. The findings of `leads` are never replaced.
    """
    own_leads = leads(ranked, quoted)
    lead = {id(each) for each in own_leads}
    first = own_leads + [each for each in ranked if id(each) not in lead][: max(0, most - len(lead))]
    undecided = [n for n, each in enumerate(first) if not _is_decided(each) and id(each) not in lead]
    drawn = {id(each) for each in first}
    later = [each for each in ranked if _is_decided(each) and id(each) not in drawn]
    taken = min(len(undecided), len(later), most // 3)
    left = set(undecided[len(undecided) - taken :])
    shown = [each for place, each in enumerate(first) if place not in left] + later[:taken]
    own = {id(each): place for place, each in enumerate(findings)}
    sides = list(dict.fromkeys(each.sides for each in findings))
    firsts: dict[tuple[object, ...], int] = {}
    for place, each in enumerate(shown):
        firsts.setdefault((each.sides, each.case, each.kind, each.of, each.metric), place)
    return sorted(
        shown,
        key=lambda each: (
            sides.index(each.sides),
            firsts[each.sides, each.case, each.kind, each.of, each.metric],
            own[id(each)],
        ),
    )


def _is_decided(found: Finding) -> bool:
    return found.verdict not in ("undecided", "equivalent")


def has_pairs(findings: Sequence[Finding]) -> bool:
    """Whether findings are of pairs of runs with one seed."""
    return bool(findings) and all(each.rule in ("paired", "one-sided") for each in findings)


def points_of(ranked: Sequence[Finding], metric: str, of: int | str) -> list[Mapping[str, Any]]:
    """The points that sentences on a metric of a group or entry name: of each pair of sides, the point of the
    first decided finding, or of the first finding if none is decided."""
    own = [each for each in ranked if each.metric == metric and of in (each.entry, each.of)]
    firsts = {each.sides: each.point for each in reversed(own)}
    decided = {each.sides: each.point for each in reversed(own) if _is_decided(each)}
    points = (decided.get(sides, firsts[sides]) for sides in dict.fromkeys(each.sides for each in own))
    return list({repr(point): point for point in points}.values())


def first_table(
    findings: Sequence[Finding],
    ranked: Sequence[Finding],
    labels: Labels = _PLAIN,
    *,
    is_chosen: bool = False,
    quoted: Sequence[Finding] = (),
    family: Sequence[Finding] = (),
) -> Table:
    """Return the first findings of a ranking as a table. The number of rows is given by `rows_of`.

    Raw p values have a column if Holm's correction makes a finding of the table undecided. With `is_chosen`,
    the rows are the first findings of the ranking alone, without those of `leads`. The findings of `quoted`
    are always in the table: see `conclusion.quoted`. `family` has the findings whose tests are corrected
    together; default: the findings.
    """
    total = len(findings)
    most = rows_of(total)
    shown = ranked[:most] if is_chosen else _first(findings, ranked, most, quoted)
    cut = f"Intervals are {TRUNCATED}." if any(map(is_truncated, shown)) else ""
    single = "Intervals are uncorrected: each is of a single test." if family_size(findings) > 1 else ""
    left = folded(len(shown), total, "findings", VERDICTS)
    notes = [
        *_doubts(shown),
        _corrected(family or findings),
        _tests_of(findings, family),
        single,
        cut,
        _pairs_of_sides(findings),
        left,
    ]
    note = " ".join(filter(None, notes))
    has_raw = any(map(is_open_by_correction, shown))
    made = _table(shown, findings, "Differences and verdicts", note, labels, has_raw=has_raw)
    return replace(made, is_tight=True)


def _tests_of(findings: Sequence[Finding], family: Sequence[Finding]) -> str:
    """A sentence with the number of tests of chosen findings; empty if all findings of a file are chosen."""
    own, every = family_size(findings), family_size(family)
    told = f"{own:,} of these tests are of the chosen metrics and groups"
    return f"{told}; compare with --metric corrects for its own tests only." if own < every else ""


def _pairs_of_sides(findings: Sequence[Finding]) -> str:
    """A sentence that variants are not compared with each other; empty unless several have one reference."""
    references, others = ({each.sides[n] for each in findings} for n in (0, 1))
    if len(references) != 1 or len(others) < 2:
        return ""
    return f"Variants are compared with {references.pop()}, not with each other."


def whole_table(findings: Sequence[Finding], most: int, labels: Labels = _PLAIN) -> Table:
    """All findings with the raw and the corrected p value, up to `most` rows."""
    notes = [*_doubts(findings[:most]), _corrected(findings), left_out(most, len(findings), "rows")]
    note = " ".join(filter(None, notes))
    return _table(findings[:most], findings, "All findings", note, labels, has_raw=True)


def _corrected(findings: Sequence[Finding]) -> str:
    """A sentence with the number of tests that are corrected together; empty for a single test."""
    tests = family_size(findings)
    return f"Verdicts are after Holm's correction for {tests:,} tests." if tests > 1 else ""


def _doubts(findings: Sequence[Finding]) -> list[str]:
    """A sentence on the mark of doubtful verdicts, if there are any."""
    return [f"{told}." for told in doubts_in_words(findings)]


def widths(findings: Sequence[Finding]) -> str:
    """A sentence on the width of 90 % intervals, from which readers can check verdicts of equivalence.

    The sentence is empty if findings have unequal numbers of seeds.
    """
    if len({each.runs for each in findings}) != 1 or findings[0].runs < 2:
        return ""
    narrow, wide = (t_interval(range(findings[0].runs), level) for level in (EQUIVALENCE_LEVEL, LEVEL))
    share = (narrow.high - narrow.low) / (wide.high - wide.low)
    return (
        f"With {findings[0].runs:,} seeds, a 90 % interval has {share:.2f} times the width of the 95 % "
        "interval around the same difference, before truncation."
    )


def _table(
    findings: Sequence[Finding],
    every: Sequence[Finding],
    caption: str,
    note: str,
    labels: Labels,
    *,
    has_raw: bool = False,
) -> Table:
    """A row per finding; columns such as the case appear if any finding needs them, and that of raw p values
    if `has_raw`."""
    paths = list(dict.fromkeys(path for each in findings for path in each.point))
    names = labels.names(paths)
    is_one = len({each.sides for each in every}) == 1
    has_one_reference = len({each.sides[0] for each in every}) == 1
    first = findings[0].sides
    reference, other = first if is_one else (first[0] if has_one_reference else "reference", "variant mean")
    has_cases, has_unfinished = any(each.case for each in every), any(each.left_out for each in findings)
    has_two_parts = any(each.margin.has_two_parts for each in findings)
    has_p = any(each.p_corrected is not None for each in every)
    has_raw = has_raw and any(each.p_raw is not None for each in every)
    columns = [
        *([Column("case")] if has_cases else []),
        *([] if is_one else [Column("variant")]),
        *(Column(names[path]) for path in paths),
        Column("flows or link"),
        Column("metric"),
        Column(reference, is_number=True),
        Column(other, is_number=True),
        Column(f"difference [{level_of(findings)} %]", is_number=True),
        Column(LARGER_MARGIN if has_two_parts else "margin", is_number=True),
        *([Column("p (raw)", is_number=True)] if has_raw else []),
        *([Column("p (corrected)", is_number=True)] if has_p else []),
        Column("verdict", is_verdict=True),
        *([Column("unfinished")] if has_unfinished else []),
    ]
    rows = [
        [
            *([each.case] if has_cases else []),
            *([] if is_one else [_variant(each, is_short=has_one_reference)]),
            *(labels.value(path, each.point[path]) if path in each.point else "-" for path in paths),
            each.group,
            axis_shown(each.metric)[1],
            number_shown(each.reference, each.unit, each.metric),
            number_shown(known(each.other), each.unit, each.metric),
            difference_of(each, has_unit=True),
            _margin(each),
            *([p_shown(each.p_raw)] if has_raw else []),
            *([p_shown(each.p_corrected)] if has_p else []),
            verdict_of(each),
            *([str(each.left_out or "-")] if has_unfinished else []),
        ]
        for each in findings
    ]
    return Table(caption, columns, rows, note)


def _variant(found: Finding, *, is_short: bool) -> str:
    """The name of the variant, with the reference if the findings have several references."""
    return found.sides[1] if is_short else f"{found.sides[1]} against {found.sides[0]}"


def level_of(findings: Sequence[Finding]) -> str:
    """The level of intervals, in per cent."""
    return (
        listed(dict.fromkeys(f"{100 * each.interval.level:g}" for each in findings if each.interval)) or "95"
    )


def _margin(found: Finding) -> str:
    """The margin as stated, or its size if the file has only the size."""
    if found.margin.relative or found.margin.absolute:
        return margin_shown(found.margin, found.unit, found.metric, has_unit=True)
    known = Margin(absolute=found.allowed)
    return margin_shown(known, found.unit, found.metric, has_unit=True) if found.allowed else "-"


def forest_of(
    findings: Sequence[Finding], ranked: Sequence[Finding], labels: Labels = _PLAIN
) -> Figure | None:
    """The first differences of a ranking, each divided by its margin, so that all metrics share one axis.

    Returns:
        None if no finding has a difference and a margin.
    """
    drawable = [each for each in ranked if each.allowed > 0 and not isnan(each.difference)]
    if not drawable:
        return None
    shown = _first(findings, drawable, rows_of(len(drawable)))
    several = len({each.sides for each in findings}) > 1
    names, shared = told_apart(_words(shown, labels, several=several))
    rows = [_difference(each, name) for each, name in zip(shown, names, strict=True)]
    caption = (
        f"Differences with {level_of(shown)} % intervals, as multiples of the margin (grey: within it);"
        " the numbers at the right are in the unit of the metric."
    )
    told = "; ".join(f"{row.label} {row.text}, {row.verdict}" for row in rows)
    chart = Forest("difference / margin (logarithmic beyond 1)", rows, has_margin=True)
    return Figure(f"{caption}{shared}{''.join(_not_drawn(findings, len(drawable), len(shown)))}", chart, told)


def _not_drawn(findings: Sequence[Finding], drawable: int, shown: int) -> Iterator[str]:
    if shown < drawable:
        yield f" The first {shown} of {drawable:,} are drawn."
    left = [each for each in findings if not each.allowed > 0 and each.difference]
    names = [f"{metric_shown(each.metric, each.of)} ({each.outcome})" for each in left[:_MOST_NAMED]]
    names += [f"{len(left) - _MOST_NAMED:,} more"] if len(left) > _MOST_NAMED else []
    if names:
        yield f" Without a margin, so not drawn: {listed(names)}."


def _words(findings: Sequence[Finding], labels: Labels, *, several: bool) -> list[list[str]]:
    """Words that name rows of the figure: metric, variant, group, case, and the values of a point.

    Values are preceded by the names of their paths if the label then has at most `_LONGEST` characters.
    """
    paths = list(dict.fromkeys(path for each in findings for path in each.point))
    names = labels.names(paths)
    rows = []
    for each in findings:
        side = labels.in_print().value(VARIANT, each.sides[1]) if several else ""
        points = [(path, each.point[path]) if path in each.point else None for path in paths]
        told = [labels.at(*point, names[point[0]]) if point else "" for point in points]
        short = [labels.value(*point) if point else "" for point in points]
        first = [
            metric_shown(each.metric),
            side,
            each.group,
            each.case,
        ]
        rows.append((first, told, short))
    is_long = any(len(", ".join(filter(None, (*first, *told)))) > _LONGEST for first, told, _ in rows)
    return [[*first, *(short if is_long else told)] for first, told, short in rows]


def _difference(found: Finding, name: str) -> Difference:
    """A row of the figure, with its interval truncated at the bounds of the metric."""
    within = found.interval_shown
    low, high = (within.low / found.allowed, within.high / found.allowed) if within else (None, None)
    return Difference(
        name, found.difference / found.allowed, low, high, found.outcome, difference_of(found, has_unit=True)
    )


# Findings as a table of values, from which the means and figures of a report are made.


CASE = "case"
"""Key of a point for the case: the name of a scenario in a suite."""


@dataclass(frozen=True)
class FindingPoints(Points):
    """Values of both sides of findings, with the interface of `Points`."""

    frame: pl.DataFrame | None = None
    known_bulk: frozenset[int] = frozenset()
    known_labels: Labels = _PLAIN
    known_both: bool = False
    known_counts: Mapping[int, set[int]] = field(default_factory=dict)

    @classmethod
    def of_findings(
        cls,
        name: str,
        findings: Sequence[Finding],
        bulk: frozenset[int],
        labels: Labels = _PLAIN,
        engine: str = "",
        *,
        has_both: bool = False,
    ) -> FindingPoints | None:
        """The values per seed of every side; None unless findings have at least two values per side.

        Args:
            name: The scenario's name.
            findings: Findings with any number of sides and points.
            bulk: Entries of `flows` that are bulk flows.
            labels: Words for paths and values.
            engine: Engine of all runs; empty if it is not known.
            has_both: Whether the scenarios have both connections and datagrams.
        """
        rows: dict[str, dict[str, Any]] = {}
        for each in findings:
            for side, values in zip(each.sides, each.values, strict=True):
                for seed, value in enumerate(values, 1):
                    row = {
                        **_place(each, side),
                        "seed": seed,
                        "engine": engine,
                        **_measured(each),
                        "value": value,
                    }
                    rows.setdefault(repr([row[key] for key in row if key != "value"]), row)
        if not rows or max(row["seed"] for row in rows.values()) < 2:
            return None
        paths = dict.fromkeys(key for row in rows.values() for key in row if key not in _OTHERS)
        columns: dict[str, Any] = {key: column([row.get(key, "-") for row in rows.values()]) for key in paths}
        columns |= {key: [row[key] for row in rows.values()] for key in ("seed", "engine", *MEASURED)}
        frame = pl.DataFrame(columns, schema_overrides={"entry": pl.Int64, "seed": pl.Int64})
        counts: dict[int, set[int]] = {}
        for each in findings:
            if each.entry is not None:
                counts.setdefault(each.entry, set()).update(each.flows or ())
        return cls(name, [], [], {}, "", frame, bulk, labels, has_both, counts)

    @cached_property
    def values(self) -> pl.DataFrame:
        """Values per seed of both sides of all findings, as in `Points`."""
        assert self.frame is not None
        return self.frame

    @cached_property
    def every_value(self) -> pl.DataFrame:
        """Values per seed of both sides, the same as `values`."""
        return self.values

    @cached_property
    def bulk(self) -> frozenset[int]:
        """Entries of `flows` that are bulk flows."""
        return self.known_bulk

    @cached_property
    def labels(self) -> Labels:
        """Words for paths and values."""
        return self.known_labels

    @cached_property
    def has_both(self) -> bool:
        """Whether the scenarios have both connections and datagrams."""
        return self.known_both

    @cached_property
    def counts(self) -> Mapping[int, set[int]]:
        """Numbers of flows of every entry of `flows`, on both sides."""
        return self.known_counts

    def fair_goodput(self, entry: int) -> pl.DataFrame:
        """The fair share of a group in every run: see `Points.fair_goodput`. Empty unless all groups with a
        goodput are bulk flows whose numbers are the same on both sides."""
        rows = self.values.filter(pl.col("metric") == "goodput")
        known = set(rows["entry"].drop_nulls())
        counts = {each: sum(self.counts.get(each, ())) for each in known}
        is_alike = all(len(self.counts.get(each, ())) == 1 for each in known)
        if entry not in known or len(known) < 2 or not known <= self.bulk or not is_alike:
            return rows.clear()
        even = pl.lit(counts[entry] / sum(counts.values())).alias(EQUAL_SHARE)
        return rows.filter(pl.col("of") == ALL).with_columns(even, fair=pl.col("value") * even)

    @property
    def count(self) -> int:
        """Number of runs: combinations of point, side and seed."""
        return self.values.select([*self.paths, "seed"]).n_unique()


_OTHERS = ("seed", "engine", *MEASURED)


def _place(found: Finding, side: str) -> Mapping[str, Any]:
    """Return the point with its case, if it has a case, and its side."""
    return {**({CASE: found.case} if found.case else {}), **found.point, VARIANT: side}


def _measured(found: Finding) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "entry": found.entry,
        "of": found.of,
        "metric": found.metric,
        "unit": found.unit,
    }
