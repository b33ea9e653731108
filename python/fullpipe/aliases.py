"""Older names of modules: `fullpipe.cca` is `fullpipe.algorithms`, and so on. What imports them still works.

An older name and the present one are the same module, so that classes and state are never there twice.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    Loader = MetaPathFinder = object  # which they are like; their module imports dozens of others

ALIASES = {
    "fullpipe.agree": "fullpipe.validation.agree",
    "fullpipe.cca": "fullpipe.algorithms",
    "fullpipe.compare": "fullpipe.validation.compare",
    "fullpipe.conformance": "fullpipe.validation.conformance",
    "fullpipe.export": "fullpipe.analysis.export",
    "fullpipe.metrics": "fullpipe.analysis.metrics",
    "fullpipe.papers": "fullpipe.studies",
    "fullpipe.results": "fullpipe.runs",
    "fullpipe.statistics": "fullpipe.analysis.statistics",
    "fullpipe.theory": "fullpipe.analysis.theory",
    "fullpipe.traces": "fullpipe.scenario.traces",
}
"""The older name of a module, and its present one. Modules inside follow: `fullpipe.cca.kit` works too."""


def present(name: str) -> str | None:
    """The present name of a module of an older name; None if `name` is none."""
    parts = name.split(".")
    home = ALIASES.get(".".join(parts[:2]))
    return ".".join([home, *parts[2:]]) if home else None


class _AliasLoader(Loader):
    """Hands over the module of the present name, as it is."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = present(spec.name)
        assert name is not None
        module = import_module(name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put that of the older name in its place


class _AliasFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, _AliasLoader()) if present(fullname) else None


def install() -> None:
    """Let the import system find the older names. Doing it twice changes nothing."""
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
