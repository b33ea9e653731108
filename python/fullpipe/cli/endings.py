"""Turns errors of commands into one line on standard error and an exit code."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from errno import ENAMETOOLONG
from typing import TYPE_CHECKING

from fullpipe.cli.output import complain
from fullpipe.errors import (
    ClusterError,
    FolderError,
    FullpipeError,
    InputFileError,
    InstallOptionError,
    MissingExtraError,
    NoRunError,
    QueryError,
    ScenarioError,
    UnknownNameError,
    brief,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_MISUSE = (
    ScenarioError,
    UnknownNameError,
    NoRunError,
    FolderError,
    InputFileError,
    InstallOptionError,
    MissingExtraError,
    QueryError,
    ClusterError,
)


@contextmanager
def ended() -> Iterator[None]:
    """Turn errors for the user into a message and an exit code: 2 for bad input, 1 for a failure.

    Raises:
        SystemExit: If an error for the user was raised.
    """
    try:
        yield
    except FullpipeError as error:
        complain(error)
        code = 2 if isinstance(error, _MISUSE) else 1
    except OSError as error:  # a path in an argument is too long for any file
        if error.errno != ENAMETOOLONG:
            raise
        complain(f"{brief(str(error.filename))}: the name is too long for a file or folder")
        code = 2
    except KeyboardInterrupt:
        complain("interrupted; the same command continues where this one stopped")
        code = 1
    else:
        return
    sys.exit(code)
