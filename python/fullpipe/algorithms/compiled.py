"""Modules of users, compiled from their source each time that a process imports them.

Python takes stored bytecode for that of a source file if the size and the second of the last write are the
same (PEP 552). A parameter that is edited twice within a second keeps both, so that the law of before would
run, and be stored as that of the new source.
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
"""Folders of installed packages, whose versions a run has in `versions` if they are ours."""


def is_own(module: str, path: Path) -> bool:
    """Whether a source file is the user's own: neither installed, nor of Python, nor ours."""
    is_ours = module.partition(".")[0] == "fullpipe"
    return not (is_ours or set(INSTALLED) & set(path.parts) or path.is_relative_to(_STANDARD))


class _Loader(SourceFileLoader):
    """Compiles a module, and neither reads nor writes bytecode."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _Finder:
    """Finds modules as Python does, and has those of users compiled."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader and is_own(name, Path(spec.loader.path).resolve()):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def from_source() -> Iterator[None]:
    """Within, modules of users that are imported come from their source files."""
    finder = _Finder()
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
