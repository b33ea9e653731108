"""How precisely many runs say what is asked of them, and when there are enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from fullpipe.errors import ScenarioError, brief, suggestion

if TYPE_CHECKING:  # they take a while to import, and most commands never look
    import polars as pl

    from fullpipe.analysis.statistics import Interval, TwoModes

PILOT = 20
"""Seeds before the first look. After fewer, runs that seem alike stop too early: where one in five starves,
the 95 % interval holds the mean in 84 % of all cases after a pilot of 10."""
MOST = 500
_BATCH = 10
SHARE = 0.05
"""How far the probability of a mode may be off: half of Wilson's interval."""
_SMALL = 0.1
"""A mean counts as at least this share of the largest mean at the same point."""
FLOORS = {"bit/s": 10e3, "s": 1e-4, "1": 1e-3, "packets": 1.0, "flows": 0.05, "bit/s²": 1e6}
"""By unit, what is precise enough of any mean: next to zero no percentage is ever reached."""


@dataclass(frozen=True)
class Target:
    """A metric, and half of the width that its 95 % interval may have, as a share of the mean."""

    metric: str
    relative: float


@dataclass(frozen=True)
class Known:
    """What is known of a metric of a group of flows or of a link at a point."""

    point: Mapping[str, Any]
    of: str
    target: Target
    n: int
    mean: float
    interval: Interval
    """Student's, of the mean."""
    modes: TwoModes | None
    allowed: float
    """What half of an interval may be, in the unit of the metric."""

    @property
    def is_precise(self) -> bool:
        """Whether it is known as well as asked for: of two modes both means and their probability."""
        if self.modes is None:
            return self.interval.half_width <= self.allowed
        widths = (self.modes.low.interval.half_width, self.modes.high.interval.half_width)
        return max(widths) <= self.allowed and self.modes.low.share.half_width <= SHARE


def read_targets(text: str) -> list[Target]:
    """Read `goodput ci<2%, rtt_p95 ci<5%`; without the name of a metric, goodput is meant.

    >>> read_targets("ci<2%")
    [Target(metric='goodput', relative=0.02)]

    Raises:
        ScenarioError: If there is no such metric, or a part cannot be read.
    """
    found = [_target(part.strip()) for part in text.split(",")]
    names = [target.metric for target in found]
    for name in names:
        if names.count(name) > 1:
            raise ScenarioError([f'--until: "{name}" stands there twice; write it once'])
    return found


def _target(text: str) -> Target:
    parts = re.fullmatch(r"(?:(\w+)\s+)?ci\s*<\s*([0-9]+(?:\.[0-9]+)?)\s*%", text)
    if not parts or not 0 < float(parts[2]) < 100:
        raise ScenarioError(
            [f'--until "{brief(text)}": write METRIC ci<X%, as in "goodput ci<2%, rtt_p95 ci<5%"']
        )
    from fullpipe.analysis.metrics import BY_NAME

    name = parts[1] or "goodput"
    if name not in BY_NAME:
        raise ScenarioError(
            [f'--until "{brief(text)}": unknown metric "{brief(name)}"{suggestion(name, BY_NAME)}']
        )
    return Target(name, float(parts[2]) / 100)


def looks(most: int) -> Iterator[int]:
    """How many seeds there are at each look: a pilot, then a tenth more or ten, until there are `most`.

    >>> list(looks(55))
    [20, 30, 40, 50, 55]
    """
    n = min(PILOT, most)
    while n < most:
        yield n
        n = min(n + max(_BATCH, ceil(n / 10)), most)
    yield most


def known(values: pl.DataFrame, targets: Sequence[Target]) -> list[Known]:
    """What is known of every target at every point, of every group of flows or link.

    Args:
        values: As `values_of` gives them, of the metrics of the targets.
        targets: What is asked for.

    Raises:
        ScenarioError: If no run has a metric, or only some have it.
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
    """One per run; none if no run has one."""
    found = rows["value"].drop_nulls().to_list()
    if found and len(found) < rows.height:
        lacking = rows.height - len(found)
        raise ScenarioError(
            [
                f"{target.metric} of {brief(str(rows['of'][0]))}: {lacking} of {rows.height} runs have"
                " no value, and a mean would be of the others; choose another metric"
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
    """What is known from one value per run, in a unit; `largest` is the largest mean at the same point."""
    from fullpipe.analysis.statistics import Interval, t_interval, two_modes

    mean, modes = sum(values) / len(values), two_modes(values)
    means = [modes.low.mean, modes.high.mean] if modes else [mean, _SMALL * largest]
    allowed = max(target.relative * max(map(abs, means)), FLOORS.get(unit, 0.0))
    interval = t_interval(values) if len(values) > 1 else Interval(mean, mean, 0.95, "t")
    return Known(point or {}, of, target, len(values), mean, interval, modes, allowed)


def modes_of(values: pl.DataFrame, metrics: Iterable[str]) -> Iterator[tuple[dict[str, Any], TwoModes]]:
    """What of a table of values is of two kinds over seeds: the columns that say what, and the modes."""
    import polars as pl

    from fullpipe.analysis.over_seeds import paths_of
    from fullpipe.analysis.statistics import two_modes

    keys = [*paths_of(values), "kind", "of", "metric", "unit"]
    rows = values.filter(pl.col("metric").is_in(list(metrics))).drop_nulls("value")
    for *key, values_of_key in rows.group_by(keys, maintain_order=True).agg("value").iter_rows():
        found = two_modes(values_of_key)
        if found:
            yield dict(zip(keys, key, strict=True)), found
