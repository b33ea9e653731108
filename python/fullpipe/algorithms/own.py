"""Algorithms of users, outside the registry: Python classes, and shared objects with a C interface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe.algorithms import classes
from fullpipe.errors import ScenarioError, brief

if TYPE_CHECKING:
    from fullpipe.algorithms.classes import Factory


# Algorithms in shared objects, by names such as "library:build/libmine.so:mine".
# A scenario contains only the name. A file is loaded only with the user's permission, so that a scenario file
# from another user runs no code. The header `fullpipe_congestion.h` declares the functions that a library
# exports.


PREFIX = "library:"
_NAME = re.compile(r"library:(?P<path>[^:\x00-\x1f\x7f]+):(?P<name>[\w.+-]+)")
_DIGITS = 16

_folders: list[Path] = [Path()]
_allowed: dict[str, Path] = {}
_seen: dict[Path, str] = {}
"""Digest of each library file when this process first read the file."""


def is_library(text: str) -> bool:
    """Whether a text has the form of a name of an algorithm in a library: "library:PATH:NAME"."""
    return _NAME.fullmatch(text) is not None


def find_library(kind: str) -> Path | None:
    """Return the file of a library algorithm by its name, or None if the file is not allowed."""
    return _allowed.get(kind)


def allow_library(kind: str) -> None:
    """Allow the file of "library:PATH:NAME" to be loaded. Loading the file runs its code.

    A file with a relative path is searched in the folders of `look_in` and in the working directory.

    Raises:
        ScenarioError: If the file does not exist.
    """
    if kind in _allowed:
        return
    match = _NAME.fullmatch(kind)
    path = Path(match["path"]) if match else Path(kind)
    found = next((folder / path for folder in _folders if (folder / path).is_file()), None)
    if found is None:
        places = ", ".join(dict.fromkeys(str(folder.resolve()) for folder in _folders))
        raise ScenarioError([f"{kind}: there is no file {path} in {places}; write the full path of the file"])
    _allowed[kind] = found.resolve()


def library_fingerprint(kind: str) -> str:
    """Return a digest of the library file, since results depend on the file.

    Raises:
        ScenarioError: If the file has changed since this process first read it, because a process cannot load
            a library again.
    """
    return library_digest(kind)[:_DIGITS]


def library_digest(kind: str) -> str:
    """Return the SHA-256 of the library file. Raises ScenarioError if the file has changed."""
    import hashlib  # imported here, as most scenarios name no library

    path = _allowed[kind]
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if _seen.setdefault(path, found) != found:
        raise ScenarioError([f"{path}: has changed since it was loaded; restart Python to use the new file"])
    return found


def look_for_libraries_in(*folders: Path) -> None:
    """Add folders that are searched for library files before all other folders, in the given order."""
    _folders[:0] = [folder.resolve() for folder in folders if folder.resolve() not in _folders]


# Algorithms outside the registry: Python classes, and shared objects with a C interface.


def is_own(kind: str) -> bool:
    """Whether a name has the prefix "python:" or "library:" of an algorithm outside the registry."""
    return kind.startswith((classes.PREFIX, PREFIX))


def check_name(kind: str) -> None:
    """Raise ValueError unless the name of an algorithm outside the registry is well formed."""
    if classes.is_name(kind) or is_library(kind):
        return
    what, example = "a class", "python:my_module:MyClass"
    if kind.startswith(PREFIX):
        what, example = "an algorithm in a library", "library:libmine.so:mine"
    raise ValueError(f'"{brief(kind)}" is not the name of {what}; write it as in "{example}"')


def title(kind: str) -> str:
    """Return the short name of an algorithm, which is used in names of flows. Names in the registry are
    returned unchanged."""
    return kind.rpartition(":")[2].rpartition(".")[2] if is_own(kind) else kind


def is_known(kind: str) -> bool:
    """Whether the code of an algorithm may run: its class was passed or imported, or its file was allowed."""
    return classes.find(kind) is not None or find_library(kind) is not None


def permit(kind: str) -> None:
    """Import the class of an algorithm, or allow its file to be loaded. The code of the algorithm then runs.

    Raises:
        ScenarioError: If the class cannot be imported, or the file does not exist.
    """
    if kind.startswith(PREFIX):
        allow_library(kind)
    else:
        classes.import_class(kind)


def maker(kind: str) -> Factory | str:
    """Return the path of a shared object or, for a Python class, a function that makes the algorithm."""
    path = find_library(kind)
    return classes.factory(kind) if path is None else str(path)


def fingerprint(kind: str) -> str:
    """Return a digest of the code of an algorithm, since results depend on the code."""
    return classes.fingerprint(kind) if find_library(kind) is None else library_fingerprint(kind)


def names_in(tree: object) -> list[str]:
    """Return the names of algorithms outside the registry in a scenario, given as plain data. Each name is
    returned once."""
    if isinstance(tree, str):
        return [tree] if is_own(tree) else []
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return list(dict.fromkeys(name for part in parts for name in names_in(part)))


def digests(kind: str) -> dict[str, str]:
    """Return the SHA-256 of every file of an algorithm whose code may run, by the name of the file."""
    if find_library(kind) is None:
        return classes.digests(kind)
    return {kind.split(":")[1]: library_digest(kind)}


def paths(kind: str) -> dict[str, Path]:
    """Return the files of an algorithm whose code may run, by their names in `digests`."""
    path = find_library(kind)
    return classes.paths(kind) if path is None else {kind.split(":")[1]: path}


def look_in(*folders: Path) -> None:
    """Add folders that are searched for modules and library files before all other folders, in the given
    order."""
    classes.look_in(*folders)
    look_for_libraries_in(*folders)
