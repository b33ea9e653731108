"""`fullpipe test`: tests whether factors affect metrics, over stored runs or the runs of a scenario."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files
from fullpipe.analysis.length import warnings_of
from fullpipe.analysis.limits import unanswered
from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.metrics.table import check_metric
from fullpipe.analysis.points import Subject, points_of, told_by_origin, varying
from fullpipe.analysis.shown import metric_shown
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.asked import processors, read_scenario
from fullpipe.cli.asked import values_of as assigned_values
from fullpipe.cli.compare_shown import as_line
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import bring_all, check_all, finished_runs
from fullpipe.cli.output import command_line, echo
from fullpipe.cli.selection import filtered, filtered_runs, labels_of, read_labels
from fullpipe.cli.shared import (
    SEEDS,
    AllowPython,
    Assignments,
    Content,
    ContentOption,
    FormOption,
    Jobs,
    LabelOption,
    Out,
    seeds_of,
    target,
)
from fullpipe.cli.stored import stored_runs
from fullpipe.cli.test_shown import factor_names, show, title_of
from fullpipe.cluster import Threads
from fullpipe.errors import NoRunError, ScenarioError
from fullpipe.report import basis
from fullpipe.runs import Run, Store
from fullpipe.runs.population import NEWEST
from fullpipe.runs.schema import TABLES
from fullpipe.scenario.labels import Labels
from fullpipe.sweeps import jobs
from fullpipe.validation.compare import read_margin
from fullpipe.validation.compare.stored import FORMAT
from fullpipe.validation.test import Answer, Family, answer, conclusion, read_families
from fullpipe.validation.test.answer import MOST_FACTORS
from fullpipe.validation.test.conclusion import in_order

Points = list[tuple[Mapping[str, Any], Run]]
"""Runs, each with its point: the values of the paths in which the runs differ."""


def stored(folder: Path, content: str = NEWEST) -> Points:
    """The runs of a store with their points. `content` is as in `fullpipe.cli.stored.stored_runs`."""
    if (folder / "meta.json").exists():
        raise NoRunError(f"{folder}: is a single run, and a test needs several seeds; name a store of runs")
    runs = stored_runs(folder, content)
    if not runs:
        raise NoRunError(f"{folder}: has no finished run; name the --out folder of `run`")
    names = {run.name for run in runs}
    points = _points(runs)
    if len(names) > 1:
        points = [{"scenario": run.name, **point} for run, point in zip(runs, points, strict=True)]
    return list(zip(points, runs, strict=True))


def _points(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The sweep points of the runs if one sweep made them, else the differences between their scenarios."""
    swept = told_by_origin([run.meta.point for run in runs], runs)
    keys = [
        (run.name, run.meta.engine.name, run.meta.seed, value_text(point))
        for run, point in zip(runs, swept, strict=True)
    ]
    is_one = bool(swept[0]) and all(point.keys() == swept[0].keys() for point in swept)
    return swept if is_one and len(set(keys)) == len(keys) else points_of(runs)


def made_runs(
    what: str, assignments: list[str] | None, seeds: range, workers: int | None, out: Path, allow_python: bool
) -> Points:
    """The runs of a scenario. Runs that are not stored yet are executed."""
    if Path(what).suffix in (".parquet", ".csv"):
        raise ScenarioError(
            [f"{what}: is a table of one run, whose samples are not replicates; name a folder of runs"]
        )
    todo = jobs(read_scenario(what).with_values(assigned_values(assignments or [], None)), seeds)
    if allow_python:
        bring_all(todo, what)
    check_all(todo)
    return [
        (outcome.job.point, outcome.run)
        for outcome in finished_runs(todo, Threads(workers or processors()), Store(out))
    ]


def versions(points: Points) -> list[str]:
    """A note for each engine of which several versions made the runs."""
    by_engine: dict[str, set[str]] = {}
    for _, run in points:
        engine = run.meta.engine
        by_engine.setdefault(engine.name, set()).add(f"{engine.version} (model {engine.model_version})")
    return [
        f"runs are of several versions of {name}: {', '.join(sorted(versions))}; rerun"
        " all into another folder with --out"
        for name, versions in by_engine.items()
        if len(versions) > 1
    ]


# The command `fullpipe test`.


_SEEDS = 20
_ASKED = "asked for"
"""Name of the family of tests that --metric and --factor define, in contrast to those of a --family file."""


