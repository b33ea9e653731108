"""Classes by names such as "python:mine:Reno".

A scenario only ever holds the name. A class is known once it was passed to a scenario itself, or its module
was imported by `import_class`, which is called only where the user allows it: a scenario file from elsewhere
runs no code.
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

    Factory = Callable[[dict[str, Any], int], Controller]

PREFIX = "python:"
_NAME = re.compile(r"python:[^\W\d]\w*(\.[^\W\d]\w*)*:[\w.<>]+")
_DIGITS = 16

_known: dict[str, type[Controller]] = {}
_fingerprints: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def is_name(text: str) -> bool:
    """Whether it is written as the name of a class: "python:module:Class"."""
    return _NAME.fullmatch(text) is not None


def name(cls: type[Controller]) -> str:
    """The name under which scenarios, files and sweeps refer to a class, which is known from now on.

    A class that is defined anew takes the place of the one before it.

    Raises:
        ScenarioError: If it is no subclass of `Controller`.
    """
    from fullpipe.algorithms.controller import Controller  # here, as below: most scenarios name no class

    if not (isinstance(cls, type) and issubclass(cls, Controller) and cls is not Controller):
        raise ScenarioError([f"{cls!r} is no subclass of fullpipe.algorithms.Controller"])
    text = f"{PREFIX}{cls.__module__}:{cls.__qualname__}"
    _known[text] = cls
    fingerprint(text)  # of the source as it is now, not as it may be edited later
    return text


def find(kind: str) -> type[Controller] | None:
    """The class of a name if it is known. Imports nothing."""
    return _known.get(kind)


def import_class(kind: str) -> None:
    """Import the module of "python:module:Class" unless the class is known: this runs the code of the module.

    Raises:
        ScenarioError: If it cannot be imported, or has no such class.
    """
    from fullpipe.algorithms.controller import Controller

    if kind in _known:
        return
    _, module, attribute = kind.split(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise ScenarioError([f"{kind}: cannot be imported: {type(error).__name__}: {error}"]) from error
    if not (isinstance(found, type) and issubclass(found, Controller)):
        raise ScenarioError([f"{kind}: is no subclass of fullpipe.algorithms.Controller"])
    name(found)
    _known[kind] = found  # also under a name that another module gave it
    fingerprint(kind)


def factory(kind: str) -> Factory:
    """What makes the algorithm of a flow from its parameters and seed."""
    from random import Random

    cls = _known[kind]
    return lambda params, seed: cls(Random(seed), **params)


def fingerprint(kind: str) -> str:
    """What results depend on: a digest of the source files of a class and its bases, as it came.

    A class without a file, such as one of an interactive session, has a new one every time: nothing stored is
    taken for its result. What the files import in their turn has no part in it.
    """
    from uuid import uuid4

    cls = _known[kind]
    if cls not in _fingerprints:
        _fingerprints[cls] = _source_digest(cls)
    return _fingerprints[cls] or uuid4().hex[:_DIGITS]


def _source_digest(cls: type[Controller]) -> str:
    import hashlib
    import inspect

    from fullpipe.algorithms.controller import Controller

    digest = hashlib.sha256()
    for base in cls.__mro__:
        if base in Controller.__mro__:
            continue
        try:
            digest.update(Path(inspect.getfile(base)).read_bytes())
        except (OSError, TypeError):
            return ""
        digest.update(f"{base.__module__}:{base.__qualname__}".encode())
    return digest.hexdigest()[:_DIGITS]


def look_in(*folders: Path) -> None:
    """Let modules be found in these folders first, in their order."""
    for folder in reversed([str(folder.resolve()) for folder in folders]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
