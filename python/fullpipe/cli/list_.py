"""`fullpipe list`: scenarios, algorithms, queues, studies, engines and tables."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from fullpipe.cli.output import echo
from fullpipe.scenario import catalogue

if TYPE_CHECKING:
    from fullpipe.runs import Table
    from fullpipe.scenario import Scenario


class Kind(StrEnum):
    """What can be listed."""

    ccas = "ccas"
    queues = "queues"
    losses = "losses"
    impairments = "impairments"
    media = "media"
    scenarios = "scenarios"
    papers = "papers"
    engines = "engines"
    tables = "tables"


def list_names(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, by name.")] = False,
) -> None:
    """List algorithms, queues, losses, impairments, media, scenarios, studies, engines or tables."""
    if kind is Kind.engines:
        from fullpipe.cli.engines import list_engines  # here, as below: the other kinds need no engines

        list_engines(as_json)
        return
    entries = _ENTRIES.get(kind, dict)()
    if as_json:
        echo(json.dumps({n: asdict(e) for n, e in entries.items()} if entries else names(kind)))
        return
    _print(kind, entries)


def _print(kind: Kind, entries: "Mapping[str, catalogue.Entry]") -> None:
    from fullpipe.cli.console import listing, styled, terminal  # here: JSON needs none of it

    table = listing("", "")
    for name, text in names(kind).items():
        table.add_row(styled(name, "bold"), text)
        if name in entries:
            if entries[name].source:
                table.add_row("", styled(entries[name].source, "dim"))
            params = f"parameters: {', '.join(entries[name].params) or 'none'}"
            table.add_row("", styled(params, "dim"))
    terminal().print(table)


_ENTRIES: Mapping[Kind, Callable[[], Mapping[str, catalogue.Entry]]] = {
    Kind.ccas: catalogue.controllers,
    Kind.queues: catalogue.queues,
    **{kind: partial(catalogue.family, kind.value) for kind in (Kind.losses, Kind.impairments, Kind.media)},
}
"""What has a source and parameters."""


def names(kind: Kind) -> Mapping[str, str]:
    """Everything of a kind but engines, name and one line of description."""
    listing: Mapping[Kind, Callable[[], Mapping[str, str]]] = {
        **{kind: partial(_titles_of, entries) for kind, entries in _ENTRIES.items()},
        Kind.scenarios: _scenarios,
        Kind.papers: _papers,
        Kind.tables: lambda: {name: f"one row per {table.row}" for name, table in tables().items()},
    }
    return listing[kind]()


def tables() -> "Mapping[str, Table]":
    """The tables of a run."""
    from fullpipe.runs import TABLES  # here: the other kinds need no tables

    return TABLES


def _scenarios() -> dict[str, str]:
    from fullpipe.scenario import Scenario, scenario_names  # here: models take longer to build than a list

    return {name: _in_short(Scenario.named(name)) for name in scenario_names()}


def _papers() -> dict[str, str]:
    from fullpipe import studies  # here: it would double the time that the other kinds take

    return {name: studies.title(name) for name in studies.names()}


def _titles_of(entries: Callable[[], Mapping[str, catalogue.Entry]]) -> dict[str, str]:
    return _titles(entries())


def _titles(entries: Mapping[str, catalogue.Entry]) -> dict[str, str]:
    return {
        name: entry.title + (f" (also: {', '.join(entry.aliases)})" if entry.aliases else "")
        for name, entry in entries.items()
    }


def _in_short(scenario: "Scenario") -> str:
    flows = " + ".join(f"{flow.count} x {flow.described}" for flow in scenario.flows)
    sweep = f", {len(scenario.points())} points" if scenario.sweep else ""
    return f"{flows}, {scenario.duration_s:g} s{sweep}"
