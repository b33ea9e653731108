"""Installation of ns-3: its wheel, and the program that is compiled against the wheel."""

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from threading import Lock

from fullpipe import _native
from fullpipe.engines import cache
from fullpipe.engines.base import Requirement, Say
from fullpipe.errors import EngineError, InstallOptionError

# The wheel of ns-3 from PyPI, with headers and libraries, in the cache or in this Python environment.


RELEASES: Mapping[str, str] = {
    "3.44": "3.44.post0",
    "3.43": "3.43.post9",
    "3.42": "3.42.post2",
    "3.39": "3.39.post2",
}
"""Versions of ns-3, and the releases of the wheel that contain them."""
_SHA256: Mapping[str, str] = {
    "3.44.post0": "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce",
    "3.43.post9": "6f55927a124c6eb761b554e176231663936f842792951442cf0afb6b0444a585",
    "3.42.post2": "26878aff1eda2e06ad1eb6af842638a280e534d3e4b32e2907b2e57ebf715b2d",
    "3.39.post2": "7e6ab25b050100755a1d8fd152beb445ba3163a1acfbde0cc94d66a042e0b1d6",
}
"""SHA-256 of the wheels for x86_64, by release. Other wheels are not unpacked."""


@dataclass(frozen=True)
class Wheel:
    """An unpacked wheel."""

    version: str
    """Version of ns-3, such as "3.44"."""
    release: str
    """Release of the wheel, such as "3.44.post0"."""
    root: Path
    """Folder that contains `include` and `lib64`."""

    @property
    def libraries(self) -> str:
        """Prefix of the names of libraries: "ns3.44", or "ns3-dev"."""
        found = next(iter(sorted(self.root.glob("lib64/libns3*-core.so"))), None)
        if found is None:
            raise EngineError(f"{self.root}: no libraries of ns-3; delete the folder and install ns-3 again")
        return found.name.removeprefix("lib").removesuffix("-core.so")


def find(version: str) -> Wheel | None:
    """Return the wheel of a version in the cache or in this Python environment, or None."""
    own = _folder(version)
    if own.is_dir():
        return Wheel(version, RELEASES[version], own / "ns3")
    try:
        installed = metadata.distribution("ns3")
    except metadata.PackageNotFoundError:
        return None
    root = Path(str(installed.locate_file("ns3")))
    fits = installed.version.split(".post")[0] == version and (root / "include").is_dir()
    return Wheel(version, installed.version, root) if fits else None


def install(version: str, say: Say) -> Wheel:
    """Download the wheel with pip and unpack the needed files. An earlier download is re-used.

    Raises:
        InstallOptionError: If no such version exists.
        EngineError: If the wheel cannot be downloaded or unpacked.
    """
    if version not in RELEASES:
        raise InstallOptionError(f"ns-3 {version}: no wheel has this version; give {', '.join(RELEASES)}")
    if not _folder(version).is_dir():
        archive = _download(version, say)
        say(f"unpacking {archive.name}")
        _unpack(archive, _folder(version))
        archive.unlink()
    return Wheel(version, RELEASES[version], _folder(version) / "ns3")


def _folder(version: str) -> Path:
    return cache.folder("ns3") / RELEASES.get(version, version)


def _download(version: str, say: Say) -> Path:
    """Return the wheel file of a version: a complete earlier download, or a new one from pip's index.

    Raises:
        EngineError: If the wheel cannot be downloaded, or its SHA-256 is not the known value.
    """
    folder, release = cache.made("ns3") / "downloads", RELEASES[version]
    folder.mkdir(exist_ok=True)
    for path in folder.glob(f"ns3-{release}-*.whl"):
        if _is_known(path, release):
            return path
        path.unlink()
    say(f"downloading the wheel ns3 {release} (70 MB)")
    machine = f"manylinux_2_28_{platform.machine()}"
    # The wheel is for Python 3.11, but only its headers and libraries are used, so any version of Python
    # works.
    wanted = ["--python-version=3.11", "--implementation=cp", "--abi=cp311", f"--platform={machine}"]
    command = ["download", f"ns3=={release}", "--no-deps", "--only-binary=:all:", "--quiet", *wanted]
    with tempfile.TemporaryDirectory(
        dir=folder, prefix="pip-"
    ) as work:  # this folder is also removed if pip is killed
        _pip([*command, f"--dest={folder}"], Path(work))
    come = next(folder.glob(f"ns3-{release}-*.whl"))
    if not _is_known(come, release):
        come.unlink()
        raise EngineError(
            f"{come.name}: the SHA-256 is not {_SHA256[release]}, so the wheel is not used. Check which "
            "index pip uses (pip config list), and run the same command again"
        )
    return come


def _is_known(path: Path, release: str) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == _SHA256[release]


def _pip(arguments: list[str], work: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        done = subprocess.run(
            command, env={**os.environ, "TMPDIR": str(work)}, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise EngineError(f"pip cannot be started: {error}") from None
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        raise EngineError(f"{sys.executable} has no pip, which downloads ns-3; run: python -m ensurepip")
    why = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "")
    raise EngineError(
        f"ns-3 cannot be downloaded: {why.removeprefix('ERROR: ')}; check the network, and run the same"
        " command again"
    )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the wheel. A temporary folder is used first, so that the final folder is either complete or
    absent."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unpacking-") as made:
        try:
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(made, [name for name in wheel.namelist() if _is_needed(PurePosixPath(name))])
        except (OSError, zipfile.BadZipFile) as error:
            archive.unlink(missing_ok=True)
            raise EngineError(f"{archive.name} cannot be unpacked: {error}; run the command again") from None
        shutil.move(made, folder)
        Path(made).mkdir()  # the context manager expects a folder to remove


