"""Selection of runs that can be averaged: runs with the newest content of all files and the newest model.

Besides the scenario, results depend on files: the code of algorithms, and recordings. For each file of a
scenario, the newest content is the content that was requested last. See docs/explanation/content.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from fullpipe import files
from fullpipe.algorithms import own
from fullpipe.runs.meta import Meta

FILE = ".content"
"""File in a store that records, for each file, the digest of the last requested content."""
ALL = "all"
NEWEST = "newest"
CHOICES = (NEWEST, ALL)
"""Values of `--content`: only runs with the newest content, or all runs, with content as a factor."""
_MODEL = "model"
_SHORT = 8
_POINT = "\0"
"""Separator between the name of a recording and the scenario that names it."""

Key = tuple[str, str, str]
"""Scenario, "file" or "model", and the name of the file or the engine."""


@dataclass(frozen=True, slots=True)
class Source:
    """Properties that affect results besides the scenario, for a group of runs that share them."""

    scenario: str
    engine: str
    model: str
    files: Mapping[str, str]
    """Digest of every file, by the name that `by_file` gives the file."""
    started: str
    """Start time of the newest run of the group, ISO 8601."""
    runs: int = 1

    def parts(self) -> Iterable[tuple[Key, str]]:
        """Return the digest of every file and the version of the model."""
        yield (self.scenario, _MODEL, self.engine), self.model
        yield from (((self.scenario, "file", name), digest) for name, digest in self.files.items())


@dataclass(frozen=True)
class Population:
    """The selection of sources whose runs are used, and a sentence about the runs left out."""

    counts: Sequence[bool]
    """For each source, whether its runs are used."""
    left_out: str
    """Sentence with the number of runs left out, by file; empty if no run is left out."""


def source_of(meta: Meta) -> Source:
    """Return the source of one run."""
    name, engine = str(meta.scenario["name"]), meta.engine
    files = by_file(files_of(meta), meta.point)
    return Source(name, engine.name, engine.model_version, files, meta.started)


def by_file(digests: Mapping[str, str], point: Mapping[str, Any]) -> dict[str, str]:
    """Return digests by file name without folders, since the path of a file can be spelt in several ways.

    Files that are values of a sweep keep their whole paths, since two values can be files with the same name
    in different folders.
    """
    swept = json.dumps(dict(point), default=str)
    found: dict[str, list[str]] = {}
    for path, digest in digests.items():
        name, *scenario = path.split(_POINT)
        key = name if json.dumps(name)[1:-1] in swept else Path(name).name
        found.setdefault(_POINT.join([key, *scenario]), []).append(digest)
    return {key: " ".join(sorted(values)) for key, values in found.items()}


def content_of(digests: Mapping[str, str]) -> str:
    """Return 8 hexadecimal digits of a hash over the digests of files, or "" if there are no files.

    Names and folders of the files do not affect the hash.

    >>> content_of({})
    ''
    """
    if not digests:
        return ""
    import hashlib  # imported here, as most runs depend only on their scenario

    return hashlib.sha256(" ".join(sorted(digests.values())).encode()).hexdigest()[:_SHORT]


def files_of(meta: Meta) -> Mapping[str, str]:
    """Return the digest of every file of a run by its name.

    Older versions of fullpipe did not list files. For runs of these versions, the fingerprint of the
    algorithms replaces the digests of their files. Algorithms from an interactive session are ignored, as
    their fingerprint differed in every run. The digest of the scenario replaces the digests of recordings.
    The digest of the scenario changes with any of its files, but does not show which file changed.
    """
    if meta.files:
        return meta.files
    kinds = " ".join(own.names_in(meta.scenario))
    is_code = bool(kinds) and ":__main__:" not in kinds
    found = {kinds: meta.engine.code} if is_code and meta.engine.code else {}
    recordings = list(dict.fromkeys(recordings_in(meta.scenario)))
    if recordings:
        spec = json.dumps({**meta.scenario, "name": ""}, sort_keys=True)
        found |= {f"{name}{_POINT}{spec}": meta.digest for name in recordings}
    return found


def file_shown(name: str) -> str:
    """Return the name of a file for reports, without folders of this machine."""
    return Path(name).name if Path(name).is_absolute() else name


def newest(sources: Sequence[Source], asked: Mapping[Key, tuple[str, datetime]] | None = None) -> Population:
    """Select the sources whose files and model are the newest of their scenario.

    Args:
        sources: The sources of all runs to average.
        asked: Contents that were requested after their runs had been made; see `read_asked`.
    """
    latest: dict[Key, tuple[datetime, str]] = {}
    known: dict[Key, set[str]] = {}
    for source in sources:
        time = _time(source.started)
        for key, value in source.parts():
            known.setdefault(key, set()).add(value)
            if key not in latest or time >= latest[key][0]:
                latest[key] = time, value
    for key, (value, time) in (asked or {}).items():
        if value in known.get(key, ()) and time >= latest[key][0]:
            latest[key] = time, value
    other = [next((k for k, value in source.parts() if latest[k][1] != value), None) for source in sources]
    return Population([key is None for key in other], _told(sources, other))


def of_runs(metas: Sequence[Meta], roots: Iterable[Path]) -> Population:
    """Select the runs that have the newest content and the newest model of their scenario.

    Args:
        metas: The metadata of the runs.
        roots: The stores of the runs.
    """
    asked: dict[Key, tuple[str, datetime]] = {}
    for root in roots:
        for key, (value, time) in read_asked(root).items():
            if key not in asked or time > asked[key][1]:
                asked[key] = value, time
    return newest([source_of(meta) for meta in metas], asked)


def read_asked(root: Path) -> dict[Key, tuple[str, datetime]]:
    """Return the last requested digest of every file, and the time of the request; empty if the file
    `.content` is missing or damaged."""
    try:
        tree = json.loads(files.read_regular(root / FILE, most=_MOST_BYTES))
        return {
            (scenario, "file", name): (str(digest), _time(time))
            for scenario, of_scenario in tree.items()
            for name, (digest, time) in of_scenario.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


_MOST_BYTES = 16_000_000


def merge_asked(root: Path, place: Path, other: Path) -> None:
    """Merge the file `.content` of another store into the same file of this store. The later request of a
    file counts.

    Raises:
        OSError: If the file cannot be written.
    """
    known = read_asked(root)
    for key, (digest, time) in read_asked(other).items():
        if key not in known or time > known[key][1]:
            known[key] = digest, time
    if known:
        _write_asked(root, place, known)


def note_asked(root: Path, place: Path, metas: Iterable[Meta]) -> None:
    """Write the digests of files of requested runs to `.content`. `place` is a hidden folder of the store.

    Raises:
        OSError: If the file cannot be written.
    """
    now, known = datetime.now(UTC), read_asked(root)
    for meta in metas:
        for name, digest in by_file(meta.files, meta.point).items():
            known[str(meta.scenario["name"]), "file", name] = digest, now
    _write_asked(root, place, known)


def _write_asked(root: Path, place: Path, known: Mapping[Key, tuple[str, datetime]]) -> None:
    tree: dict[str, dict[str, Any]] = {}
    for (scenario, _, name), (digest, time) in known.items():
        tree.setdefault(scenario, {})[name] = digest, time.isoformat()
    draft = place / f"content-{uuid4().hex}"
    files.put(draft, json.dumps(tree).encode())
    draft.replace(root / FILE)


def _told(sources: Sequence[Source], other: Sequence[Key | None]) -> str:
    """Return a sentence with the number of runs left out, by file, and how to include them."""
    counts: dict[tuple[str, str], int] = {}
    for source, key in zip(sources, other, strict=True):
        if key is not None:
            counts[key[1:]] = counts.get(key[1:], 0) + source.runs
    if not counts:
        return ""
    parts = [f"{n:,} of {_called(*which)}" for which, n in counts.items()]
    total = sum(counts.values())
    return (
        f"{total:,} run{'' if total == 1 else 's'} of other content left out ({', '.join(parts)});"
        " --content all, if the command has this option, includes them as a factor;"
        " `fullpipe runs` lists and deletes them"
    )


def _called(kind: str, name: str) -> str:
    if kind == _MODEL:
        return f"an older model of {name}"
    return f"another {file_shown(name.partition(_POINT)[0])}"


def _time(text: str) -> datetime:
    """Parse a date. Invalid text gives the earliest date, as a store can be untrusted."""
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return datetime.min.replace(tzinfo=UTC)


def recordings_in(tree: Any) -> Iterable[str]:
    """Yield the names of the files that a scenario, given as plain data, uses."""
    if isinstance(tree, Mapping):
        if isinstance(tree.get("file"), str):
            yield tree["file"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from recordings_in(part)
