"""The two functions that a notebook needs."""

from pathlib import Path

from fullpipe.engines import Progress, identity
from fullpipe.engines import engine as engine_named
from fullpipe.errors import EngineError, ScenarioError
from fullpipe.results import Run, Store
from fullpipe.scenario import Scenario


def run(
    scenario: Scenario,
    seed: int = 1,
    *,
    engine: str = "native",
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run a scenario once.

    Args:
        scenario: What to run, without a sweep; `fullpipe.sweeps` runs sweeps and many seeds.
        seed: The same scenario and seed give the same tables, byte for byte.
        engine: Name of the engine.
        out: Folder in which runs are kept and looked up, such as "runs"; a run that is there is not made
            again. Left out, the run stays in memory.
        progress: Told the simulated time reached, in seconds.

    Raises:
        ScenarioError: If the scenario has a sweep.
        EngineError: If the engine cannot run it, or fails.
    """
    if scenario.sweep:
        paths = ", ".join(scenario.sweep)
        raise ScenarioError(
            [f"sweep: {paths} has several values; choose with with_values(...), or see expand()"]
        )
    chosen, store = engine_named(engine), Store(Path(out)) if out is not None else None
    stored = store.find(scenario, identity(chosen), seed) if store else None
    if stored:
        return stored
    problems = chosen.check(scenario)
    if problems:
        raise EngineError("\n".join(map(str, problems)))
    made = chosen.run(scenario, seed=seed, progress=progress)
    return store.save(made) if store else made


def load(folder: str | Path) -> Run:
    """A finished run from its folder.

    Raises:
        NoRunError: If the folder does not hold a finished run.
    """
    return Run.load(folder)