def _is_needed(path: PurePosixPath) -> bool:
    header = path.parts[:3] == ("ns3", "include", "ns3") and path.suffix == ".h"
    return header or (path.parts[:2] == ("ns3", "lib64") and ".so" in path.name)


# Compilation of the program against headers and libraries of a wheel. Compiled programs are cached by a hash
# of their sources.


_SOURCES = Path(__file__).parent / "cpp"
_MODULES = ("core", "network", "internet", "traffic-control", "virtual-net-device")
_OF_CELLS: Mapping[str, tuple[str, ...]] = {
    "lte": ("lte", "spectrum", "mobility", "propagation"),
    "wifi": ("wifi", "mobility", "propagation"),
}
"""ns-3 modules for scenarios with cells, by the kind of cell. Each kind of cell has its own program, so that
runs without cells need not compile and load these modules. The sources for a kind are in the folder with the
name of the kind."""
_HEADER = "fullpipe_congestion.h"
_ONE_AT_A_TIME = Lock()


def compiler() -> str | None:
    """Return the C++ compiler: the value of CXX, or the first usual compiler that exists, or None."""
    return next((found for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name
                 and (found := shutil.which(name))), None)  # fmt: skip


@functools.cache
def fingerprint() -> str:
    """Return 12 hexadecimal digits of a hash of the program's sources and the interface of algorithms."""
    files = _sources("*", sorted(_OF_CELLS))
    content = b"".join(file.name.encode() + file.read_bytes() for file in files)
    return hashlib.sha256(content + _native.CONGESTION_HEADER.encode()).hexdigest()[:12]


def program(wheel: Wheel, cells: Collection[str] = ()) -> Path:
    """Return the compiled program for scenarios with these kinds of cells, and compile it if needed.

    Raises:
        EngineError: If there is no compiler, or the compiler fails.
    """
    kinds = sorted(set(cells))
    made = _place(wheel, kinds)
    with _ONE_AT_A_TIME:
        if not made.is_file():
            (cache.made("ns3") / "programs").mkdir(exist_ok=True)
            _compile(wheel, made, kinds)
    return made


def trusted(wheel: Wheel | None) -> Requirement:
    """Check that only this user can write to the program, and to the wheel if it is in the cache."""
    if wheel is None:
        return cache.requirement(cache.folder("ns3"))
    libraries = [wheel.root / "lib64"] if wheel.root.is_relative_to(cache.folder("ns3")) else []
    return cache.requirement(_place(wheel, ()), *libraries)


def _place(wheel: Wheel, kinds: Sequence[str]) -> Path:
    name = "-".join((wheel.release, fingerprint(), *kinds))
    return cache.folder("ns3") / "programs" / f"{name}.so"


def _sources(pattern: str, kinds: Sequence[str]) -> list[Path]:
    files = [
        *_SOURCES.glob(pattern),
        *(file for kind in kinds for file in _SOURCES.glob(f"{kind}/{pattern}")),
    ]
    return sorted(file for file in files if file.is_file())


def _compile(wheel: Wheel, made: Path, kinds: Sequence[str]) -> None:
    chosen = compiler()
    if chosen is None:
        raise EngineError("a C++ compiler is missing; install g++ (Debian: apt install g++), or set CXX")
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="compiling-") as folder:
        (Path(folder) / _HEADER).write_text(_native.CONGESTION_HEADER)
        # All sources are one translation unit, because ns-3's headers take longer to compile than all our
        # sources.
        unit = Path(folder) / "program.cc"
        unit.write_text("".join(f'#include "{file}"\n' for file in _sources("*.cc", kinds)))
        output = Path(folder) / "program.so"
        done = subprocess.run(
            [
                chosen,
                *_options(wheel, Path(folder), kinds),
                str(unit),
                "-o",
                str(output),
                *_libraries(wheel, kinds),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            first = "\n".join(lines[:5])
            raise EngineError(f"{chosen} cannot compile the program for ns-3 {wheel.version}:\n{first}")
        output.replace(made)


def _options(wheel: Wheel, folder: Path, kinds: Sequence[str]) -> list[str]:
    minor = int(wheel.version.split(".")[1])
    standard = "c++20" if minor >= 42 else "c++17"  # the headers of 3.39 are not C++20
    return [
        f"-std={standard}",
        "-O2",
        "-w",
        "-fPIC",
        "-shared",
        "-fno-access-control",  # cpp/sent.cc reads private members of ns-3's buffers
        f"-DFULLPIPE_NS3_MINOR={minor}",
        *(f"-DFULLPIPE_{kind.upper()}" for kind in kinds),
        f"-I{folder}",
        f"-I{_SOURCES}",
        f"-isystem{wheel.root / 'include'}",
    ]


def _libraries(wheel: Wheel, kinds: Sequence[str]) -> list[str]:
    folder, prefix = wheel.root / "lib64", wheel.libraries
    names = dict.fromkeys((*_MODULES, *(module for kind in kinds for module in _OF_CELLS[kind])))
    modules = [f"-l{prefix}-{module}" for module in names]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *modules, "-Wl,--no-undefined", "-ldl"]
