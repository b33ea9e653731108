"""Commands on a store: `runs`, `query`, `sweep`, `work`."""

import csv
import json
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe.algorithms.own import look_in
from fullpipe.analysis.stored import StoredRuns
from fullpipe.analysis.stored import query as ask
from fullpipe.cli.asked import assignment, processors
from fullpipe.cli.console import listing, terminal
from fullpipe.cli.forms import NOTHING
from fullpipe.cli.help import Command, Group
from fullpipe.cli.output import complain, echo, plain, say
from fullpipe.cli.shared import AllowPython, Content, ContentOption, Jobs, Out, seconds_of, stoppable, target
from fullpipe.cli.stored import noted
from fullpipe.cluster.crew import Counts, Worker
from fullpipe.cluster.folder import Status, statuses
from fullpipe.errors import VersionError, visible
from fullpipe.runs import Store, population

# Printing of data frames: as a table, as CSV and as JSON.


_MOST_ROWS = 200
"""Maximum number of rows of a table."""


def as_table(frame: pl.DataFrame, all_by: str) -> None:
    """Print the first rows of a frame, in several tables if the terminal is too narrow for one.

    `all_by` is the option that prints all rows.
    """
    console = terminal()
    for block in _blocks(frame.head(_MOST_ROWS), console.width):
        made = listing(*block)
        for column, name in zip(made.columns, block, strict=True):
            column.justify = "right" if frame.schema[name].is_numeric() else "left"
        for row in zip(*block.values(), strict=True):
            made.add_row(*row)
        console.print(made)
    if frame.height > _MOST_ROWS:
        echo(f"{frame.height:,} rows, {_MOST_ROWS} shown; {all_by} prints all rows")


def as_csv(frame: pl.DataFrame) -> None:
    """Print a frame as CSV, with all digits of numbers."""
    written = StringIO()
    rows = ([_exact(value) for value in row] for row in frame.iter_rows())
    csv.writer(written, lineterminator="\n").writerows([frame.columns, *rows])
    echo(written.getvalue(), nl=False)


def as_json(frame: pl.DataFrame) -> None:
    """Print one JSON object per row; infinite and missing numbers are null."""
    for row in frame.iter_rows(named=True):
        echo(json.dumps({name: _known(value) for name, value in row.items()}, allow_nan=False))


def _blocks(frame: pl.DataFrame, width: int) -> Iterator[dict[str, list[str]]]:
    """Blocks of neighbouring columns, as text. A block has as many columns as fit the terminal."""
    block: dict[str, list[str]] = {}
    left = width
    for name in frame.columns:
        cells = [_short(value) for value in frame[name].to_list()]
        needed = 1 + max(len(plain(cell)) for cell in (name, *cells))
        if block and needed > left:
            yield block
            block, left = {}, width
        block[name] = cells
        left -= needed
    yield block


