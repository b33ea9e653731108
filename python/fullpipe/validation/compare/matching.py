"""The metrics of two variants side by side: what belongs together, and what only one of them has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import polars as pl

from fullpipe.analysis.metrics.link_measures import LINK_MEASURES
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.metrics.measure import LinkMeasure, Measure
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.unfinished import TIMES, UNFINISHED, Counts, counted, with_counts
from fullpipe.analysis.values import values_of
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.validation.compare.judge import Contrast, LeftOut
from fullpipe.validation.compare.margins import MARGINS, check_margin
from fullpipe.validation.compare.pairs import joint, places

_MEASURES: Mapping[tuple[str, str], Measure | LinkMeasure] = {
    **{("flows", measure.name): measure for measure in MEASURES},
    **{("link", measure.name): measure for measure in LINK_MEASURES},
}
Key = tuple[str, int | str, str]
"""Kind, place among the reference's `flows` or name, and metric."""
_Of = tuple[str, int | None, str, str]
_Measured = tuple[float | None, int | None, int | None]
_COLUMNS = ("kind", "entry", "of", "metric", "value", "began", "unfinished")
"""Those of `_Of`, and of `_Measured`."""


@dataclass(frozen=True)
class Variant:
    """One side: a scenario, and what was measured of it with several seeds."""

    name: str
    scenario: Scenario
    values: pl.DataFrame
    """As `values_of` gives them, of one point."""

    @classmethod
    def of_runs(
        cls, name: str, runs: Sequence[Run], metrics: Sequence[str], links: Collection[str] | None = None
    ) -> Variant:
        """The side of finished runs; see `values_of`. All metrics are measured where those that are asked for
        are the same with every seed."""
        values = values_of((({}, run) for run in runs), with_counts(metrics), links)
        if _are_alike(values):
            values = values_of((({}, run) for run in runs), links=links)
        return cls(name, runs[0].scenario, values)

    @property
    def seeds(self) -> list[int]:
        """In ascending order."""
        return sorted(set(self.values["seed"].to_list()))

    @property
    def is_one_run(self) -> bool:
        """Whether every metric is the same with all seeds."""
        return _are_alike(self.values)


def _are_alike(values: pl.DataFrame) -> bool:
    """Stops at the first value that differs. Tables are small, and a query takes longer than rows."""
    firsts: dict[tuple[Any, ...], float | None] = {}
    for *key, value in zip(*(values[name].to_list() for name in _COLUMNS[:5]), strict=True):
        first = firsts.setdefault(tuple(key), value)
        if first != value and not (first != first and value != value):  # NaN is alike
            return False
    return bool(firsts)


@dataclass(frozen=True)
class Match:
    """A metric of an entry of `flows`, of all flows or of a link, on two sides, and not judged yet."""

    kind: str
    entry: int | None
    of: str
    """By both names if they differ."""
    metric: str
    unit: str
    margin: Margin
    contrast: Contrast


def matched(
    reference: Variant, other: Variant, metrics: Sequence[str], margins: Mapping[str, Margin] | None = None
) -> tuple[list[Match], list[str]]:
    """What both sides have measured with every seed, and a line on each that only some runs have.

    Entries of `flows` are matched by their names if all have one and both sides have the same, and else by
    their places, whatever algorithms they have; links are matched by name.

    Raises:
        ValueError: If the sides have other seeds, another number of entries, another duration or warm-up, or
            if a margin is none.
    """
    for metric, margin in (margins or {}).items():
        check_margin(metric, margin)
    if reference.seeds != other.seeds:
        raise ValueError(f'seeds: "{other.name}" and "{reference.name}" have others; run both with the same')
    found = places((reference.name, reference.scenario), (other.name, other.scenario))
    seeds = len(reference.seeds)
    theirs = _by_key(reference.values, metrics, seeds)
    ours = _by_key(other.values, metrics, seeds, found)
    allowed = {**MARGINS, **(margins or {})}
    matches, notes = [], dict[str, None]()
    alike = reference.is_one_run and other.is_one_run
    for key in theirs:
        if key not in ours or (theirs[key].is_unknown and ours[key].is_unknown):
            continue
        if theirs[key].is_whole and ours[key].is_whole:
            matches.append(_match(key, theirs[key], ours[key], allowed, alike))
        else:
            notes[_note(key, theirs[key], ours[key], reference, other)] = None
    return matches, list(notes)


