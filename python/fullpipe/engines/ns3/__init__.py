"""The ns3 engine: ns-3's hosts, sockets and queues, in a program compiled against ns-3's wheel."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fullpipe import _native
from fullpipe.engines.base import (
    Capabilities,
    Engine,
    InstallOptions,
    Problem,
    Progress,
    Requirement,
    Say,
    Stopwatch,
    missing,
    not_measured,
    origin,
)
from fullpipe.engines.ns3 import build
from fullpipe.engines.ns3.cells import cell_remarks
from fullpipe.engines.ns3.input import problems, program_input
from fullpipe.engines.ns3.supported import QUEUES
from fullpipe.errors import EngineError, InstallOptionError
from fullpipe.lazy import pl
from fullpipe.runs import TABLES, Run, Table, frame
from fullpipe.scenario import Scenario, catalogue

__all__ = ["Ns3Engine", "Ns3Engine339", "Ns3Engine342", "Ns3Engine343"]


# Execution of the program in a child process, which is killed if the run is interrupted.


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
    """Remove folders that killed processes left, and create a temporary folder for one run."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        yield Path(folder)


def run(program: Path, program_input: str, folder: Path, progress: Progress | None) -> Finished:
    """Run the program on its input, with `folder` for its output.

    The child process ends when this call ends for any reason. If this process dies, the kernel kills the
    child process.

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


def _times(process: subprocess.Popen[bytes]) -> Iterator[float]:
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
    words = " ".join(lines[-3:]) or f"the exit status is {status}, which often means that memory ran out"
    return f"ns-3 stopped at {reached_s:g} s of simulated time: {words}"


# The ns3 engine.


_MEASURED: Mapping[str, str] = {
    "flows": "flow cca start_s end_s delivered_bytes goodput_bps wire_bps sent_packets retransmitted_packets "
    "lost_packets marked_packets refused_bytes rtt_min_s rtt_mean_s rtt_p50_s rtt_p95_s rtt_p99_s fct_s "
    "dropped_packets",
    "series": "time_s flow goodput_bps cwnd_bytes in_flight_bytes srtt_s min_rtt_s pacing_bps delivery_bps "
    "retransmitted_packets state",
    "links": "time_s link backlog_bytes backlog_packets sojourn_s dropped_packets marked_packets utilisation",
    "links_summary": "link dropped_packets marked_packets forwarded_packets forwarded_bytes utilisation "
    "sojourn_mean_s sojourn_p95_s backlog_max_packets",
    "variables": "time_s flow name value unit state",
}
"""Columns that the program writes (cpp/tables.cc)."""
_WITH_CELLS, _CELLS = "3.44", frozenset({"lte", "wifi"})
"""The version of ns-3 that supports cells, and the kinds of cells."""
_NEEDS_ACCECN = frozenset({"prague"})
_HIDDEN = {"flows": "all_sent_packets", "links_summary": "all_forwarded_packets"}
"""Columns that the program writes only for the metadata of a run."""


class Ns3Engine:
    """ns-3's TCP and queues, in a child process."""

    name: ClassVar[str] = "ns3"
    ns3: ClassVar[str] = "3.44"
    own_options: ClassVar[frozenset[str]] = frozenset({"ns3"})

    def version(self) -> str:
        """Return the release of the wheel, and fingerprints of the program and of Fullpipe's algorithms."""
        return f"{self.model_version()}+{build.fingerprint()}.{_native.ALGORITHMS}"

    def model_version(self) -> str:
        """Return the release of the wheel."""
        found = build.find(self.ns3)
        return found.release if found else build.RELEASES[self.ns3]

    def capabilities(self) -> Capabilities:
        """Return the capabilities: ns-3's algorithms and queues by Fullpipe's names, and Fullpipe's other
        algorithms, which run on ns-3's stack."""
        return Capabilities(
            ccas=frozenset(catalogue.controllers()) - _NEEDS_ACCECN,
            workloads=frozenset({"bulk", "cbr", "udp"}),
            queues=QUEUES,
            media=_CELLS if self.ns3 == _WITH_CELLS else frozenset(),
            losses=frozenset({"bernoulli", "periodic", "gilbert_elliott"}),
            impairments=frozenset({"aggregation", "jitter", "recorded_jitter", "reordering", "wifi_jitter"}),
            not_measured=not_measured(_MEASURED),
        )

    def doctor(self) -> list[Requirement]:
        """Return the requirements: Linux, the wheel, safe owner and permissions of the cache, and a
        compiler."""
        found, compiler = build.find(self.ns3), build.compiler()
        remedy = f"run: fullpipe engines install ns3{self._option()}"
        return [
            Requirement("system", sys.platform == "linux", sys.platform, "ns-3's wheels are for Linux"),
            Requirement(
                f"ns-3 {self.ns3}",
                found is not None,
                str(found.root) if found else "not installed",
                remedy,
            ),
            build.trusted(found),
            Requirement(
                "C++ compiler",
                compiler is not None,
                compiler or "not found",
                "install g++ (Debian: apt install g++), or set CXX",
            ),
        ]

    def install(self, options: InstallOptions, say: Say) -> Engine:
        """Download the wheel into the cache and compile the program. Return the engine of the version.

        Raises:
            InstallOptionError: If the version does not exist, or another option is given.
            EngineError: If the installation fails, with the remedy.
        """
        unknown = options.not_among("version")
        if unknown:
            raise InstallOptionError(f"ns3 has no option --{unknown[0]}; it has --version")
        installed = build.install(options.version or self.ns3, say)
        say(f"compiling the program of ns-3 {installed.version}")
        build.program(installed)
        if installed.version == _WITH_CELLS:
            for kind in sorted(_CELLS):
                say(f"compiling the program for cells of kind {kind}")
                build.program(installed, [kind])
        return next(engine() for engine in VERSIONS if engine.ns3 == installed.version)

    def check(self, scenario: Scenario) -> list[Problem]:
        """Return all reasons why this engine cannot run a scenario here."""
        return [*missing(self), *problems(scenario, self.capabilities())]

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep.

        Raises:
            EngineError: If the engine cannot run the scenario, or ns-3 fails.
        """
        found = self.check(scenario)
        if found:
            raise EngineError("\n".join(map(str, found)))
        installed = build.find(self.ns3)
        assert installed is not None
        program = build.program(installed, [cell.kind for cell in scenario.cells or ()])
        took = Stopwatch()
        with workplace() as folder:
            finished = run(program, program_input(scenario, seed), folder, progress)
            read = {name: _read(table, finished.folder) for name, table in TABLES.items()}
        sent = read["flows"].pop("all_sent_packets")
        read["flows"]["cca"] = read["flows"]["cca"].replace(
            "", None
        )  # flows of datagrams have no congestion control algorithm
        read["flows"]["dropped_packets"] = read["flows"]["lost_packets"]
        forwarded = read["links_summary"].pop("all_forwarded_packets")
        meta = origin(
            self,
            scenario,
            seed,
            took,
            cpu_s=finished.cpu_s,
            data_packets=int(sent.sum()),
            hops=int(forwarded.sum()),
            remarks=remarks(scenario),
        )
        return Run(meta, {name: frame(table, read[name]) for name, table in TABLES.items()})

    def _option(self) -> str:
        return "" if self.ns3 == Ns3Engine.ns3 else f" --version {self.ns3}"


class Ns3Engine343(Ns3Engine):
    """ns-3 3.43."""

    name: ClassVar[str] = "ns3-3.43"
    ns3: ClassVar[str] = "3.43"


class Ns3Engine342(Ns3Engine):
    """ns-3 3.42."""

    name: ClassVar[str] = "ns3-3.42"
    ns3: ClassVar[str] = "3.42"


class Ns3Engine339(Ns3Engine):
    """The engine of ns-3 3.39, in which BBR flows starve as in ns-3 3.40."""

    name: ClassVar[str] = "ns3-3.39"
    ns3: ClassVar[str] = "3.39"


def remarks(scenario: Scenario) -> Iterator[str]:
    """Yield remarks on parts of a scenario that ns-3's stack models differently."""
    for host in scenario.hosts or ():
        if host.nic:
            text = "share its interface, but in ns-3 each has its own host, so TCP small queues do not"
            yield f"flows of {host.name} {text} limit them"
    yield from cell_remarks(scenario)


VERSIONS = (Ns3Engine, Ns3Engine343, Ns3Engine342, Ns3Engine339)
"""The engines, one per supported version of ns-3."""


def _read(table: Table, folder: Path) -> dict[str, pl.Series]:
    """Return the columns of a table that the program wrote; empty if it did not write the table."""
    path = folder / f"{table.name}.tsv"
    if not path.is_file():
        return {}
    types: dict[str, pl.DataType] = {
        **{column.name: column.dtype for column in table.columns},
        _HIDDEN.get(table.name, ""): pl.Int64(),
    }
    read = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    return {name: _typed(read[name], types[name]) for name in read.columns}


def _typed(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    return column.fill_null("") if dtype == pl.String() else column.cast(pl.Float64()).cast(dtype)