def factors(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="STORE|FILE", help="A folder of stored runs, or a scenario with a sweep."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Metric to test, or "METRIC of GROUP"; if repeated, the metrics are one family.',
        ),
    ] = None,
    factor: Annotated[
        str | None,
        typer.Option(
            metavar="PATH[,PATH]",
            help="One to three factors: swept paths, other paths in which runs differ, or engine.",
        ),
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(metavar="seed", help="Require that all combinations of levels have the same seeds."),
    ] = None,
    family: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML file of families of tests that were planned before the runs."
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--group", "--of", metavar="NAME", help="Test only this flow group or link; may be repeated."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Use only runs with this value; may be repeated."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Reference level of the comparisons (default: the first level)."),
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
            "--classical", help="Also run tests that assume equal variances: ANOVA and Tukey's HSD."
        ),
    ] = False,
    manova: Annotated[
        bool,
        typer.Option(
            "--manova", help="Also test all metrics of a family in one joint test, by Pillai's trace."
        ),
    ] = False,
    content: ContentOption = Content.NEWEST,
    seeds: Annotated[
        range | None,
        typer.Option(
            parser=seeds_of,
            metavar=SEEDS,
            help="For a scenario: run the seeds 1 to N, or FROM to TO (default: 20).",
        ),
    ] = None,
    assignments: Assignments = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    allow_python: AllowPython = False,
    label: LabelOption = None,
    form: FormOption = Form.TABLE,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Print all rows, including pairs of levels and checks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", parser=target, metavar="FILE", help="Also write the JSON object to this file."),
    ] = None,
) -> None:
    """Each run gives one value, and runs with the same seed are paired (a block). Two levels of a factor are
    compared by paired differences: better, worse, equivalent or undecided. Three or more levels are compared
    by Welch's ANOVA, by Games-Howell pairs, and by ranks. With several factors, main effects and interactions
    are tested.

    The output begins with the conclusion: each factor matters, does not matter, or is undecided. P values
    are corrected within a family of tests by Holm's procedure.
    """
    if block not in (None, "seed"):
        raise typer.BadParameter("only seeds can be blocks; write --block seed", param_hint="--block")
    if metric and not (factor or family):
        raise typer.BadParameter(f"give --metric and --factor, or --family FILE{_which(what, content)}")
    margins = dict(read_margin(text) for text in margin or ())
    asked = _families(family, metric, factor, of, reference, block)
    for name in dict.fromkeys(name for each in asked.values() for name in each.metrics):
        _check_metric(name.partition(" of ")[0].strip())
    if Path(what).is_dir():
        if seeds or assignments:
            raise typer.BadParameter("--seeds and --set need a scenario; stored runs cannot be changed")
        points = stored(Path(what), content)
    elif content != Content.NEWEST:
        raise typer.BadParameter("needs a folder of stored runs", param_hint="--content")
    else:
        points = made_runs(what, assignments, seeds or range(1, _SEEDS + 1), workers, out, allow_python)
    given = read_labels(label or ())
    labels = labels_of([run for _, run in points], given, [point for point, _ in points])
    metrics = [subject.metric for each in asked.values() for subject in each.subjects]
    links = dict.fromkeys(link for _, run in points for link in busy_links(run))
    values = filtered(values_of(points, metrics, links), where or ())
    there = filtered_runs(points, where or ())
    planned = [name for name in asked if name != _ASKED]
    found = answer(
        values,
        asked,
        planned=planned,
        margins=margins,
        classical=classical,
        together=manova,
        labels=labels,
    )
    made = {
        "kind": "test",
        "title": title_of((run.name for _, run in points), found, labels),
        "question": _question(asked, found, labels),
        "conclusion": conclusion(found, labels),
        **found.to_dict(),
        "factors": [each.to_dict() for each in in_order(found, labels)],
        "command": command_line(context),
    }
    known = {*values.drop_nulls("value")["metric"].to_list()}
    made["notes"] = [*made["notes"], *unanswered(metrics, known), *versions(points)]
    runs = [run.with_labels(given) for run in there]
    made["warnings"] = warnings_of(runs)
    if output is not None:
        written = {"format": FORMAT, **made, **basis.of_test(runs)}
        files.write(output, json.dumps(written, allow_nan=False, indent=1).encode())
    if as_json:
        echo(json.dumps(made, allow_nan=False))
        return
    show(
        made["title"],
        found,
        form,
        all_rows=all_rows,
        labels=labels,
        notes=made["notes"],
        warnings=[*map(as_line, made["warnings"])],
    )


def _which(what: str, content: str) -> str:
    """The factors that a user can choose, in words; empty if runs differ in nothing."""
    if Path(what).is_dir():
        points = [point for point, _ in stored(Path(what), content)]
        known = varying(points)
    else:
        known = list(read_scenario(what).sweep)
    return f"; runs differ in {', '.join(known)}" if known else ""


def _families(
    path: Path | None,
    metrics: Sequence[str] | None,
    factor: str | None,
    of: Sequence[str] | None,
    reference: str | None,
    block: str | None,
) -> dict[str, Family]:
    """The families of tests: those in the --family file, and the family of --metric and --factor."""
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
    """Raise an error unless `name` is a metric. Columns of samples over time are not metrics."""
    column = name.rpartition(".")[2]
    is_sampled = any(column in table.schema for table in (TABLES["series"], TABLES["links"]))
    if name not in BY_NAME and is_sampled:
        raise ScenarioError(
            [
                f"{name}: is a column of samples over time, which are not replicates; test a metric with"
                " one number per run, such as goodput"
            ]
        )
    check_metric(name)


def _question(asked: Mapping[str, Family], found: Answer, labels: Labels) -> str:
    names = factor_names(found, labels)
    return " ".join(
        each.question or f"Does {_labels(each.subjects, labels)} differ by {' and '.join(names[family])}?"
        for family, each in asked.items()
    )


def _labels(subjects: Sequence[Subject], labels: Labels) -> str:
    """The labels of metrics with their groups, joined by "or"."""
    return " or ".join(metric_shown(each.metric, labels.group(each.of or "")) for each in subjects)
