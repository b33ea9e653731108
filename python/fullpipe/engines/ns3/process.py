"""Running of the program in a child process that never outlives the run."""

import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fullpipe import _native
from fullpipe.engines.base import Progress
from fullpipe.errors import EngineError

_PULSE_S = 0.2
_PREFIX = "fullpipe-ns3-"
_WORKER = Path(__file__).parent / "worker.py"


@dataclass(frozen=True)
class Finished:
    """A finished run, with the folder of its tables."""

    folder: Path
    cpu_s: float


@contextmanager
def workplace() -> Iterator[Path]:
    """Create a temporary folder for one run. Folders left by killed processes are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        yield Path(folder)


def run(program: Path, program_input: str, folder: Path, progress: Progress | None) -> Finished:
    """Run the program on its input, with `folder` for its output.

    The child process ends with this call, whatever ends it. The kernel kills it if this process dies.

    Raises:
        EngineError: If the program fails, with the end of its error output.
    """
    written = folder / "input"
    written.write_text(program_input)
    arguments = [os.getpid(), program, written, folder, _native.__file__]
    command = [sys.executable, "-I", "-S", str(_WORKER), *map(str, arguments)]
    with tempfile.TemporaryFile(dir=folder) as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
        reached_s = 0.0
        try:
            for reached_s in _times(process):
                if progress:
                    progress(reached_s)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        if process.returncode != 0:
            errors.seek(0)
            raise EngineError(
                _last_words(errors.read().decode(errors="replace"), process.returncode, reached_s)
            )
    return Finished(folder, usage.ru_utime + usage.ru_stime)


def _times(process: "subprocess.Popen[bytes]") -> Iterator[float]:
    """Yield the simulated time reached at every report of the program, and every 0.2 s in between."""
    assert process.stdout is not None
    pipe, rest, reached_s = process.stdout.fileno(), b"", 0.0
    while True:
        if select.select([pipe], [], [], _PULSE_S)[0]:
            read = os.read(pipe, 65_536)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                if line.startswith(b"at "):
                    reached_s = int(line[3:]) / 1e9
        yield reached_s


def _last_words(text: str, status: int, reached_s: float) -> str:
    lines = [line for line in text.strip().splitlines() if "terminat" not in line]
    words = " ".join(lines[-3:]) or f"it ended with status {status}, which often means: no memory left"
    return f"ns-3 stopped at {reached_s:g} s of simulated time: {words}"
