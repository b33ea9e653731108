"""Processes that tests start: a test's end is theirs, SIGINT interrupts them, and none outlives the run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MARK = "FULLPIPE_TESTED_BY"
"""Environment variable of every process below a run of pytest; its value names the run."""
_HELPERS = re.compile(r"multiprocessing\.(resource_tracker|forkserver)")
_GRACE_S = 10.0
"""Time that a process has to end by itself after the last test."""


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a process, with pipes from its output; kill it, if it still runs, when the block ends."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with subprocess.Popen(command, text=True, encoding="utf-8", **piped) as process:
        try:
            yield process
        finally:
            process.kill()


def begin() -> None:
    """Mark all processes that this one starts from now on, and let SIGINT and SIGHUP end them.

    Background jobs of a shell ignore SIGINT, and those of nohup SIGHUP. A child inherits that unless its
    parent has a handler.
    """
    os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def left() -> list[str]:
    """End marked processes that do not end by themselves; return their command lines."""
    end = time.monotonic() + _GRACE_S
    while (found := _marked()) and time.monotonic() < end:
        time.sleep(0.05)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [f"{pid}: {line}" for pid, line in found.items()]


def _marked() -> dict[int, str]:
    """Command lines of running processes with this run's mark. Linux only: others have no /proc.

    Helpers of multiprocessing end with the process that started them, which is this one or has ended.
    """
    mark, parent, found = f"{MARK}={os.environ[MARK]}", f"PPid:\t{os.getpid()}", {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment, line = (
                (folder / name).read_text(errors="replace") for name in ("environ", "cmdline")
            )
            is_ours = parent in (folder / "status").read_text().splitlines()
        except OSError:  # it has just ended, or belongs to another user
            continue
        if mark in environment.split("\0") and not (is_ours and _HELPERS.search(line)):
            found[int(folder.name)] = line.replace("\0", " ").strip()
    return found
