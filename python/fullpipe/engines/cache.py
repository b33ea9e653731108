"""Where engines keep what they download and build: FULLPIPE_CACHE, or the user's folder for caches."""

import os
from pathlib import Path


def folder(engine: str) -> Path:
    """The folder of an engine; it need not exist."""
    own = os.environ.get("FULLPIPE_CACHE")
    if own:
        return Path(own) / engine
    users = os.environ.get("XDG_CACHE_HOME")
    return (Path(users) if users else Path.home() / ".cache") / "fullpipe" / engine
