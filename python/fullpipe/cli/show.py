"""`fullpipe show`: a scenario, or anything that is declared by name, in full."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.cli import described, show_run
from fullpipe.cli.kinds import called, known_names
from fullpipe.cli.output import echo
from fullpipe.cli.shared import read_scenario
from fullpipe.errors import NoRunError, UnknownNameError
from fullpipe.scenario import Network, resolve, scenario_names
from fullpipe.scenario.read.files import named_text

MOST_PATHS = 100
"""Flows, and routes of one flow, that a terminal shows."""


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A scenario, an algorithm or its preset, a queue, a loss, an impairment, a medium,"
            " a workload, a metric, a table, a study, a test of Flent, an engine, or the folder of a run.",
        ),
    ],
    paths: Annotated[
        bool, typer.Option("--paths", help="Of a scenario: the links that each flow crosses, there and back.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a scenario as TOML, and of anything else that is declared by name what it is and takes.

    A scenario file is shown as it was understood, and of a run its scenario and where it comes from.
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
    elif show_run.is_run(name):
        _print(show_run.origin(name)) if as_json else echo(show_run.as_toml(name), nl=False)
    elif found := called(name):
        several = len(found) > 1
        if as_json:
            known = {family: described.as_json(one) for family, one in found.items()}
            _print(known if several else next(iter(known.values())))
            return
        for family, one in found.items():
            described.show(name, one, family if several else "")
    elif Path(name).is_dir():
        raise NoRunError(
            f"{name}: no finished run; there is no meta.json. `fullpipe runs --out {name}` lists what is in a"
            " folder of runs"
        )
    else:
        raise UnknownNameError("name", name, known_names())


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
