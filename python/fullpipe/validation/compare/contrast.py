"""Contrasts: one metric of one group of flows or link on two sides, with one value per seed and side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isclose
from operator import itemgetter
from typing import Any

import polars as pl

from fullpipe.analysis.limits import TIMES, UNFINISHED, Counts, counted
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.measure import Better, LinkMeasure, Margin, Measure
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.specific import LINK_MEASURES
from fullpipe.analysis.metrics.table import metric_suggestion
from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.points import are_both
from fullpipe.analysis.statistics import Paired, paired
from fullpipe.errors import ScenarioError, shown
from fullpipe.validation.compare.finding import NO_SUBJECT, Cell, LeftOut, Note, Subject
from fullpipe.validation.compare.side import COLUMNS, Side, are_alike, joint, places

MARGINS: Mapping[str, Margin] = {name: measure.margin for name, measure in BY_NAME.items()}
"""Default margin of every measure. The native engine meets the margins of goodput, mean RTT and
retransmissions against Linux."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sides of one metric. If seeds are paired, both sides have the same seeds in the same order."""

    reference: Sequence[float]
    other: Sequence[float]
    margin: float
    """Largest difference that does not matter, in the unit of the values."""
    better: Better
    seeds_change_nothing: bool = False
    """Whether each side gives equal runs with all seeds, so that each side has in effect one run."""
    left_out: LeftOut | None = None
    """Unfinished transfers, for completion times; None for other metrics."""
    subject: Subject = NO_SUBJECT
    sides: tuple[str, str] = ("reference", "other")
    labels: tuple[str, str] = ("", "")
    """Names of the group or link on either side."""
    flows: tuple[int, int] | None = None
    """Number of flows of the group on either side; None for links and totals."""
    stated: Margin = field(default_factory=Margin)
    """The margin as a share, an amount, or both."""

    @property
    def pairs(self) -> Paired | None:
        """Statistics of the paired differences; None with a single seed."""
        return paired(self.reference, self.other) if len(self.reference) > 1 else None

    @property
    def difference(self) -> float:
        """Mean of the other side minus mean of the reference."""
        return sum(self.other) / len(self.other) - sum(self.reference) / len(self.reference)

    def is_biased(self, *, is_alike: bool) -> bool:
        """Whether unfinished transfers may explain that one side is faster, or that both are alike.

        Slow transfers stay unfinished. If a share u is unfinished, percentile p of the finished transfers is
        percentile p (1 - u) of all transfers. If both sides have the same unfinished share, their values are
        the same percentile of all transfers. With unequal shares, the side with more unfinished transfers
        seems faster than it is. A side that is faster although fewer of its transfers are unfinished is
        really faster. Source: Lachin 1999, "Worst-rank score analysis with informatively missing observations
        in clinical trials".
        """
        more = self.left_out.more if self.left_out else 0.0
        return bool(more) and (is_alike or (more > 0) == (self.difference < 0))


_MEASURES: Mapping[tuple[str, str], Measure | LinkMeasure] = {
    **{("flows", measure.name): measure for measure in MEASURES},
    **{("link", measure.name): measure for measure in LINK_MEASURES},
}
_Of = tuple[str, int | None, str, str]
_Measured = tuple[float | None, int | None, int | None]


def matched(
    reference: Side,
    other: Side,
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    point: Mapping[str, Any] | None = None,
    case: str = "",
) -> tuple[list[Contrast], list[Note]]:
    """Return contrasts of metrics that both sides measured with every seed, and notes on metrics that only
    some runs have.

    Entries of `flows` are matched by name if all entries are named and both sides have the same names.
    Otherwise entries are matched by index, even if their algorithms differ. Links are matched by name.

    Args:
        reference: The reference.
        other: The side compared with the reference.
        metrics: Names of metrics.
        margins: Margins by metric that replace the default margins.
        point: Point of a sweep of both sides.
        case: The scenario of a suite.

    Raises:
        ValueError: If the sides differ in seeds, number of entries, duration or warm-up, or if a margin is
            invalid.
    """
    allowed = overridden(margins)
    if reference.seeds != other.seeds:
        pair = f'"{other.name}" and "{reference.name}"'
        raise ValueError(f"seeds: {pair} were run with different seeds; run both with the same seeds")
    found = places(reference, other)
    theirs, ours = series_of(reference, metrics), series_of(other, metrics, found)
    contrasts, notes, sides = [], dict[Note, None](), (reference.name, other.name)
    alike = reference.is_one_run and other.is_one_run
    has_both = are_both((reference.scenario, other.scenario))
    for cell in theirs:
        if cell not in ours or (theirs[cell].is_unknown and ours[cell].is_unknown):
            continue
        if theirs[cell].is_whole and ours[cell].is_whole:
            made = contrast_of(cell, sides, theirs[cell], ours[cell], allowed, point, case, has_both=has_both)
            contrasts.append(replace(made, seeds_change_nothing=alike))
        else:
            notes[_note(cell, theirs[cell], ours[cell], reference, other)] = None
    return contrasts, list(notes)


