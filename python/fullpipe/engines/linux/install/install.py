"""Builds or takes a kernel, compiles the program of the guest, and finds out what the kernel supports."""

import fcntl
import hashlib
import shutil
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.base import InstallOptions, Requirement, Say
from fullpipe.engines.linux.install import kernel, source_trees, toolchain
from fullpipe.engines.linux.install.debian import Mirror
from fullpipe.engines.linux.install.guest_program import compile_program, program, take_program
from fullpipe.engines.linux.install.installed import find, folder, remember
from fullpipe.engines.linux.install.questions import ask
from fullpipe.engines.linux.machine.boot import MB
from fullpipe.errors import EngineError

_BUILD_MB = 2_000
_UNFINISHED = ("build", "packages", "tools", "unverified")
_OLD = "older kernels do not know the registers of newer processors; the newest does: leave out --version"


def install(options: InstallOptions, say: Say) -> None:
    """Build or copy a kernel, compile the guest's program, and ask the kernel for its features.

    Raises:
        EngineError: If something is missing, a step fails, or another installation runs.
    """
    try:
        with (caches.made("linux") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _install(options, say)
    except BlockingIOError as error:
        raise EngineError(f"another installation runs in {folder()}; wait for it, or end it") from error
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
    say("asking the kernel for its features")
    try:
        found = ask(kept, fingerprint)
    except EngineError as error:
        kept.unlink()
        raise EngineError(f"{ready} does not run here, because {error}\n{_OLD}") from error
    lacking = {"htb", "tbf"} - set(found.qdiscs)
    if lacking:
        raise EngineError(f"{ready}: a kernel without {', '.join(sorted(lacking))}, which every link needs")
    remember(found)
    if not options.kernel:
        for name in _UNFINISHED:
            shutil.rmtree(folder() / name, ignore_errors=True)


def _build(options: InstallOptions, say: Say) -> Path:
    toolchain.check()
    if options.source:
        source_trees.check(options.source)
    free_mb = shutil.disk_usage(folder()).free // MB
    if free_mb < _BUILD_MB:
        text = f"{free_mb:,} MB are free in {folder()}, and a build needs {_BUILD_MB:,}; free some"
        raise EngineError(f"{text}, or name another folder in $FULLPIPE_CACHE")
    mirror = Mirror(options.insecure, options.unverified)
    # Unverified packages have a separate folder.
    here = folder() / "unverified" if options.unverified else folder()
    here.mkdir(exist_ok=True)
    tools = toolchain.borrowed(mirror, here / "tools", say)
    if options.source:
        source = options.source.absolute()
        work = here / "build" / hashlib.sha256(str(source).encode()).hexdigest()[:12]
        tree = source_trees.copy(source, work, say)
    else:
        package = source_trees.newest(mirror, options.version)
        fetched = mirror.fetch(package, here / "packages", say)
        work = here / "build" / f"{package.name}-{package.version}{'-radios' if options.radios else ''}"
        work.mkdir(parents=True, exist_ok=True)
        tree = source_trees.unpack(fetched, work, say)
    kernel.edit(tree)
    if options.radios:
        kernel.add_radios(tree)
    return kernel.build(tree, tools, options.jobs, say)
