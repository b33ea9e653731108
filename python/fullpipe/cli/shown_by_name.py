"""Implementation of `fullpipe show NAME`, without the parser of its arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullpipe.cli.asked import read_scenario
from fullpipe.cli.output import echo, say
from fullpipe.errors import NoRunError, UnknownNameError
from fullpipe.scenario.read.files import named_text, scenario_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullpipe.runs import Run
    from fullpipe.scenario import Network


# `fullpipe show RUN`: prints the scenario and the provenance of a finished run.


def is_run(name: str) -> bool:
    """Whether `name` is the folder of a run."""
    return (Path(name) / "meta.json").is_file()


def _read(folder: str) -> Run:
    from fullpipe.cli.stored import read_runs  # imported here, as names and scenarios need no runs

    return read_runs([Path(folder)])[0]


def origin(folder: str) -> dict[str, Any]:
    """Scenario, engine, machine and remarks of a run, for JSON.

    Raises:
        NoRunError: If the run is damaged.
    """
    run = _read(folder)
    meta = run.meta.model_dump(mode="json", include={"engine", "seed", "started", "host", "remarks"})
    return {**meta, "scenario": run.scenario.to_dict()}


def as_toml(folder: str) -> str:
    """A scenario file whose comments have the provenance of the run.

    Raises:
        NoRunError: If the run is damaged.
    """
    run = _read(folder)
    meta, engine = run.meta, run.meta.engine
    lines = [f"engine {engine.name} {engine.version}, seed {meta.seed}, {meta.started}"]
    lines += [f"{key}: {value}" for key, value in meta.host.items()]
    lines += meta.remarks
    comments = "".join(f"# {' '.join(line.split())}\n" for line in lines)
    return f"{comments}\n{run.scenario.to_toml()}"


MOST_PATHS = 100
"""Maximum number of flows that are printed, and of later routes per flow."""


def show(name: str, *, paths: bool = False, as_json: bool = False) -> None:
    """Print a scenario, a run, or the description of any registered name.

    Args:
        name: Name of a scenario or any registered name, a file, or the folder of a run.
        paths: Print the links that each flow of a scenario crosses.
        as_json: Print one JSON object.

    Raises:
        UnknownNameError: If nothing has this name.
        NoRunError: If `name` is a folder without a run.
    """
    if paths:
        from fullpipe.scenario import resolve  # imported here, as only paths need a network

        network = resolve(read_scenario(name))
        _print(_paths(network)) if as_json else _show_paths(network)
    elif name in scenario_names() and not as_json:
        echo(named_text(name), nl=False)
    elif name in scenario_names() or name.endswith(".toml"):
        scenario = read_scenario(name)
        if as_json:
            _print(scenario.to_dict())
        else:
            echo(scenario.to_toml(), nl=False)
    elif is_run(name):
        _print(origin(name)) if as_json else echo(as_toml(name), nl=False)
    elif found := _called(name):
        from fullpipe.cli import described

        several = len(found) > 1
        if as_json:
            known = {family: described.description(one) for family, one in found.items()}
            _print(known if several else next(iter(known.values())))
            return
        for family, one in found.items():
            described.describe(name, one, family if several else "")
    elif Path(name).is_dir():
        raise NoRunError(
            f"{name}: is not the folder of a finished run, as meta.json is missing; if it is a store,"
            f" `fullpipe runs --out {name}` lists its runs"
        )
    else:
        from fullpipe.analysis.metrics.table import by_synonym
        from fullpipe.cli.kinds import known_names

        raise UnknownNameError("name", name, known_names(), "fullpipe list", by_synonym())


def _called(name: str) -> dict[str, Any]:
    from fullpipe.cli.kinds import called  # imported here, as scenarios do not need this module

    return called(name)


def _print(found: Mapping[str, Any]) -> None:
    echo(json.dumps(found, allow_nan=False))


def _paths(network: Network) -> dict[str, Any]:
    """For every flow: its base RTT, the links that its data and its ACKs cross, and its later routes.
    Unchanged links are null."""

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
    """Print lines for the data and the ACKs of each flow, and a line per later route."""
    found = _paths(network)
    for flow, routes in list(found.items())[:MOST_PATHS]:
        echo(f"{flow}: base RTT {routes['base_rtt_s'] * 1e3:g} ms")
        for what, links in (("data", routes["data"]), ("ACKs", routes["acks"])):
            say(f"  {what}  {' > '.join(links)}", indent=" " * 8)
        for later in routes["later"][:MOST_PATHS]:
            both = (("data", later["data"]), ("ACKs", later["acks"]))
            lines = [f"{what}  {' > '.join(links)}" for what, links in both if links is not None]
            say(f"  from {later['at_s']:g} s: {'; '.join(lines)}", indent=" " * 8)
        if len(routes["later"]) > MOST_PATHS:
            echo(f"  and {len(routes['later']) - MOST_PATHS} more")
    if len(found) > MOST_PATHS:
        echo(f"and {len(found) - MOST_PATHS} more flows")
