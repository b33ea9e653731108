"""Published studies, run again: one folder per study, with the printed values, the runs and the figures.

>>> from fullpipe import studies
>>> studies.names()
['adbbr2025', 'ahsan2025', 'gniaz2025', 'kato2025', 'sologon2025']
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from fullpipe import engines
from fullpipe.api import refusals
from fullpipe.errors import EngineError, InputFileError, UnknownNameError
from fullpipe.report.write import write
from fullpipe.runs import Store
from fullpipe.studies import document, explanations, tables
from fullpipe.studies.claims import Claim
from fullpipe.studies.explanations import Explanation
from fullpipe.studies.report import Report, Settings
from fullpipe.studies.study import Study
from fullpipe.studies.transcription import title_of
from fullpipe.sweeps import Job, Progress

__all__ = [
    "Explanation",
    "Report",
    "Settings",
    "explain",
    "explaining",
    "jobs",
    "names",
    "printed",
    "run",
    "title",
]


def names() -> list[str]:
    """The studies, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def title(name: str) -> str:
    """The title of a study, without importing what runs it. Raises UnknownNameError."""
    _check(name)
    return title_of(__name__, name)


def printed(name: str) -> tuple[Claim, ...]:
    """The printed numbers and claims of a study. Raises UnknownNameError."""
    return _study(name).transcription().claims


def jobs(
    name: str, *, seeds: int | Iterable[int] | None = None, quick: bool = False, engine: str = "native"
) -> list[Job]:
    """Every run of a study with these seeds that the engine can make. Raises UnknownNameError."""
    settings = Settings(Path(name), Store(Path()), _chosen(seeds), quick=quick, engine=engine)
    todo = _study(name).jobs(settings)
    return replace(settings, refused=frozenset(_refused(engine, _by_digest(todo)))).possible(todo)


def explain(
    name: str,
    claim: str,
    *,
    seeds: int | Iterable[int] | None = None,
    workers: int = 1,
    out: Path = Path("runs"),
    quick: bool = False,
    engine: str = "native",
    progress: Progress | None = None,
) -> Explanation:
    """Run one claim of a study twice: as the study has it, and with the setting that turns its verdict.

    Args:
        name: One of `names()`.
        claim: The id of one of `printed(name)`.
        seeds: How many seeds, or which ones; None for a few.
        workers: How many runs at the same time. Has no influence on results.
        out: Where finished runs are kept: those of the study are not made again. What an engine that the
            setting names gives is kept in `papers/<name>-<engine>` below it.
        quick: Fewer seeds, and shorter runs where the study has them.
        engine: Whose numbers they are, unless the setting names an engine.
        progress: Told about every step.

    Raises:
        UnknownNameError: If there is no such study, claim or engine.
        EngineError: If the engine cannot run it as the study has it.
        SweepError: If a run failed.
    """
    settings = Settings(
        _folder(Path(out), name, engine), Store(Path(out)), _chosen(seeds), workers, quick, progress, engine
    )
    made = explanations.explain(_study(name), _claim(name, claim), settings)
    by = made.claim.setting.engine if made.claim.setting else ""
    if by and made.changed:
        there = replace(settings, folder=_folder(Path(out), name, by), engine=by)
        tables.keep(there, [made.changed], len(explanations.seeds_for(settings)), str(made.claim.setting))
    return made


def explaining(
    name: str,
    claim: str,
    *,
    seeds: int | Iterable[int] | None = None,
    quick: bool = False,
    engine: str = "native",
) -> list[Job]:
    """Every run of `explain`. Raises UnknownNameError."""
    settings = Settings(Path(name), Store(Path()), _chosen(seeds), quick=quick, engine=engine)
    return explanations.jobs(_study(name), _claim(name, claim), settings)


