"""One scenario with many seeds: the mean of every metric, with its interval."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import polars as pl
from anyio import to_thread

from fullpipe.analysis.metrics.headlines import headlines
from fullpipe.analysis.over_seeds import LEVEL, over_seeds
from fullpipe.analysis.shown import axis_shown, mean_shown
from fullpipe.analysis.values import values_of
from fullpipe.cli.ui import watch
from fullpipe.cli.ui.limits import Limits
from fullpipe.cli.ui.live import Turns, event
from fullpipe.errors import FullpipeError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.validation.over import HEADLINES

_COLUMNS = ("of", "metric", "unit", "n", "mean", "low", "high")


async def means(scenario: Scenario, seeds: int, limits: Limits, turns: Turns) -> AsyncIterator[bytes]:
    """The events of a scenario with the seeds 1 to `seeds`: `progress` after every run, and `end` or
    `problem`.

    It stops when the page reads no further.
    """
    try:
        runs: list[Run] = []
        for seed in range(1, seeds + 1):
            async with turns.turn():
                runs.append(await to_thread.run_sync(watch.run, scenario, seed, limits))
            yield event("progress", {"done": len(runs)})
        yield event("end", await to_thread.run_sync(_means, runs))
    except FullpipeError as error:
        yield event("problem", {"problems": str(error).split("\n")})


def _means(runs: Sequence[Run]) -> dict[str, Any]:
    shown = headlines(HEADLINES, (run.scenario for run in runs))
    found = over_seeds(values_of((({}, run) for run in runs), shown)).filter(pl.col("n") > 1)
    rows = [{**{name: row[name] for name in _COLUMNS}, "shown": _shown(row)} for row in found.to_dicts()]
    return {"seeds": len(runs), "level": LEVEL, "rows": rows}


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    """The metric with its unit, and the mean with its interval as the terminal prints them."""
    return {"metric": axis_shown(row["metric"])[1], "mean": mean_shown(row)}
