"""`fullpipe test`: do metrics differ by the levels of a factor?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.shown import metric_shown
from fullpipe.analysis.unanswered import unanswered
from fullpipe.analysis.values import values_of
from fullpipe.cli.factors_read import made as made_of
from fullpipe.cli.factors_read import stored, versions
from fullpipe.cli.factors_shown import factor_names, show, title_of
from fullpipe.cli.forms import Form
from fullpipe.cli.output import command_line, echo
from fullpipe.cli.plot_labels import read_labels
from fullpipe.cli.selection import labels_of
from fullpipe.cli.shared import (
    MAX_SEEDS,
    AllowPython,
    Assignments,
    Content,
    ContentOption,
    FormOption,
    Jobs,
    LabelOption,
    Out,
    target,
)
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.report import basis
from fullpipe.runs.schema import TABLES
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare import read_margin
from fullpipe.validation.compare.conclusion import MOST
from fullpipe.validation.compare.stored import FORMAT
from fullpipe.validation.factors import Answer, Factor, Family, answer, conclusion, read_families
from fullpipe.validation.factors.answer import MOST_FACTORS
from fullpipe.validation.factors.design import only
from fullpipe.validation.factors.order import by_subject, grouped, ranked

_SEEDS = 20
_ASKED = "asked for"
"""Family of the tests that were not declared beforehand."""


def factors(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="STORE|FILE", help="A folder of stored runs, or a scenario with a sweep."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Metric to test; if repeated, the metrics are one family."),
    ] = None,
    factor: Annotated[
        str | None,
        typer.Option(
            metavar="PATH[,PATH]", help="One to three factors: swept paths, keys of variants, or engine."
        ),
    ] = None,
    block: Annotated[
        str | None, typer.Option(metavar="seed", help="Refuse cells with unequal seeds.")
    ] = None,
    family: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of families that were declared beforehand."),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--group", "--of", metavar="NAME", help="Only this flow group or link; may be repeated."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Only runs with this value; may be repeated."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="Level that the others are compared with; the first unless given."
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=MARGIN",
            help="Override a margin, as in goodput=5% or retransmitted=40%,20. May be repeated.",
        ),
    ] = None,
    classical: Annotated[
        bool,
        typer.Option(
            "--classical", help="Also the tests that assume equal variances: ANOVA and Tukey's HSD."
        ),
    ] = False,
    manova: Annotated[
        bool, typer.Option("--manova", help="Also test all metrics of a family at once, by Pillai's trace.")
    ] = False,
    content: ContentOption = Content.NEWEST,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, max=MAX_SEEDS, metavar="N", help="Run the seeds 1 to N of a scenario; 20 unless given."
        ),
    ] = None,
    assignments: Assignments = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    allow_python: AllowPython = False,
    label: LabelOption = None,
    form: FormOption = Form.TABLE,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Print all rows: also pairs of levels and checks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", parser=target, metavar="FILE", help="Also write the JSON object to this file."),
    ] = None,
) -> None:
    """Each run gives one value, and seeds are blocks. Two levels are compared by paired differences: better,
    worse, equivalent or undecided. Several levels are compared by Welch's ANOVA and Games-Howell pairs, and
    by ranks. Several factors have main effects and interactions.

    The output begins with the answer: each factor matters, does not matter, or is undecided. P values are
    corrected within a family by Holm's procedure.
    """
    if block not in (None, "seed"):
        raise typer.BadParameter("seeds are the blocks there are; write --block seed", param_hint="--block")
    margins = dict(read_margin(text) for text in margin or ())
    asked = _families(family, metric, factor, of, reference, block)
    for name in dict.fromkeys(name for each in asked.values() for name in each.metrics):
        _check_metric(name)
    if Path(what).is_dir():
        if seeds or assignments:
            raise typer.BadParameter("--seeds and --set are for scenarios; these runs are finished")
        points = stored(Path(what), content)
    elif content != Content.NEWEST:
        raise typer.BadParameter("goes with a folder of runs", param_hint="--content")
    else:
        points = made_of(what, assignments, seeds or _SEEDS, workers, out, allow_python)
    labels = labels_of([run for _, run in points], read_labels(label or ()), [point for point, _ in points])
    metrics = [name for each in asked.values() for name in each.metrics]
    links = dict.fromkeys(link for _, run in points for link in busy_links(run))
    values = only(values_of(points, metrics, links), where or ())
    planned = [name for name in asked if name != _ASKED]
    found = answer(values, asked, planned=planned, margins=margins, classical=classical, together=manova)
    made = {
        "kind": "test",
        "title": title_of((run.name for _, run in points), found, labels),
        "question": _question(asked, found, labels),
        "conclusion": conclusion(found, labels),
        **found.to_dict(),
        "factors": [each.to_dict() for each in _in_order(found, labels)],
        "command": command_line(context),
    }
    known = {*values.drop_nulls("value")["metric"].to_list()}
    made["notes"] = [*made["notes"], *unanswered(metrics, known), *versions(points)]
    if output is not None:
        written = {"format": FORMAT, **made, **basis.of_test([run for _, run in points])}
        files.write(output, json.dumps(written, allow_nan=False, indent=1).encode())
    if as_json:
        echo(json.dumps(made, allow_nan=False))
        return
    show(made["title"], found, form, all_rows=all_rows, labels=labels, notes=made["notes"])


def _families(
    path: Path | None,
    metrics: Sequence[str] | None,
    factor: str | None,
    of: Sequence[str] | None,
    reference: str | None,
    block: str | None,
) -> dict[str, Family]:
    """Those of the file, and what is asked for besides."""
    families = read_families(path) if path else {}
    if metrics and factor:
        paths = [word.strip() for word in factor.split(",") if word.strip()]
        if not 1 <= len(paths) <= MOST_FACTORS:
            raise typer.BadParameter(
                "give one to three paths, as in flows.0.cca,topology.bottleneck.rate", param_hint="--factor"
            )
        families[_ASKED] = Family(
            metrics=tuple(metrics),
            factors=tuple(paths),
            of=tuple(of or ()),
            reference=reference,
            block="seed" if block else None,
        )
    elif metrics or factor or not families:
        raise typer.BadParameter("give --metric and --factor, or --family FILE")
    return families


def _check_metric(name: str) -> None:
    """Refuse what is no metric; a column of samples is no metric, however it is written."""
    if name in BY_NAME:
        return
    column = name.rpartition(".")[2]
    if any(column in table.schema for table in (TABLES["series"], TABLES["links"])):
        raise ScenarioError(
            [
                f"{name}: is a column of samples along a run, which are no replicates; test a metric with one"
                " number per run, such as goodput"
            ]
        )
    raise UnknownNameError("metric", name, BY_NAME)


def _question(asked: Mapping[str, Family], found: Answer, labels: Labels) -> str:
    names = factor_names(found, labels)
    return " ".join(
        each.question or f"Does {_labels(each.metrics)} differ by {' and '.join(names[family])}?"
        for family, each in asked.items()
    )


def _in_order(found: Answer, labels: Labels) -> Iterator[Factor]:
    """The factors at every point, in the order of the conclusion."""
    told = ranked(by_subject(found, labels))
    for each in [*grouped(told[:MOST]), *told[MOST:]]:
        yield from each.factors


def _labels(metrics: Sequence[str]) -> str:
    """Metrics in words."""
    return " or ".join(metric_shown(metric) for metric in metrics)