def run(
    name: str,
    *,
    seeds: int | Iterable[int] | None = None,
    workers: int = 1,
    out: Path = Path("runs"),
    quick: bool = False,
    engine: str = "native",
    data: Path | None = None,
    progress: Progress | None = None,
    echo: Callable[[str], None] | None = print,
) -> Report:
    """Run a study, or what is still missing of it.

    Args:
        name: One of `names()`.
        seeds: How many seeds, or which ones; None leaves it to the study.
        workers: How many runs at the same time. Has no influence on results.
        out: Where finished runs are kept; a study that was interrupted continues from there. Tables and
            figures go to `papers/<name>` below it, those of another engine to `papers/<name>-<engine>`.
        quick: Fewer seeds.
        engine: Whose numbers they are. What it cannot run is left out; claims about that are not testable.
        data: The folder of the paper's published data; what is printed of them is then computed once more.
        progress: Told about every step.
        echo: Given the report when it is done; None says nothing.

    Raises:
        UnknownNameError: If there is no such study or engine.
        EngineError: If the engine can run nothing of it.
        InputFileError: If the published data are not what they should be, or nothing is computed from any.
        SweepError: If a run failed.
    """
    study = _study(name)
    out = Path(out)
    settings = Settings(
        _folder(out, name, engine),
        Store(out),
        _chosen(seeds),
        workers,
        quick,
        progress,
        engine,
        data=_published(name, data),
    )
    todo = study.jobs(settings)
    scenarios = _by_digest(todo)
    refused = _refused(engine, scenarios)
    if scenarios and len(refused) == len(scenarios):
        raise EngineError("\n".join(dict.fromkeys(why for _, why in refused.values())))
    report = study.run(replace(settings, refused=frozenset(refused)), todo)
    if engine != "native":
        lines = tuple(dict.fromkeys(f"{where}: {why}" for where, why in refused.values()))
        report = replace(report, head=_head(engine, len(refused), len(scenarios)), refused=lines)
    page = report.folder / document.FILE
    write(document.of_report(report, engines.engine(engine), quick=quick), page)
    report = replace(report, files=(*report.files, page))
    if echo is not None:
        echo(f"{report.text}\n\n{document.ending(name, report, quick=quick)}")
    return report


def _folder(out: Path, name: str, engine: str) -> Path:
    """Where tables and figures go."""
    return out / "papers" / (name if engine == "native" else f"{name}-{engine}")


def _by_digest(todo: Iterable[Job]) -> dict[str, Job]:
    """One job of every scenario."""
    return {job.scenario.digest: job for job in todo}


def _refused(engine: str, todo: Mapping[str, Job]) -> Mapping[str, tuple[str, str]]:
    """What an engine cannot run of a study: by its digest, which scenario it is, and why."""
    chosen, found = engines.engine(engine), {}
    for digest, job in todo.items():
        why = refusals(chosen, job.scenario)
        if why:
            where = ", ".join(f"{key} {value}" for key, value in job.point.items())
            found[digest] = f"{job.scenario.name}, {where}", "; ".join(why)
    return found


def _head(engine: str, refused: int, scenarios: int) -> str:
    left_out = f"; it cannot run {refused} of {scenarios} scenarios" if refused else ""
    return f"What is called ours is by the {engine} engine, {engines.engine(engine).version()}{left_out}."


def _published(name: str, data: Path | None) -> Path | None:
    """The folder of published data, for a study that computes from them. Raises InputFileError."""
    if data is not None and not any(claim.published for claim in printed(name)):
        known = [study for study in names() if any(claim.published for claim in printed(study))]
        raise InputFileError(f"--data: {name} computes nothing from published data; {', '.join(known)} does")
    return None if data is None else Path(data)


def _chosen(seeds: int | Iterable[int] | None) -> tuple[int, ...] | None:
    if seeds is None:
        return None
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not chosen:
        raise ValueError("seeds: at least one is needed")
    return chosen


def _claim(name: str, claim: str) -> Claim:
    known = {one.id: one for one in printed(name)}
    if claim not in known:
        raise UnknownNameError("claim", claim, known, f"fullpipe paper {name} --explain list")
    return known[claim]


def _check(name: str) -> None:
    if name not in names():
        raise UnknownNameError("paper", name, names())


def _study(name: str) -> Study:
    _check(name)
    study: Study = import_module(f"{__name__}.{name}")
    return study
