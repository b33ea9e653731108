"""What goes into a study and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fullpipe.results import Store
from fullpipe.sweeps.executor import Progress


@dataclass(frozen=True, slots=True)
class Settings:
    """How a study is to be run."""

    folder: Path
    store: Store
    seeds: tuple[int, ...] | None = None
    jobs: int = 1
    quick: bool = False
    progress: Progress | None = None

    def seeds_or(self, count: int, quick: int) -> tuple[int, ...]:
        """The seeds asked for, or the first `count` of them, in a quick run the first `quick`."""
        if self.seeds is not None:
            return self.seeds
        return tuple(range(1, (quick if self.quick else count) + 1))


@dataclass(frozen=True, slots=True)
class Report:
    """A finished study: what to print, and the files that were written."""

    text: str
    files: tuple[Path, ...]
    folder: Path

    @property
    def figures(self) -> tuple[Path, ...]:
        """The pictures among the files."""
        return tuple(path for path in self.files if path.suffix in (".png", ".svg"))
