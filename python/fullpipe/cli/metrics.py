"""`fullpipe metrics`: metrics of finished runs, and warnings about doubtful means."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe.analysis.length import shortfall
from fullpipe.analysis.limits import counted, unfinished_shown
from fullpipe.analysis.metrics import MEASURES, measured
from fullpipe.analysis.metrics.table import without_idle_rtt
from fullpipe.analysis.points import of_parts
from fullpipe.analysis.statistics import Doubt, doubtful_means
from fullpipe.cli.answer import LONGEST, heading, number_shown, point_shown, unit_shown
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import echo
from fullpipe.cli.shared import Content, ContentOption, target
from fullpipe.cli.stored import read_runs, runs_in
from fullpipe.runs import Run
from fullpipe.runs.population import content_of, files_of

_NAMES, _NUMBER = 30, 9
"""Width of the metric and unit columns together, and minimum width of a number column, in characters."""
_MOST_DOUBTS = 3


def metrics(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN...]", help="Folders of runs, or stores (folders of finished runs)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="DIR",
            help="Measure every run of this store (default if no RUN is given: runs).",
        ),
    ] = None,
    content: ContentOption = Content.NEWEST,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per run, one per line.")
    ] = False,
) -> None:
    """Values are per flow group and per link, without the warm-up. With `--json`, times are in seconds and
    rates in bit/s. The metrics reference has the formula and the source of each metric.
    """
    console = terminal()
    stores = [out or Path("runs")] if out or not folders else []
    for run in read_runs(runs_in([*(folders or []), *stores], content)):
        values = counted(measured(run))
        doubts = doubtful_means(run.series, run.flows, run.scenario.warmup_s)
        if as_json:
            echo(json.dumps(_as_json(run, values, doubts), allow_nan=False))
            continue
        warmup_s = run.scenario.warmup_s
        after = f", after {warmup_s:g} s of warm-up" if warmup_s else ""
        after = "".join(f", {word}" for word in point_shown(run.meta.point)) + after
        console.print(led(run.name, "bold", f"{after}, seed {run.meta.seed}, engine {run.meta.engine.name}"))
        for each in _tables(values, console.width):
            console.print(each)
        for line in (*_leaves_out(run, values), *_otherwise(run), *_unknown(run), *_warnings(run, doubts)):
            console.print(line, soft_wrap=True)


def _as_json(run: Run, values: pl.DataFrame, doubts: Sequence[Doubt]) -> dict[str, Any]:
    identity = {"scenario": run.name, "digest": run.meta.digest, "seed": run.meta.seed}
    return {
        **identity,
        "engine": run.meta.engine.name,
        "point": run.meta.point,
        "content": content_of(files_of(run.meta)),
        "warmup_s": run.scenario.warmup_s,
        "values": values.drop("began", "unfinished").to_dicts(),
        "otherwise": run.meta.otherwise,
        "doubts": [asdict(doubt) for doubt in doubts],
        "too_short": shortfall([{}], [run]),
        "without_idle_rtt": without_idle_rtt(run),
    }


def _tables(values: pl.DataFrame, width: int) -> Iterator[Any]:
    """Tables of flow groups, then of links: a row per metric with a value, a column per group or link."""
    for rows in values.partition_by("kind", maintain_order=True):
        taken: list[pl.DataFrame] = []
        left = width - _NAMES
        for part in rows.partition_by("of", maintain_order=True):
            counts = (len(unfinished_shown(row)) for row in part.iter_rows(named=True))
            needed = 1 + max(_NUMBER, *counts, min(LONGEST, len(part["of"][0])))
            if taken and needed > left:
                yield _table(taken)
                taken, left = [], width - _NAMES
            taken.append(part)
            left -= needed
        yield _table(taken)


def _table(parts: Sequence[pl.DataFrame]) -> Any:
    made = table("metric", "unit", *(heading(str(part["of"][0])) for part in parts))
    units = {metric: unit for part in parts for metric, unit in part.select("metric", "unit").iter_rows()}
    columns = [{row["metric"]: row for row in part.iter_rows(named=True)} for part in parts]
    for metric, unit in units.items():
        cells = [column.get(metric, {}) for column in columns]
        if any(cell.get("value") is not None or cell.get("unfinished") for cell in cells):
            made.add_row(metric, unit_shown(unit, metric), *map(_cell, cells))
    return made


def _cell(row: Mapping[str, Any]) -> str:
    """The value as text. A completion time has a second line with the number of unfinished transfers."""
    shown = number_shown(row.get("value"), row.get("unit", ""), row.get("metric", ""))
    return "\n".join(filter(None, [shown, unfinished_shown(row).strip()]))


def _leaves_out(run: Run, values: pl.DataFrame) -> Iterator[Any]:
    """Notes on totals over all flows that cover only connections, or only datagrams."""
    known = values.drop_nulls("value").select("metric", "of")
    yield from (styled(line, "dim") for line in of_parts([run.scenario], known.iter_rows()))


def _otherwise(run: Run) -> Iterator[Any]:
    """Notes on metrics that the engine of the run measures in another way than the metric is defined."""
    for why in dict.fromkeys(run.meta.otherwise.values()):
        names = [measure.name for measure in MEASURES if run.meta.otherwise.get(measure.column) == why]
        yield styled(f"{', '.join(names)} of {run.meta.engine.name}: {why}", "dim")


def _unknown(run: Run) -> Iterator[Any]:
    """A note on pings whose latency increase is unknown, with the reason."""
    if names := without_idle_rtt(run):
        why = "other flows were active beside every ping, and the RTT of the idle path is not known"
        told = f"latency_increase of {', '.join(names)} is unknown: {why}; start pings before other flows"
        yield styled(told, "dim")


def _warnings(run: Run, doubts: Sequence[Doubt]) -> Iterator[Any]:
    short = shortfall([{}], [run])
    if short:
        yield led("warning:", "yellow", f" {short}")
    if run.series.is_empty():
        told = "" if short else "; the run is long enough for means"
        yield styled(f"no samples, so the means cannot be checked{told}", "yellow")
    for doubt in doubts[:_MOST_DOUBTS]:
        yield led("warning:", "yellow", f" {doubt}")
    if len(doubts) > _MOST_DOUBTS:
        rest = len(doubts) - _MOST_DOUBTS
        yield led("warning:", "yellow", f" and {rest} other doubtful means; --json has all")
