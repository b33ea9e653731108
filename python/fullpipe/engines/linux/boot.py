"""Boots the guest and estimates the memory that the guest needs."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fullpipe.engines.base import Progress
from fullpipe.engines.linux.departures import crossing, frame_bytes
from fullpipe.errors import EngineError
from fullpipe.scenario import Link, Network
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.quantities import BITS, NANOSECONDS

# Memory that a guest needs for a scenario.


_KERNEL_MB, _LEAST_MB, _MOST_MB = 128, 256, 16_000
_PER_NAMESPACE_MB = 0.6
_COPIES = 24
"""Ratio of the guest's memory to the payload in flight and in queues. Senders store several windows of data,
and the headers and rounding of packet buffers double the memory of the payload."""
_UNKNOWN_BPS = 10_000_000_000
_MB = 1e6


def needed_mb(network: Network) -> int:
    """Return the memory in MB for the kernel, namespaces, and packets in flight and in queues.

    The result is a multiple of 64. The estimate is high on purpose, because the host gives the guest only the
    memory that the guest uses.
    """
    rates = [link.limit_bps for link in network.links if link.limit_bps]
    widest_bps = max(min(rates, default=_UNKNOWN_BPS), 1_000_000)
    for routed in network.flows:
        rates_bps = [network.hops[i].limit_bps for i in routed.forward]
        widest_bps = max(widest_bps, min((rate for rate in rates_bps if rate), default=0))
    rtt_s = max(network.base_rtt_s(routed) for routed in network.flows)
    slowest_ns = max(
        (values.get("delay_ns", 0) for link in network.links for _, values in link.steps), default=0
    )
    crossed = zip(network.links, crossing(network), strict=True)
    waiting = sum(_queue_bytes(link, frame_bytes(crossed_by)) for link, crossed_by in crossed)
    on_the_way = widest_bps / BITS * (rtt_s + slowest_ns / NANOSECONDS)
    namespaces = 3 * len(network.links) + 2 * len(network.flows)
    size = _KERNEL_MB + _PER_NAMESPACE_MB * namespaces + _COPIES * (on_the_way + waiting) / _MB
    return min(_MOST_MB, max(_LEAST_MB, -(-int(size) // 64) * 64))


def _queue_bytes(link: Link, frame: int) -> float:
    if isinstance(link.queue, DropTail):
        limit = link.queue.limit_bytes or (link.queue.packets or 0) * frame
        return min(limit, 100e6)
    return 1_000 * frame if link.queue else 0.0


# Boots the guest, reports its progress in virtual time, and waits until the guest exits. All processes and
# files of the guest are removed, even after an error.


_HERE = Path(__file__).parent
_PULSE_S = 0.1
_END_S = 10
_LOG_LINES = 20
MB = 1_000_000
_SHARED_MEMORY = Path("/dev/shm")


class DiedError(EngineError):
    """A guest that ended before its script did."""


@dataclass(frozen=True)
class Guest:
    """A kernel to boot, and the program that runs in it."""

    kernel: Path
    program: Path
    parameters: tuple[str, ...] = ()
    """Additional parameters of the kernel."""

    def command(self, memory_mb: int, seed: int) -> list[str]:
        """Return the guest's command line, which has no local paths because its text affects the kernel's
        random numbers."""
        return [
            str(self.kernel),
            f"mem={memory_mb}M",
            *("root=/dev/root", "rootfstype=hostfs", "rootflags=/proc/self/cwd", "rw", "init=/init"),
            *("con=null", "con0=null,fd:1", "quiet", "uml_dir=./uml/", "umid=u"),
            *("time-travel=inf-cpu", "time-travel-start=1700000000000000000", f"um_rngseed={seed}"),
            # Since Linux 6.16, this option runs the guest's processes without ptrace, two to three times as
            # fast. Older kernels ignore the option.
            "seccomp=on",
            *self.parameters,
        ]


def available_mb() -> int:
    """Return the available memory of this machine in MB, or 0 if it is unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 // MB if found else 0


