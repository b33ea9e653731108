"""The kernel that is installed, and what it supports."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.linux.install import algorithms
from fullpipe.engines.linux.tc import queues

PERIODIC = "periodic"
"""Name of a feature that is tested in addition to queues: dropping every n-th packet."""
INSTALL = "fullpipe engines install linux"


@dataclass(frozen=True)
class Installed:
    """An installed kernel and its features."""

    kernel: Path
    fingerprint: str
    release: str
    ccas: tuple[str, ...]
    """The kernel's names of its algorithms."""
    qdiscs: tuple[str, ...]
    accecn: bool
    radios: bool = False
    """Whether it has the wireless stack and Fullpipe's radios (`engines install linux --radios`)."""


def everything() -> Installed:
    """Return an imaginary kernel with all features, to find problems that no kernel would solve."""
    does = (*queues.MAKERS, "htb", PERIODIC)
    return Installed(Path(), "none", "none", (*algorithms.OURS, "bbr"), does, accecn=True)


def folder() -> Path:
    """Return the folder of this engine's files."""
    return caches.folder("linux")


def find() -> Installed | None:
    """Return the installed kernel. None if there is none."""
    return _read(folder() / "installed.json")


def remember(installed: Installed) -> None:
    """Record a kernel as the installed one."""
    text = json.dumps({**asdict(installed), "kernel": str(installed.kernel)}, indent=2)
    partial = folder() / "installed.json.part"
    partial.write_text(text, encoding="utf-8")
    partial.replace(folder() / "installed.json")


def _read(path: Path) -> Installed | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        found = Installed(**{**read, "kernel": Path(read["kernel"]), **_tuples(read)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if found.kernel.is_file() else None


def _tuples(read: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(read[key]) for key in ("ccas", "qdiscs")}
