"""Runs studies again, explains their verdicts, and lists their runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from fullpipe.errors import InputFileError, UnknownNameError
from fullpipe.runs import Store
from fullpipe.studies import check, explanations, names, tables
from fullpipe.studies.claims import Claim
from fullpipe.studies.explanations import Explanation
from fullpipe.studies.prepared import Prepared, prepared
from fullpipe.studies.report import Report, Settings
from fullpipe.studies.study import PublishedStudy, Study
from fullpipe.sweeps import Job, Progress


def printed(name: str) -> tuple[Claim, ...]:
    """The printed numbers and claims of a study. Raises UnknownNameError."""
    return _study(name).transcription().claims


def jobs(
    name: str, *, seeds: int | Iterable[int] | None = None, quick: bool = False, engine: str = "native"
) -> list[Job]:
    """Every run of a study with these seeds that the engine can make. Raises UnknownNameError."""
    return prepare(name, seeds=seeds, quick=quick, engine=engine).jobs


def prepare(
    name: str,
    *,
    seeds: int | Iterable[int] | None = None,
    workers: int = 1,
    out: Path = Path("runs"),
    quick: bool = False,
    engine: str = "native",
    data: Path | None = None,
) -> Prepared:
    """A study ready to run, with the jobs that `run` would run; arguments and errors are those of `run`."""
    study, out = _study(name), Path(out)
    settings = Settings(
        _folder(out, name, engine),
        Store(out),
        _chosen(seeds),
        workers,
        quick,
        engine=engine,
        data=_published(name, data),
    )
    return prepared(name, study, settings)


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
    return prepare(name, seeds=seeds, workers=workers, out=out, quick=quick, engine=engine, data=data).run(
        progress, echo
    )


def _folder(out: Path, name: str, engine: str) -> Path:
    """The folder of tables and figures."""
    return out / "papers" / (name if engine == "native" else f"{name}-{engine}")


def _published(name: str, folder: Path | None) -> object:
    """The published data of a study that computes from them; None without a folder. Raises InputFileError."""
    if folder is None:
        return None
    if not any(claim.published for claim in printed(name)):
        known = [study for study in names() if any(claim.published for claim in printed(study))]
        raise InputFileError(f"--data: {name} computes nothing from published data; {', '.join(known)} does")
    study: PublishedStudy = import_module(f"{__package__}.{name}")
    return study.published_in(Path(folder))


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


def _study(name: str) -> Study:
    check(name)
    study: Study = import_module(f"{__package__}.{name}")
    return study