_SMOOTHED = {"srtt_mean": "rtt_mean", "srtt_p95": "rtt_p95"}
"""Metrics of the smoothed RTT, with the metrics that they repeat for pings, whose RTT is not smoothed."""
_NEARLY_EQUAL = 1e-12


def distinct(pairs: Sequence[Sequence[Contrast]]) -> list[list[Contrast]]:
    """The contrasts of several pairs of sides, without those that repeat others in all pairs.

    The total of all flows repeats its only group that has the metric; of Jain's index, the total remains.
    The smoothed RTT of pings repeats their RTT. Groups that never retransmit, such as pings, have no contrast
    of retransmissions if they have others.

    Args:
        pairs: The contrasts of every pair, all of different subjects.
    """
    by_cell = [{each.subject.cell: each for each in of_pair} for of_pair in pairs]
    cells = list(dict.fromkeys(cell for of_pair in by_cell for cell in of_pair))

    def is_repeated(cell: Cell, other: Cell) -> bool:
        own = [of_pair for of_pair in by_cell if cell in of_pair]
        return all(other in of_pair and _are_equal(of_pair[cell], of_pair[other]) for of_pair in own)

    left: set[Cell] = set()
    for cell in cells:
        kind, of, metric = cell
        if of in TOTALS:
            groups = [each for each in cells if isinstance(each[1], int) and each[2] == metric]
            twin = next((each for each in groups if is_repeated(cell, each)), None)
            left |= set() if twin is None else {twin if metric == "jain" else cell}
        elif (twin := (kind, of, _SMOOTHED.get(metric, ""))) in cells and is_repeated(cell, twin):
            left.add(cell)
        elif metric == "retransmitted" and not any(
            any(each[cell].reference) or any(each[cell].other) for each in by_cell if cell in each
        ):
            left |= {cell} if any(each[:2] == cell[:2] and each != cell for each in cells) else set()
    return [[each for each in of_pair if each.subject.cell not in left] for of_pair in pairs]


def _are_equal(one: Contrast, other: Contrast) -> bool:
    sides = ((one.reference, other.reference), (one.other, other.other))
    return all(
        len(ours) == len(theirs)
        and all(isclose(*values, rel_tol=_NEARLY_EQUAL) for values in zip(ours, theirs, strict=True))
        for ours, theirs in sides
    )


@dataclass(frozen=True)
class Series:
    """A metric of one side: a value per seed, in the order of seeds."""

    label: str
    values: list[float]
    seeds: int
    """All seeds that the side was run with, including runs without the metric."""
    counts: Counts | None
    """Unfinished transfers, for completion times."""
    flows: int = 0
    """Number of flows of the group; 0 for links and totals."""

    @property
    def is_whole(self) -> bool:
        """Whether every run has a value."""
        return len(self.values) == self.seeds

    @property
    def is_unknown(self) -> bool:
        """Whether no run has a value."""
        return not self.values


def series_of(side: Side, metrics: Sequence[str], found: Sequence[int] | None = None) -> dict[Cell, Series]:
    """The values of a side by group and metric, one for each seed.

    Args:
        side: The side.
        metrics: Names of metrics, in the order in which they are compared.
        found: For every entry of the side, the index of its counterpart in the reference; None if the indices
            are equal.
    """
    seeds = len(side.seeds)
    parts: dict[_Of, dict[int, _Measured]] = {}
    for seed, kind, entry, name, metric, *measured in _ordered(side.values, metrics):
        of_seeds = parts.setdefault((kind, entry, name, metric), {})
        of_seeds[seed] = (measured[0], measured[1], measured[2])
    series: dict[Cell, Series] = {}
    for (kind, entry, name, metric), of_seeds in parts.items():
        part = list(of_seeds.values())
        place: int | str = name
        if entry is not None and (found is None or entry < len(found)):
            place = entry if found is None else found[entry]
        known = [value for value, *_ in part if value is not None]
        entries = side.scenario.flows
        flows = 0 if entry is None or entry >= len(entries) else entries[entry].count
        series[kind, place, metric] = Series(name, known, seeds, _counts(part), flows)
    groups = {group: n for n, group in enumerate(dict.fromkeys(key[:2] for key in series))}
    ranks = {metric: n for n, metric in enumerate(dict.fromkeys(metrics))}
    order = sorted(series, key=lambda key: (groups[key[:2]], ranks[key[2]]))
    return {key: series[key] for key in order}


