"""`fullpipe runs`: what a store holds; deletes from it, and brings in the runs of other stores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe.analysis.stored import StoredRuns
from fullpipe.cli.asked import assignment
from fullpipe.cli.frames import as_json, as_table
from fullpipe.cli.jobs import noted
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import Out, target
from fullpipe.errors import visible
from fullpipe.runs import Store, population

_SHOWN = ("scenario", "engine", "seed", "started", "folder")
"""On a terminal, behind the swept paths."""


def runs(
    store: Annotated[
        Path | None, typer.Argument(parser=target, metavar="STORE", help="The same as --out.")
    ] = None,
    out: Out = Path("runs"),
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Only runs with this value; may be repeated."),
    ] = None,
    as_lines: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per run, one per line.")
    ] = False,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            parser=target, metavar="DIR", help="First copy the runs of store DIR into STORE; may be repeated."
        ),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the listed runs, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --delete: do not ask.")] = False,
) -> None:
    """PATH is any path of a scenario, or a column such as seed, engine or scenario. The end of a path is
    enough if no other path ends with it.
    """
    place = store or out
    for other in merge or ():
        _merge(place, other)
    with noted():
        found = StoredRuns(place, _conditions(where or []), population.ALL)
    for hint in found.hints:
        complain(f"note: --where {hint}")
    if found.left_out and not delete:
        complain(f"note: where runs are averaged, {found.left_out}; --where content=HASH chooses them here")
    if delete:
        _delete(Store(place), found.folders, yes)
    elif as_lines:
        as_json(found.runs)
    elif not merge:
        _show(found.runs)


def _conditions(where: Sequence[str]) -> dict[str, list[Any]]:
    """Every path with its values; one that is given again may have any of them."""
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
