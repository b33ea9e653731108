"""Classes by names such as "python:mine:Reno".

A scenario holds only the name. A class becomes known when it is passed to a scenario, or when `import_class`
imports its module. `import_class` needs the user's permission, so that a scenario file from elsewhere runs no
code.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fullpipe.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fullpipe.algorithms.controller import Controller
    from fullpipe.algorithms.source import Source

    Factory = Callable[[dict[str, Any], int], Controller]

PREFIX = "python:"
_NAME = re.compile(r"python:[^\W\d]\w*(\.[^\W\d]\w*)*:[\w.<>]+")
DIGITS = 16
"""Hexadecimal digits of a fingerprint."""

_known: dict[str, type[Controller]] = {}
_brought: dict[str, list[str]] = {}
"""For each imported module of algorithms, the modules that its import imported."""
_sources: WeakKeyDictionary[type, Source] = WeakKeyDictionary()


def is_name(text: str) -> bool:
    """Whether a text has the form of the name of a class: "python:module:Class"."""
    return _NAME.fullmatch(text) is not None


def name(cls: type[Controller]) -> str:
    """Register a class, and return its name for scenarios, files and sweeps.

    A class that is defined again replaces the earlier class.

    Raises:
        ScenarioError: If the class is not a subclass of `Controller`.
    """
    from fullpipe.algorithms.controller import Controller  # imported here, as most scenarios name no class

    if not (isinstance(cls, type) and issubclass(cls, Controller) and cls is not Controller):
        raise ScenarioError([f"{cls!r} is no subclass of fullpipe.algorithms.Controller"])
    text = f"{PREFIX}{cls.__module__}:{cls.__qualname__}"
    _known[text] = cls
    fingerprint(text)  # computed now, before the source may be edited
    return text


def find(kind: str) -> type[Controller] | None:
    """Return the class of a name if the class is known. Imports nothing."""
    return _known.get(kind)


def import_class(kind: str) -> None:
    """Import the module of "python:module:Class" unless the class is known: this runs the code of the module.

    Raises:
        ScenarioError: If the module cannot be imported, or has no such class.
    """
    from fullpipe.algorithms.controller import Controller
    from fullpipe.algorithms.source import from_source

    if kind in _known:
        return
    _, module, attribute = kind.split(":")
    before = set(sys.modules)
    try:
        with from_source():
            found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise ScenarioError([f"{kind}: cannot be imported: {type(error).__name__}: {error}"]) from error
    if not (isinstance(found, type) and issubclass(found, Controller)):
        raise ScenarioError([f"{kind}: is no subclass of fullpipe.algorithms.Controller"])
    _brought.setdefault(module, [each for each in sys.modules if each not in before])
    name(found)
    _known[kind] = found  # the class may be known under a name in another module as well
    fingerprint(kind)


def factory(kind: str) -> Factory:
    """Return a function that makes the algorithm of a flow from its parameters and seed."""
    from random import Random

    cls = _known[kind]
    return lambda params, seed: cls(Random(seed), **params)


def fingerprint(kind: str) -> str:
    """Digest of the code of a class. Results depend on the code.

    The digest covers the source files of the class and its bases, as they were when the class became known.
    It also covers imported modules in the same folders. A class without a file, such as a class of an
    interactive session, has a new digest every time, so that no stored run is taken for its result.
    """
    from uuid import uuid4  # imported here, as most scenarios name no class

    return _source(kind).fingerprint or uuid4().hex[:DIGITS]


def digests(kind: str) -> dict[str, str]:
    """Return the SHA-256 of every source file of a class by its path below the folder of its modules.

    A class without a file has one entry: its name, with a digest that is constant while the class exists.
    """
    return dict(_source(kind).digests)


def paths(kind: str) -> dict[str, Path]:
    """Return the source files of a class by their names in `digests`; empty for a class without a file."""
    return dict(_source(kind).paths)


def _source(kind: str) -> Source:
    cls = _known[kind]
    if cls not in _sources:
        from fullpipe.algorithms.controller import Controller
        from fullpipe.algorithms.source import source_of

        bases = [base for base in cls.__mro__ if base not in Controller.__mro__]
        _sources[cls] = source_of(kind, bases, _brought.get(kind.split(":")[1], ()))
    return _sources[cls]


_looked_in: dict[Path, None] = {}


def looked_in() -> list[Path]:
    """Return the folders that `look_in` was given."""
    return list(_looked_in)


def look_in(*folders: Path) -> None:
    """Search these folders for modules first, in their order."""
    _looked_in.update(dict.fromkeys(folder.resolve() for folder in folders))
    for folder in reversed([str(folder.resolve()) for folder in folders]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
