"""Code that is run in forks of a process that has imported what it needs: each has memory of its own.

Orders are lines of JSON on standard input; the answers, one line each, are exit statuses. Nothing has been
computed here, so polars has no workers yet that a fork would miss, and the most memory of a fork begins with
that of the imports. Unlike a process of its own, a fork ends without its handlers of `atexit`, and without
waiting for threads.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.children import MARK, started

ROOT = Path(__file__).resolve().parent.parent
_WALL_S = 300
"""Time that a fork has, also one that waits."""


class Done(NamedTuple):
    """A fork that has ended."""

    status: int
    stdout: str
    stderr: str


class Forks:
    """A process that runs code in forks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, code: str, folder: Path, *arguments: str | Path, cpu_s: int | None = None) -> Done:
        """Run code with arguments, in so much time of the processor; what it prints is kept in a folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        printed = [folder / "stdout", folder / "stderr"]
        order = {"code": code, "arguments": [str(one) for one in arguments], "cpu_s": cpu_s}
        order["printed"] = [str(path) for path in printed]
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process of forks ended with status {self._process.wait()}"
        status = int(answer)
        assert status != -signal.SIGALRM, f"{code} {order['arguments']}: not done in {_WALL_S} s"
        return Done(status, *(path.read_text(encoding="utf-8") for path in printed))


@contextmanager
def forks(
    *modules: str, python: Sequence[str] = (sys.executable,), env: Mapping[str, str] | None = None
) -> Iterator[Forks]:
    """A process that has imported modules, of this Python or of another that has them."""
    marked = None if env is None else {**env, MARK: os.environ[MARK]}
    command = [*python, "-m", "tests.forks", *modules]
    with started(command, cwd=ROOT, env=marked, stdin=subprocess.PIPE, stderr=None) as process:
        yield Forks(process)


def run(order: dict[str, Any]) -> None:
    """Run an order in this process, which ends with it, and at the latest when its time is over."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_WALL_S)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the orders are not its input
    for descriptor, path in enumerate(order["printed"], 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    if order["cpu_s"] is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (order["cpu_s"], order["cpu_s"]))
    sys.argv = ["-c", *order["arguments"]]
    status = 0
    try:
        exec(compile(order["code"], "-c", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(modules: list[str]) -> None:
    """Import modules, and run orders until there are no more."""
    for module in modules:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
