"""The Linux engine: a real kernel that runs as an ordinary process, in virtual time."""

import platform
from typing import ClassVar

from fullpipe.engines.base import (
    Capabilities,
    InstallOptions,
    Problem,
    Progress,
    Requirement,
    Say,
    Stopwatch,
    missing,
    origin,
)
from fullpipe.engines.linux.boot import Guest, available_mb, boot, needed_mb
from fullpipe.engines.linux.check import capabilities, problems
from fullpipe.engines.linux.install import installed
from fullpipe.engines.linux.install.install import install, trusted
from fullpipe.engines.linux.install.installed import INSTALL
from fullpipe.engines.linux.layout import lay_out
from fullpipe.engines.linux.script import departures, script
from fullpipe.errors import EngineError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve

_LEAST_MB = 300


class LinuxEngine:
    """TCP and queues of a real Linux kernel in virtual time, as one process without special rights."""

    name: ClassVar[str] = "linux"

    def version(self) -> str:
        """Return the kernel's release, and fingerprints of its binary and of the engine's code."""
        found = installed.find()
        return f"{found.release}+{found.fingerprint}.{installed.sources()}" if found else "none"

    def model_version(self) -> str:
        """Return the kernel's fingerprint. Builds of the same source can draw different random numbers."""
        found = installed.find()
        return found.fingerprint if found else "none"

    def capabilities(self) -> Capabilities:
        """Return the capabilities of the installed kernel, or without one, of any kernel."""
        return capabilities(installed.find() or installed.everything())

    def doctor(self) -> list[Requirement]:
        """Check the machine, the compiler, the kernel with its owner and permissions, and the memory."""
        found, right = installed.find(), platform.system() == "Linux" and platform.machine() == "x86_64"
        compiled = installed.program().is_file()
        compiler = installed.compiler()
        memory_mb = available_mb()
        return [
            Requirement(
                "machine", right, f"{platform.system()} on {platform.machine()}", "use Linux on x86_64"
            ),
            compiler,
            Requirement("build tools", not installed.lacking(), *installed.words(), needed=False),
            Requirement(
                "kernel",
                found is not None,
                f"Linux {found.release}, {found.fingerprint}" if found else "none is installed",
                f"run: {INSTALL}",
            ),
            Requirement(
                "guest program",
                compiled or compiler.present,
                "compiled" if compiled else "compiled at the first use" if compiler.present else "needs gcc",
                compiler.remedy,
            ),
            trusted(),
            Requirement("memory", memory_mb >= _LEAST_MB, f"{memory_mb} MB are free", f"free {_LEAST_MB} MB"),
        ]

    def check(self, scenario: Scenario) -> list[Problem]:
        """Return all reasons why the guest cannot run a scenario exactly, or why no guest is available."""
        lacks = missing(self)
        network = resolve(scenario)
        known = installed.find() or installed.everything()
        reasons = list(dict.fromkeys((*lacks, *problems(scenario, network, known))))
        wants_mb, has_mb = needed_mb(network), available_mb()
        if wants_mb > has_mb:
            text = f"the guest needs {wants_mb} MB of memory and {has_mb} MB are free"
            reasons.append(Problem("", f"{text}; free some, or use --engine native"))
        return reasons

    def install(self, options: InstallOptions, say: Say) -> None:
        """Build a kernel from Debian's sources or from `source`, or copy a ready kernel.

        Raises:
            InstallOptionError: If an option cannot be met.
            EngineError: If something is missing, or a step fails.
        """
        install(options, say)

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep. The same kernel, scenario and seed give the same tables.

        Raises:
            EngineError: If the scenario cannot be run, or the guest fails.
        """
        from fullpipe.engines.linux import tables  # imported here, as listing engines needs no tables

        found = installed.find()
        reasons = self.check(scenario)
        if reasons or not found:
            raise EngineError("\n".join(str(reason) for reason in reasons))
        took = Stopwatch()
        network = lay_out(scenario, seed)
        lines, files = script(scenario, network, found.ccas), departures(network)
        guest = Guest(found.kernel, installed.compile_program())
        memory_mb = needed_mb(resolve(scenario))
        with boot(guest, lines, files, memory_mb=memory_mb, seed=seed, progress=progress) as finished:
            measured = tables.read(finished.folder, scenario, network)
            cpu_s = finished.cpu_s
        meta = origin(
            self,
            scenario,
            seed,
            took,
            cpu_s=cpu_s,
            data_packets=int(measured["flows"]["sent_packets"].sum()),
            hops=int(measured["links_summary"]["forwarded_packets"].sum()),
            otherwise=tables.otherwise(scenario),
        )
        return Run(meta, measured)
