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
    """Formats of an answer."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")],
    out: Out = Path("runs"),
    content: ContentOption = Content.NEWEST,
    shape: Annotated[
        Shape, typer.Option("--format", help="Format of the answer; json: one object per row.")
    ] = Shape.TABLE,
) -> None:
    """The tables are runs, flows, links, series, transfers and the other tables of a run, each over all runs.
    Each table begins with a column per swept path, scenario, engine and seed. A column name with a dot
    needs double quotes. The command needs DuckDB, which the extra `query` installs.
    """
    with noted():
        answer = ask(sql, out, content)
    if shape == Shape.TABLE:
        as_table(answer, "--format csv")
        if answer.is_empty():
            complain(f"note: no row; fullpipe runs --out {shlex.quote(str(out))} lists what is kept there")
    else:
        {Shape.CSV: as_csv, Shape.JSON: as_json}[shape](answer)
