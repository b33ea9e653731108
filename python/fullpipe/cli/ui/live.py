"""Runs that the page shows while they execute, with one seed or several seeds."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import polars as pl
from anyio import CapacityLimiter, to_thread

from fullpipe.analysis.metrics import summary
from fullpipe.analysis.metrics.table import headlines
from fullpipe.analysis.over_seeds import LEVEL, over_seeds
from fullpipe.analysis.shown import axis_shown, mean_shown
from fullpipe.analysis.values import values_of
from fullpipe.cli.ui import inputs
from fullpipe.cli.ui.guard import Limits
from fullpipe.cli.ui.inputs import Watch, has_room, only_own_files
from fullpipe.cli.ui.understood import packed, packets_of, understood
from fullpipe.engines.native import LiveRun
from fullpipe.errors import FullpipeError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.validation.over import HEADLINES

# Live runs: the page receives samples during a run, and a summary at its end.


OF_FLOWS = ("goodput_bps", "srtt_s", "cwnd_bytes")
OF_LINKS = ("backlog_packets",)
"""Columns of the table `links` that the page draws."""
_EVERY_S = 0.05
"""Minimum real time between two events with samples, in s."""
_EACH_S = 0.0005
"""Minimum real time between two events with samples, in s per flow. Sending takes 40 to 60 µs per flow and
event, about a tenth of this time."""


class BusyError(FullpipeError):
    """Too many runs are waiting, or the page has no memory for another run."""


class Turns:
    """Limits the number of simultaneous runs."""

    def __init__(self, limits: Limits) -> None:
        self._places = CapacityLimiter(limits.at_once)
        self._limits = limits

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a run may begin. While the context is open, it counts as one run.

        Raises:
            BusyError: If too many runs are waiting already, or the process exceeds its limit of memory.
        """
        if self._places.statistics().tasks_waiting >= self._limits.waiting:
            raise BusyError("too many runs wait for their turn; close other tabs of this page, and try again")
        borrower = object()  # not the task, as another task may close a stream that its client has left
        await self._places.acquire_on_behalf_of(borrower)
        try:
            if not await to_thread.run_sync(has_room, self._limits):
                most = f"{self._limits.memory_bytes / 1e9:g} GB of memory"
                raise BusyError(
                    f"the page has reached its limit of {most}; wait for other runs, or restart fullpipe ui"
                )
            yield
        finally:
            self._places.release_on_behalf_of(borrower)


def event(name: str, data: object) -> bytes:
    """A server-sent event. Data of the type bytes is encoded in base64, other data as JSON."""
    text = b64encode(data).decode() if isinstance(data, bytes) else json.dumps(data, allow_nan=False)
    return f"event: {name}\ndata: {text}\n\n".encode()


async def live(scenario: Scenario, seed: int, limits: Limits, turns: Turns) -> AsyncIterator[bytes]:
    """The events of a run: `begin`, `samples` several times, `packets` if packets are captured, and `end` or
    `problem`.

    The run stops when the page stops reading events. A waiting run may begin before the last events of this
    run are sent.
    """
    run: LiveRun | None = None
    try:
        async with turns.turn():
            watch, reached_s = Watch(limits), 0.0
            told = await to_thread.run_sync(_understood, scenario, seed)
            yield event("begin", told)
            run = await to_thread.run_sync(LiveRun, scenario, seed)
            while reached_s < run.end_s:
                reached_s, samples = await to_thread.run_sync(_step, run, told)
                yield event("samples", samples)
                watch.check(reached_s, run.end_s)
            last = await to_thread.run_sync(_last, run, told)
    except FullpipeError as error:
        last = [event("problem", {"problems": str(error).split("\n")})]
    run = None
    await to_thread.run_sync(has_room, limits)  # return the memory of the run to the system
    for each in last:
        yield each


def _understood(scenario: Scenario, seed: int) -> dict[str, Any]:
    with only_own_files():
        return understood(scenario, seed)


def _step(run: LiveRun, told: Mapping[str, Any]) -> tuple[float, bytes]:
    """Continue the run for a moment. Return the simulated time in s, and the new samples."""
    until_s = time.monotonic() + max(_EVERY_S, _EACH_S * len(told["flows"]))
    reached_s = run.advance()
    while reached_s < run.end_s and time.monotonic() < until_s:
        reached_s = run.advance()
    sampled = run.sampled()
    return reached_s, packed(wide(sampled, [flow["name"] for flow in told["flows"]], told["links"]))


def _last(run: LiveRun, told: Mapping[str, Any]) -> list[bytes]:
    """The events at the end of a run."""
    made = run.finish()
    packets = [event("packets", _packets(made, told))] if told["lanes"] else []
    return [*packets, event("end", summary(made))]


def wide(
    tables: Mapping[str, pl.DataFrame], flows: Sequence[str], links: Sequence[str]
) -> dict[str, pl.Series]:
    """Samples of all flows and links, with a row per time at which a flow or link was sampled.

    Returns:
        `time_s`, and `COLUMN/NUMBER` for every column of every flow and link.
    """
    parts = {
        **_parts(tables["series"], "flow", flows, OF_FLOWS),
        **_parts(tables["links"], "link", links, OF_LINKS),
    }
    if not parts:
        return {}
    times = next(iter(parts.values())).select("time_s")
    if not all(part["time_s"].equals(times["time_s"]) for part in parts.values()):
        times = pl.concat([part.select("time_s") for part in parts.values()]).unique().sort("time_s")
        parts = {
            key: times.join(part, on="time_s", how="left", maintain_order="left")
            for key, part in parts.items()
        }
    made = {"time_s": times["time_s"]}
    for (columns, number), part in parts.items():
        made |= {f"{column}/{number}": part[column] for column in columns}
    return made


def _parts(
    table: pl.DataFrame, key: str, names: Sequence[str], columns: tuple[str, ...]
) -> dict[tuple[tuple[str, ...], int], pl.DataFrame]:
    """The samples of each flow or link, by the names of the columns and the index of the flow or link."""
    if not names:
        return {}
    rows = table.select(key, "time_s", *columns)
    found = rows.partition_by(key, as_dict=True, include_key=False)
    nothing = rows.drop(key).clear()
    return {(columns, number): found.get((name,), nothing) for number, name in enumerate(names)}


def _packets(run: Run, told: Mapping[str, Any]) -> bytes:
    return packets_of(run.scenario, run.packets, [flow["name"] for flow in told["flows"]])


# Means of every metric over many seeds of one scenario, with confidence intervals.


_COLUMNS = ("of", "metric", "unit", "n", "mean", "low", "high")


async def means(scenario: Scenario, seeds: int, limits: Limits, turns: Turns) -> AsyncIterator[bytes]:
    """The events of a scenario with the seeds 1 to `seeds`: `progress` after every run, and `end` or
    `problem`.

    The runs stop when the page stops reading events.
    """
    try:
        runs: list[Run] = []
        for seed in range(1, seeds + 1):
            async with turns.turn():
                runs.append(await to_thread.run_sync(inputs.run, scenario, seed, limits))
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
