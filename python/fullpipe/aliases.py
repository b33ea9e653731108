"""Older names of modules: `fullpipe.cca` is `fullpipe.algorithms`, and so on. Imports of them still work.

An older name and the present one are the same module, so that classes and state are never duplicated.
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
    Loader = MetaPathFinder = object  # same interface, but their module imports dozens of others

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
"""Present names of modules by their older ones. Submodules follow: `fullpipe.cca.kit` works, too."""


def present(name: str) -> str | None:
    """Return the present name of a module; None if `name` is not an older name."""
    parts = name.split(".")
    home = ALIASES.get(".".join(parts[:2]))
    return ".".join([home, *parts[2:]]) if home else None


class _AliasLoader(Loader):
    """Loads the module of the present name unchanged."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = present(spec.name)
        assert name is not None
        module = import_module(name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it by that of the older name


class _AliasFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, _AliasLoader()) if present(fullname) else None


def install() -> None:
    """Let the import system find the older names. A second call changes nothing."""
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
