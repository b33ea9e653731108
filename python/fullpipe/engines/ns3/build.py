"""Compilation of the program against headers and libraries of a wheel, with results cached by their hash."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

from fullpipe import _native
from fullpipe.engines import cache as caches
from fullpipe.engines.base import Requirement
from fullpipe.engines.ns3.wheel import Wheel
from fullpipe.errors import EngineError

_SOURCES = Path(__file__).parent / "cpp"
_MODULES = ("core", "network", "internet", "traffic-control", "virtual-net-device")
_OF_CELLS: Mapping[str, tuple[str, ...]] = {
    "lte": ("lte", "spectrum", "mobility", "propagation"),
    "wifi": ("wifi", "mobility", "propagation"),
}
"""ns-3 modules of programs for scenarios with cells of each kind. These programs are separate, so that other
runs do not wait until they are compiled and loaded. Sources of a kind are in a folder of its name."""
_HEADER = "fullpipe_congestion.h"
_ONE_AT_A_TIME = Lock()


def compiler() -> str | None:
    """Return the C++ compiler: that in CXX, or the first of the usual ones that exists; None without any."""
    return next((found for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name
                 and (found := shutil.which(name))), None)  # fmt: skip


@cache
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
            (caches.made("ns3") / "programs").mkdir(exist_ok=True)
            _compile(wheel, made, kinds)
    return made


def trusted(wheel: Wheel | None) -> Requirement:
    """Check that only this user can write to the program, and to the wheel if it is in the cache."""
    if wheel is None:
        return caches.requirement(caches.folder("ns3"))
    libraries = [wheel.root / "lib64"] if wheel.root.is_relative_to(caches.folder("ns3")) else []
    return caches.requirement(_place(wheel, ()), *libraries)


def _place(wheel: Wheel, kinds: Sequence[str]) -> Path:
    name = "-".join((wheel.release, fingerprint(), *kinds))
    return caches.folder("ns3") / "programs" / f"{name}.so"


def _sources(pattern: str, kinds: Sequence[str]) -> list[Path]:
    files = [
        *_SOURCES.glob(pattern),
        *(file for kind in kinds for file in _SOURCES.glob(f"{kind}/{pattern}")),
    ]
    return sorted(file for file in files if file.is_file())


def _compile(wheel: Wheel, made: Path, kinds: Sequence[str]) -> None:
    chosen = compiler()
    if chosen is None:
        raise EngineError("no C++ compiler is here; install g++ (Debian: apt install g++), or set CXX")
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="compiling-") as folder:
        (Path(folder) / _HEADER).write_text(_native.CONGESTION_HEADER)
        # One translation unit: the headers of ns-3 take longer to compile than all our sources.
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
        "-fno-access-control",  # cpp/sent.cc looks into buffers of ns-3
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
