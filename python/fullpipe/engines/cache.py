"""The folder for downloads and builds of engines, with a check that other users cannot write to it.

FULLPIPE_CACHE names the folder. The default is `fullpipe` in the user's cache folder.
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
    """Return the folder of an engine, which may not exist."""
    return _root() / engine


def made(engine: str) -> Path:
    """Return the folder of an engine. A missing folder is created with access for this user only.

    Raises:
        EngineError: If other users can write there, or the folder cannot be created.
    """
    own = folder(engine)
    try:
        for place in (own.parent, own):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"{own}: {error.strerror}; set $FULLPIPE_CACHE to another folder") from error
    found = requirement(own)
    if not found.present:
        raise EngineError(f"{found.detail}; {found.remedy}")
    return own


def requirement(*paths: Path) -> Requirement:
    """Check that only this user can write to files and folders of the cache, because their content is
    executed."""
    for path in paths:
        closed = False  # whether other users cannot reach anything below
        for place in _from_the_root_to(path):
            try:
                status = place.stat()
            except OSError:
                break  # missing or unreadable
            if status.st_uid not in (0, os.geteuid()):
                text = f"{place} belongs to another user, but its content is executed"
                return Requirement("cache", False, text, "name a folder of your own in $FULLPIPE_CACHE")
            if status.st_mode & _OTHERS_WRITE and not closed:
                text = f"{place} is writable by other users, but its content is executed"
                return Requirement("cache", False, text, f"if all files are yours: chmod -R go-w {_root()}")
            closed = closed or (stat.S_ISDIR(status.st_mode) and not status.st_mode & _OTHERS_PASS)
    return Requirement("cache", True, str(_root()))


def _from_the_root_to(path: Path) -> list[Path]:
    root = _root()
    above = [place for place in path.parents if place.is_relative_to(root)]
    return [*reversed(above), path]
