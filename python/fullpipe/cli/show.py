"""`fullpipe show`: one thing in full."""

from typing import Annotated

import typer

from fullpipe.cli.list_ import Kind, names, tables
from fullpipe.cli.shared import read_scenario
from fullpipe.errors import UnknownNameError
from fullpipe.scenario import Scenario, catalogue, resolve, scenario_names
from fullpipe.scenario.reading import named_text

MOST_PATHS = 100
"""Flows, and ways of one flow, that are shown."""


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A scenario, an algorithm, a queue, or a table.")
    ],
    paths: Annotated[
        bool, typer.Option("--paths", help="Of a scenario: the links that each flow crosses, there and back.")
    ] = False,
) -> None:
    """Show a scenario as TOML, the parameters of an algorithm or queue, or the columns of a table.

    A scenario file is shown as it was understood.
    """
    if paths:
        _show_paths(read_scenario(name))
    elif name in scenario_names():
        typer.echo(named_text(name), nl=False)
    elif entry := _entry(name):
        _show_entry(entry)
    elif name in tables():
        _show_table(name)
    elif name.endswith(".toml"):
        typer.echo(read_scenario(name).to_toml(), nl=False)
    else:
        known = [
            known for kind in (Kind.scenarios, Kind.ccas, Kind.queues, Kind.tables) for known in names(kind)
        ]
        raise UnknownNameError("name", name, known)


def _show_paths(scenario: Scenario) -> None:
    """A line per flow and direction, and one for every way that it takes later."""
    network = resolve(scenario)

    def named(links: tuple[int, ...]) -> str:
        return " > ".join(network.links[i].name for i in links)

    for route in network.routes[:MOST_PATHS]:
        typer.echo(f"{route.name}: base RTT {network.base_rtt_s(route) * 1e3:g} ms")
        typer.echo(f"  data  {named(route.forward)}\n  ACKs  {named(route.reverse)}")
        for way in route.new_ways[:MOST_PATHS]:
            both = (("data", way.forward), ("ACKs", way.reverse))
            lines = [f"{what}  {named(links)}" for what, links in both if links is not None]
            typer.echo(f"  from {way.at_s:g} s: {'; '.join(lines)}")
        if len(route.new_ways) > MOST_PATHS:
            typer.echo(f"  and {len(route.new_ways) - MOST_PATHS} more")
    if len(network.routes) > MOST_PATHS:
        typer.echo(f"and {len(network.routes) - MOST_PATHS} more flows")


def _entry(name: str) -> catalogue.Entry | None:
    try:
        return catalogue.controller(name)
    except UnknownNameError:
        return catalogue.queues().get(name)


def _show_entry(entry: catalogue.Entry) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"[bold]{entry.name}[/bold]: {entry.title}")
    for what, text in (("also", ", ".join(entry.aliases)), ("source", entry.source)):
        if text:
            console.print(f"{what}: {text}")
    table = Table("parameter", "default", "unit", "range", "meaning", box=None, pad_edge=False)
    for param in entry.params.values():
        bounds = "" if param.min is None and param.max is None else f"{param.min:g}..{param.max:g}"
        default = "" if param.default is None else str(param.default)
        table.add_row(param.name, default, param.unit, bounds, param.doc)
    if entry.params:
        console.print(table)
    for preset, values in entry.presets.items():
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        console.print(f"preset {preset}: {given or 'the defaults'}")


def _show_table(name: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("column", "type", "unit", "meaning", box=None, pad_edge=False)
    for column in tables()[name].columns:
        table.add_row(column.name, str(column.dtype), column.unit, column.meaning)
    console = Console(highlight=False)
    console.print(f"[bold]{name}[/bold]: one row per {tables()[name].row}")
    console.print(table)
