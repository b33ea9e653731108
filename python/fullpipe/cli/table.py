"""`fullpipe table`: metrics of many finished runs as a table for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.forms import Form
from fullpipe.cli.shared import Content, ContentOption, FormOption, LabelOption


def table(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Stores, or folders of runs."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help='Metric, as goodput or "rtt_mean of ping"; may be repeated.'),
    ] = None,
    of: Annotated[str | None, typer.Option(metavar="NAME", help="Only this flow group or link.")] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Swept path with a row per value; may be repeated. flows: groups. All other factors unless"
            " given.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Path with a column per value; may be repeated."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Only these runs; may be repeated."),
    ] = None,
    label: LabelOption = None,
    content: ContentOption = Content.NEWEST,
    form: FormOption = Form.TABLE,
) -> None:
    """Factors are along the rows and the columns of the table. A cell is the mean over seeds with its 95 %
    interval.

    As latex the table has the rules of booktabs and numbers for siunitx. As csv numbers are in base units.
    """
    from fullpipe.analysis.points import points_of  # here, as all below: help needs none of it
    from fullpipe.analysis.subjects import Subject
    from fullpipe.cli import forms
    from fullpipe.cli.jobs import each_once, read_runs, runs_in, warn_of_short
    from fullpipe.cli.latex import latex_of
    from fullpipe.cli.output import echo, plain
    from fullpipe.cli.pivot import pivot_of
    from fullpipe.cli.plot_labels import read_labels
    from fullpipe.cli.selection import of_one_scenario

    subjects = [Subject.read(text, of) for text in dict.fromkeys(metric or ["goodput"])]
    runs, left = of_one_scenario(each_once(read_runs(runs_in(folders, content))), where or ())
    found = pivot_of(runs, subjects, rows or (), columns or (), left, read_labels(label or ()))
    if form == Form.LATEX:
        print(plain(latex_of(found)), end="")
    elif form == Form.CSV:
        forms.show(found.numbers_grid(), form)
    else:
        if form == Form.TABLE and found.is_of_one_metric and found.columns:
            echo(found.numbers[0].metric)
        forms.show(found.grid(), form)
    warn_of_short(points_of(runs), runs)
