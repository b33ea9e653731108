"""Scenarios of a file of results, and the recipe that makes the file again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fullpipe.errors import FullpipeError
from fullpipe.report.basis import of_json
from fullpipe.report.content import Download
from fullpipe.report.recipe import Recipe
from fullpipe.report.rows import text_of
from fullpipe.report.runs.repeat import file_name
from fullpipe.report.runs.sweep import scenario_of
from fullpipe.scenario import Scenario

_MOST_SCENARIOS = 12


class Ran(NamedTuple):
    """A scenario of a file."""

    side: str | None
    """Nothing if the file does not say."""
    case: str
    scenario: Scenario


def scenarios_in(found: Mapping[str, Any]) -> list[Ran]:
    """The scenarios of a file that are valid today."""
    given, made = found.get("scenarios"), list[Ran]()
    for each in given if isinstance(given, list) else []:
        try:
            side = text_of(each["side"]) if "side" in each else None
            case = text_of(each["case"]) if each.get("case") else ""
            made.append(Ran(side, case, Scenario(**each["scenario"])))
        except (AttributeError, FullpipeError, LookupError, TypeError, ValueError):
            continue
    return made


def by_side(ran: Iterable[Ran]) -> dict[str, list[Scenario]]:
    """The scenarios of every side and case."""
    made: dict[str, list[Scenario]] = {}
    for each in ran:
        if each.side is not None:
            made.setdefault(", ".join(filter(None, [each.side, each.case])), []).append(each.scenario)
    return made


def by_case(ran: Iterable[Ran]) -> dict[str, list[Scenario]]:
    """The scenarios of every case, of all sides."""
    made: dict[str, list[Scenario]] = {}
    for each in ran:
        made.setdefault(each.case, []).append(each.scenario)
    return made


def files_of(
    found: Mapping[str, Any], scenarios: Mapping[str, Sequence[Scenario]]
) -> Iterator[tuple[str, Download]]:
    """For every side its scenario with all points as a file; of points that are no sweep the first.

    That of the reference has the name that the command has.
    """
    typed = _typed(found)
    for side, of_side in list(scenarios.items())[:_MOST_SCENARIOS]:
        scenario = scenario_of(of_side[0].name, of_side) or of_side[0]
        own = file_name(f"{scenario.name}-{side}" if side != scenario.name else side)
        yield side, Download(typed or own, "application/toml", scenario.to_toml())
        typed = ""


def _typed(found: Mapping[str, Any]) -> str:
    """The scenario file of a command of `compare`; nothing if its variants are files themselves."""
    try:
        words = shlex.split(text_of(found.get("command")))
    except ValueError:
        return ""
    is_base = words[:2] == ["fullpipe", "compare"] and not any("scenario=" in word for word in words)
    files = [Path(word).name for word in words[2:3] if word.endswith(".toml")]
    return file_name(files[0].removesuffix(".toml")) if is_base and files else ""


def recipe_of(found: Mapping[str, Any], command: str, files: Sequence[tuple[str, Download]]) -> Recipe:
    """The commands that make the file and the report again; none if the file has none of its own."""
    if not found.get("command"):
        return Recipe()
    runs = _run(found, files) if found.get("kind") == "test" else ""
    commands = list(filter(None, [runs, text_of(found["command"]), command]))
    needs = [
        f"Save the scenario of {side} as {file.name}."
        for side, file in files[:1]
        if file.name in "\n".join(commands)
    ]
    return Recipe(commands, needs)


def _run(found: Mapping[str, Any], files: Sequence[tuple[str, Download]]) -> str:
    """The command that makes the runs of a test again; nothing if its scenario or its seeds are no whole."""
    basis, seeds = of_json(found), found.get("seeds")
    if not basis or len(files) != 1 or not isinstance(seeds, list) or seeds != [*range(1, len(seeds) + 1)]:
        return ""
    return shlex.join(["fullpipe", "run", files[0][1].name, "--seeds", str(len(seeds)), "--out", basis.store])
