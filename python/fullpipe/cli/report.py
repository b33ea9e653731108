"""`fullpipe report`: one page to hand over."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.analysis.subjects import Subject
from fullpipe.cli.jobs import each_once, read_runs, runs_in
from fullpipe.cli.output import command_line, echo
from fullpipe.cli.shared import Content, ContentOption, target
from fullpipe.errors import NoRunError
from fullpipe.report.budget import Budget
from fullpipe.report.content import Document
from fullpipe.report.from_file import page_of_file, read
from fullpipe.report.runs.page import page_of
from fullpipe.report.write import FORMATS, write


def report(
    context: typer.Context,
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="WHAT...",
            help="Stores or folders of runs, or one JSON file of compare, check or test.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="FILE", help="File to write: .html or .md.")
    ] = Path("report.html"),
    question: Annotated[str, typer.Option(metavar="TEXT", help="Question that the page opens with.")] = "",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help='Report this metric, or "rtt_mean of ping"; may be repeated.',
        ),
    ] = None,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="Report this flow group or link.")] = "",
    content: ContentOption = Content.NEWEST,
    samples: Annotated[
        int,
        typer.Option(
            min=1_000, metavar="N", help="Most samples of time series in the page; each takes about 3 bytes."
        ),
    ] = Budget().samples,
) -> None:
    """The page has the results, tables, figures, and the commands that repeat them. It loads nothing from
    elsewhere, so it can be sent, archived and printed.
    """
    if out.suffix not in FORMATS:
        raise typer.BadParameter(f'"{out.name}" does not end in {" or ".join(FORMATS)}', param_hint="--out")
    for text in metric or ():
        Subject.read(text)
    budget = Budget(samples=samples)
    try:
        page = _page(what, question, metric or [], of, content, command_line(context), budget)
        write(page, out, budget)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        if not what[0].is_file():
            raise
        raise NoRunError(f"{what[0]}: holds what cannot be shown: {error}") from error
    echo(out)


def _page(
    what: list[Path],
    question: str,
    metrics: list[str],
    of: str,
    content: str,
    command: str,
    budget: Budget,
) -> Document:
    files = [path for path in what if path.is_file()]
    if files and len(what) > 1:
        raise typer.BadParameter(f"{files[0]} is a file: give it alone, or folders only", param_hint="WHAT")
    if files:
        return page_of_file(read(files[0]), question=question, budget=budget)
    told: list[str] = []
    runs = each_once(read_runs(runs_in(what, content, told.append)))
    return page_of(
        runs, question=question, metrics=metrics, of=of, command=command, budget=budget, notes=told
    )
