"""Factors of `fullpipe test` in reports: the first table, and the figure of the largest differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from pydantic import ValidationError

from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.shown import (
    axis_shown,
    difference_shown,
    interval_shown,
    is_relative,
    margin_shown,
    metric_shown,
    number_shown,
    p_shown,
)
from fullpipe.analysis.statistics import Effect, Interval
from fullpipe.report.content import Column, Difference, Figure, Forest, Table, rows_of
from fullpipe.report.rows import interval_of, is_real, margin_of, reference_of, relative_of, text_of
from fullpipe.report.text import folded, listed, told_apart
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.sentence import with_seeds
from fullpipe.validation.test import stored
from fullpipe.validation.test.factor import INTERACTION, effect_shown

_MOST_LEVELS = 4
"""Maximum number of levels with a column each; with more levels, the table has the lowest and the highest
mean."""


class StoredFactor(stored.Factor):
    """A factor of a file of `fullpipe test`, with the texts that reports show."""

    @property
    def pair(self) -> stored.Pair:
        """The pair of levels with the largest difference of means.

        Interval and margin are missing if the file does not have this pair.
        """
        if self.largest:
            return self.largest
        low, high = sorted(self.means.index(end(self.means)) for end in (min, max))
        levels = self.levels[low], self.levels[high]
        if low == high or {*levels} == {*self.widest.levels}:
            return self.widest
        return stored.Pair(levels=levels, difference=self.means[high] - self.means[low])

    @property
    def margin_shown(self) -> str:
        """The margin with its unit."""
        return margin_shown(Margin(absolute=self.pair.margin), self.unit, self.metric, has_unit=True)

    @property
    def subject(self) -> str:
        """Metric and group in the form of the option `--metric`."""
        return f"{self.metric} of {self.of}"

    @property
    def reference(self) -> float:
        """Mean of the first level of the pair; 0 if the mean is not known."""
        means = dict(zip(self.levels, self.means, strict=True))
        return means.get(self.pair.levels[0], 0.0)

    @property
    def effect_shown(self) -> str:
        """The effect size with its interval."""
        if not self.effect:
            return "-"
        ends = self.effect.interval
        interval = Interval(ends.low, ends.high, 0.95, "noncentral F") if ends else None
        return effect_shown(Effect(self.effect.name, self.effect.value, interval))

    @property
    def interval(self) -> Interval | None:
        """The interval of the largest difference."""
        ends = self.pair.interval
        return Interval(ends.low, ends.high, 0.95, "t") if ends else None

    @property
    def relative(self) -> Interval | None:
        """The interval of the largest difference as a share of the reference."""
        ends = self.pair.relative_interval
        return Interval(ends.low, ends.high, 0.95, "Fieller") if ends else None

    @property
    def interval_shown(self) -> Interval | None:
        """The shown interval of the largest difference, in the unit of the metric, truncated at its
        bounds."""
        stated = self.margin.stated if self.margin else None
        is_share = is_relative(self.unit, self.metric, self.reference, stated)
        return interval_shown(self.interval, self.relative, self.metric, self.reference, is_share=is_share)

    @property
    def difference_shown(self) -> str:
        """The largest difference with its interval and unit."""
        stated = self.margin.stated if self.margin else None
        of = self.reference, self.unit, self.metric, stated, self.relative
        return difference_shown(self.pair.difference, self.interval, *of, has_unit=True)


def factors_in(found: Mapping[str, Any]) -> list[StoredFactor]:
    """The factors of a file, in the order of its conclusion; empty if the factors are missing or invalid."""
    given = found.get("factors")
    try:
        return [StoredFactor.model_validate(each) for each in given] if isinstance(given, list) else []
    except (ValidationError, RecursionError):
        return []


def in_words(
    rows: Sequence[Mapping[str, Any]], found: Sequence[StoredFactor], labels: Labels
) -> list[Mapping[str, Any]]:
    """Return rows of tests with the verdicts of the conclusion, and with effects in words.

    A main effect has the status of its factor.
    """
    statuses: dict[tuple[Any, ...], str] = {
        (each.of, each.metric, each.factor, str(each.point)): each.status for each in found
    }
    paths = dict.fromkeys(path for each in found for path in each.point)
    factors = list(dict.fromkeys(each.factor for each in found))
    words = labels.names(factors)
    told: list[Mapping[str, Any]] = []
    for row in rows:
        point = str({path: row[path] for path in paths if path in row})
        status = statuses.get((row.get("of"), row.get("metric"), str(row.get("effect")), point))
        verdict = row.get("verdict")
        verdict = status or ("matters" if verdict == "different" else verdict) if verdict else verdict
        told.append({**row, "verdict": verdict, "effect": _effect_in_words(row, factors, words, labels)})
    return told


def _effect_in_words(
    row: Mapping[str, Any], factors: Sequence[str], words: Mapping[str, str], labels: Labels
) -> Any:
    """The factors of an effect, or two levels of the only factor, in words."""
    effect, levels = row.get("effect"), row.get("levels")
    if not isinstance(effect, str):
        return effect
    if isinstance(levels, list) and len(levels) == 2 and len(factors) == 1:
        return " - ".join(labels.level(factors[0], str(level)) for level in reversed(levels))
    return INTERACTION.join(words.get(path, path) for path in effect.split(INTERACTION))


def table_of(found: Sequence[StoredFactor], labels: Labels) -> Table:
    """A row per factor, metric, group and point: means of levels, largest difference, effect and verdict."""
    shown = found[: rows_of(len(found))]
    paths = list(dict.fromkeys(path for each in found for path in each.point))
    words = labels.names([*dict.fromkeys(each.factor for each in found), *paths])
    levels, is_one = found[0].levels, len({(each.factor, tuple(each.levels)) for each in found}) == 1
    is_pair, has_levels = is_one and len(levels) == 2, is_one and len(levels) <= _MOST_LEVELS
    means = ["lowest mean", "highest mean"]
    if has_levels:
        means = [_level_at(found[0].factor, level, words, labels) for level in levels]
    columns = [
        *(Column(words[path]) for path in paths),
        *([] if is_one else [Column("factor")]),
        Column("flows or link"),
        Column("metric"),
        *(Column(name, is_number=True) for name in means),
        *([] if is_pair else [Column("between")]),
        Column("difference [95 %]" if is_pair else "largest difference [95 %]", is_number=True),
        *([Column("margin", is_number=True)] if is_pair else []),
        Column("effect size", is_number=True),
        Column("p (corrected)", is_number=True),
        Column("verdict", is_verdict=True),
    ]
    rows = [
        [
            *(labels.value(path, each.point.get(path, "-")) for path in paths),
            *([] if is_one else [words[each.factor]]),
            each.of,
            axis_shown(each.metric)[1],
            *_means(each, labels, has_levels=has_levels),
            *([] if is_pair else [_between(each, labels)]),
            each.difference_shown,
            *([each.margin_shown] if is_pair else []),
            each.effect_shown,
            p_shown(each.p_corrected),
            with_seeds(each.status, each.seeds_that_would_decide),
        ]
        for each in shown
    ]
    caption = f"Means by {listed(dict.fromkeys(words[each.factor] for each in found))}, and verdicts"
    note = folded(len(shown), len(found), "rows", "All tests")
    return Table(caption, columns, rows, note, is_tight=True)


def _level_at(path: str, level: str, words: Mapping[str, str], labels: Labels) -> str:
    """Return a level with the name of its factor; if the level has a label, only the label."""
    return labels.given(path, level) or f"{words[path]} {labels.level(path, level)}"


def _means(found: StoredFactor, labels: Labels, *, has_levels: bool) -> Iterator[str]:
    means = [number_shown(mean, found.unit, found.metric) for mean in found.means]
    if has_levels:
        yield from means
        return
    for end in (min, max):
        place = found.means.index(end(found.means))
        yield f"{means[place]} ({labels.level(found.factor, found.levels[place])})"


def _between(found: StoredFactor, labels: Labels) -> str:
    """Both levels of the largest difference."""
    reference, other = (labels.level(found.factor, level) for level in found.pair.levels)
    return f"{reference} and {other}"


def forest_of(found: Sequence[StoredFactor], labels: Labels) -> Figure | None:
    """The largest difference of every row of the table, in multiples of its margin; None without margins."""
    drawable = [each for each in found if each.pair.margin > 0]
    shown = drawable[: rows_of(len(drawable))]
    if not shown:
        return None
    paths = list(dict.fromkeys(path for each in shown for path in each.point))
    words = labels.names([*dict.fromkeys(each.factor for each in shown), *paths])
    names, shared = told_apart(
        [
            [
                *(metric_shown(each.metric), each.of),
                *(
                    labels.at(path, each.point[path], words[path]) if path in each.point else ""
                    for path in paths
                ),
                f"{words[each.factor]} {_between(each, labels)}",
            ]
            for each in shown
        ]
    )
    rows = [_difference(each, name) for each, name in zip(shown, names, strict=True)]
    left = f" The first {len(shown)} of {len(drawable):,} are drawn." if len(shown) < len(drawable) else ""
    caption = (
        "Largest difference between levels with its 95 % interval, as a multiple of the margin (grey: within"
        f" it); the numbers at the right are in the unit of the metric.{shared}{left}"
    )
    told = "; ".join(f"{row.label} {row.text}, {row.verdict}" for row in rows)
    return Figure(caption, Forest("difference / margin (logarithmic beyond 1)", rows, has_margin=True), told)


def _difference(found: StoredFactor, name: str) -> Difference:
    scale, interval = found.pair.margin, found.interval_shown
    low, high = (interval.low / scale, interval.high / scale) if interval else (None, None)
    return Difference(name, found.pair.difference / scale, low, high, found.status, found.difference_shown)


# Effects of `fullpipe test` as a figure: differences in per cent of their reference.


_MOST = 12
"""Rows of the figure."""
_LARGEST = 1e9
"""Largest difference that is drawn, in per cent of the reference."""
Row = Mapping[str, Any]


def forest_of_effects(rows: Sequence[Row]) -> Figure | None:
    """Draw the differences of rows, rows with a verdict first; None if no row has a difference."""
    known = [(row, made) for row in rows if (made := _effect_of_row(row)) is not None]
    if not known:
        return None
    first = sorted(range(len(known)), key=lambda n: not known[n][0].get("verdict"))[:_MOST]
    drawn = [known[n][1] for n in sorted(first)]
    left = f" {len(drawn)} of {len(known):,} are drawn." if len(drawn) < len(known) else ""
    caption = f"Differences with their intervals, in per cent of the reference.{left}"
    linear = median(abs(each.value) for each in drawn) or 1.0
    told = "; ".join(f"{each.label} {each.text}" for each in drawn)
    return Figure(caption, Forest("difference, % of the reference", drawn, linear), told)


def _effect_of_row(row: Row) -> Difference | None:
    """A row of the figure, with its interval truncated at the bounds of the metric.

    Returns:
        None if the row has no finite difference, or no reference.
    """
    if not is_real(row.get("difference")) or not reference_of(row):
        return None
    reference, ends, relative = reference_of(row), interval_of(row), relative_of(row)
    scale = 100 / abs(reference)
    metric = str(row.get("metric"))
    within = relative and interval_shown(ends, relative, metric, reference, is_share=True)
    low, high = (scale * within.low, scale * within.high) if within else (None, None)
    value = scale * row["difference"]
    if not all(end is None or abs(end) < _LARGEST for end in (value, low, high)):
        return None
    of = str(row.get("unit") or ""), str(row.get("metric") or "")
    parts = float(row["difference"]), ends, reference, *of, margin_of(row), relative
    text = difference_shown(*parts, has_unit=True)
    return Difference(_label(row), value, low, high, str(row.get("verdict") or ""), text)


def _label(row: Row) -> str:
    """Effect, metric, group and point."""
    paths = [key for key in row if "." in key]
    words = [row.get(key) for key in ("effect", "case", "metric", "of", *paths, "test")]
    return " ".join(text_of(word) for word in words if word)