@dataclass(frozen=True)
class _Side:
    """A metric of one side: a value per seed, in the order of seeds."""

    label: str
    values: list[float]
    seeds: int
    """All that the side has run, with the metric or without."""
    counts: Counts | None
    """Of completion times: how many are left out."""

    @property
    def is_whole(self) -> bool:
        return len(self.values) == self.seeds

    @property
    def is_unknown(self) -> bool:
        return not self.values


def _by_key(
    values: pl.DataFrame, metrics: Sequence[str], seeds: int, found: Sequence[int] | None = None
) -> dict[Key, _Side]:
    """The values of a side by what they are of, one for each seed.

    Args:
        values: As `values_of` gives them.
        metrics: What is compared.
        seeds: How many the side has run.
        found: The places of its entries on the other side; None if they are the same.
    """
    parts: dict[_Of, dict[int, _Measured]] = {}
    for seed, kind, entry, name, metric, *measured in _ordered(values, metrics):
        of_seeds = parts.setdefault((kind, entry, name, metric), {})
        of_seeds[seed] = (measured[0], measured[1], measured[2])
    sides: dict[Key, _Side] = {}
    for (kind, entry, name, metric), of_seeds in parts.items():
        part = list(of_seeds.values())
        place = name if entry is None else entry if found is None else found[entry]
        known = [value for value, *_ in part if value is not None]
        sides[kind, place, metric] = _Side(name, known, seeds, _counts(part))
    groups = {group: n for n, group in enumerate(dict.fromkeys(key[:2] for key in sides))}
    ranks = {metric: n for n, metric in enumerate(dict.fromkeys(metrics))}
    order = sorted(sides, key=lambda key: (groups[key[:2]], ranks[key[2]]))
    return {key: sides[key] for key in order}


def _ordered(values: pl.DataFrame, metrics: Sequence[str]) -> list[tuple[Any, ...]]:
    """The seed and `_COLUMNS` of the rows of some metrics, in the order of seeds.

    Tables are small, and a query takes longer than rows.
    """
    if not TIMES.keys().isdisjoint(metrics):
        columns = [column.to_list() for column in counted(values).select("seed", *_COLUMNS)]
    else:
        columns = [values[name].to_list() for name in ("seed", *_COLUMNS[:5])]
        columns += [[None] * values.height] * 2
    asked = set(metrics)
    rows = [row for row in zip(*columns, strict=True) if row[4] in asked]
    return sorted(rows, key=itemgetter(0))


def _counts(rows: Sequence[_Measured]) -> Counts | None:
    if all(began is None for _, began, _ in rows):
        return None
    return Counts(sum(unfinished or 0 for *_, unfinished in rows), sum(began or 0 for _, began, _ in rows))


def _left_out(metric: str, theirs: _Side, ours: _Side, margins: Mapping[str, Margin]) -> LeftOut | None:
    if theirs.counts is None or ours.counts is None:
        return None
    margin = margins[f"{TIMES[metric]}{UNFINISHED}"].allowed(theirs.counts.share)
    return LeftOut(theirs.counts, ours.counts, margin)


def _match(key: Key, theirs: _Side, ours: _Side, margins: Mapping[str, Margin], alike: bool) -> Match:
    kind, place, metric = key
    margin = margins[metric]
    allowed = margin.allowed(sum(theirs.values) / len(theirs.values))
    measure = _MEASURES[kind, metric]
    left_out = _left_out(metric, theirs, ours, margins)
    contrast = Contrast(theirs.values, ours.values, allowed, measure.better, alike, left_out)
    entry = place if isinstance(place, int) else None
    of = joint({"reference": theirs.label, "other": ours.label})
    return Match(kind, entry, of, metric, measure.unit, margin, contrast)


def _note(key: Key, theirs: _Side, ours: _Side, reference: Variant, other: Variant) -> str:
    of = joint({"reference": theirs.label, "other": ours.label})
    told = [
        f"{len(side.values)} of {side.seeds} runs of {variant.name}"
        + (f" ({side.counts})" if side.counts else "")
        for side, variant in ((theirs, reference), (ours, other))
        if not side.is_whole
    ]
    return f"{key[2]} of {of} is left out, as only {' and '.join(told)} have it"
