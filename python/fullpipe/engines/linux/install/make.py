"""Runs make in a kernel tree, and ends it with fullpipe."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from fullpipe.engines.base import Say
from fullpipe.errors import EngineError

_LAST_LINES = 15
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _end_with(parent: int) -> None:
    """End this process, before it becomes make, when fullpipe ends. Two makes would damage the tree."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def make(tree: Path, environment: Mapping[str, str], targets: list[str], say: Say | None) -> None:
    """Make targets; `say` is called for every hundred files that are compiled.

    Raises:
        EngineError: If make fails. Its message has the end of make's output.
    """
    command = ["nice", "make", "ARCH=um", *targets]
    said: list[str] = []
    compiled = 0
    with subprocess.Popen(
        command,
        cwd=tree,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
        preexec_fn=partial(_end_with, os.getpid()),  # noqa: PLW1509 (no threads)
    ) as process:
        try:
            for line in process.stdout or ():
                said = [*said[-_LAST_LINES:], line.rstrip()]
                compiled += line.startswith("  CC ")
                if say and line.startswith("  CC ") and compiled % 100 == 0:
                    say(f"  {compiled:,} files")
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)  # compilers, too
            raise
    if process.returncode:
        raise EngineError("\n".join([f"{' '.join(command)} failed in {tree}:", *said]))
