"""The folder in which engines keep what they download and build, and whether other users can write to it.

FULLPIPE_CACHE names the folder; without it, it is in the user's folder for caches.
"""

import os
import stat
from pathlib import Path

from fullpipe.engines.base import Requirement
from fullpipe.errors import EngineError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_PASS = stat.S_IXGRP | stat.S_IXOTH


def _root() -> Path:
    own = os.environ.get("FULLPIPE_CACHE")
    if own:
        return Path(own)
    users = os.environ.get("XDG_CACHE_HOME")
    return (Path(users) if users else Path.home() / ".cache") / "fullpipe"


def folder(engine: str) -> Path:
    """The folder of an engine; it need not exist."""
    return _root() / engine


def made(engine: str) -> Path:
    """The folder of an engine, made if it is not there, for this user alone.

    Raises:
        EngineError: If others may write there, or it cannot be made.
    """
    own = folder(engine)
    try:
        for place in (own.parent, own):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"{own}: {error.strerror}; $FULLPIPE_CACHE names another folder") from error
    found = requirement(own)
    if not found.present:
        raise EngineError(f"{found.detail}; {found.remedy}")
    return own


def requirement(*paths: Path) -> Requirement:
    """Whether files and folders of the cache are this user's alone: what is kept there is run."""
    for path in paths:
        closed = False  # no other writer reaches what is below
        for place in _from_the_root_to(path):
            try:
                status = place.stat()
            except OSError:
                break  # it is not there, or nothing can be read from it
            if status.st_uid not in (0, os.geteuid()):
                text = f"{place} belongs to another user, and what is kept there is run"
                return Requirement("cache", False, text, "name a folder of your own in $FULLPIPE_CACHE")
            if status.st_mode & _OTHERS_WRITE and not closed:
                text = f"{place} may be written by others, and what is kept there is run"
                return Requirement("cache", False, text, f"if all in it is yours: chmod -R go-w {_root()}")
            closed = closed or (stat.S_ISDIR(status.st_mode) and not status.st_mode & _OTHERS_PASS)
    return Requirement("cache", True, str(_root()))


def _from_the_root_to(path: Path) -> list[Path]:
    root = _root()
    above = [place for place in path.parents if place.is_relative_to(root)]
    return [*reversed(above), path]
