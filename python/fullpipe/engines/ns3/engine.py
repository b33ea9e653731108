"""The ns3 engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
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
from fullpipe.engines.ns3 import build, process, wheel
from fullpipe.engines.ns3.cell_input import cell_remarks
from fullpipe.engines.ns3.check import problems
from fullpipe.engines.ns3.program_input import program_input
from fullpipe.engines.ns3.queues import QUEUES
from fullpipe.errors import EngineError, InstallOptionError
from fullpipe.lazy import pl
from fullpipe.runs import TABLES, Run, Table, frame
from fullpipe.scenario import Scenario, catalogue

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
"""The version that supports cells, and the kinds of cells."""
_NEEDS_ACCECN = frozenset({"prague"})
_HIDDEN = {"flows": "all_sent_packets", "links_summary": "all_forwarded_packets"}
"""Columns that the program writes only for the metadata of a run."""


class Ns3Engine:
    """ns-3's TCP and queues, in a child process."""

    name: ClassVar[str] = "ns3"
    ns3: ClassVar[str] = "3.44"
    own_options: ClassVar[frozenset[str]] = frozenset({"ns3"})

    def version(self) -> str:
        """Return the release of the wheel, and fingerprints of the program and of our algorithms."""
        return f"{self.model_version()}+{build.fingerprint()}.{_native.ALGORITHMS}"

    def model_version(self) -> str:
        """Return the release of the wheel."""
        found = wheel.find(self.ns3)
        return found.release if found else wheel.RELEASES[self.ns3]

    def capabilities(self) -> Capabilities:
        """Return ns-3's algorithms and queues by our names. Our other algorithms run on ns-3's stack."""
        return Capabilities(
            ccas=frozenset(catalogue.controllers()) - _NEEDS_ACCECN,
            workloads=frozenset({"bulk", "cbr", "udp"}),
            queues=QUEUES,
            media=_CELLS if self.ns3 == _WITH_CELLS else frozenset(),
            losses=frozenset({"bernoulli", "periodic", "gilbert_elliott"}),
            impairments=frozenset({"aggregation", "jitter", "reordering"}),
            not_measured=not_measured(_MEASURED),
        )

    def doctor(self) -> list[Requirement]:
        """Return the requirements: Linux, the wheel, its owner and permissions, and a compiler."""
        found, compiler = wheel.find(self.ns3), build.compiler()
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
                compiler or "none is here",
                "install g++ (Debian: apt install g++), or set CXX",
            ),
        ]

    def install(self, options: InstallOptions, say: Say) -> Engine:
        """Download the wheel into the cache and compile the program. Return the engine of the version.

        Raises:
            InstallOptionError: If the version does not exist, or another option is given.
            EngineError: If the installation fails, with what to do.
        """
        unknown = options.not_among("version")
        if unknown:
            raise InstallOptionError(f"ns3 does not know --{unknown[0]}; it knows --version")
        installed = wheel.install(options.version or self.ns3, say)
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
        installed = wheel.find(self.ns3)
        assert installed is not None
        program = build.program(installed, [cell.kind for cell in scenario.cells or ()])
        took = Stopwatch()
        with process.workplace() as folder:
            finished = process.run(program, program_input(scenario, seed), folder, progress)
            read = {name: _read(table, finished.folder) for name, table in TABLES.items()}
        sent = read["flows"].pop("all_sent_packets")
        read["flows"]["cca"] = read["flows"]["cca"].replace("", None)  # datagrams have none
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
    """ns-3 3.39, in which BBR flows starve as in 3.40."""

    name: ClassVar[str] = "ns3-3.39"
    ns3: ClassVar[str] = "3.39"


def remarks(scenario: Scenario) -> Iterator[str]:
    """Yield remarks on parts of a scenario that ns-3's stack models differently."""
    for host in scenario.hosts or ():
        if host.nic:
            text = "share its interface, but have hosts of their own: no TCP small queues"
            yield f"flows of {host.name} {text}"
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
