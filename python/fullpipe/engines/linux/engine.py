"""The Linux engine: a real kernel in virtual time that runs as an ordinary process without root
privileges."""

import fcntl
import hashlib
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from fullpipe.engines import cache
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
from fullpipe.engines.linux.boot import MB, Guest, available_mb, boot, needed_mb
from fullpipe.engines.linux.check import capabilities, problems
from fullpipe.engines.linux.install import installed, kernel
from fullpipe.engines.linux.install.debian import Mirror
from fullpipe.engines.linux.install.installed import (
    INSTALL,
    PERIODIC,
    Installed,
    compile_program,
    find,
    folder,
    program,
    remember,
    take_program,
)
from fullpipe.engines.linux.layout import lay_out
from fullpipe.engines.linux.script import departures, script
from fullpipe.engines.linux.tc import qdisc
from fullpipe.engines.linux.tc.qdisc import ARRIVALS, INGRESS, ROOT
from fullpipe.errors import EngineError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve

_LEAST_MB = 300


class LinuxEngine:
    """Runs TCP and queues of a real Linux kernel in virtual time, as one process without root privileges."""

    name: ClassVar[str] = "linux"

    def version(self) -> str:
        """Return the kernel's release, and fingerprints of the kernel's binary and of the engine's code."""
        found = installed.find()
        return f"{found.release}+{found.fingerprint}.{installed.sources()}" if found else "none"

    def model_version(self) -> str:
        """Return the fingerprint of the kernel's binary. Two builds of one source can draw different random
        numbers."""
        found = installed.find()
        return found.fingerprint if found else "none"

    def capabilities(self) -> Capabilities:
        """Return the capabilities of the installed kernel. If no kernel is installed, assume a kernel with
        all features."""
        return capabilities(installed.find() or installed.everything())

    def doctor(self) -> list[Requirement]:
        """Check the machine, the compiler, the kernel with its file's owner and permissions, and the free
        memory."""
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
        """Build a kernel from Debian's sources or from the tree `source`, or copy the compiled kernel
        `kernel`.

        Raises:
            InstallOptionError: If the value of an option is wrong.
            EngineError: If a build tool, disk space or a file is missing, or a step fails.
        """
        install(options, say)

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep. The same kernel, scenario and seed give the same tables.

        Raises:
            EngineError: If the scenario cannot be run, or the guest fails.
        """
        from fullpipe.engines.linux import tables  # imported only here: listing engines needs no tables

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


# Detects a kernel's features: boots a guest that tries to add every qdisc and filter that the engine can use.


_PROBE_MB = 64
_EXAMPLES = {"step": {"mark_ms": 1.0}}


def ask(path: Path, fingerprint: str) -> Installed:
    """Boot the kernel in a file and return its features.

    Raises:
        EngineError: If the kernel does not boot on this machine.
    """
    with boot(Guest(path, compile_program()), _questions(), memory_mb=_PROBE_MB, seed=1) as finished:
        lines = (finished.folder / "knows").read_text(encoding="utf-8").splitlines()
    told = [tuple(line.split("=", 1)) for line in lines]
    known = {key: value for key, value in told if key != "qdisc"}
    return Installed(
        path,
        fingerprint,
        known["release"],
        tuple(known["ccas"].split()),
        tuple(value for key, value in told if key == "qdisc"),
        known["accecn"] == "1",
        known["radios"] == "1",
    )


def _questions() -> str:
    defaults = {kind: qdisc.all_params(kind, _EXAMPLES.get(kind, {})) for kind in qdisc.MAKERS}
    asked = {kind: qdisc.MAKERS[kind](values) for kind, values in defaults.items() if kind != "police"}
    asked["htb"] = qdisc.htb()
    policer, periodic = qdisc.policer(defaults["police"], 0), qdisc.every(2)

    def lines() -> Iterator[str]:
        yield "namespace a"
        yield "namespace b"
        yield "link a a0 b b0 1500"
        yield "probe"
        for number, (name, asked_for) in enumerate(asked.items(), start=1):
            yield f"try {name} qdisc a a0 add {ROOT} {number:x}0000 {asked_for.written()}"
        yield f"try police filter a a0 add {number:x}0000 1 {policer.written()}"
        yield f"try ingress qdisc a a0 add {INGRESS} {ARRIVALS} ingress"
        yield f"try {PERIODIC} filter a a0 add {ARRIVALS} 1 {periodic.written()}"
        yield "end 1"

    return "\n".join(lines()) + "\n"


# Installs the engine: builds or copies a kernel, compiles the guest's program, and detects the kernel's
# features.


_BUILD_MB = 2_000
_UNFINISHED = ("build", "packages", "tools", "unverified")
_OLD = "older kernels do not support the registers of newer processors; leave out --version for the newest"


def install(options: InstallOptions, say: Say) -> None:
    """Build or copy a kernel, compile the guest's program, and detect the kernel's features.

    Raises:
        EngineError: If a build tool, disk space or a file is missing, a step fails, or another installation
        runs.
    """
    try:
        with (cache.made("linux") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _install(options, say)
    except BlockingIOError as error:
        text = f"another installation runs in {folder()}; wait until it ends, or stop it"
        raise EngineError(text) from error
    except shutil.Error as error:
        [(_, _, reason), *_] = error.args[0]
        raise EngineError(f"the kernel's source tree cannot be copied: {reason}") from error
    except OSError as error:
        raise EngineError(f"{error.filename or folder()}: {error.strerror or error}") from error


def trusted() -> Requirement:
    """Check that only the current user can change the kernel and the guest's program."""
    found = find()
    return cache.requirement(folder() / "installed.json", program(), *([found.kernel] if found else []))


