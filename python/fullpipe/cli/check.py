"""`fullpipe check`: tests whether a change is worse than its base."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.length import Doubts, doubts_of
from fullpipe.cli.answer import Answer
from fullpipe.cli.asked import processors, values_of
from fullpipe.cli.compare_shown import as_line, show_findings
from fullpipe.cli.jobs import bring_all, check_all, finished_runs
from fullpipe.cli.output import command_line, complain, echo
from fullpipe.cli.selection import check_labels_of_jobs, read_labels
from fullpipe.cli.shared import AllowPython, Assignments, Jobs, LabelOption, Out, target
from fullpipe.cli.stored import identity
from fullpipe.cluster import Threads
from fullpipe.errors import FullpipeError
from fullpipe.runs import Run, Store
from fullpipe.sweeps import Job, jobs
from fullpipe.validation.check import Checked, forms
from fullpipe.validation.check import check as checked
from fullpipe.validation.check import suite as suites
from fullpipe.validation.check.forms import conclusion, how, summary
from fullpipe.validation.check.measured import Elsewhere, Here, Runner, Source, measure, stored
from fullpipe.validation.check.suite import Suite
from fullpipe.validation.compare.comparison import doubted
from fullpipe.validation.compare.finding import weight
from fullpipe.validation.compare.rules import ALIKE
from fullpipe.validation.compare.sentence import Names, doubts_in_words, merged, names_of

# The output of `fullpipe check`: the conclusion, and a table of regressed and undecided findings.


def show(checked: Checked, names: Names, *, all_rows: bool = False, warnings: Iterable[str] = ()) -> None:
    """Print the conclusion, and regressed or undecided findings; with `all_rows`, all findings.

    `warnings` are lines about means that should not be trusted.
    """
    answer = Answer(all_rows=all_rows)
    answer.conclude(conclusion(checked, names))
    if not checked.is_identical:
        answer.title(checked.scenario, f": {summary(checked)}")
    answer.say("; ".join(f"{side}: {version}" for side, version in checked.versions.items()))
    shown = names.shown([checked])[0].findings
    left = [each for each in shown if all_rows or each.decision != "not worse"]
    left.sort(key=lambda each: each.decision != "regressed")
    in_table = show_findings(answer, left, names, first=weight) if left else []
    is_alike = any(each.reason == ALIKE for each in left)
    warning = f'note: {ALIKE}; give flows a start_jitter, such as "100 ms"'
    alike = [warning] if is_alike else []
    notes = [*how(checked), *doubts_in_words(in_table), *merged(checked.notes, names, whole=all_rows)]
    answer.notes(notes, [*warnings, *alike])


_STATUS = {"not worse": 0, "regressed": 1, "undecided": 2}


def check(
    context: typer.Context,
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="A TOML file with scenarios and metrics.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BASE",
            help="Base to compare with: a file written by --keep, a folder with the code of the base, another"
            " fullpipe program, or PATH=VALUE for the same code with another value.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="FILE",
            help="Measure, and write the values to this file for a later --against.",
        ),
    ] = None,
    assignments: Assignments = None,
    code: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of your own algorithms (default: the folder of SUITE)."),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run only this case of the suite; may be repeated."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=2, max=suites.MOST_SEEDS, metavar="N", help="Run exactly the seeds 1 to N."),
    ] = None,
    engine: Annotated[str, typer.Option(help="Engine that runs the suite.", metavar="NAME")] = "native",
    workers: Jobs = None,
    out: Out = Path("runs"),
    allow_python: AllowPython = False,
    written: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-o",
            parser=target,
            metavar="FILE",
            help="Write the result as JSON, for `fullpipe report`.",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(parser=target, metavar="FILE", help="Also write JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="FILE",
            help="Append the result as Markdown to this file, such as $GITHUB_STEP_SUMMARY.",
        ),
    ] = None,
    label: LabelOption = None,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Print every row of the table, and every note.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The base and the change run the scenarios of a suite with the same seeds. Seeds are added while a
    metric is undecided. The exit code is 0 if the change is not worse, 1 if it regressed, and 2 if it is
    undecided or the input is bad.
    """
    chosen = suites.read(suite).with_values(values_of(assignments or [], None))
    chosen = chosen.only(case) if case else chosen
    chosen = chosen.with_seeds(seeds) if seeds else chosen
    folder, labels = code or suite.parent, read_labels(label or ())
    every: dict[tuple[str, ...], Run] = {}
    check_labels_of_jobs(labels, (job for case in chosen.cases for job in jobs(case.scenario, [1])))

    def runner(todo: Sequence[Job]) -> list[Run]:
        if allow_python:
            bring_all(list(todo), str(folder / "suite"))
        check_all(list(todo))
        runs = [outcome.run for outcome in finished_runs(todo, Threads(workers or processors()), Store(out))]
        every.update({identity(run): run for run in runs})
        return runs

    if (keep is None) == (not against):
        raise typer.BadParameter("give --against BASE, or --keep FILE")
    with _failures_told(chosen.name, junit):
        if keep:
            found = measure(chosen, chosen.most_seeds, engine, runner, has_warnings=True)
            return files.write(keep, found.model_dump_json().encode())
        free = [text.partition("=")[0] for text in against or [] if "=" in text]
        base = _base(chosen, against or [], engine, runner, _options(allow_python, engine, assignments, out))
        ours, change = Here(chosen, engine, runner), " ".join(assignments or []) or "now"
        said = checked(chosen.with_free(free), base, ours, (" ".join(against or []), change), complain)
    names, runs = names_of([said], labels), [run.with_labels(labels) for run in every.values()]
    doubts = doubts_of(runs)
    (said,), warnings = doubted([said], doubts), _warnings(said, doubts)
    content = {**forms.as_json(said, command_line(context), labels), "warnings": warnings}
    if written:
        files.write(written, json.dumps(content, indent=1, allow_nan=False).encode())
    if junit:
        files.write(junit, forms.junit(names.shown([said])[0]))
    if markdown:
        before = markdown.read_bytes() if markdown.exists() else b""
        files.write(markdown, before + forms.markdown(said, names).encode())
    if as_json:
        echo(json.dumps(content, allow_nan=False))
    else:
        show(said, names, all_rows=all_rows, warnings=map(as_line, warnings))
    raise typer.Exit(_STATUS[said.decision])


