"""Runs of several variants with the same seeds: what is better, in words, in a table and in a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from fullpipe.analysis.metrics.headlines import headlines
from fullpipe.analysis.values import value_text
from fullpipe.report.content import Items, Section, Text
from fullpipe.report.findings import VERDICTS, whole_table
from fullpipe.report.runs.points import Points, ordered
from fullpipe.report.said import HOW_COMPARED, summary
from fullpipe.runs import Run
from fullpipe.scenario.quantities import as_numbers
from fullpipe.validation.compare import VariantComparison
from fullpipe.validation.compare.comparison import compare_all
from fullpipe.validation.compare.side import Side
from fullpipe.validation.over import HEADLINES

Comparisons = Sequence[VariantComparison]
_Pair = tuple[Mapping[str, Any], Side, Side]
_MOST_VARIANTS, _MOST_COMPARISONS = 6, 40


def compared(found: Points) -> list[VariantComparison]:
    """Every value of a path against the first, at every point of the others; nothing if that says little.

    The paths are those that have few values, which are names: that of an algorithm first, and others as long
    as there are not too many comparisons. Runs of several engines, of one seed, or of other seeds on the two
    sides are not compared. All are one family: see `compare_all`. It is of the metrics, and the group of
    flows, that are asked for, or else of those that `compare` has.
    """
    if len(found.seeds) < 2 or "engine" in found.paths:
        return []
    pairs: list[_Pair] = []
    first = _first_runs(found)
    for path in _named_paths(found):
        more = list(_pairs(found, path, first))
        if len(pairs) + len(more) <= _MOST_COMPARISONS:
            pairs += more
    try:
        shown = found.metrics or headlines(HEADLINES, (run.scenario for run in found.runs))
        return compare_all(pairs, shown) if pairs else []
    except ValueError:  # they do not measure the same, or have other seeds
        return []


def _named_paths(found: Points) -> list[str]:
    few = [path for path in found.paths if _are_few_names(found.values[path].unique().to_list())]
    return sorted(few, key=lambda path: not path.endswith("cca"))


def _are_few_names(values: Sequence[Any]) -> bool:
    return len(values) <= _MOST_VARIANTS and as_numbers(values) is None


def _first_runs(found: Points) -> dict[tuple[str, ...], Run]:
    """The first run of every point, by the values of its paths."""
    runs: dict[tuple[str, ...], Run] = {}
    for point, run in zip(found.points, found.runs, strict=True):
        runs.setdefault(_key(found, point), run)
    return runs


def _key(found: Points, point: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of all paths as text, which rows of values and points of runs have in common."""
    return tuple(value_text(point[path]) for path in found.paths)


def _pairs(found: Points, path: str, runs: Mapping[tuple[str, ...], Run]) -> Iterator[_Pair]:
    others = [each for each in found.paths if each != path]
    values = found.every_value
    for part in values.partition_by(others, maintain_order=True) if others else [values]:
        point = {found.words[each]: found.said(each, part[each][0]) for each in others}
        first, *rest = [_variant(found, part, path, value, runs) for value in ordered(part[path].to_list())]
        yield from ((point, first, other) for other in rest)


def _variant(
    found: Points, part: pl.DataFrame, path: str, value: Any, runs: Mapping[tuple[str, ...], Run]
) -> Side:
    rows = part.filter(pl.col(path).eq_missing(pl.lit(value)), found.is_asked())
    return Side(_side(found, path, value), runs[_key(found, rows.row(0, named=True))].scenario, rows)


def _side(found: Points, path: str, value: Any) -> str:
    """Name of a value, with its path where another path has one of its values, too."""
    own = set(map(repr, found.values[path].unique().to_list()))
    others = (found.values[each].unique().to_list() for each in found.paths if each != path)
    is_shared = any(not own.isdisjoint(map(repr, values)) for values in others)
    return found.at(path, value) if is_shared else found.said(path, value)


def by_sides(made: Comparisons) -> dict[str, list[VariantComparison]]:
    """The comparisons at all points of every variant, by the names of both sides."""
    sides: dict[str, list[VariantComparison]] = {}
    for one in made:
        sides.setdefault(f"{one.other} against {one.reference}", []).append(one)
    return sides


def sentences(made: Comparisons) -> Iterator[str]:
    """A sentence per variant, over all points."""
    for sides, at in by_sides(made).items():
        rows = [{"verdict": each.verdict, "metric": each.metric} for one in at for each in one.findings]
        yield f"{sides}: {summary(rows)}."


def section(made: Comparisons, rows: int) -> Section:
    """All verdicts, and how they come about."""
    notes = list(dict.fromkeys(note for one in made for note in one.notes))
    more = [Items(notes)] if notes else []
    findings = [finding for one in made for finding in one.findings]
    return Section(VERDICTS, [Text(HOW_COMPARED), whole_table(findings, rows), *more])