def _ordered(values: pl.DataFrame, metrics: Sequence[str]) -> list[tuple[Any, ...]]:
    """Seed, `COLUMNS`, `began` and `unfinished` of the rows of some metrics, in the order of seeds.

    Tables are small, and a loop over rows is faster than a query.
    """
    if not TIMES.keys().isdisjoint(metrics):
        columns = [
            column.to_list() for column in counted(values).select("seed", *COLUMNS, "began", "unfinished")
        ]
    else:
        columns = [values[name].to_list() for name in ("seed", *COLUMNS)]
        columns += [[None] * values.height] * 2
    asked = set(metrics)
    rows = [row for row in zip(*columns, strict=True) if row[4] in asked]
    return sorted(rows, key=itemgetter(0))


def _counts(rows: Sequence[_Measured]) -> Counts | None:
    if all(began is None for _, began, _ in rows):
        return None
    return Counts(sum(unfinished or 0 for *_, unfinished in rows), sum(began or 0 for _, began, _ in rows))


def _left_out(metric: str, theirs: Series, ours: Series, margins: Mapping[str, Margin]) -> LeftOut | None:
    if theirs.counts is None or ours.counts is None:
        return None
    margin = margins[f"{TIMES[metric]}{UNFINISHED}"].allowed(theirs.counts.share)
    return LeftOut(theirs.counts, ours.counts, margin)


def contrast_of(
    cell: Cell,
    sides: tuple[str, str],
    theirs: Series,
    ours: Series,
    margins: Mapping[str, Margin],
    point: Mapping[str, Any] | None = None,
    case: str = "",
    *,
    has_both: bool = False,
) -> Contrast:
    """Return the contrast of a metric that both sides have; see `Subject` for `has_both`."""
    kind, place, metric = cell
    margin, measure = margins[metric], measure_of(cell)
    entry = place if isinstance(place, int) else None
    of = joint({"reference": theirs.label, "other": ours.label})
    return Contrast(
        theirs.values,
        ours.values,
        margin.allowed(sum(theirs.values) / len(theirs.values)),
        measure.better,
        left_out=_left_out(metric, theirs, ours, margins),
        subject=Subject(kind, entry, of, metric, measure.unit, dict(point or {}), case, has_both),
        sides=sides,
        labels=(theirs.label, ours.label),
        flows=(theirs.flows, ours.flows) if theirs.flows and ours.flows else None,
        stated=margin,
    )


FAIR, SHARE, EQUAL_SHARE = "fair share", "share", "equal_share"
"""Side of `fair_shares` that is the reference, and the metrics of both sides."""
_SUM = 1e-3
"""Largest share of pings, which compete for nothing, beside two groups whose tests are the same."""


def shares(values: pl.DataFrame) -> pl.DataFrame:
    """The goodput shares of entries of `flows` with their fair shares, one row per run and entry.

    An entry has rows at the points where all flows in its direction are bulk flows, and at least one of these
    flows belongs to another entry. The columns are those of `paths_of`, `seed`, `entry`, `of`, `share` and
    `equal_share`.

    Args:
        values: Values of the metrics `share` and `equal_share`, as `values_of` returns them.
    """
    rows = values.drop_nulls(["entry", "value"]).filter(pl.col("metric").is_in([SHARE, EQUAL_SHARE]))
    wide = rows.pivot("metric", index=[*paths_of(values), "seed", "entry", "of"], values="value")
    if not {SHARE, EQUAL_SHARE} <= {*wide.columns}:
        return wide.clear()
    return wide.drop_nulls([SHARE, EQUAL_SHARE]).filter(pl.col(EQUAL_SHARE) < 1)


def told_paths(values: pl.DataFrame) -> list[str]:
    """The columns that distinguish the points of a table of values. The engine is one of them only if there
    are several engines."""
    return [path for path in paths_of(values) if path != "engine" or values["engine"].n_unique() > 1]


