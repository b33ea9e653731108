"""`fullpipe compare --over`: variants of a scenario, pair by pair of runs with the same seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from fullpipe import files
from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.unanswered import unanswered
from fullpipe.cli.asked import read_scenario
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shown import (
    INTERVAL,
    MARGIN,
    difference_shown,
    heading,
    margin_shown,
    number_shown,
    point_shown,
    shown_in,
    unit_shown,
)
from fullpipe.errors import ScenarioError
from fullpipe.report import basis
from fullpipe.report.from_file import file_of
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.read.toml import value_of
from fullpipe.validation.compare import Finding, VariantComparison
from fullpipe.validation.compare.rules import ALIKE, unlike
from fullpipe.validation.over import SCENARIO

_LONGEST_HEADING = 10
"""Of a column: where a name is longer, columns are called A and B, and the line above says which is which."""
_COLOURS = {"better": "green", "worse": "red", "equivalent": "", "undecided": "dim"}


def axes_of(over: Sequence[str]) -> dict[str, list[Any]]:
    """The axes of several `--over PATH=VALUE,VALUE`; of `scenario`, files and names as scenarios.

    Raises:
        ScenarioError: If one cannot be read, or is given twice.
    """
    found = dict[str, list[Any]]()
    for path, values in map(_axis, over):
        if path in found:
            raise ScenarioError([f"--over {path}: is given twice; write all its values after one"])
        found[path] = values
    return {path: _scenarios(values) if path == SCENARIO else values for path, values in found.items()}


def _scenarios(names: Sequence[object]) -> list[Scenario]:
    """Scenarios by file or name; several of one name are called after their files."""
    read = [read_scenario(str(name)) for name in names]
    if len({each.name for each in read}) == len(read):
        return read
    return [
        each.model_copy(update={"name": Path(str(name)).stem}) for each, name in zip(read, names, strict=True)
    ]


def _axis(text: str) -> tuple[str, list[Any]]:
    """`path=value,value`; values are TOML, and what is not TOML is text up to the next comma."""
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise ScenarioError([f'--over "{text}": write it as PATH=VALUE,VALUE, as in flows.0.cca=cubic,bbr3'])
    try:
        return path.strip(), value_of(f"[{values}]")
    except ValueError:
        return path.strip(), [_value(part) for part in values.split(",")]


def _value(text: str) -> Any:
    try:
        return value_of(text)
    except ValueError:
        return text.strip()


def report(
    found: Iterable[VariantComparison],
    *,
    as_json: bool,
    file: Path | None = None,
    command: str = "",
    runs: Sequence[Run] = (),
    asked: Sequence[str] = (),
) -> None:
    """Print what is said, keep it in a file for reports, and end with exit code 1 if anything is worse.

    `runs` are those that were compared; they may come while `found` is read. Each of the metrics that are
    asked for and that no comparison has gets a line on standard error.
    """
    told = []
    for comparison in found:
        told.append(comparison)
        if as_json:
            echo(json.dumps(comparison.to_dict(), allow_nan=False))
        else:
            _show(comparison)
    if file is not None and told:
        write(file, told, command, runs)
    for line in unanswered(asked, {metric for one in told for metric in one.measured}):
        complain(f"note: {line}")
    if any(comparison.is_worse for comparison in told):
        raise typer.Exit(1)


def write(file: Path, found: Sequence[VariantComparison], command: str, runs: Sequence[Run] = ()) -> None:
    """Write what `fullpipe report` reads: every row with its point and both sides, and the places of runs.

    Raises:
        ResultError: If it cannot be written.
    """
    content = file_of([one.to_dict() for one in found], command) | basis.as_json(basis.basis_of(runs))
    files.write(file, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def draw_forest(folder: Path, found: Sequence[VariantComparison], *, quiet: bool) -> None:
    """Write a figure of all differences, and print the names of its files."""
    rows = [
        {"metric": row.metric, "label": _label(each, row, found), "verdict": row.assessment.verdict}
        | _in_unit(row)
        for each in found
        for row in each.rows
    ]
    units = {row.metric: _axis_label(row) for each in found for row in each.rows}
    from fullpipe import plots  # here: most comparisons draw nothing

    figure, data = plots.forest(pl.DataFrame(rows, infer_schema_length=None), units)
    for path in plots.save(figure, data, folder, f"{found[0].scenario}-forest"):
        echo(path, err=quiet)


def _label(each: VariantComparison, row: Finding, found: Sequence[VariantComparison]) -> str:
    """Of a line: the variant and its point where there are several, and what is measured."""
    several = len({other.other for other in found}) > 1
    words = [*([each.other] if several else []), *point_shown(each.point), row.of]
    return ", ".join(words)


def _in_unit(row: Finding) -> dict[str, float | None]:
    """The difference, its interval within the bounds of the metric, and the margin: as shares of the
    reference in %, or in the unit shown."""
    said, scale = row.assessment, shown_in(row.metric, row.unit)[0]
    factor = 100 / abs(row.reference) if row.reference and _is_relative(row) else scale
    interval = said.interval and said.interval.clipped(*bounds_of_difference(row.metric, row.reference))
    return {
        "difference": said.difference * factor,
        "low": None if interval is None else interval.low * factor,
        "high": None if interval is None else interval.high * factor,
        "margin": row.margin.allowed(row.reference) * factor,
    }


def _is_relative(row: Finding) -> bool:
    """Whether differences are shown in %: of rates and times, which have a unit, and not of shares."""
    return row.unit in ("bit/s", "s")


def _axis_label(row: Finding) -> str:
    return f"{row.metric}, % of the reference" if _is_relative(row) else shown_in(row.metric, row.unit)[1]


def _show(found: VariantComparison) -> None:
    console = terminal()
    seeds = f"{len(found.seeds)} seed{'' if len(found.seeds) == 1 else 's'}"
    where = "".join(f", {word}" for word in [*point_shown(found.point), seeds])
    names = _headings(found)
    other, reference = (
        whole if whole == name else f"{whole} ({name})"
        for whole, name in ((found.other, names[1]), (found.reference, names[0]))
    )
    title = led(f"{other} against {reference}", "bold", f": {found.scenario}{where}")
    console.print(title, soft_wrap=True)
    console.print(_table(found, *names))
    for note in found.notes:
        console.print(styled(note, "dim"), soft_wrap=True)
    for line in _sentences(found):
        complain(line)


def _headings(found: VariantComparison) -> tuple[str, str]:
    """What the columns of the variants are called."""
    names = (found.reference, found.other)
    return names if max(map(len, names)) <= _LONGEST_HEADING else ("A", "B")


def _table(found: VariantComparison, reference: str, other: str) -> Any:
    made = table("", reference, other, "difference [95 %]", "margin", last="verdict")
    name, _, _, difference, margin, verdict = made.columns
    name.no_wrap, difference.no_wrap, margin.no_wrap = True, False, False
    difference.min_width, margin.max_width, verdict.min_width = INTERVAL, MARGIN, 10
    of = None
    for row in found.rows:
        if (row.kind, row.of) != of:
            of = (row.kind, row.of)
            made.add_row(styled(heading(row.of), "bold"))
        unit, said = unit_shown(row.unit), row.assessment
        made.add_row(
            f" {row.metric} {unit if unit != row.unit or unit == 's' else ''}",
            number_shown(row.reference, row.unit, row.metric),
            number_shown(row.other, row.unit, row.metric),
            difference_shown(said.difference, said.interval, row.reference, row.unit, row.metric),
            margin_shown(row.margin, row.unit, row.metric),
            styled(_verdict(row), _COLOURS.get(row.assessment.verdict, "yellow")),
        )
        sides = (row.left_out.reference, row.left_out.other) if row.left_out else ()
        if any(side.unfinished for side in sides):
            made.add_row("  unfinished", *(f"{side.unfinished:,} of {side.began:,}" for side in sides))
    return made


def _verdict(row: Finding) -> str:
    seeds = row.assessment.seeds
    return f"{row.assessment.verdict} (about {seeds:,} seeds)" if seeds else row.assessment.verdict


def _sentences(found: VariantComparison) -> Iterator[str]:
    """What a reader should know of the verdicts."""
    if any(row.assessment.reason == ALIKE for row in found.rows):
        yield 'note: all seeds gave the same run, which is one; give flows a start_jitter, such as "100 ms"'
    for row in found.rows:
        if row.left_out and row.left_out.more:
            is_open = row.assessment.reason == unlike(row.left_out)
            told = ": no verdict; make runs longer" if is_open else ""
            yield (
                f"note: {row.metric} of {row.of}: {row.left_out.reference} of {found.reference},"
                f" {row.left_out.other} of {found.other}; those that finish are the faster ones{told}"
            )
