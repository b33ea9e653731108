"""`fullpipe compare --over`: variants of a scenario, pair by pair of runs with the same seed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shown import (
    difference_shown,
    heading,
    margin_shown,
    number_shown,
    point_shown,
    table,
    unit_shown,
)
from fullpipe.errors import ScenarioError
from fullpipe.validation.compare.variants import VariantComparison, VariantRow

_COLOURS = {"better": "green", "worse": "red", "equivalent": "", "undecided": "dim"}


def axes_of(over: Sequence[str]) -> dict[str, list[Any]]:
    """The axes of several `--over PATH=VALUE,VALUE`.

    Raises:
        ScenarioError: If one cannot be read.
    """
    return dict(_axis(text) for text in over)


def _axis(text: str) -> tuple[str, list[Any]]:
    """`path=value,value`; values are TOML, and what is not TOML is text up to the next comma."""
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise ScenarioError([f'--over "{text}": write it as PATH=VALUE,VALUE, as in flows.0.cca=cubic,bbr3'])
    try:
        return path.strip(), tomllib.loads(f"values = [{values}]")["values"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return path.strip(), [_value(part) for part in values.split(",")]


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text.strip()


def report(found: Iterable[VariantComparison], *, as_json: bool) -> None:
    """Print what is said, and end with exit code 1 if anything is worse."""
    is_worse = False
    for comparison in found:
        is_worse |= comparison.is_worse
        if as_json:
            echo(json.dumps(comparison.to_dict(), allow_nan=False))
        else:
            _show(comparison)
    if is_worse:
        raise typer.Exit(1)


def _show(found: VariantComparison) -> None:
    console = terminal()
    seeds = f"{len(found.seeds)} seed{'' if len(found.seeds) == 1 else 's'}"
    where = "".join(f", {word}" for word in [*point_shown(found.point), seeds])
    console.print(led(f"{found.other} against {found.reference}", "bold", f": {found.scenario}{where}"))
    console.print(_table(found))
    for note in found.notes:
        console.print(styled(note, "dim"), soft_wrap=True)
    for line in _sentences(found):
        complain(line)


def _table(found: VariantComparison) -> Any:
    made = table("", found.reference, found.other, "difference [95 %]", "margin", last="verdict")
    made.columns[0].no_wrap, made.columns[5].min_width = True, 10
    of = None
    for row in found.rows:
        if (row.kind, row.of) != of:
            of = (row.kind, row.of)
            made.add_row(styled(heading(row.of), "bold"))
        unit, said = unit_shown(row.unit), row.assessment
        made.add_row(
            f" {row.metric} {unit if unit != row.unit or unit == 's' else ''}",
            number_shown(row.reference, row.unit),
            number_shown(row.other, row.unit),
            difference_shown(said.difference, said.interval, row.reference, row.unit),
            margin_shown(row.margin, row.unit),
            styled(_verdict(row), _COLOURS.get(row.assessment.verdict, "yellow")),
        )
    return made


def _verdict(row: VariantRow) -> str:
    seeds = row.assessment.seeds
    return f"{row.assessment.verdict} (about {seeds:,} seeds)" if seeds else row.assessment.verdict


def _sentences(found: VariantComparison) -> Iterator[str]:
    """What a reader should know of the verdicts."""
    if any(row.assessment.reason == "all seeds gave the same run, which is one" for row in found.rows):
        yield 'note: all seeds gave the same run, which is one; give flows a start_jitter, such as "100 ms"'
    known = [row.assessment.correlation for row in found.rows if row.assessment.correlation is not None]
    if known and max(map(abs, known)) < 0.3:
        yield "note: the two sides vary independently of each other over seeds, so that pairs tell no more"