def _warnings(said: Checked, doubts: Doubts) -> list[str]:
    """Warnings about the means of this process, and further warnings about a base from elsewhere."""
    return [*doubts.warnings, *said.warnings_besides(doubts.reasons)]


@contextmanager
def _failures_told(suite: str, junit: Path | None) -> Iterator[None]:
    """End with status 2 if a run or the base fails, since the change cannot be judged."""
    try:
        yield
    except (FullpipeError, typer.Exit) as error:
        message = "a run failed" if isinstance(error, typer.Exit) else str(error)
        if junit:
            files.write(junit, forms.junit_error(suite, message))
        if isinstance(error, FullpipeError):
            complain(error)
        raise typer.Exit(2) from None


def _base(
    suite: Suite, against: Sequence[str], engine: str, runner: Runner, options: Sequence[str]
) -> Source:
    """The base of the comparison.

    Raises:
        ScenarioError: If no base has this name.
    """
    if all("=" in text and not os.path.exists(text) for text in against):
        return Here(suite.with_values(values_of(list(against), None)), engine, runner)
    if len(against) > 1:
        raise typer.BadParameter("--against: give one file, folder or program, or PATH=VALUE several times")
    path = Path(against[0])
    arguments = ["check", str(suite.file.resolve()), *options]
    if path.is_dir():
        here = [sys.executable, "-m", "fullpipe"]
        return Elsewhere([*here, *arguments, "--code", "."], path)
    if path.is_file() and os.access(path, os.X_OK):
        return Elsewhere([str(path.resolve()), *arguments])
    return stored(path, suite)


def _options(allow_python: bool, engine: str, assignments: list[str] | None, out: Path) -> list[str]:
    """Options for the process that measures the base."""
    of_values = [part for text in assignments or [] for part in ("--set", text)]
    store = out / "base"
    return [
        *of_values,
        *("--engine", engine, "--out", str(store.resolve())),
        *(["--allow-python"] if allow_python else []),
    ]
