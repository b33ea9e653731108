"""A study as it is packed: runs of a store, or a scenario with its seeds, and the files that they rest on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullpipe import engines, files
from fullpipe.algorithms import own
from fullpipe.commit import with_commit
from fullpipe.report.packs.archive import is_member, write
from fullpipe.report.packs.manifest import FILES, READ_ME, RUNS, Manifest, PackedRun, PackError
from fullpipe.runs import Run
from fullpipe.runs.kept import Kept
from fullpipe.runs.meta import version, versions
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.sweeps import Job


@dataclass
class Study:
    """Runs, made or to be made, with the files that they rest on."""

    runs: list[PackedRun] = field(default_factory=list)
    _scenarios: dict[str, int] = field(default_factory=dict)
    """Place of every scenario by its JSON."""
    _sources: dict[str, Path] = field(default_factory=dict)
    """Files on disk by their names below `files`."""
    _renamed: dict[str, str] = field(default_factory=dict)
    """Names below `files` of recordings by their paths in scenarios."""
    _tables: dict[str, Path] = field(default_factory=dict)
    """Files of runs by their members."""

    @property
    def points(self) -> int:
        """Number of scenarios without a sweep."""
        return len(self._scenarios)

    @property
    def has_code(self) -> bool:
        """Whether a scenario names an algorithm that is not of the registry."""
        return any(run.engine.code for run in self.runs)

    @property
    def files(self) -> list[str]:
        """Names of algorithms and recordings."""
        return list(self._sources)

    def add_run(self, run: Run, folders: Sequence[Path], *, with_tables: bool) -> None:
        """Add a finished run of a store, with its tables or their checksums alone.

        Args:
            run: The run.
            folders: Where its files are looked for, first come first.
            with_tables: Whether the pack has its tables.

        Raises:
            PackError: If a file that it rests on is not there or has changed, or if the run has no checksums.
        """
        assert run.folder
        kept = Kept.read(run.folder)
        if not kept.has_checksums:
            raise PackError(f"{run.folder}: has no checksums, as an older version wrote it; run it again")
        recordings = set(_recordings(run.meta.scenario))
        for name, digest in run.meta.files.items():
            self._add(name, _found(name, digest, folders), may_rename=name in recordings)
        packed = PackedRun(
            scenario=self._place(run.meta.scenario),
            engine=run.meta.engine,
            seed=run.meta.seed,
            point=run.meta.point,
            digest=run.meta.digest,
            tables={name: known.sha256 for name, known in kept.sums.tables.items()},
        )
        self.runs.append(packed)
        if with_tables:
            self._tables |= {f"{RUNS}/{packed.folder}/{name}": run.folder / name for name in kept.files}

    def add_job(self, job: Job) -> None:
        """Add a run that is to be made.

        Raises:
            PackError: If an algorithm has no file.
        """
        engine = engines.engine(job.engine)
        for kind in own_algorithms(job.scenario.flows):
            for name, path in (own.paths(kind) or {kind: Path()}).items():
                self._add(name, path)
        for name in job.scenario.recordings():
            self._add(name, Path(name), may_rename=True)
        self.runs.append(
            PackedRun(
                scenario=self._place(job.scenario.to_dict()),
                engine=engines.identity(engine, job.scenario),
                seed=job.seed,
                point=dict(job.point),
                digest=engines.digest_of(engine, job.scenario),
            )
        )

    def write(self, path: Path, read_me: str) -> None:
        """Write the pack.

        Args:
            path: The file.
            read_me: Text for the person who opens the pack.

        Raises:
            PackError: If a file cannot be read or the pack not be written.
        """
        of_study = {f"{FILES}/{name}": source for name, source in self._sources.items()}
        contents: dict[str, Path | bytes] = {READ_ME: read_me.encode(), **of_study, **self._tables}
        try:
            manifest = Manifest(
                fullpipe=with_commit(version("fullpipe")),
                versions=versions(),
                scenarios=tuple(json.loads(text) for text in self._scenarios),
                runs=tuple(self.runs),
                files={name: _sha256(content) for name, content in contents.items()},
            )
            write(path, manifest, contents)
        except OSError as error:
            raise PackError(f"{error.filename or path}: {error.strerror or error}") from error

    def _place(self, tree: Mapping[str, Any]) -> int:
        """Return the place of a scenario among those of the study."""
        text = json.dumps(_with_names(tree, self._renamed))
        return self._scenarios.setdefault(text, len(self._scenarios))

    def _add(self, name: str, source: Path, *, may_rename: bool = False) -> None:
        """Add a file; a recording whose path leaves the folder gets its last part as its name."""
        if name in self._renamed or name in self._sources:
            return
        member = name
        if not is_member(f"{FILES}/{name}"):
            if not may_rename:
                raise PackError(f"{name}: a pack takes algorithms in files below the folder of the scenario")
            member = next(each for each in _names(source) if each not in self._sources)
        if may_rename:
            self._renamed[name] = member
        self._sources[member] = source


def _names(source: Path) -> Iterator[str]:
    """Yield names for a file: its own, and others with a number."""
    yield source.name
    number = 2
    while True:
        yield f"{source.stem}-{number}{source.suffix}"
        number += 1


def _found(name: str, digest: str, folders: Sequence[Path]) -> Path:
    """Return the file of a name that has a digest.

    Raises:
        PackError: If there is none.
    """
    there = [path for folder in folders if (path := folder / name).is_file()]
    for path in there:
        if _sha256(path) == digest:
            return path
    if there:
        raise PackError(
            f"{there[0]}: has changed since the runs were made; put the old file back, or run them again"
        )
    places = ", ".join(dict.fromkeys(str(folder) for folder in folders))
    raise PackError(f"{name}: the runs rest on this file, and it is not in {places}; say --look-in FOLDER")


def _recordings(tree: Any) -> Iterator[str]:
    """Yield the files that the tables of a scenario name."""
    if isinstance(tree, Mapping):
        if isinstance(tree.get("file"), str):
            yield tree["file"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from _recordings(part)


def _with_names(tree: Any, names: Mapping[str, str]) -> Any:
    """Return a scenario whose tables name files as the pack does."""
    if isinstance(tree, Mapping):
        made = {key: _with_names(part, names) for key, part in tree.items()}
        return made | ({"file": names.get(tree["file"], tree["file"])} if _names_a_file(tree) else {})
    return [_with_names(part, names) for part in tree] if isinstance(tree, list) else tree


def _names_a_file(table: Mapping[str, Any]) -> bool:
    return isinstance(table.get("file"), str)


def _sha256(content: Path | bytes) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with files.open_regular(content) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
