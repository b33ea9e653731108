"""`fullpipe agree`: deviations of engines from Linux, over a catalogue of cases."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe import files
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import number_shown, unit_shown
from fullpipe.cli.answer import Answer, Row
from fullpipe.cli.asked import processors
from fullpipe.cli.jobs import engine_names
from fullpipe.cli.output import complain, echo
from fullpipe.cli.progress import announce, progress_bar
from fullpipe.cli.shared import Jobs, Out, target
from fullpipe.cluster import Threads
from fullpipe.errors import UnknownNameError
from fullpipe.plots import check_format, save_as
from fullpipe.report.text import counted
from fullpipe.runs import Store
from fullpipe.validation import agree as agreement
from fullpipe.validation.agree import SUITES, Case, Found, Suite, seeds_of
from fullpipe.validation.agree.page import conclusion, figure

# Output of errors, as text and as JSON. An error is the deviation of an engine from the reference engine.


_CHANCE = {True: "beyond chance", False: "may be chance", None: "one pair of runs"}


def show(found: Found) -> None:
    """Print the conclusion, the largest errors, and how many cases were not run."""
    answer, reference = Answer(), found.engines[0]
    answer.conclude(conclusion(found))
    several = len(found.engines) > 2
    known = found.errors.drop_nulls("error").to_dicts()
    if known:
        answer.title(found.suite.title, f": the largest errors against {reference}")
        answer.table(
            ["", reference, "engine" if several else found.engines[1], "error", "difference"],
            sorted(known, key=_size),
            lambda row: _row(row, several=several),
        )
    answer.notes(_refused(found))


def json_lines(found: Found) -> str:
    """One line of JSON per deviation from the reference, each with the conclusion of the whole suite."""
    told = pl.lit(pl.Series([conclusion(found)], dtype=pl.List(pl.String))).first()
    return found.errors.with_columns(conclusion=told).write_ndjson()


def _size(row: Mapping[str, Any]) -> float:
    return -abs(float(row["error"]))


def _row(row: Mapping[str, Any], *, several: bool) -> Row:
    """A row for one deviation. The line above the row names the engine, the case and the group of flows."""
    measure = BY_NAME.get(row["quantity"])
    unit = measure.unit if measure else "1"
    shown = unit_shown(unit, row["quantity"]) if unit not in ("1", "packets") else ""
    name = f" {row['quantity']} {shown}".rstrip()
    values = (number_shown(row[key], unit, row["quantity"]) for key in ("reference", "value"))
    place = ", ".join([*([row["engine"]] if several else []), row["case"], row["of"]])
    return Row(place, [name, *values, f"{100 * row['error']:+.1f} %", _CHANCE[row["real"]]])


def _refused(found: Found) -> Iterator[str]:
    """Notes on cases that were not run: one note per engine and reason, with the number of cases."""
    counts = Counter((one.engine, one.why) for one in found.refused)
    for (engine, why), count in counts.most_common():
        yield f"{engine} did not run {counted(count, 'case')}: {why}"


def agree(
    engines: Annotated[
        str, typer.Option(metavar="NAMES", help="The reference engine, then the engines to compare.")
    ] = "linux,native",
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Catalogue of cases: {', '.join(SUITES)}. bbr3 and prague need a Linux kernel with this"
            " algorithm.",
        ),
    ] = "linux",
    case: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Run only this case, or cases that match a pattern such as bbr1-*; may be repeated.",
        ),
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Run only this family of cases; may be repeated.")
    ] = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out/--catalogue-only",
            help="Include the held-out cases, on which no parameter was tuned.",
        ),
    ] = True,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Run only the first N of the selected cases.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Run at most N seeds per case, for a quick look."),
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="Rerun with 20 seeds each case whose deviation exceeds the suite's target.",
        ),
    ] = False,
    workers: Jobs = None,
    out: Out = Path("runs"),
    page: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--page",
            parser=target,
            metavar="FILE",
            help="Write a Markdown page with all deviations from the reference engine to this file.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            parser=target,
            metavar="FILE",
            help="Also draw the deviations to this image file, which the page shows.",
        ),
    ] = None,
    all_rows: Annotated[bool, typer.Option("--all", help="Print the page with all deviations.")] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON object per line: one per deviation from the reference engine. With --list,"
            " one per case.",
        ),
    ] = False,
    list_cases: Annotated[bool, typer.Option("--list", help="List the cases and run none.")] = False,
) -> None:
    """A catalogue of cases runs on Linux and on other engines. The output begins with the median
    deviations from the reference engine; the twelve largest deviations follow. The page of `--page` or
    `--all` lists all deviations, and the cases that an engine cannot run.

    Finished runs are stored, so the same command continues an interrupted suite. The exit code is 1 if no
    case could be compared.
    """
    if plot:
        _check_format(plot)
    if suite not in SUITES:
        raise UnknownNameError("suite", suite, SUITES)
    of_suite = SUITES[suite]
    chosen = _chosen(of_suite, case or [], family or [], held_out)[:limit]
    if seeds:
        chosen = [replace(one, seeds=min(one.seeds, seeds)) for one in chosen]
    names = engine_names(engines)
    if list_cases:
        _list(chosen, names, as_json)
        return
    how = Store(out), workers or processors()
    found = _run(chosen, names, of_suite, *how)
    if confirm and (again := agreement.doubtful(found)):
        found = agreement.confirmed(found, _run(again, names, of_suite, *how))
    if plot and not found.errors.is_empty():
        _draw(found, plot)
    if as_json:
        echo(json_lines(found), nl=False)
    elif page is None and not all_rows:
        show(found)
    else:
        _write(agreement.page(found, _link(plot, page)), page)
    _exit(found)


def _run(cases: Sequence[Case], engines: Sequence[str], suite: Suite, store: Store, workers: int) -> Found:
    todo = agreement.job_list(cases, engines)
    announce(todo.jobs, store, Threads(workers))
    with progress_bar(todo.jobs) as progress:
        return agreement.run(todo, suite, workers=workers, store=store, progress=progress)


def _list(cases: Sequence[Case], engines: Sequence[str], as_json: bool) -> None:
    """List the cases, each with its number of seeds. In text output, the last line gives the number of runs
    per engine."""
    for one in cases:
        if as_json:
            echo(json.dumps({"case": one.name, "family": one.family, "seeds": one.seeds}))
        else:
            echo(f"{one.name}  ({one.family}, {counted(one.seeds, 'seed')})")
    if not as_json:
        runs = (f"{sum(len(seeds_of(one, name)) for one in cases)} by {name}" for name in engines)
        echo(f"{len(cases)} cases; runs: {', '.join(runs)}")


def _check_format(figure: Path) -> None:
    """Refuse an unknown format of the figure before the runs begin, since they can take hours."""
    try:
        check_format(figure)
    except ValueError as error:
        raise typer.BadParameter(f"--plot: {error}") from None


def _draw(found: Found, path: Path) -> None:
    for written in save_as(*figure(found), path):
        echo(written, err=True)


def _write(text: str, page: Path | None) -> None:
    if page is None:
        echo(text, nl=False)
        return
    files.write(page, text.encode())
    echo(page)


def _link(figure: Path | None, page: Path | None) -> str | None:
    """Path of the figure relative to the page."""
    return Path(os.path.relpath(figure, page.parent if page else Path())).as_posix() if figure else None


def _chosen(suite: Suite, names: Sequence[str], families: Sequence[str], held_out: bool) -> list[Case]:
    known = [*suite.cases(), *(suite.held_out() if held_out else [])]
    for family in families:
        if family not in {case.family for case in known}:
            raise UnknownNameError("family", family, dict.fromkeys(case.family for case in known))
    for name in names:
        if not any(fnmatchcase(case.name, name) for case in known):
            raise UnknownNameError("case", name, [case.name for case in known])
    return [
        case
        for case in known
        if (not names or any(fnmatchcase(case.name, name) for name in names))
        and (not families or case.family in families)
    ]


def _exit(found: Found) -> None:
    """If no case could be compared, print the reasons and end with exit code 1."""
    if not found.errors.is_empty():
        return
    for why in dict.fromkeys(f"{refused.engine}: {refused.why}" for refused in found.refused):
        complain(why)
    raise typer.Exit(1)
