"""The command line: thin commands over the library.

Each module of this package defines a few related commands. The module `commands` lists all commands, and
imports the module of a command when the command is used.
"""

import atexit
import errno
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import fullpipe
from fullpipe import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullpipe.cli.commands import app

__all__ = ["app", "main"]

__getattr__, __dir__ = lazy.names(__name__, {"app": "commands"})


def main() -> None:
    """Entry point of the command."""
    _open_closed_streams()
    with _ending_on_request():
        _run()


def _run() -> None:
    """Run the command. A closed output pipe ends the process by SIGPIPE; a full disk ends it with exit code
    1."""
    lazy.pause_collection()
    try:
        try:
            _obey(sys.argv[1:])
        finally:
            lazy.resume_collection()
            sys.stdout.flush()
    except BrokenPipeError:
        _end_by_pipe()
    except SystemExit as end:  # typer and rich turn a broken pipe into exit code 1
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _end_by_pipe()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _say_no_more()
        print(f"fullpipe: the output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(1)


@contextmanager
def _ending_on_request() -> "Iterator[None]":
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, so that unfinished files are removed.

    The process then ends by the same signal, after the interpreter has closed open files. A second signal
    ends the process immediately.
    """
    asked, handled = list[int](), list[signal.Signals]()

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        asked.append(number)
        raise KeyboardInterrupt

    for request in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(request) == signal.SIG_DFL:  # under nohup, SIGHUP stays ignored
            with suppress(ValueError):  # only the main thread has signals
                signal.signal(request, stop)
                handled.append(request)
    atexit.register(_end_by, asked)  # atexit runs handlers in reverse order, so this one runs last
    try:
        yield
    finally:
        for request in handled:
            signal.signal(request, signal.SIG_DFL)


def _end_by(asked: list[int]) -> None:
    for number in asked:
        os.kill(os.getpid(), number)


def _open_closed_streams() -> None:
    """Open /dev/null for each standard stream that is closed. Some daemons start programs without streams."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _obey(arguments: list[str]) -> None:
    """Run the command. Simple `list`, `show` and `run` commands skip typer, whose import is slow."""
    if arguments == ["--version"]:
        from fullpipe.commit import with_commit  # imported here, as few commands need it

        print(f"fullpipe {with_commit(fullpipe.__version__)}", flush=True)
        return
    from fullpipe.cli import output  # imported here, as --version needs no output module

    match arguments:
        case ["list", kind] if kind in output.KINDS:
            from fullpipe.cli.failures import ended

            with ended():
                from fullpipe.cli.described import print_all
                from fullpipe.cli.kinds import KINDS, Kind

                print_all(KINDS[Kind(kind)]())
            return
        case ["show", name] if output.is_plain(name):
            from fullpipe.cli.failures import ended

            with ended():
                from fullpipe.cli.shown_by_name import show

                show(name)
            return
        case ["run", *words] if (asked := output.of_run(words)) is not None:
            from fullpipe.cli.failures import ended

            with ended():
                from fullpipe.cli.run_body import run

                sys.exit(run(**asked))
    from fullpipe.cli.commands import app

    app(prog_name="fullpipe")  # help then shows `fullpipe`, even under `python -m fullpipe`


def _end_by_pipe() -> None:
    """End by SIGPIPE, as other programs do when the reader of the output has closed the pipe (`| head`)."""
    _say_no_more()
    if not hasattr(signal, "SIGPIPE"):
        sys.exit(1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)


def _say_no_more() -> None:
    """Send standard output to /dev/null, so that flushing its buffer at exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
