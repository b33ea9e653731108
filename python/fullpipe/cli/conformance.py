"""`fullpipe conformance`: an algorithm under the example tests of the BBR draft."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files
from fullpipe.algorithms import own
from fullpipe.api import refusals
from fullpipe.cli.asked import processors
from fullpipe.cli.console import terminal
from fullpipe.cli.output import echo
from fullpipe.cli.shared import AllowPython, Jobs, target
from fullpipe.engines import engine
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.runs import Store
from fullpipe.scenario import Scenario
from fullpipe.scenario.read.toml import value_of
from fullpipe.validation.conformance import Result, cases, judge, report


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
        typer.Option(metavar="TEST", help="Only this test, by section (A.5) or name; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of random waits and random loss.")] = 1,
    engine_name: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Engine whose algorithm is tested; tests that it cannot run are left out.",
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
    """The tests are the examples of draft-ietf-ccwg-bbr, appendix A. A test does not apply if it needs state
    that the algorithm never publishes. The exit code is 1 if a test failed, and 2 if the algorithm or an
    option is wrong.
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
    """Refuse a mistaken algorithm as `fullpipe run` does, before anything runs."""
    lines = refusals(engine(engine_name), Scenario.named("single-reno").with_values({"flows.0.cca": subject}))
    if lines:
        raise ScenarioError(lines)


def _parameter(text: str) -> tuple[str, Any]:
    """Split `name=value`; the value is TOML, or else text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f'"{text}" is no parameter; write it as NAME=VALUE, as in preset=draft')
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
