"""Modules of users, compiled from their source each time that a process imports them.

Python accepts stored bytecode if the size of the source file and the second of its last write are the same
(PEP 552). A parameter that is edited twice within a second can keep both. The old law would then run, and its
results would be stored for the new source.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
INSTALLED = ("site-packages", "dist-packages")
"""Folders of installed packages; a run stores the versions of those that fullpipe uses in `versions`."""


def is_own(module: str, path: Path) -> bool:
    """Whether a source file is the user's own: not installed, not of Python, and not of fullpipe."""
    is_ours = module.partition(".")[0] == "fullpipe"
    return not (is_ours or set(INSTALLED) & set(path.parts) or path.is_relative_to(_STANDARD))


class _Loader(SourceFileLoader):
    """Compiles a module without reading or writing bytecode."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _Finder:
    """Finds modules like Python, and compiles those of users."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader and is_own(name, Path(spec.loader.path).resolve()):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def from_source() -> Iterator[None]:
    """Compile modules of users from their source files if they are imported within this context."""
    finder = _Finder()
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
