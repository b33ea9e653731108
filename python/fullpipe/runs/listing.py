"""Comparison of the folders of a store with its index."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fullpipe.errors import ResultError
from fullpipe.lazy import pl
from fullpipe.runs.encoding import as_schema, encoded
from fullpipe.runs.entries import Entries, Stream
from fullpipe.runs.kept import PACKED, Kept
from fullpipe.runs.meta import DIGEST
from fullpipe.runs.sums import META, columns_today

_SETTLED_NS = 2_000_000_000
"""Age from which the date of a folder is reliable. A younger folder can change again without a new date."""


@dataclass
class Look:
    """Result of a comparison."""

    there: list[str] = field(default_factory=list)
    """Digests with a folder."""
    new: Entries = field(default_factory=Entries)
    """Entries that the index lacks."""
    damaged: list[str] = field(default_factory=list)
    """Mistakes of runs that cannot be read, one line each."""


def look(root: Path, runs: pl.DataFrame, listed: pl.DataFrame) -> Look:
    """Compare the folders of a store with the tables `runs` and `listed` of its index.

    Raises:
        OSError: If the store cannot be read.
    """
    found, now_ns = Look(), max([time.time_ns(), *(runs["noted_ns"].top_k(1) + 1)])
    known = dict(zip(listed["digest"], listed["changed_ns"], strict=True))
    dates = dict(_digests(root))
    found.there = list(dates)
    changed = {digest: date_ns for digest, date_ns in dates.items() if known.get(digest) != date_ns}
    of_digest = _by_digest(runs, changed)
    for digest, date_ns in changed.items():
        is_whole = _compare(root / digest, of_digest.get(digest, {}), found, now_ns)
        if is_whole and time.time_ns() - date_ns > _SETTLED_NS:
            found.new.listed.append({"digest": digest, "changed_ns": date_ns, "noted_ns": now_ns})
    return found


def _digests(root: Path) -> Iterator[tuple[str, int]]:
    """Yield the folders of digests, with the time of their last change."""
    with os.scandir(root) as entries:
        for entry in entries:
            if re.fullmatch(DIGEST, entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False).st_mtime_ns


def _by_digest(runs: pl.DataFrame, digests: dict[str, int]) -> dict[str, dict[str, tuple[str, int, int]]]:
    """Return engine, seed and date of every run in the index, by digest and name of its folder."""
    said: dict[str, dict[str, tuple[str, int, int]]] = {}
    some = runs.filter(~pl.col("gone"), pl.col("digest").is_in(list(digests)))
    for digest, engine, seed, date_ns in some.select("digest", "engine", "seed", "changed_ns").iter_rows():
        said.setdefault(digest, {})[f"{engine}-{seed}"] = (engine, seed, date_ns)
    return said


def _compare(folder: Path, said: dict[str, tuple[str, int, int]], found: Look, now_ns: int) -> bool:
    """Note differences between a folder and the index. Return False if a run in it is damaged."""
    dates, is_whole = dict(_finished(folder)), True
    for name, date_ns in dates.items():
        if name not in said or said[name][2] != date_ns:
            is_whole &= _add(folder / name, found, date_ns, now_ns)
    for name, (engine, seed, _) in said.items():
        if name not in dates:
            found.new.add_gone({"digest": folder.name, "engine": engine, "seed": seed}, now_ns)
    return is_whole


def _finished(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the names of the finished runs of a digest, with the time of writing of their meta.json."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                with suppress(OSError):
                    yield entry.name, os.stat(f"{entry.path}/{META}").st_mtime_ns


def _add(folder: Path, found: Look, date_ns: int, now_ns: int) -> bool:
    """Add a run unless it is damaged or a copy under another name. Return False if it is damaged."""
    try:
        kept = Kept.read(folder)
        if kept.has_its_name:
            found.new.add(kept, {name: _summary(kept, name) for name in PACKED}, date_ns, now_ns)
    except ResultError as error:
        told = str(error)
        found.damaged.append(told if str(folder) in told else f"{folder}: {told}")
        return False
    return True


def _summary(kept: Kept, name: str) -> Stream | None:
    """Return a table of a run with the current columns, as bytes; None if it has no rows.

    Raises:
        ResultError: If the table cannot be read or is damaged.
    """
    table = as_schema(name, kept.table(name))
    if table.is_empty():
        return None
    return kept.stream(name) if kept.sums.columns == columns_today() else encoded(table)
