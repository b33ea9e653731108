"""Installation of the engine, and detection of the installed kernel's features."""

import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.base import InstallOptions, Requirement, Say
from fullpipe.engines.linux.boot import MB, Guest, boot
from fullpipe.engines.linux.install import installed, kernel
from fullpipe.engines.linux.install.debian import Mirror
from fullpipe.engines.linux.install.installed import (
    PERIODIC,
    Installed,
    compile_program,
    find,
    folder,
    program,
    remember,
    take_program,
)
from fullpipe.engines.linux.tc import qdisc
from fullpipe.engines.linux.tc.qdisc import ARRIVALS, INGRESS, ROOT
from fullpipe.errors import EngineError

# Detection of a kernel's features: a guest boots and tries every queue discipline and filter of the engine.


_PROBE_MB = 64
_EXAMPLES = {"step": {"mark_ms": 1.0}}


def ask(path: Path, fingerprint: str) -> Installed:
    """Boot the kernel in a file and find its features.

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


# Installation: a kernel is built or copied, the guest's program is compiled, and the kernel's features are
# detected.


_BUILD_MB = 2_000
_UNFINISHED = ("build", "packages", "tools", "unverified")
_OLD = "older kernels do not support the registers of newer processors; leave out --version for the newest"


def install(options: InstallOptions, say: Say) -> None:
    """Build or copy a kernel, compile the guest's program, and detect the kernel's features.

    Raises:
        EngineError: If something is missing, a step fails, or another installation runs.
    """
    try:
        with (caches.made("linux") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _install(options, say)
    except BlockingIOError as error:
        raise EngineError(f"another installation runs in {folder()}; wait for its end, or end it") from error
    except shutil.Error as error:
        [(_, _, reason), *_] = error.args[0]
        raise EngineError(f"the tree cannot be copied: {reason}") from error
    except OSError as error:
        raise EngineError(f"{error.filename or folder()}: {error.strerror or error}") from error


def trusted() -> Requirement:
    """Check that only this user can change the kernel and the guest's program."""
    found = find()
    return caches.requirement(folder() / "installed.json", program(), *([found.kernel] if found else []))


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
        raise EngineError(f"{text}, or name another folder in $FULLPIPE_CACHE")
    mirror = Mirror(options.insecure, options.unverified)
    # Unverified packages have a separate folder.
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
    kernel.edit(tree)
    if options.radios:
        kernel.add_radios(tree)
    return kernel.build(tree, tools, options.jobs, say)