def fair_shares(values: pl.DataFrame, preferred: int | None = None) -> list[Contrast]:
    """Contrasts of the goodput share of groups of flows with their fair share in the same runs.

    A group has a contrast at every point at which `shares` has two or more seeds of the group. If the shares
    of two groups sum to 1, only the group above its fair share has a contrast, as a test of the other group
    would give the same result.

    Args:
        values: See `shares`. Further metrics, such as goodput, show whether runs with equal shares differ.
        preferred: Entry that has a contrast at every point.
    """
    paths, told = paths_of(values), told_paths(values)
    found: dict[str, list[Contrast]] = {}
    for _, part in shares(values).group_by([*paths, "entry"], maintain_order=True):
        first = part.row(0, named=True)
        even, own = part[EQUAL_SHARE].to_list(), part[SHARE].to_list()
        if len(own) < 2:
            continue
        is_one_run = len({*own}) == 1 and are_alike(
            values.filter(pl.col(path).eq_missing(pl.lit(first[path])) for path in paths)
        )
        point = {path: first[path] for path in told if first[path] is not None}
        subject = Subject("flows", first["entry"], first["of"], SHARE, BY_NAME[SHARE].unit, point)
        contrast = Contrast(
            even,
            own,
            MARGINS[SHARE].allowed(sum(even) / len(even)),
            "",
            seeds_change_nothing=is_one_run,
            subject=subject,
            sides=(FAIR, BY_NAME[SHARE].label),
            labels=(first["of"], first["of"]),
            stated=MARGINS[SHARE],
        )
        found.setdefault(repr([first[path] for path in paths]), []).append(contrast)
    return [contrast for of_point in found.values() for contrast in _without_twins(of_point, preferred)]


def _without_twins(contrasts: Sequence[Contrast], preferred: int | None) -> list[Contrast]:
    """Leave out contrasts whose shares are 1 minus the shares of the preferred entry, or of a contrast with a
    larger difference."""
    kept: list[Contrast] = []
    for contrast in sorted(contrasts, key=lambda each: (each.subject.entry != preferred, -each.difference)):
        if not any(_is_rest(contrast.other, other.other) for other in kept):
            kept.append(contrast)
    return kept


def _is_rest(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(abs(a + b - 1) < _SUM for a, b in zip(one, other, strict=True))


def measure_of(cell: Cell) -> Measure | LinkMeasure:
    """The declaration of the metric of a cell."""
    return _MEASURES[cell[0], cell[2]]


def _note(cell: Cell, theirs: Series, ours: Series, reference: Side, other: Side) -> Note:
    of = joint({"reference": theirs.label, "other": ours.label})
    lacking = [
        f"{len(series.values)} of {series.seeds} runs of {side.name}"
        + (f" ({series.counts})" if series.counts else "")
        for series, side in ((theirs, reference), (ours, other))
        if not series.is_whole
    ]
    counts = {
        side.name: (len(series.values), series.seeds)
        for series, side in ((theirs, reference), (ours, other))
        if not series.is_whole
    }
    groups, of_link = ([of], "") if cell[0] == "flows" else ([], of)
    end = f"{of_link} is left out, as only {' and '.join(lacking)} have it"
    return Note(f"{cell[2]} of ", cell[2], counts, groups, end)


def overridden(margins: Mapping[str, Margin] | None) -> dict[str, Margin]:
    """The default margins of all metrics, replaced where `margins` has a metric.

    Raises:
        ValueError: If a metric is unknown, or a margin is negative or not a number.
    """
    for metric, margin in (margins or {}).items():
        if metric not in MARGINS:
            raise ValueError(f'margins: unknown metric "{metric}"{metric_suggestion(metric)}')
        if not all(0 <= part < inf for part in (margin.relative, margin.absolute)):
            raise ValueError(f'margins: "{metric}" has {margin}; give numbers of 0 or more')
    return {**MARGINS, **(margins or {})}


def read_margin(text: str) -> tuple[str, Margin]:
    """Read `metric=margin`: a percentage, an amount in the base unit of the metric, or both.

    >>> read_margin("retransmitted=40%,20")
    ('retransmitted', Margin(relative=0.4, absolute=20.0))

    Raises:
        ScenarioError: If the metric is unknown, or the margin cannot be read.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in MARGINS:
        raise ScenarioError([f'--margin "{text}": unknown metric "{name}"{metric_suggestion(name)}'])
    try:
        return name, margin_of(value)
    except ValueError as error:
        raise ScenarioError([f'--margin "{text}": {error}']) from None


def margin_of(text: str) -> Margin:
    """Read a percentage, an amount in the base unit of the metric, or both.

    >>> margin_of("2 %")
    Margin(relative=0.02, absolute=0.0)

    Raises:
        ValueError: If the text cannot be read as a margin.
    """
    relative = absolute = 0.0
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", part)
        if not found:
            how = "write it as 5%, as an amount in base units, or as both, such as 40%,20"
            raise ValueError(f"{shown(part.strip())} is no margin; {how}")
        if found[2]:
            relative = float(found[1]) / 100
        else:
            absolute = float(found[1])
    return Margin(relative, absolute)
