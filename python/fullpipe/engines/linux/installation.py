"""Where the engine's kernel and guest program are, and what the kernel knows."""

import fcntl
import hashlib
import json
import lzma
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.base import Finding, Say, Wishes
from fullpipe.engines.linux import filters, kernel, names, qdiscs, queues, toolchain, trees
from fullpipe.engines.linux.debian import Mirror
from fullpipe.engines.linux.machine import MB, Guest, boot
from fullpipe.engines.linux.stages import ARRIVALS, INGRESS, ROOT
from fullpipe.errors import EngineError, WishError

HERE = Path(__file__).parent
_SOURCES = HERE / "guest"
_COMPILER = ("gcc", "-std=gnu11", "-O2", "-static", "-s", "-Wl,--build-id=none")
_PROBE_MB = 64
_BUILD_MB = 2_000
PERIODIC = "periodic"
"""What the kernel is asked for beside queues: whether it can drop every n-th packet."""
_EXAMPLES = {"step": {"mark_ms": 1.0}}
INSTALL = "fullpipe engines install linux"
_UNFINISHED = ("build", "packages", "tools", "unverified")
_OLD = "older kernels do not know the registers of newer processors; the newest does: leave out --version"


@dataclass(frozen=True)
class Installed:
    """A kernel, and what it knows."""

    kernel: Path
    fingerprint: str
    release: str
    ccas: tuple[str, ...]
    """By the kernel's names."""
    qdiscs: tuple[str, ...]
    accecn: bool


def everything() -> Installed:
    """A kernel that does not exist and has everything, to find the reasons that no kernel would remove."""
    does = (*queues.MAKERS, "htb", PERIODIC)
    return Installed(Path(), "none", "none", tuple(names.OURS), does, accecn=True)


def folder() -> Path:
    """Where everything of this engine is kept."""
    return caches.folder("linux")


def find() -> Installed | None:
    """The kernel that is installed, if one is."""
    return _read(folder() / "installed.json")


def _read(path: Path) -> Installed | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        found = Installed(**{**read, "kernel": Path(read["kernel"]), **_tuples(read)})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if found.kernel.is_file() else None


def _tuples(read: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(read[key]) for key in ("ccas", "qdiscs")}


@cache
def sources() -> str:
    """A fingerprint of our own code in the guest, and of what writes its script and reads its results."""
    digest = hashlib.sha256()
    for path in sorted((*HERE.glob("*.py"), *_SOURCES.iterdir())):
        if path.suffix in (".py", ".c", ".h"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _program_name() -> str:
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.glob("*.[ch]")):
        digest.update(path.read_bytes())
    return f"guest-{digest.hexdigest()[:12]}"


def trusted() -> Finding:
    """Whether the kernel and the guest's program are ours alone."""
    found = find()
    return caches.finding(folder() / "installed.json", program(), *([found.kernel] if found else []))


def program() -> Path:
    """Where the guest's program is, once it has been compiled."""
    return folder() / _program_name()


