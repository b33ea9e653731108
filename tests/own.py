"""Algorithms in files that change while a test runs, as an author changes them between two commands."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from fullpipe.algorithms import classes, own

_CODE = '''"""An algorithm whose window grows by {increase} per round trip."""
from fullpipe.algorithms import Controller


class Brake(Controller):
    slow_start = 1.0
    increase = {increase}
    beta: float = 0.5

    def on_congestion(self, episode, path):
        if episode.first:
            self.ssthresh = self.cwnd * self.beta
'''


def brake(folder: Path, increase: float, extra: str = "") -> type:
    """Write an algorithm, and a line below it, into a file and import it in place of what was there."""
    path = folder / "brake.py"
    path.write_text(f"{_CODE.format(increase=increase)}\n\n{extra}\n", encoding="utf-8")
    return imported(path, "Brake")


def imported(path: Path, name: str) -> type:
    """Import a class from a file as a new process would; no byte code is read or written."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    finally:
        sys.path.remove(str(path.parent))
    found: Any = vars(module)[name]
    classes.name(found)
    return found  # type: ignore[no-any-return]


def forget(*modules: str) -> None:
    """Forget algorithms, as the end of a process does."""
    importlib.invalidate_caches()
    for module in modules:
        found = sys.modules.pop(module, None)
        if found is not None and getattr(found, "__cached__", None):
            Path(found.__cached__).unlink(missing_ok=True)
    for kind in [kind for kind in classes._known if kind.split(":")[1] in modules]:
        del classes._known[kind]
    own._seen.clear()
    own._allowed.clear()