def _install(options: InstallOptions, say: Say) -> None:
    if options.rootfs:
        take_program(options.rootfs)
    compile_program()
    ready = options.kernel.absolute() if options.kernel else _build(options, say)
    if not ready.is_file():
        raise EngineError(f"{ready}: no such file")
    fingerprint = hashlib.sha256(ready.read_bytes()).hexdigest()[:12]
    kept = folder() / "kernels" / fingerprint
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".part")
    shutil.copyfile(ready, partial)
    partial.chmod(0o755)
    partial.replace(kept)
    say("booting the kernel to detect its features")
    try:
        found = ask(kept, fingerprint)
    except EngineError as error:
        kept.unlink()
        raise EngineError(f"{ready} does not run here, because {error}\n{_OLD}") from error
    lacking = {"htb", "tbf"} - set(found.qdiscs)
    if lacking:
        raise EngineError(f"{ready}: the kernel lacks {', '.join(sorted(lacking))}, which every link needs")
    remember(found)
    if not options.kernel:
        for name in _UNFINISHED:
            shutil.rmtree(folder() / name, ignore_errors=True)


def _build(options: InstallOptions, say: Say) -> Path:
    installed.check()
    if options.source:
        kernel.check(options.source)
    free_mb = shutil.disk_usage(folder()).free // MB
    if free_mb < _BUILD_MB:
        text = f"{folder()} has {free_mb:,} MB of free space, and a build needs {_BUILD_MB:,} MB; free some"
        raise EngineError(f"{text}, or set $FULLPIPE_CACHE to another folder")
    mirror = Mirror(options.insecure, options.unverified)
    # Unverified packages go to a separate folder, so that later installations do not use them.
    here = folder() / "unverified" if options.unverified else folder()
    here.mkdir(exist_ok=True)
    tools = installed.borrowed(mirror, here / "tools", say)
    if options.source:
        source = options.source.absolute()
        work = here / "build" / hashlib.sha256(str(source).encode()).hexdigest()[:12]
        tree = kernel.copy(source, work, say)
    else:
        package = kernel.newest(mirror, options.version)
        fetched = mirror.fetch(package, here / "packages", say)
        work = here / "build" / f"{package.name}-{package.version}{'-radios' if options.radios else ''}"
        work.mkdir(parents=True, exist_ok=True)
        tree = kernel.unpack(fetched, work, say)
        if not options.unverified:
            kernel.keep_scripts(tree, installed.scripts() / package.version)
    kernel.edit(tree)
    if options.radios:
        kernel.add_radios(tree)
    return kernel.build(tree, tools, options.jobs, say)
