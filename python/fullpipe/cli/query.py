"""`fullpipe query`: SQL over all runs of a store."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.analysis.query import query as ask
from fullpipe.cli.frames import as_csv, as_json, as_table
from fullpipe.cli.jobs import noted
from fullpipe.cli.output import complain
from fullpipe.cli.shared import Content, ContentOption, Out


class Shape(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT.")],
    out: Out = Path("runs"),
    content: ContentOption = Content.NEWEST,
    shape: Annotated[
        Shape, typer.Option("--format", help="How the answer is printed; json is an object per row.")
    ] = Shape.TABLE,
) -> None:
    """Ask all kept runs in SQL.

    The tables are runs, flows, links, series, transfers and the others of a run, each of all runs together.
    Each begins with a column per swept path, scenario, engine and seed. A column with a dot in its name
    stands in double quotes. This needs DuckDB, which the extra query brings.
    """
    with noted():
        answer = ask(sql, out, content)
    if shape == Shape.TABLE:
        as_table(answer, "--format csv")
        if answer.is_empty():
            complain(f"note: no row; fullpipe runs --out {shlex.quote(str(out))} lists what is kept there")
    else:
        {Shape.CSV: as_csv, Shape.JSON: as_json}[shape](answer)
