"""What Flent's files say of the testbed, and the paper does not: queues, ends of TCP, algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from fullpipe.engines.flent import qdisc
from fullpipe.engines.flent.remarks import ended_on_the_way
from fullpipe.engines.flent.run import read_test
from fullpipe.studies.text import Aligned

HEAD = (
    "What Flent's files say of the testbed. TCP is ended on the way, by a proxy or NAT, where the RTT of "
    "uploads is less than half of the ping's: what is measured there is not the algorithm on that path. "
    "Uploads have the algorithm of the test host, downloads that of the server:"
)


@dataclass(frozen=True, order=True)
class File:
    """What one file says."""

    folder: str
    test: str
    queue: str
    """The discipline of the test host, as `tc` calls it."""
    is_ended: bool
    """Whether all its uploads are ended on the way."""
    uploads: tuple[str, ...]
    """The algorithms of the sockets."""
    downloads: tuple[str, ...]


def in_folder(folder: Path) -> list[File]:
    """What every file of Flent below a folder says, sorted. Raises InputFileError for a broken one."""
    return sorted(map(_file, folder.rglob("*.flent.gz")))


def text(files: Sequence[File]) -> list[str | Aligned]:
    """The section of the report: a row per folder and test; nothing without files."""
    if not files:
        return []
    rows = [["folder", "test", "files", "queue", "TCP ended", "uploads", "downloads"]]
    for (folder, test), group in groupby(files, key=lambda one: (one.folder, one.test)):
        of = list(group)
        ended = f"{sum(one.is_ended for one in of)} of {len(of)}"
        ways = [_names(one.uploads for one in of), _names(one.downloads for one in of)]
        rows.append([folder, test, str(len(of)), _counted([one.queue for one in of]), ended, *ways])
    return [HEAD, Aligned(rows)]


def _file(path: Path) -> File:
    found = read_test(path)
    ended = {flow for flow, *_ in ended_on_the_way(found)}
    uploads = [one for one in found.streams if one.is_upload]
    downloads = [one for one in found.streams if not one.is_upload]
    return File(
        path.parent.name,
        found.document.text("NAME"),
        qdisc.discipline(found.document),
        bool(uploads) and all(one.flow in ended for one in uploads),
        tuple(sorted({one.algorithm for one in uploads})),
        tuple(sorted({one.algorithm for one in downloads})),
    )


def _names(several: Iterable[Sequence[str]]) -> str:
    return ", ".join(sorted({name for names in several for name in names if name}))


def _counted(names: Sequence[str]) -> str:
    """Each name with how often it is there.

    >>> _counted(["fq", "fq", "cake"])
    '1 cake, 2 fq'
    """
    return ", ".join(f"{names.count(name)} {name or 'unknown'}" for name in sorted(set(names)))
