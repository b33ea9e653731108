"""The command line: thin commands over the library.

Every module here holds one command or group of commands; `commands` names them and imports what is used.
"""

from fullpipe.cli.app import app, main

__all__ = ["app", "main"]
