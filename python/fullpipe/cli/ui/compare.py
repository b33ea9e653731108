"""Two variants with many seeds, and a verdict for every metric."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread

from fullpipe.cli.ui import watch
from fullpipe.cli.ui.export import verdicts_page
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.cli.ui.live import Turns, event
from fullpipe.cli.ui.names import files_of, names_of
from fullpipe.cli.ui.verdicts import told
from fullpipe.errors import FullpipeError, ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.sweeps import jobs
from fullpipe.validation.over import Jobs, compared


async def comparison(
    scenarios: Sequence[Scenario], seeds: int, limits: Limits, turns: Turns
) -> AsyncIterator[bytes]:
    """The events of a comparison: `progress` after every run, and `end` or `problem`.

    It stops when the page reads no further.
    """
    try:
        sides = await to_thread.run_sync(_sides, scenarios, seeds)
        runs: list[Run] = []
        for job in (job for of_side in sides.values() for job in of_side):
            async with turns.turn():
                runs.append(await to_thread.run_sync(watch.run, job.scenario, job.seed, limits))
            yield event("progress", {"done": len(runs)})
        yield event("end", await to_thread.run_sync(_judged, sides, runs))
    except FullpipeError as error:
        yield event("problem", {"problems": str(error).split("\n")})


async def comparison_report(
    scenarios: Sequence[Scenario], seeds: int, limits: Limits, turns: Turns, question: str = ""
) -> str:
    """The page of a report about a comparison: its verdicts, and all its runs.

    Raises:
        ScenarioError: If the scenarios cannot be compared, or a run takes more than it may.
    """
    sides = await to_thread.run_sync(_sides, scenarios, seeds)
    runs: list[Run] = []
    for job in (job for of_side in sides.values() for job in of_side):
        async with turns.turn():
            runs.append(await to_thread.run_sync(watch.run, job.scenario, job.seed, limits))
    async with turns.turn():
        return await to_thread.run_sync(_reported, sides, runs, question)


def _reported(sides: Jobs, runs: Sequence[Run], question: str) -> str:
    return verdicts_page(_judged(sides, runs), runs, question)


def seeds_of(sent: object, most: int) -> int:
    """How many seeds.

    Raises:
        ScenarioError: If it is no number of them, or too many.
    """
    if not isinstance(sent, int) or isinstance(sent, bool) or not 2 <= sent <= most:
        raise ScenarioError([f"seeds: expected a whole number from 2 to {most}"])
    return sent


def _sides(scenarios: Sequence[Scenario], seeds: int) -> Jobs:
    """Both variants, called by what differs."""
    if len(scenarios) != 2:
        raise ScenarioError(["scenarios: give two to compare them"])
    if len({len(scenario.flows) for scenario in scenarios}) > 1:
        raise ScenarioError(["flows: give both variants as many entries, so that each has its counterpart"])
    chosen = range(1, seeds + 1)
    with only_own_files():
        named = zip(names_of(*scenarios), scenarios, strict=True)
        return {name: jobs(scenario, chosen) for name, scenario in named}


def _judged(sides: Jobs, runs: Sequence[Run]) -> dict[str, Any]:
    found = told(compared(sides, runs)[0])
    return {**found, **taken_along([*sides], found["seeds"])}


def taken_along(
    names: Sequence[str], seeds: Sequence[int], store: Path = Path("runs"), engine: str = "native"
) -> dict[str, Any]:
    """What the scenarios of a comparison are called as files, and the command that says the same of those."""
    files = files_of(names)
    return {"files": files, "command": compare_command(files, seeds, store, engine)}


def compare_command(
    files: Sequence[str], seeds: Sequence[int], store: Path = Path("runs"), engine: str = "native"
) -> str:
    """The command that says the same of scenarios in files; empty if the seeds are not the first ones."""
    if list(seeds) != list(range(1, len(seeds) + 1)):
        return ""
    words = ["fullpipe", "compare", files[0], "--over", f"scenario={','.join(files)}"]
    words += ["--seeds", str(len(seeds))]
    words += [] if engine == "native" else ["--engines", engine]
    words += [] if store == Path("runs") else ["--out", str(store)]
    return shlex.join(words)
