"""`fullpipe show RUN`: the scenario of a finished run, and where the run comes from."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullpipe.runs import Run


def is_run(name: str) -> bool:
    """Whether it is the folder of a run."""
    return (Path(name) / "meta.json").is_file()


def _read(folder: str) -> "Run":
    from fullpipe.cli.jobs import read_runs  # here: names and scenarios need no tables

    return read_runs([Path(folder)])[0]


def origin(folder: str) -> dict[str, Any]:
    """Scenario, engine, machine and remarks, as JSON has them.

    Raises:
        NoRunError: If the run is damaged.
    """
    run = _read(folder)
    meta = run.meta.model_dump(mode="json", include={"engine", "seed", "started", "host", "remarks"})
    return {**meta, "scenario": run.scenario.to_dict()}


def as_toml(folder: str) -> str:
    """The same as a scenario file, whose comments say where the run comes from.

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
