"""Algorithms outside the registry: Python classes, and shared objects with a C interface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe.algorithms import classes, libraries
from fullpipe.errors import brief

if TYPE_CHECKING:
    from fullpipe.algorithms.classes import Factory


def is_own(kind: str) -> bool:
    """Whether a name has the prefix of such an algorithm."""
    return kind.startswith((classes.PREFIX, libraries.PREFIX))


def check_name(kind: str) -> None:
    """Raise ValueError unless a name is well formed."""
    if classes.is_name(kind) or libraries.is_name(kind):
        return
    what, example = "a class", "python:my_module:MyClass"
    if kind.startswith(libraries.PREFIX):
        what, example = "an algorithm in a library", "library:libmine.so:mine"
    raise ValueError(f'"{brief(kind)}" is no name of {what}; write it as in "{example}"')


def title(kind: str) -> str:
    """Return the short name for the names of flows; other names are unchanged."""
    return kind.rpartition(":")[2].rpartition(".")[2] if is_own(kind) else kind


def is_known(kind: str) -> bool:
    """Whether the code may run: the class was passed or imported, or the file was allowed."""
    return classes.find(kind) is not None or libraries.find(kind) is not None


def permit(kind: str) -> None:
    """Import the class, or allow the file: this runs the code of others.

    Raises:
        ScenarioError: If the class cannot be imported, or there is no such file.
    """
    if kind.startswith(libraries.PREFIX):
        libraries.allow(kind)
    else:
        classes.import_class(kind)


def maker(kind: str) -> Factory | str:
    """Return the source from which the simulator makes it: a factory, or the path of a shared object."""
    path = libraries.find(kind)
    return classes.factory(kind) if path is None else str(path)


def fingerprint(kind: str) -> str:
    """Return a digest of the code, on which results depend."""
    return classes.fingerprint(kind) if libraries.find(kind) is None else libraries.fingerprint(kind)


def names_in(tree: object) -> list[str]:
    """Return the texts of a scenario, as plain data, that name such algorithms, each once."""
    if isinstance(tree, str):
        return [tree] if is_own(tree) else []
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return list(dict.fromkeys(name for part in parts for name in names_in(part)))


def digests(kind: str) -> dict[str, str]:
    """Return the SHA-256 of every file of an algorithm whose code may run, by its name."""
    if libraries.find(kind) is None:
        return classes.digests(kind)
    return {kind.split(":")[1]: libraries.digest(kind)}


def paths(kind: str) -> dict[str, Path]:
    """Return the files of an algorithm whose code may run, by their names in `digests`."""
    path = libraries.find(kind)
    return classes.paths(kind) if path is None else {kind.split(":")[1]: path}


def look_in(*folders: Path) -> None:
    """Search these folders for modules and files first, in their order."""
    classes.look_in(*folders)
    libraries.look_in(*folders)
