"""Top-level functions: run a scenario once, run its sweep, load a finished run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from fullpipe import sweeps
from fullpipe.algorithms import own
from fullpipe.engines import Engine, Progress
from fullpipe.engines import engine as engine_named
from fullpipe.errors import EngineError, FolderError, ScenarioError, shown
from fullpipe.runs import Run, Store
from fullpipe.runs.executor import points_of
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.quantities import check_seed
from fullpipe.sweeps import Job, KeptRuns


def run(
    scenario: Scenario,
    seed: int = 1,
    *,
    engine: str = "native",
    out: str | Path | None = None,
    progress: Progress | None = None,
    allow_python: bool = False,
    cca_timeout_s: float | None = None,
    threads: int = 1,
) -> Run:
    """Run a scenario once.

    Args:
        scenario: A scenario without a sweep; `sweep` runs sweeps and many seeds.
        seed: The same scenario and seed give the same tables, byte for byte.
        engine: Name of the engine.
        out: Folder of the store, such as "runs". A run already in the store is re-used. Left out: the run
            stays in memory.
        progress: Called with the simulated time reached, in seconds.
        allow_python: Allow algorithms written as "python:module:Class" or "library:PATH:NAME". Permission
            imports the module or loads the shared object, and so runs its code. A class that was passed to
            the scenario as an object needs no permission.
        cca_timeout_s: Longest real time of one call into an algorithm written in Python. Left out: no limit.
        threads: Number of threads of the native engine. Several threads are used only if flows interact
            through links only. Never changes results.

    Raises:
        ValueError: If `threads` is not from 1 to 64.
        ScenarioError: If the scenario has a sweep or is not a Scenario, the seed is out of range, or a module
            cannot be imported.
        FolderError: If `out` cannot be written.
        DiskFullError: If the disk is full.
        ResultError: If this run cannot be written to `out`.
        EngineError: If the engine cannot run the scenario, or fails.
        ControllerError: If your algorithm fails.
    """
    if not isinstance(scenario, Scenario):
        raise ScenarioError([_no_scenario(scenario)])
    if scenario.sweep:
        paths = ", ".join(scenario.sweep)
        raise ScenarioError(
            [f"sweep: {paths} has several values; choose with with_values(...), or see expand()"]
        )
    check_seed(seed)
    if allow_python:
        import_algorithms(scenario)
    runs = KeptRuns(_store(out), cca_timeout_s, threads)
    job = Job(scenario, seed, engine)
    stored = runs.find(job)
    if stored:
        if runs.store:
            runs.store.note_content([stored.meta])
        return stored
    lines = refusals(engine_named(engine), scenario)
    if lines:
        raise EngineError("\n".join(lines))
    made = runs.make(job, progress)
    if runs.store:
        runs.store.note_order([made.meta.place])
        runs.store.note_content([made.meta])
    return made


def sweep(
    scenario: Scenario,
    seeds: Iterable[int] = (1,),
    *,
    engine: str = "native",
    workers: int = 1,
    out: str | Path | None = None,
    progress: sweeps.Progress | None = None,
    allow_python: bool = False,
    cca_timeout_s: float | None = None,
    on: str | sweeps.Executor = "local",
) -> list[Run]:
    """Run every point of a scenario's sweep with every seed; the seed changes fastest.

    Args:
        scenario: A scenario with or without a sweep.
        seeds: The seeds of every point.
        engine: Name of the engine.
        workers: Number of parallel runs. Never changes results.
        out: Folder of the store, as in `run`; None keeps runs in memory.
        progress: Called at every step of every run.
        allow_python: See `run`.
        cca_timeout_s: See `run`.
        on: Workers: "local" for threads of this process; "files" for threads of this process and of every
            `fullpipe work` with access to the folder `out`; "dask", "dask://HOST:PORT" or "slurm" for workers
            of Dask with access to the folder `out`; or your own executor.

    Raises:
        ScenarioError: If a point or a seed is wrong, or there are more than a million runs.
        EngineError: If the engine cannot run one of the points. In this case, no point is run.
        FolderError: If `out` cannot be written.
        DiskFullError: If the disk is full.
        UnknownNameError: If `on` is unknown.
        SweepError: If any run failed, after all other runs have finished.
    """
    if not isinstance(scenario, Scenario):
        raise ScenarioError([_no_scenario(scenario)])
    return run_all(
        sweeps.jobs(scenario, seeds, engine),
        workers=workers,
        out=out,
        progress=progress,
        allow_python=allow_python,
        cca_timeout_s=cca_timeout_s,
        on=on,
    )


def run_all(
    todo: Sequence[Job],
    *,
    workers: int = 1,
    out: str | Path | None = None,
    progress: sweeps.Progress | None = None,
    allow_python: bool = False,
    cca_timeout_s: float | None = None,
    on: str | sweeps.Executor = "local",
) -> list[Run]:
    """Run jobs, and return the runs in the order of the jobs. If an engine refuses a job, no job is run. See
    `sweep`."""
    points = points_of(todo)
    for job in points if allow_python else ():
        import_algorithms(job.scenario)
    used = {name: engine_named(name) for name in {job.engine for job in points}}
    lines = dict.fromkeys(line for job in points for line in refusals(used[job.engine], job.scenario))
    if lines:
        raise EngineError("\n".join(lines))
    store = _store(out)
    if isinstance(on, str):
        root = store.root if store else None
        from fullpipe import cluster  # imported here, as a single run needs no cluster

        on = cluster.executor(
            on, root=root, workers=workers, cca_timeout_s=cca_timeout_s, allow_python=allow_python
        )
    return sweeps.run(todo, store=store, progress=progress, cca_timeout_s=cca_timeout_s, executor=on)


def _store(out: str | Path | None) -> Store | None:
    if out is not None and not str(out):
        raise FolderError('out: is empty; write "." for the working directory')
    return Store(Path(out)) if out is not None else None


def import_algorithms(scenario: Scenario) -> None:
    """Import the classes and allow the libraries that a scenario names. The function runs the code of the
    classes and libraries.

    Raises:
        ScenarioError: If a class cannot be imported, or there is no such library.
    """
    for kind in own_algorithms(scenario.flows):
        own.permit(kind)


def refusals(engine: Engine, scenario: Scenario) -> list[str]:
    """Return the reasons for which an engine cannot run a scenario, with paths as in the scenario's file."""
    problems = engine.check(scenario)
    if not problems:
        return []
    from fullpipe.engines.lacks import as_written  # imported here, as most engines refuse nothing

    return list(dict.fromkeys(str(as_written(problem, scenario)) for problem in problems))


def _no_scenario(given: object) -> str:
    what = shown(given)
    if not isinstance(given, str):
        return f"expected a Scenario, got {what}"
    how = "from_file" if given.endswith(".toml") else "named"
    return f"{what} is text, not a Scenario; write fullpipe.run(fullpipe.Scenario.{how}({what}))"


def load(folder: str | Path) -> Run:
    """Load a finished run from its folder.

    Raises:
        NoRunError: If the folder does not contain a finished run.
    """
    return Run.load(folder)