def compile_program() -> Path:
    """The guest's program, compiled if it is not there or from other sources.

    Raises:
        EngineError: If there is no compiler, or it refuses.
    """
    final = program()
    if final.is_file():
        return final
    found = toolchain.compiler()
    if not found.present:
        raise EngineError(f"{found.detail}; {found.remedy}")
    with tempfile.TemporaryDirectory(dir=caches.made("linux")) as work:
        made = Path(work) / "guest"
        files = sorted(str(path) for path in _SOURCES.glob("*.c"))
        done = subprocess.run(
            [*_COMPILER, "-o", str(made), *files], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise EngineError(f"gcc cannot compile the guest's program:\n{done.stderr}")
        made.replace(final)
    return final


def guest(installed: Installed) -> Guest:
    """What boots."""
    return Guest(installed.kernel, compile_program())


def install(wishes: Wishes, say: Say) -> None:
    """Build or take a kernel, compile the guest's program, and ask the kernel what it knows.

    Raises:
        EngineError: If something is missing, a step fails, or another installation runs.
    """
    try:
        with (caches.made("linux") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _install(wishes, say)
    except BlockingIOError as error:
        raise EngineError(f"another installation runs in {folder()}; wait for it, or end it") from error
    except shutil.Error as error:
        [(_, _, reason), *_] = error.args[0]
        raise EngineError(f"the tree cannot be copied: {reason}") from error
    except OSError as error:
        raise EngineError(f"{error.filename or folder()}: {error.strerror or error}") from error


def _install(wishes: Wishes, say: Say) -> None:
    if wishes.rootfs:
        _take_program(wishes.rootfs)
    compile_program()
    ready = wishes.kernel.absolute() if wishes.kernel else _build(wishes, say)
    if not ready.is_file():
        raise EngineError(f"{ready}: no such file")
    fingerprint = hashlib.sha256(ready.read_bytes()).hexdigest()[:12]
    kept = folder() / "kernels" / fingerprint
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".part")
    shutil.copyfile(ready, partial)
    partial.chmod(0o755)
    partial.replace(kept)
    say("asking the kernel what it knows")
    try:
        found = _ask(kept, fingerprint)
    except EngineError as error:
        kept.unlink()
        raise EngineError(f"{ready} does not run here, because {error}\n{_OLD}") from error
    lacking = {"htb", "tbf"} - set(found.qdiscs)
    if lacking:
        raise EngineError(f"{ready}: a kernel without {', '.join(sorted(lacking))}, which every link needs")
    text = json.dumps({**asdict(found), "kernel": str(kept)}, indent=2)
    (folder() / "installed.json.part").write_text(text, encoding="utf-8")
    (folder() / "installed.json.part").replace(folder() / "installed.json")
    if not wishes.kernel:
        for name in _UNFINISHED:
            shutil.rmtree(folder() / name, ignore_errors=True)


def _build(wishes: Wishes, say: Say) -> Path:
    toolchain.check()
    if wishes.source:
        trees.check(wishes.source)
    free_mb = shutil.disk_usage(folder()).free // MB
    if free_mb < _BUILD_MB:
        text = f"{free_mb:,} MB are free in {folder()}, and a build needs {_BUILD_MB:,}; free some"
        raise EngineError(f"{text}, or name another folder in $FULLPIPE_CACHE")
    mirror = Mirror(wishes.insecure, wishes.unverified)
    # What nobody vouches for never comes among the rest.
    here = folder() / "unverified" if wishes.unverified else folder()
    here.mkdir(exist_ok=True)
    tools = toolchain.borrowed(mirror, here / "tools", say)
    if wishes.source:
        source = wishes.source.absolute()
        work = here / "build" / hashlib.sha256(str(source).encode()).hexdigest()[:12]
        tree = trees.copy(source, work, say)
    else:
        package = trees.newest(mirror, wishes.version)
        fetched = mirror.fetch(package, here / "packages", say)
        work = here / "build" / f"{package.name}-{package.version}"
        work.mkdir(parents=True, exist_ok=True)
        tree = trees.unpack(fetched, work, say)
    kernel.edit(tree)
    return kernel.build(tree, tools, wishes.jobs, say)


def _take_program(archive: Path) -> None:
    """The guest's program from an archive or a file that another machine has made.

    Raises:
        WishError: If it is not in there, or from other sources than these.
        EngineError: If it cannot be read.
    """
    name = _program_name()
    try:
        with tarfile.open(archive) as tar:
            member = next((m for m in tar if Path(m.name).name == name), None)
            content = tar.extractfile(member) if member else None
            data = content.read() if content else None
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error):
        data = archive.read_bytes() if archive.name == name else None
    except OSError as error:
        raise EngineError(f"{archive}: {error.strerror}") from error
    if data is None:
        raise WishError(
            f"{archive}: has no {name}; that file is in the cache of a machine on which the engine of this "
            "version of fullpipe is installed"
        )
    partial = program().with_suffix(".part")
    partial.write_bytes(data)
    partial.chmod(0o755)
    partial.replace(program())


def _ask(path: Path, fingerprint: str) -> Installed:
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
    )


def _questions() -> str:
    defaults = {kind: queues.params(kind, _EXAMPLES.get(kind, {})) for kind in queues.MAKERS}
    asked = {kind: queues.MAKERS[kind](values) for kind, values in defaults.items() if kind != "police"}
    asked["htb"] = qdiscs.server()
    policer, periodic = filters.policer(defaults["police"], 0), filters.every(2)

    def lines() -> Iterator[str]:
        yield "namespace a"
        yield "namespace b"
        yield "link a a0 b b0 1500"
        yield "probe"
        for number, (name, qdisc) in enumerate(asked.items(), start=1):
            yield f"try {name} qdisc a a0 add {ROOT} {number:x}0000 {qdisc.written()}"
        yield f"try police filter a a0 add {number:x}0000 1 {policer.written()}"
        yield f"try ingress qdisc a a0 add {INGRESS} {ARRIVALS} ingress"
        yield f"try {PERIODIC} filter a a0 add {ARRIVALS} 1 {periodic.written()}"
        yield "end 1"

    return "\n".join(lines()) + "\n"
