"""Algorithms in shared objects, by names such as "library:build/libmine.so:mine".

A scenario holds only the name. A file is loaded only if the user allows it, so that a scenario from elsewhere
runs no code. The header `fullpipe_congestion.h` declares the functions that a library exports.
"""

import re
from pathlib import Path

from fullpipe.errors import ScenarioError

PREFIX = "library:"
_NAME = re.compile(r"library:(?P<path>[^:\x00-\x1f\x7f]+):(?P<name>[\w.+-]+)")
_DIGITS = 16

_folders: list[Path] = [Path()]
_allowed: dict[str, Path] = {}
_seen: dict[Path, str] = {}
"""Digests of libraries when they were first read."""


def is_name(text: str) -> bool:
    """Whether a text has the form of an algorithm of a library: "library:PATH:NAME"."""
    return _NAME.fullmatch(text) is not None


def find(kind: str) -> Path | None:
    """Return the file of a name if it is allowed."""
    return _allowed.get(kind)


def allow(kind: str) -> None:
    """Allow to load the file of "library:PATH:NAME", which runs its code.

    Relative paths are searched in the folders of `look_in` and in the working directory.

    Raises:
        ScenarioError: If there is no such file.
    """
    if kind in _allowed:
        return
    match = _NAME.fullmatch(kind)
    path = Path(match["path"]) if match else Path(kind)
    found = next((folder / path for folder in _folders if (folder / path).is_file()), None)
    if found is None:
        places = ", ".join(dict.fromkeys(str(folder.resolve()) for folder in _folders))
        raise ScenarioError([f"{kind}: there is no file {path} in {places}; write its full path"])
    _allowed[kind] = found.resolve()


def fingerprint(kind: str) -> str:
    """Return a digest of the file, on which results depend.

    Raises:
        ScenarioError: If the file has changed since this process first read it: a loaded library is not
            replaced.
    """
    return digest(kind)[:_DIGITS]


def digest(kind: str) -> str:
    """Return the SHA-256 of the file; raises ScenarioError like `fingerprint`."""
    import hashlib  # here: most scenarios name no library

    path = _allowed[kind]
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if _seen.setdefault(path, found) != found:
        raise ScenarioError([f"{path}: has changed since it was loaded; start Python again to use it"])
    return found


def look_in(*folders: Path) -> None:
    """Search these folders for files first, in their order."""
    _folders[:0] = [folder.resolve() for folder in folders if folder.resolve() not in _folders]
