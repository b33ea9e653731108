"""Functions that rerun studies, explain their verdicts, and list their runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from fullpipe.errors import InputFileError, UnknownNameError
from fullpipe.runs import Store
from fullpipe.studies import check, explanations, names, tables
from fullpipe.studies.claims import Claim
from fullpipe.studies.document import Prepared, prepared
from fullpipe.studies.explanations import Explanation
from fullpipe.studies.report import Report, Settings
from fullpipe.studies.study import PublishedStudy, Study
from fullpipe.sweeps import Job, Progress


def printed(name: str) -> tuple[Claim, ...]:
    """Return the claims of a study: its printed numbers and statements. Raises UnknownNameError."""
    return _study(name).transcription().claims


def jobs(
    name: str, *, seeds: int | Iterable[int] | None = None, quick: bool = False, engine: str = "native"
) -> list[Job]:
    """Return the jobs of a study that the engine can run. See `run` for the arguments and errors."""
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
    """Prepare a study: find the jobs that `run` would run. See `run` for the arguments and errors."""
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
    """Run the experiments of one claim of a study twice: unchanged, and with the claim's setting.

    Args:
        name: One of `names()`.
        claim: ID of a claim in `printed(name)`.
        seeds: Number of seeds, or the seeds. None gives 5 seeds, or 3 seeds in the quick form.
        workers: Number of parallel runs. The number does not affect results.
        out: Folder of the store, whose stored runs are reused. If the claim's setting names an engine, the
        result of this engine is saved in the store's folder `papers/<name>-<engine>`.
        quick: Whether to use the quick form, which has fewer seeds and, in some studies, shorter runs.
        engine: Engine of the runs, unless the claim's setting names an engine.
        progress: Called with the progress of the runs.

    Raises:
        UnknownNameError: If there is no such study, claim or engine.
        EngineError: If the engine cannot run the claim's scenarios without the setting.
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
    """Return the jobs that `explain` runs. Raises UnknownNameError."""
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
    """Run the jobs of a study that are not stored yet, and write the report.

    Args:
        name: One of `names()`.
        seeds: Number of seeds, or the seeds. None gives the default number of the study.
        workers: Number of parallel runs. The number does not affect results.
        out: Folder of the store. An interrupted study continues with its stored runs. Tables and figures are
        written to the store's folder `papers/<name>`, or `papers/<name>-<engine>` unless the engine is
        native.
        quick: Whether to use the quick form, which has fewer seeds and, in some studies, shorter runs.
        engine: Engine of the runs. Scenarios that the engine cannot run are left out, and claims about these
        scenarios are not testable.
        data: Folder of the paper's published data, from which printed numbers are recomputed.
        progress: Called with the progress of the runs.
        echo: Called with the text of the report at the end. None prints no report.

    Raises:
        UnknownNameError: If there is no such study or engine.
        EngineError: If the engine can run no scenario of the study.
        InputFileError: If the published data are damaged or incomplete, or the study does not use published
        data.
        SweepError: If a run failed.
    """
    return prepare(name, seeds=seeds, workers=workers, out=out, quick=quick, engine=engine, data=data).run(
        progress, echo
    )


def _folder(out: Path, name: str, engine: str) -> Path:
    """Return the folder for the tables and figures of a study."""
    return out / "papers" / (name if engine == "native" else f"{name}-{engine}")


def _published(name: str, folder: Path | None) -> object:
    """Read the published data of a study, or return None if no folder is given. Raises InputFileError."""
    if folder is None:
        return None
    if not any(claim.published for claim in printed(name)):
        known = [study for study in names() if any(claim.published for claim in printed(study))]
        raise InputFileError(f"--data: {name} uses no published data; only {', '.join(known)} does")
    study: PublishedStudy = import_module(f"{__package__}.{name}")
    return study.published_in(Path(folder))


def _chosen(seeds: int | Iterable[int] | None) -> tuple[int, ...] | None:
    if seeds is None:
        return None
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not chosen:
        raise ValueError("seeds: no seed is given; give at least one seed")
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
