"""Repetition of runs: a scenario with all points, and the commands to rerun it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fullpipe.engines.imported import FILE, NAMES, names_given
from fullpipe.errors import GAP
from fullpipe.report.content import Block, Code, Download, Text
from fullpipe.report.recipe import Recipe
from fullpipe.report.runs.points import Points
from fullpipe.report.text import listed
from fullpipe.runs.meta import READERS
from fullpipe.runs.population import file_shown
from fullpipe.scenario.read.files import inline

_DEFAULT = "runs"
"""Default folder of runs."""


def command(found: Points) -> str:
    """Commands that make the runs again, one per line."""
    scenario = found.scenario
    file = "" if scenario is None else found.bundled or file_name(scenario.name)
    return "\n".join(_commands(found, file)) if file else ""


def recipe(found: Points, *more: str) -> Recipe:
    """Commands that make the runs again, then the commands in `more`, which make files and the page."""
    scenario = found.scenario
    if scenario is None:
        return Recipe([each for each in more if each])
    named = found.bundled
    file = named or file_name(scenario.name)
    simulated = any(run.meta.engine.name not in READERS for run in found.runs)
    needs = [] if named or not simulated else [f"Save the scenario as {file}."]
    beside = dict.fromkeys(name for run in found.runs for name in run.meta.files)
    if beside and not named:
        put = f"Put {listed(map(file_shown, beside))} beside {file}; `fullpipe pack` puts them into one file."
        needs.append(put)
    return Recipe([*_commands(found, file), *filter(None, more)], needs)


def blocks(found: Points) -> list[Block]:
    """The scenario as TOML."""
    scenario = found.scenario
    if scenario is None:
        told = "No single scenario has exactly these points. This is the scenario of the first run."
        return [Text(told), Code(found.runs[0].scenario.to_toml())]
    return [Code(scenario.to_toml(), "The scenario as TOML", is_folded=True)]


def files(found: Points) -> list[Download]:
    """The scenario as a file; empty if no single scenario has these points."""
    scenario = found.scenario
    return (
        []
        if scenario is None
        else [Download(file_name(scenario.name), "application/toml", scenario.to_toml())]
    )


def file_name(name: str) -> str:
    """The name of a file for a scenario."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    return f"{kept.strip('.-')[:80] or 'scenario'}.toml"


def _commands(found: Points, scenario: str) -> Iterator[str]:
    """Commands that make exactly the runs, engine by engine.

    The first command runs the seeds that all points have. If points have unequal seeds, a further command per
    point runs the other seeds of the point. If the seeds are not 1 to N, there is a command per seed.
    """
    for engine in dict.fromkeys(run.meta.engine.name for run in found.runs):
        if engine in READERS:
            yield from _imports(found, engine)
            continue
        by = [] if engine == "native" else ["--engine", engine]
        code = ["--allow-python"] if any(run.meta.engine.code for run in found.runs) else []
        for values, seeds in _seeds_at(found, engine):
            of_point = [word for key, value in values.items() for word in ("--set", f"{key}={inline(value)}")]
            words = ["fullpipe", "run", scenario, *code, *of_point]
            yield from (shlex.join([*words, *seed, *by, *_store(found)]) for seed in _options(seeds))


def _seeds_at(found: Points, engine: str) -> Iterator[tuple[Mapping[str, Any], list[int]]]:
    """Yield the seeds that all points have. Then yield every point with further seeds: with all its seeds if
    they are 1 to N, otherwise with only the further seeds."""
    seeds: dict[str, set[int]] = {}
    for run in found.runs:
        of_engine = seeds.setdefault(run.scenario.digest, set())
        of_engine |= {run.meta.seed} if run.meta.engine.name == engine else set()
    shared = set.intersection(*seeds.values())
    if shared:
        yield {}, sorted(shared)
    scenario = found.scenario
    for point, expanded in zip(scenario.points(), scenario.expand(), strict=True) if scenario else ():
        own = seeds[expanded.digest]
        if own > shared:
            yield point, sorted(own if own == {*range(1, len(own) + 1)} else own - shared)


def _options(seeds: Sequence[int]) -> list[list[str]]:
    """Options for seeds, one list of words per command."""
    if list(seeds) == list(range(1, len(seeds) + 1)):
        return [["--seeds", str(len(seeds))]]
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return [["--seeds", f"{seeds[0]}-{seeds[-1]}"]]
    return [["--seed", str(seed)] for seed in seeds]


def _imports(found: Points, engine: str) -> Iterator[str]:
    """Commands that import measured files again, one per set of `--cca` names.

    There are none if the name of a file, or a set of `--cca` names, was stored shortened.
    """
    files: dict[tuple[str, ...], list[str]] = {}
    for run in found.runs:
        file = run.meta.host.get(FILE)
        if run.meta.engine.name == engine and file:
            given = tuple(names_given(str(run.meta.host.get(NAMES, ""))))
            if GAP in str(file) or GAP.strip() in given:
                return
            files.setdefault(given, []).append(str(file))
    for names, of_names in files.items():
        said = [word for name in names for word in ("--cca", name)]
        yield shlex.join(["fullpipe", "import", *dict.fromkeys(of_names), *said, *_store(found)])


def _store(found: Points) -> list[str]:
    """Option for the folder of the runs: only the last part of its path, as pages show no local paths."""
    store = found.runs[0].store
    name = store.name if store else _DEFAULT
    return [] if name == _DEFAULT else ["--out", name]
