"""The kernel that is installed, and what it supports."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.linux.install import algorithms
from fullpipe.engines.linux.tc import queues

PERIODIC = "periodic"
"""What the kernel is asked for beside queues: whether it can drop every n-th packet."""
INSTALL = "fullpipe engines install linux"


@dataclass(frozen=True)
class Installed:
    """A kernel, and what it knows."""

    kernel: Path
    fingerprint: str
    release: str
    ccas: tuple[str, ...]
    """By the kernel's names."""
    qdiscs: tuple[str, ...]
    accecn: bool
    radios: bool = False
    """Whether it has the wireless stack and our radios (`engines install linux --radios`)."""


def everything() -> Installed:
    """A kernel that does not exist and has everything, to find the reasons that no kernel would remove."""
    does = (*queues.MAKERS, "htb", PERIODIC)
    return Installed(Path(), "none", "none", (*algorithms.OURS, "bbr"), does, accecn=True)


def folder() -> Path:
    """Where everything of this engine is kept."""
    return caches.folder("linux")


def find() -> Installed | None:
    """The kernel that is installed, if one is."""
    return _read(folder() / "installed.json")


def remember(installed: Installed) -> None:
    """From now on this kernel is the one that is installed."""
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
