"""`fullpipe run`: runs every sweep point of a scenario with every seed."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.analysis.precision import PILOT, read_targets
from fullpipe.cli.forms import Form
from fullpipe.cli.shared import (
    MAX_SEEDS,
    SEEDS,
    AllowPython,
    Assignments,
    FormOption,
    Jobs,
    LabelOption,
    Metrics,
    On,
    Out,
    ScenarioName,
    seconds_of,
    seeds_of,
)
from fullpipe.engines.overtime import MAX_THREADS
from fullpipe.scenario.quantities import MAX_SEED


def run(
    scenario: ScenarioName,
    engine: Annotated[str, typer.Option(help="Engine that runs the scenario.", metavar="NAME")] = "native",
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Run one seed (default: 1).")
    ] = None,
    seeds: Annotated[
        range | None,
        typer.Option(parser=seeds_of, metavar=SEEDS, help="Run the seeds 1 to N, or FROM to TO."),
    ] = None,
    assignments: Assignments = None,
    interval: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Time between samples, such as "10 ms"; "off" records no samples.'),
    ] = None,
    workers: Jobs = None,
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            min=1,
            max=MAX_THREADS,
            metavar="N",
            help="Threads within one run of the native engine. For several runs, --jobs is faster.",
        ),
    ] = 1,
    out: Out = Path("runs"),
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Run even if the run is stored, and store nothing.")
    ] = False,
    allow_python: AllowPython = False,
    cca_timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Time limit of one call into your own algorithm, such as "10 s".'),
    ] = None,
    on: On = "local",
    metric: Metrics = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TARGETS",
            help="Add seeds until the 95 % confidence intervals are this narrow, as in"
            ' "goodput ci<2%, rtt_p95 ci<5%".',
        ),
    ] = None,
    max_seeds: Annotated[
        int | None,
        typer.Option(
            min=PILOT, max=MAX_SEEDS, metavar="N", help="Maximum number of seeds of --until (default: 500)."
        ),
    ] = None,
    label: LabelOption = None,
    form: FormOption = Form.TABLE,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Print every row of the table, and every note.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per run, one per line.")
    ] = False,
) -> None:
    """A single run is shown as tables of its flows and links. Several runs are shown as a table with a row
    per sweep point and flow group: means over seeds with 95 % confidence intervals. `--until` adds seeds
    until these intervals are narrow enough at every point.

    Finished runs are stored and re-used, so the same command continues an interrupted sweep.
    """
    from fullpipe.cli import run_body  # imported here, as help does not need these modules
    from fullpipe.cli.selection import read_labels

    run_body.check_metrics(metric or ())
    if sum(choice is not None for choice in (seed, seeds, until)) > 1:
        raise typer.BadParameter("--seed, --seeds and --until exclude each other; give only one of them")
    if max_seeds is not None and until is None:
        raise typer.BadParameter(
            "needs --until; to run a fixed number of seeds, use --seeds", param_hint="--max-seeds"
        )
    if threads > 1 and (engine != "native" or on != "local"):
        raise typer.BadParameter(
            "needs --engine native and --on local; leave out --threads", param_hint="--threads"
        )
    code = run_body.run(
        scenario,
        engine=engine,
        seeds=seeds or (1 if seed is None else seed,),
        assignments=assignments or (),
        interval=interval,
        targets=read_targets(until) if until is not None else (),
        max_seeds=max_seeds,
        workers=workers,
        threads=threads,
        out=None if no_store else out,
        allow_python=allow_python,
        cca_timeout_s=seconds_of(cca_timeout, "--cca-timeout"),
        on=on,
        metrics=metric,
        form=form,
        as_json=as_json,
        all_rows=all_rows,
        labels=read_labels(label) if label else None,
    )
    if code:
        raise typer.Exit(code)
