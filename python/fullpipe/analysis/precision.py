"""Precision of metrics over many runs, and the number of runs that is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from fullpipe.errors import ScenarioError, brief

if TYPE_CHECKING:  # slow to import, and unused by most commands
    import polars as pl

    from fullpipe.analysis.statistics import Interval, TwoModes

PILOT = 20
"""Number of seeds at the first check of the precision. With fewer seeds, runs that happen to be alike would
end the sweep too early: if one run in five starves, the 95 % interval covers the mean in only 84 % of cases
after a pilot of 10."""
MOST = 500
_BATCH = 10
SHARE = 0.05
"""Largest allowed half-width of Wilson's interval of the probability of a mode (see `two_modes`)."""
_SMALL = 0.1
"""An allowed half-width is a share of the mean. A mean below this share of the largest mean at the same point
is replaced by this share of the largest mean."""
FLOORS = {"bit/s": 10e3, "s": 1e-4, "1": 1e-3, "packets": 1.0, "flows": 0.05, "bit/s²": 1e6}
"""Half-widths that are always precise enough, by unit. A mean near zero would never be precise to a share of
itself."""


@dataclass(frozen=True)
class Target:
    """A metric with the allowed half-width of its 95 % interval, as a share of the mean."""

    metric: str
    relative: float


@dataclass(frozen=True)
class Known:
    """Mean and precision of a metric for a group of flows or a link at a point."""

    point: Mapping[str, Any]
    of: str
    target: Target
    n: int
    mean: float
    interval: Interval
    """Student's interval of the mean."""
    modes: TwoModes | None
    allowed: float
    """Allowed half-width of an interval, in the unit of the metric."""

    @property
    def is_precise(self) -> bool:
        """Whether the target is met. With two modes, both means and the probability of the modes must be
        precise enough."""
        if self.modes is None:
            return self.interval.half_width <= self.allowed
        widths = (self.modes.low.interval.half_width, self.modes.high.interval.half_width)
        return max(widths) <= self.allowed and self.modes.low.share.half_width <= SHARE


def read_targets(text: str) -> list[Target]:
    """Read `goodput ci<2%, rtt_p95 ci<5%`; the default metric is goodput.

    >>> read_targets("ci<2%")
    [Target(metric='goodput', relative=0.02)]

    Raises:
        ScenarioError: If there is no such metric, or a part cannot be read.
    """
    found = [_target(part.strip()) for part in text.split(",")]
    names = [target.metric for target in found]
    for name in names:
        if names.count(name) > 1:
            raise ScenarioError([f'--until: "{name}" is given twice; write it once'])
    return found


def _target(text: str) -> Target:
    parts = re.fullmatch(r"(?:(\w+)\s+)?ci\s*<\s*([0-9]+(?:\.[0-9]+)?)\s*%", text)
    if not parts or not 0 < float(parts[2]) < 100:
        raise ScenarioError(
            [f'--until "{brief(text)}": write METRIC ci<X%, as in "goodput ci<2%, rtt_p95 ci<5%"']
        )
    from fullpipe.analysis.metrics.table import BY_NAME, metric_suggestion

    name = parts[1] or "goodput"
    if name not in BY_NAME:
        raise ScenarioError(
            [f'--until "{brief(text)}": unknown metric "{brief(name)}"{metric_suggestion(name)}']
        )
    return Target(name, float(parts[2]) / 100)


def looks(most: int) -> Iterator[int]:
    """Yield the number of seeds at each check: a pilot, then 10 more or 10 % more, whichever is larger, up to
    `most`.

    >>> list(looks(55))
    [20, 30, 40, 50, 55]
    """
    n = min(PILOT, most)
    while n < most:
        yield n
        n = min(n + max(_BATCH, ceil(n / 10)), most)
    yield most


def known(values: pl.DataFrame, targets: Sequence[Target]) -> list[Known]:
    """Return the precision of every target at every point, per group of flows or link.

    Args:
        values: Values of the targets' metrics, as `values_of` gives them.
        targets: Metrics and their allowed half-widths.

    Raises:
        ScenarioError: If no run, or only some runs, have a value of a metric.
    """
    return [each for target in targets for each in _of_target(values, target)]


def _of_target(values: pl.DataFrame, target: Target) -> Iterator[Known]:
    import polars as pl

    from fullpipe.analysis.over_seeds import paths_of

    rows = values.filter(pl.col("metric") == target.metric)
    if rows["value"].is_null().all():
        raise ScenarioError([f"{target.metric}: no run has a value of it; choose another metric"])
    paths = paths_of(values)
    for point, part in rows.group_by(paths, maintain_order=True):
        groups = {name: _values(of, target) for name, of in _groups(part)}
        largest = max((abs(sum(group) / len(group)) for group in groups.values() if group), default=0.0)
        for (_, of), group in groups.items():
            if group:
                where = dict(zip(paths, point, strict=True))
                unit = str(part["unit"][0])
                yield how_precise(group, target, unit, largest=largest, point=where, of=of)


def _groups(part: pl.DataFrame) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    for key, rows in part.group_by("kind", "of", maintain_order=True):
        yield (str(key[0]), str(key[1])), rows


def _values(rows: pl.DataFrame, target: Target) -> list[float]:
    """Return one value per run; an empty list if no run has a value."""
    found = rows["value"].drop_nulls().to_list()
    if found and len(found) < rows.height:
        lacking = rows.height - len(found)
        raise ScenarioError(
            [
                f"{target.metric} of {brief(str(rows['of'][0]))}: {lacking} of {rows.height} runs have"
                " no value, and a mean over the others would be misleading; choose another metric"
            ]
        )
    return found


def how_precise(
    values: Sequence[float],
    target: Target,
    unit: str,
    *,
    largest: float = 0.0,
    point: Mapping[str, Any] | None = None,
    of: str = "",
) -> Known:
    """Compute the precision from one value per run; `largest` is the largest mean at the same point."""
    from fullpipe.analysis.statistics import Interval, t_interval, two_modes

    mean, modes = sum(values) / len(values), two_modes(values)
    means = [modes.low.mean, modes.high.mean] if modes else [mean, _SMALL * largest]
    allowed = max(target.relative * max(map(abs, means)), FLOORS.get(unit, 0.0))
    interval = t_interval(values) if len(values) > 1 else Interval(mean, mean, 0.95, "t")
    return Known(point or {}, of, target, len(values), mean, interval, modes, allowed)


def modes_of(values: pl.DataFrame, metrics: Iterable[str]) -> Iterator[tuple[dict[str, Any], TwoModes]]:
    """Yield every metric whose values over seeds have two modes: the columns that identify the metric at a
    point, and its modes."""
    import polars as pl

    from fullpipe.analysis.over_seeds import paths_of
    from fullpipe.analysis.statistics import two_modes

    keys = [*paths_of(values), "kind", "of", "metric", "unit"]
    rows = values.filter(pl.col("metric").is_in(list(metrics))).drop_nulls("value")
    for *key, values_of_key in rows.group_by(keys, maintain_order=True).agg("value").iter_rows():
        found = two_modes(values_of_key)
        if found:
            yield dict(zip(keys, key, strict=True)), found