def _short(value: Any) -> str:
    if value is None:
        return NOTHING
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _exact(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _known(value: Any) -> Any:
    """A value for JSON: non-finite numbers become null, and values without a type in JSON become text."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list):
        return [_known(each) for each in value]
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


# `fullpipe runs`: lists and deletes the runs of a store, and copies runs from other stores.


_SHOWN = ("scenario", "engine", "seed", "started", "folder")
"""Columns of the printed table, after the columns of swept paths."""


def runs(
    store: Annotated[
        Path | None, typer.Argument(parser=target, metavar="STORE", help="The store; overrides --out.")
    ] = None,
    out: Out = Path("runs"),
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="List only runs with this value; may be repeated."),
    ] = None,
    as_lines: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per run, one per line.")
    ] = False,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            parser=target, metavar="DIR", help="First copy all runs of the store DIR; may be repeated."
        ),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the listed runs, after a confirmation.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --delete: delete without confirmation.")] = False,
) -> None:
    """PATH is the path of a scenario key, such as topology.bottleneck.rate, or a column such as seed, engine
    or scenario. The end of a path, such as rate, is enough if no other path ends with it.
    """
    place = store or out
    for other in merge or ():
        _merge(place, other)
    with noted():
        found = StoredRuns(place, _conditions(where or []), population.ALL)
    for hint in found.hints:
        complain(f"note: --where {hint}")
    if found.left_out and not delete:
        complain(f"note: in averages, {found.left_out}; list them with --where content=HASH")
    if delete:
        _delete(Store(place), found.folders, yes)
    elif as_lines:
        as_json(found.runs)
    elif not merge:
        _show(found.runs)


def _conditions(where: Sequence[str]) -> dict[str, list[Any]]:
    """Accepted values by path. A path has several values if --where names it several times."""
    conditions: dict[str, list[Any]] = {}
    for text in where:
        path, value = assignment(text, "--where")
        conditions.setdefault(path, []).append(value)
    return conditions


def _show(found: pl.DataFrame) -> None:
    swept = found.columns[: found.columns.index("scenario")]
    content = ["content"] if found["content"].n_unique() > 1 else []
    as_table(found.select(*swept, *_SHOWN[:-1], *content, _SHOWN[-1]), "--json")
    echo(f"{found.height:,} runs, {sum(found['bytes']) / 1e6:,.1f} MB of tables")


def _merge(place: Path, other: Path) -> None:
    merged = Store(place).merge(Store(other))
    for line in merged.damaged:
        complain(f"note: {line}; not copied")
    echo(f"{other}: {merged.copied:,} runs copied to {place}, {merged.there:,} were there", err=True)


def _delete(store: Store, folders: list[Path], yes: bool) -> None:
    if not yes and folders:
        typer.confirm(f"Delete {len(folders):,} runs of {visible(str(store.root))}?", abort=True, err=True)
    store.delete(folders)
    echo(f"{len(folders):,} runs deleted", err=True)


# `fullpipe query`: SQL over all runs of a store.


class Shape(StrEnum):
    """Formats of the result of a query."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")],
    out: Out = Path("runs"),
    content: ContentOption = Content.NEWEST,
    shape: Annotated[
        Shape, typer.Option("--format", help="Format of the result; json prints one object per row.")
    ] = Shape.TABLE,
) -> None:
    """The SQL tables are runs, flows, links, series, transfers and the other tables of a run. Each SQL table
    has the rows of all runs. Its first columns are the swept paths, scenario, engine and seed. A column name
    with a dot needs double quotes. The command needs DuckDB, which the extra `query` installs.
    """
    with noted():
        answer = ask(sql, out, content)
    if shape == Shape.TABLE:
        as_table(answer, "--format csv")
        if answer.is_empty():
            complain(f"note: no row; fullpipe runs --out {shlex.quote(str(out))} lists the stored runs")
    else:
        {Shape.CSV: as_csv, Shape.JSON: as_json}[shape](answer)


# `fullpipe sweep status`: progress of the sweeps of a store.


app = typer.Typer(cls=Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    pass


@app.command("status", cls=Command)
def status(
    root: Annotated[
        Path,
        typer.Argument(parser=target, metavar="DIR", help="The store: the --out folder of `fullpipe run`."),
    ] = Path("runs"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per sweep, one per line.")
    ] = False,
) -> None:
    """Show the open, claimed, finished and failed runs of each unfinished sweep of `run --on files`."""
    found = statuses(root)
    for sweep in found:
        if isinstance(sweep, VersionError):
            complain(sweep)
        elif as_json:
            echo(json.dumps(sweep.to_dict()))
        else:
            _show_sweep(sweep)
    if not found and not as_json:
        echo(f"no unfinished sweep in {root}")


def _show_sweep(sweep: Status) -> None:
    echo(f'sweep {sweep.id} of "{sweep.name}": {sweep.finished:,} of {sweep.runs:,} runs finished')
    echo(f"  open     {sweep.open_chunks:,} chunks, {sweep.open_runs:,} runs")
    for held in sweep.held:
        owner, runs = held.claim.owner, held.claim.range.runs
        echo(
            f"  claimed  {runs:,} runs by {owner.host}:{owner.pid}, renewed {max(0.0, held.age_s):.0f} s ago"
        )
    for failure in sweep.failed:
        say(f"  failed   run {failure.index}: {failure.error}", indent=" " * 11)


# `fullpipe work`: a worker process. Any number of workers, on any machine, may share a store.


def work(
    root: Annotated[
        Path,
        typer.Argument(parser=target, metavar="DIR", help="The store: the --out folder of `fullpipe run`."),
    ] = Path("runs"),
    workers: Jobs = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="DIR",
            help="Local folder to which runs are written before they are copied to the store.",
        ),
    ] = None,
    wait: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='When no run is left, wait this long for more, such as "5 min".'),
    ] = None,
    allow_python: AllowPython = False,
) -> None:
    """The command ends when no run is left. Any number of workers may share a store, also on other machines
    that can access the folder. If a worker is killed, another worker takes over its runs within 30 s.
    """
    if allow_python:
        look_in(Path())
    counts = Counts()
    worker = Worker(
        root, workers or processors(), scratch, allow_python, seconds_of(wait, "--wait") or 0.0, complain
    )
    try:
        with stoppable():
            worker.work(counts)
    except KeyboardInterrupt:
        complain(f"interrupted after {counts.finished:,} runs; unfinished runs are left to other workers")
        raise typer.Exit(1) from None
    for line in counts.refused:
        complain(line)
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    echo(f"{counts.finished:,} runs finished{failed}")
    if counts.refused:
        raise typer.Exit(2)
    if counts.failed:
        raise typer.Exit(1)
