"""`fullpipe show`: a scenario, an entry of the registry or a table in full."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullpipe.cli.console import led, listing, terminal
from fullpipe.cli.list_ import Kind, names, tables
from fullpipe.cli.output import echo
from fullpipe.cli.shared import read_scenario
from fullpipe.errors import UnknownNameError
from fullpipe.scenario import Network, catalogue, resolve, scenario_names
from fullpipe.scenario.read.files import named_text

if TYPE_CHECKING:
    from fullpipe.runs import Table

MOST_PATHS = 100
"""Flows, and routes of one flow, that a terminal shows."""


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A scenario, an algorithm, a queue, a loss, an impairment, a medium, or a table.",
        ),
    ],
    paths: Annotated[
        bool, typer.Option("--paths", help="Of a scenario: the links that each flow crosses, there and back.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a scenario as TOML, the parameters of anything in the registry, or the columns of a table.

    A scenario file is shown as it was understood.
    """
    if paths:
        network = resolve(read_scenario(name))
        _print(_paths(network)) if as_json else _show_paths(network)
    elif name in scenario_names() or name.endswith(".toml"):
        scenario = read_scenario(name)
        if as_json:
            _print(scenario.to_dict())
        else:
            echo(named_text(name) if name in scenario_names() else scenario.to_toml(), nl=False)
    elif found := catalogue.entries(name):
        _print(_by_family(found)) if as_json else _show_entries(found)
    elif name in tables():
        _print(_table(tables()[name])) if as_json else _show_table(tables()[name])
    else:
        known = dict.fromkeys(entry for family in catalogue.families() for entry in catalogue.family(family))
        raise UnknownNameError("name", name, [*names(Kind.scenarios), *known, *tables()])


def _print(found: Mapping[str, Any]) -> None:
    echo(json.dumps(found, allow_nan=False))


def _paths(network: Network) -> dict[str, Any]:
    """By flow, the links of data and ACKs, and every route that it takes later; null: as before."""

    def named(links: tuple[int, ...] | None) -> list[str] | None:
        return None if links is None else [network.hops[i].name for i in links]

    return {
        routed.name: {
            "base_rtt_s": network.base_rtt_s(routed),
            "data": named(routed.forward),
            "acks": named(routed.reverse),
            "later": [
                {"at_s": reroute.at_s, "data": named(reroute.forward), "acks": named(reroute.reverse)}
                for reroute in routed.reroutes
            ],
        }
        for routed in network.flows
    }


def _show_paths(network: Network) -> None:
    """A line per flow and direction, and one for every change of them."""
    found = _paths(network)
    for flow, routes in list(found.items())[:MOST_PATHS]:
        echo(f"{flow}: base RTT {routes['base_rtt_s'] * 1e3:g} ms")
        echo(f"  data  {' > '.join(routes['data'])}\n  ACKs  {' > '.join(routes['acks'])}")
        for later in routes["later"][:MOST_PATHS]:
            both = (("data", later["data"]), ("ACKs", later["acks"]))
            lines = [f"{what}  {' > '.join(links)}" for what, links in both if links is not None]
            echo(f"  from {later['at_s']:g} s: {'; '.join(lines)}")
        if len(routes["later"]) > MOST_PATHS:
            echo(f"  and {len(routes['later']) - MOST_PATHS} more")
    if len(found) > MOST_PATHS:
        echo(f"and {len(found) - MOST_PATHS} more flows")


def _by_family(found: Mapping[str, catalogue.Entry]) -> dict[str, Any]:
    """The entry of a name, or entries by family if several have it."""
    described = {family: asdict(entry) for family, entry in found.items()}
    return described if len(described) > 1 else next(iter(described.values()))


def _show_entries(found: Mapping[str, catalogue.Entry]) -> None:
    for family, entry in found.items():
        _show_entry(entry, f" ({family})" if len(found) > 1 else "")


def _show_entry(entry: catalogue.Entry, of: str) -> None:
    console = terminal()
    console.print(led(entry.name, "bold", f"{of}: {entry.title}"))
    for what, text in (("also", ", ".join(entry.aliases)), ("source", entry.source)):
        if text:
            console.print(f"{what}: {text}")
    table = listing("parameter", "default", "unit", "range", "meaning")
    for param in entry.params.values():
        bounds = "" if param.min is None and param.max is None else f"{param.min:g}..{param.max:g}"
        default = "" if param.default is None else str(param.default)
        table.add_row(param.name, default, param.unit, bounds, param.doc)
    if entry.params:
        console.print(table)
    for preset, values in entry.presets.items():
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        console.print(f"preset {preset}: {given or 'the defaults'}")


def _table(described: "Table") -> dict[str, Any]:
    columns = [
        {"name": column.name, "type": str(column.dtype), "unit": column.unit, "meaning": column.meaning}
        for column in described.columns
    ]
    return {"name": described.name, "row": described.row, "columns": columns}


def _show_table(described: "Table") -> None:
    table = listing("column", "type", "unit", "meaning")
    for column in described.columns:
        table.add_row(column.name, str(column.dtype), column.unit, column.meaning)
    console = terminal()
    console.print(led(described.name, "bold", f": one row per {described.row}"))
    console.print(table)