@contextmanager
def boot(
    guest: Guest,
    script: str,
    files: Mapping[str, bytes] | None = None,
    *,
    memory_mb: int,
    seed: int,
    progress: Progress | None = None,
) -> Iterator["Finished"]:
    """Run a script in a guest until the guest powers off, and yield its results, which are deleted
    afterwards.

    Args:
        guest: Kernel to boot, and program that follows the script.
        script: Script for the guest's program.
        files: Other files for the guest's folder, by name.
        memory_mb: Memory of the guest in MB.
        seed: Seed of all random numbers in the guest.
        progress: Called with the guest's virtual time in seconds.

    Raises:
        DiedError: If the guest does not finish. The message has the last lines of the guest's output.
        EngineError: If the guest cannot be booted.
    """
    if available_mb() < memory_mb:
        raise EngineError(
            f"the guest needs {memory_mb} MB of memory and {available_mb()} MB are free; "
            "free some memory, or run fewer guests at the same time with --jobs 1"
        )
    with tempfile.TemporaryDirectory(prefix="fullpipe-linux-", ignore_cleanup_errors=True) as work:
        folder = Path(work)
        (folder / "proc").mkdir()
        shutil.copyfile(guest.program, folder / "init")
        (folder / "init").chmod(0o755)
        (folder / "script").write_text(f"{script}ready\n", encoding="ascii")
        for name, content in (files or {}).items():
            (folder / name).write_bytes(content)
        cpu_s = _run(guest.command(memory_mb, seed), folder, memory_mb, progress)
        yield Finished(folder, cpu_s)


@dataclass(frozen=True)
class Finished:
    """The folder with the results of a guest, and the processor time that the guest took."""

    folder: Path
    cpu_s: float


def _run(command: list[str], folder: Path, memory_mb: int, progress: Progress | None) -> float:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_HERE / "supervisor.py"), str(folder), _memory(memory_mb), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"FULLPIPE_PARENT": str(os.getpid())},
        start_new_session=True,
    )
    try:
        usage = _follow(process, _reached(folder), progress)
    except BaseException:
        _end(process)
        raise
    said = process.stderr.read().decode(errors="replace") if process.stderr else ""
    if not (folder / "finished").exists():
        raise DiedError(_obituary(folder, said, process.returncode))
    return usage


def _follow(
    process: "subprocess.Popen[bytes]", reached: Callable[[], float], progress: Progress | None
) -> float:
    """Wait for the guest's end and report progress. Return the CPU time of all processes of the guest in
    seconds."""
    told = -1.0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        now_s = reached()
        if progress and now_s != told:
            progress(now_s)
            told = now_s
        time.sleep(_PULSE_S)


def _reached(folder: Path) -> Callable[[], float]:
    """Return a function that reads the guest's virtual time in seconds. The function ignores an empty file,
    which it finds while the guest writes the file."""
    path, last_s = folder / "progress", 0.0

    def read() -> float:
        nonlocal last_s
        with suppress(OSError, ValueError):
            last_s = max(last_s, int(path.read_text(encoding="ascii")) / 1e9)
        return last_s

    return read


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Signal the supervisor, which ends the guest immediately."""
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _memory(memory_mb: int) -> str:
    """Return the folder for the file with the guest's memory: /dev/shm, which is in RAM, if it has enough
    space."""
    try:
        free = shutil.disk_usage(_SHARED_MEMORY).free
    except OSError:
        free = 0
    return str(_SHARED_MEMORY) if free > memory_mb * MB else tempfile.gettempdir()


def _obituary(folder: Path, said: str, code: int | None) -> str:
    failed, console = folder / "failed", folder / "console"
    told = failed.read_text(errors="replace").strip() if failed.exists() else ""
    free = shutil.disk_usage(folder).free
    if not told and free < MB:  # the guest cannot write its error to a full disk
        told = f"{folder.parent} has {free:,} B of free space; free some, or name another folder in TMPDIR"
    reason = told or f"its exit code is {code}"
    log = console.read_text(errors="replace").splitlines()[-_LOG_LINES:] if console.exists() else []
    return "\n".join(
        [f"the guest did not finish: {reason}", *(f"  {line}" for line in (*said.splitlines(), *log))]
    )
