"""A study to pack: runs of a store, or a scenario with its seeds, and the files that the runs read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullpipe import engines
from fullpipe.algorithms import own
from fullpipe.commit import with_commit
from fullpipe.report.packs.archive import (
    FILES,
    READ_ME,
    RUNS,
    Manifest,
    PackedRun,
    PackError,
    is_member,
    sha256_of,
    write,
)
from fullpipe.runs import Run
from fullpipe.runs.kept import Kept
from fullpipe.runs.meta import version, versions
from fullpipe.runs.population import recordings_in
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.sweeps import Job


@dataclass
class Study:
    """Finished or planned runs, with the algorithms and recordings that the runs read."""

    runs: list[PackedRun] = field(default_factory=list)
    _scenarios: dict[str, int] = field(default_factory=dict)
    """Index of every scenario, by its JSON."""
    _sources: dict[str, tuple[Path, str]] = field(default_factory=dict)
    """Files on disk, each with its SHA-256, by their names in the folder `files`."""
    _tables: dict[str, Path] = field(default_factory=dict)
    """Files of runs on disk, by the names of their members in the pack."""
    _places: dict[tuple[str, bool], PackedRun] = field(default_factory=dict)
    """Runs by their folders, and by whether the runs are finished."""

    @property
    def points(self) -> int:
        """Number of scenarios without a sweep."""
        return len(self._scenarios)

    @property
    def has_code(self) -> bool:
        """Whether a scenario names an algorithm that is not in the registry."""
        return any(run.engine.code for run in self.runs)

    @property
    def files(self) -> list[str]:
        """Names of algorithms and recordings."""
        return list(self._sources)

    def add_run(self, run: Run, folders: Sequence[Path], *, with_tables: bool) -> None:
        """Add a finished run of a store, with its tables or only their checksums.

        Args:
            run: The run.
            folders: Folders in which the files of the run are searched, in this order.
            with_tables: Whether the pack has its tables.

        Raises:
            PackError: If a file that the run read is missing or has changed, or if the run has no checksums.
        """
        assert run.folder
        kept = Kept.read(run.folder)
        if not kept.has_checksums:
            raise PackError(f"{run.folder}: has no checksums (older version); rerun its scenario")
        recordings, names = set(recordings_in(run.meta.scenario)), dict[str, str]()
        for name, digest in run.meta.files.items():
            names[name] = self._add(name, _found(name, digest, folders), digest, name in recordings)
        packed = PackedRun(
            scenario=self._place(run.meta.scenario, names),
            engine=run.meta.engine,
            seed=run.meta.seed,
            point=run.meta.point,
            digest=run.meta.place,
            tables={name: known.sha256 for name, known in kept.sums.tables.items()},
        )
        if self._append(packed) and with_tables:
            self._tables |= {f"{RUNS}/{packed.folder}/{name}": run.folder / name for name in kept.files}

    def add_job(self, job: Job) -> None:
        """Add a planned run.

        Raises:
            PackError: If an algorithm has no file.
        """
        engine, names = engines.engine(job.engine), dict[str, str]()
        for kind in own_algorithms(job.scenario.flows):
            digests, paths = own.digests(kind), own.paths(kind)
            for name, digest in digests.items():
                self._add(name, paths.get(name, Path(name)), digest, is_recording=False)
        for name, digest in job.scenario.recordings().items():
            names[name] = self._add(name, Path(name), digest, is_recording=True)
        packed = PackedRun(
            scenario=self._place(job.scenario.to_dict(), names),
            engine=engines.identity(engine, job.scenario),
            seed=job.seed,
            point=dict(job.point),
            digest=engines.place_of(engine, job.scenario),
        )
        self._append(packed)

    def write(self, path: Path, read_me: str) -> None:
        """Write the pack.

        Args:
            path: The file.
            read_me: Text for the person who opens the pack.

        Raises:
            PackError: If a file cannot be read, or the pack cannot be written.
        """
        of_study = {f"{FILES}/{name}": source for name, (source, _) in self._sources.items()}
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

    def _append(self, packed: PackedRun) -> bool:
        """Add a run unless the study already has the run. Return whether the run was added.

        Raises:
            PackError: If the study has a run in the same folder with other results.
        """
        known = self._places.setdefault((packed.folder, bool(packed.tables)), packed)
        if known is packed:
            self.runs.append(packed)
            return True
        if known != packed:
            raise PackError(
                f"{packed.folder}: two stores have different runs of this name; pack each store alone"
            )
        return False

    def _place(self, tree: Mapping[str, Any], names: Mapping[str, str]) -> int:
        """Return the index of a scenario, after renaming its recordings as in the pack."""
        text = json.dumps(_with_names(tree, names))
        return self._scenarios.setdefault(text, len(self._scenarios))

    def _add(self, name: str, source: Path, digest: str, is_recording: bool) -> str:
        """Add a file unless the study already has the file, and return its name in the folder `files`.

        A recording is renamed if its name leaves the folder, or if another file has the name.

        Raises:
            PackError: If an algorithm would need another name. Algorithms cannot be renamed, since
                scenarios import their modules by name.
        """
        names = _names(name) if is_recording else iter([name])
        for member in names:
            if is_member(f"{FILES}/{member}") and self._sources.get(member, (source, digest))[1] == digest:
                self._sources.setdefault(member, (source, digest))
                return member
        if name in self._sources:
            raise PackError(f"{name}: the runs used different contents of this file; pack each store alone")
        raise PackError(
            f"{name}: this algorithm is outside the folder of the scenario; move its file into that folder"
        )


def _names(path: str) -> Iterator[str]:
    """Yield names for a recording: its path, its file name, and its file name with the numbers 2, 3, ..."""
    yield path
    last = Path(re.sub(r"[\\:\x00-\x1f\x7f]", "-", Path(path).name) or "recording")
    yield last.name
    number = 2
    while True:
        yield f"{last.stem}-{number}{last.suffix}"
        number += 1


def _found(name: str, digest: str, folders: Sequence[Path]) -> Path:
    """Return the file with this name and digest.

    Raises:
        PackError: If no folder has the file.
    """
    there = [path for folder in folders if (path := folder / name).is_file()]
    for path in there:
        if _digest_of(path, path.stat().st_mtime_ns) == digest:
            return path
    if there:
        raise PackError(
            f"{there[0]}: has changed since the runs were made; put the old file back, or rerun them"
        )
    places = ", ".join(dict.fromkeys(str(folder) for folder in folders))
    raise PackError(
        f"{name}: the runs need this file, which is not in {places}; name its folder with --look-in DIR"
    )


@lru_cache
def _digest_of(path: Path, _changed_ns: int) -> str:
    """Return the SHA-256 of a file. Runs share files, so the result is cached until the file changes."""
    return _sha256(path)


def _with_names(tree: Any, names: Mapping[str, str]) -> Any:
    """Return a scenario in which files have their names in the pack."""
    if isinstance(tree, Mapping):
        made = {key: _with_names(part, names) for key, part in tree.items()}
        return made | ({"file": names.get(tree["file"], tree["file"])} if _names_a_file(tree) else {})
    return [_with_names(part, names) for part in tree] if isinstance(tree, list) else tree


def _names_a_file(table: Mapping[str, Any]) -> bool:
    return isinstance(table.get("file"), str)


def _sha256(content: Path | bytes) -> str:
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else sha256_of(content)


# Text for the person who opens a pack.


def read_me(study: Study) -> str:
    """Return README.md of the pack of a study."""
    code = " --allow-python" if study.has_code else ""
    files = [f"- `files/{each}`" for each in study.files]
    engines = dict.fromkeys(
        f"{run.engine.name} {run.engine.version}, model {run.engine.model_version}" for run in study.runs
    )
    head = f"""# A study to rerun

{len(study.runs):,} runs of {study.points:,} scenarios, by fullpipe {with_commit(version("fullpipe"))}.
Engine: {"; ".join(engines)}.

```sh
fullpipe rerun FILE --compare --out again{code}
```

This makes all runs again in the folder `again`. The output says whether all tables are equal, byte for byte,
or names the first difference. `study.json` has the scenarios, seeds, versions and checksums.
"""
    beside = ["The runs need these files:", "", *files, ""] if files else []
    warning = ["`--allow-python` runs the code in these files. Read the code first.", ""] if code else []
    return "\n".join([head, *beside, *warning])
