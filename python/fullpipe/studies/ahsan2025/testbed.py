"""Facts about the testbed in Flent's files that the paper does not print: queues, proxies, algorithms."""

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
    "The testbed, from Flent's files. A proxy or NAT ends TCP on the way if the RTT of uploads is less than "
    "half of the ping's: such tests do not measure the algorithm on that path. Uploads have the algorithm of "
    "the test host, downloads that of the server:"
)


@dataclass(frozen=True, order=True)
class File:
    """Facts about the testbed in one file."""

    folder: str
    test: str
    queue: str
    """Queue discipline of the test host, by its name in `tc`."""
    is_ended: bool
    """Whether all its uploads are ended on the way."""
    uploads: tuple[str, ...]
    """Algorithms of the sockets."""
    downloads: tuple[str, ...]


def in_folder(folder: Path) -> list[File]:
    """Read every file of Flent below a folder, sorted. Raises InputFileError for a damaged file."""
    return sorted(map(_file, folder.rglob("*.flent.gz")))


def text(files: Sequence[File]) -> list[str | Aligned]:
    """Return the section of the report, a row per folder and test; empty without files."""
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
    """Return each name with its count.

    >>> _counted(["fq", "fq", "cake"])
    '1 cake, 2 fq'
    """
    return ", ".join(f"{names.count(name)} {name or 'unknown'}" for name in sorted(set(names)))
