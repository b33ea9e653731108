"""`fullpipe report`: one page to hand over."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.analysis.points import points_of
from fullpipe.analysis.subjects import Subject
from fullpipe.cli.jobs import each_once, read_runs, runs_in
from fullpipe.cli.output import command_line, echo
from fullpipe.cli.plot_labels import check_labels, read_labels
from fullpipe.cli.shared import Content, ContentOption, LabelOption, target
from fullpipe.errors import NoRunError
from fullpipe.report.basis import folders_of, of_json
from fullpipe.report.budget import Budget
from fullpipe.report.content import Document, joined
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.report.packs.archive import sha256_of
from fullpipe.report.runs.page import DIGITS, groups_of, page_of
from fullpipe.report.write import FORMATS, write
from fullpipe.runs import Run
from fullpipe.scenario.labels import KEY


def report(
    context: typer.Context,
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="WHAT...",
            help="Stores or folders of runs, and JSON files of compare, check or test.",
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
    label: LabelOption = None,
    content: ContentOption = Content.NEWEST,
    samples: Annotated[
        int,
        typer.Option(
            min=1_000, metavar="N", help="Most samples of time series in the page; each takes about 3 bytes."
        ),
    ] = Budget().samples,
) -> None:
    """The page has the conclusion, a figure, the path, a table, details, and the commands that repeat them.
    Several files and folders give one page with a part for each question.

    The page loads nothing from elsewhere, so it can be sent, archived and printed.
    """
    if out.suffix not in FORMATS:
        raise typer.BadParameter(f'"{out.name}" does not end in {" or ".join(FORMATS)}', param_hint="--out")
    for text in metric or ():
        Subject.read(text)
    labels, budget = read_labels(label or ()), Budget(samples=samples)
    files = [path for path in what if path.is_file()]
    if labels and files:
        raise typer.BadParameter(
            f"goes with folders of runs; {files[0].name} has the words of the command that wrote it,"
            " which takes --label, too",
            param_hint="--label",
        )
    try:
        page = _page(what, files, question, metric or [], of, labels, content, command_line(context), budget)
        write(page, out, budget)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        if not files:
            raise
        raise NoRunError(f"{files[0]}: holds what cannot be shown: {error}") from error
    echo(out)


def _page(
    what: list[Path],
    files: list[Path],
    question: str,
    metrics: list[str],
    of: str,
    labels: Mapping[str, str],
    content: str,
    command: str,
    budget: Budget,
) -> Document:
    """The report: a part per file, then those of all folders together."""
    folders = [path for path in what if path not in files]
    pages = [_of_file(path, question, metrics, of, command, budget) for path in files]
    if folders:
        told: list[str] = []
        runs = each_once(read_runs(runs_in(folders, content, told.append)))
        if labels:
            check_labels(labels, [point for group in groups_of(runs) for point in points_of(group)])
            runs = [_labelled(run, labels) for run in runs]
        pages.append(
            page_of(
                runs, question=question, metrics=metrics, of=of, command=command, budget=budget, notes=told
            )
        )
    return pages[0] if len(pages) == 1 else joined(pages)


def _labelled(run: Run, labels: Mapping[str, str]) -> Run:
    """A run whose scenario has these labels, too: every part of a page reads them there."""
    scenario = run.meta.scenario
    return run.named({**scenario, KEY: {**scenario.get(KEY, {}), **labels}})


def _of_file(
    path: Path, question: str, metrics: list[str], of: str, command: str, budget: Budget
) -> Document:
    """The report of a file, with the runs that it rests on if they are beside it or here."""
    found = read(path)
    basis = of_json(found)
    started = dict(basis.runs) if basis else {}
    folders = folders_of(basis, (path.parent, Path())) if basis else []
    runs = [
        run
        for run, at in zip(read_runs(folders), folders, strict=True)
        if run.meta.started == started[f"{at.parent.name}/{at.name}"]  # else it was run again since
    ]
    try:
        page = page_of_file(
            found, question=question, budget=budget, runs=runs, command=command, metrics=metrics, of=of
        )
        fact = (path.name, f"SHA-256 {sha256_of(path)[:DIGITS]}...")
        return replace(page, provenance=[*page.provenance, fact])
    except NoRunError as error:
        raise NoRunError(f"{path}: {error}") from None
