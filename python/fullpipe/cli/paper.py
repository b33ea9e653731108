"""The commands `paper` and `conformance`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files, studies
from fullpipe.algorithms import own
from fullpipe.api import refusals
from fullpipe.cli.asked import processors
from fullpipe.cli.console import terminal
from fullpipe.cli.output import complain, echo, say, width
from fullpipe.cli.progress import announce, progress_bar
from fullpipe.cli.shared import MAX_SEEDS, AllowPython, Jobs, Out, target
from fullpipe.cluster import Threads
from fullpipe.engines import engine
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.runs import Store
from fullpipe.scenario import Scenario
from fullpipe.scenario.read.files import value_of
from fullpipe.validation import conformance as report
from fullpipe.validation.conformance import Result, cases, judge

# `fullpipe paper`: reruns a published study, and compares its printed values with simulated values.


def paper(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `fullpipe list papers`.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="Run the seeds 1 to N.")
    ] = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a short version of the study, as a test.")
    ] = False,
    engine: Annotated[str, typer.Option(help="Engine for the simulated values.", metavar="NAME")] = "native",
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the paper's published data, from which its printed values are recomputed.",
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="Run only this claim, and find the setting that changes its verdict. `--explain list`"
            " prints all claims.",
        ),
    ] = None,
) -> None:
    """All experiments of the study run. Tables show the printed values beside the simulated values, and
    figures are drawn. Experiments that the engine cannot run are left out, with the reason. The exit code
    is 1 if the engine can run none of the experiments.
    """
    if explain is not None and data is not None:
        raise typer.BadParameter("--data needs the whole study, --explain reruns one claim; leave one out")
    if explain == "list":
        for claim in studies.printed(name):
            say(f"{claim.id}: {claim.says}")
        return
    place = Threads(workers or processors())
    if explain is not None:
        todo = studies.explaining(name, explain, seeds=seeds, quick=quick, engine=engine)
        announce(todo, Store(out), place)
        with progress_bar(todo) as progress:
            found = studies.explain(
                name,
                explain,
                seeds=seeds,
                workers=place.workers,
                out=out,
                quick=quick,
                engine=engine,
                progress=progress,
            )
        echo(found.text(width()))
        return
    from fullpipe.studies import document  # imported here, as help and --explain need no pages

    study = studies.prepare(
        name,
        seeds=seeds,
        workers=place.workers,
        out=out,
        quick=quick,
        engine=engine,
        data=data,
    )
    announce(study.jobs, study.settings.store, place)
    with progress_bar(study.jobs, then=", drawing figures") as progress:
        made = study.run(progress)
    for line in made.refused:
        complain(f"left out: {line}")
    echo(f"{made.fitted(width())}\n")
    for line in document.ending(name, made, quick=quick).split("\n"):
        say(line, indent="")


# `fullpipe conformance`: runs the example tests of the BBR draft on an algorithm.


def conformance(
    cca: Annotated[
        str,
        typer.Argument(
            metavar="CCA",
            help="An algorithm from `fullpipe list ccas`, python:module:Class, or library:PATH:NAME.",
        ),
    ] = "bbr3",
    params: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help="Parameters of the algorithm, such as preset=draft."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="TEST", help="Run only this test, by section (A.5) or name; may be repeated."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the random numbers of the runs.")
    ] = 1,
    engine_name: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Engine whose algorithm is tested. Tests that the engine cannot run are left out.",
        ),
    ] = "native",
    workers: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=target, metavar="DIR", help="Store the runs in this folder."),
    ] = None,
    allow_python: AllowPython = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON object.")] = False,
    junit: Annotated[
        Path | None, typer.Option(parser=target, metavar="FILE", help="Also write JUnit XML.")
    ] = None,
    list_tests: Annotated[bool, typer.Option("--list", help="List the tests and run none.")] = False,
) -> None:
    """The tests are the examples of draft-ietf-ccwg-bbr, appendix A. A test does not apply if it needs a
    variable that the algorithm never publishes. The exit code is 1 if a test failed, and 2 if the algorithm
    or an option is wrong.
    """
    console = terminal()
    if list_tests:
        console.print(report.listing(cases()))
        return
    known = [name for case in cases() for name in (case.section, case.name)]
    for test in only or ():
        if test not in known:
            raise UnknownNameError("test", test, known)
    if allow_python and own.is_own(cca):
        own.look_in(Path())
        own.permit(cca)
    values = dict(_parameter(text) for text in params or ())
    store = Store(out) if out else None
    subject, jobs = {"kind": cca, **values}, workers or processors()
    _check(subject, engine_name)
    results = judge(subject, only=only or (), workers=jobs, store=store, seed=seed, engine=engine_name)
    name = " ".join([cca, *(params or ())])
    _show(console, name, results, as_json)
    if junit:
        files.write(junit, report.as_junit(name, results).encode())
    if any(result.verdict == "failed" for result in results):
        raise typer.Exit(1)


def _check(subject: Mapping[str, Any], engine_name: str) -> None:
    """Refuse an invalid algorithm before the first run."""
    lines = refusals(engine(engine_name), Scenario.named("single-reno").with_values({"flows.0.cca": subject}))
    if lines:
        raise ScenarioError(lines)


def _parameter(text: str) -> tuple[str, Any]:
    """Split `name=value`. A value that is not valid TOML is text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f'"{text}" is not a parameter; write it as NAME=VALUE, as in preset=draft')
    try:
        return name, value_of(value)
    except ValueError:
        return name, value


def _show(console: Any, subject: str, results: Sequence[Result], as_json: bool) -> None:
    if as_json:
        echo(report.as_json(subject, results))
        return
    console.print(report.table(results))
    console.print(f"{subject}: {report.summary(results)}")
