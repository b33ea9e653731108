"""Compiles the program against the headers and libraries of a wheel, once: the result is kept by its hash."""

import hashlib
import os
import shutil
import subprocess
import tempfile
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
_HEADER = "fullpipe_congestion.h"
_ONE_AT_A_TIME = Lock()


def compiler() -> str | None:
    """The C++ compiler: what CXX names, or the first of the usual ones that is there."""
    return next((found for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name
                 and (found := shutil.which(name))), None)  # fmt: skip


@cache
def fingerprint() -> str:
    """12 hexadecimal digits that stand for the sources of the program and the interface of the algorithms."""
    files = sorted(_SOURCES.iterdir())
    content = b"".join(file.name.encode() + file.read_bytes() for file in files)
    return hashlib.sha256(content + _native.CONGESTION_HEADER.encode()).hexdigest()[:12]


def program(wheel: Wheel) -> Path:
    """The compiled program, made if it is not there.

    Raises:
        EngineError: If there is no compiler, or it fails.
    """
    made = _place(wheel)
    with _ONE_AT_A_TIME:
        if not made.is_file():
            (caches.made("ns3") / "programs").mkdir(exist_ok=True)
            _compile(wheel, made)
    return made


def trusted(wheel: Wheel | None) -> Requirement:
    """Whether a wheel, if it is in the cache, and the program are ours alone."""
    if wheel is None:
        return caches.requirement(caches.folder("ns3"))
    libraries = [wheel.root / "lib64"] if wheel.root.is_relative_to(caches.folder("ns3")) else []
    return caches.requirement(_place(wheel), *libraries)


def _place(wheel: Wheel) -> Path:
    return caches.folder("ns3") / "programs" / f"{wheel.release}-{fingerprint()}.so"


def _compile(wheel: Wheel, made: Path) -> None:
    chosen = compiler()
    if chosen is None:
        raise EngineError("no C++ compiler is here; install g++ (Debian: apt install g++), or set CXX")
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="compiling-") as folder:
        (Path(folder) / _HEADER).write_text(_native.CONGESTION_HEADER)
        # One translation unit: the headers of ns-3 take longer than all that we have written.
        unit = Path(folder) / "program.cc"
        unit.write_text("".join(f'#include "{file}"\n' for file in sorted(_SOURCES.glob("*.cc"))))
        output = Path(folder) / "program.so"
        done = subprocess.run(
            [chosen, *_options(wheel, Path(folder)), str(unit), "-o", str(output), *_libraries(wheel)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            first = "\n".join(lines[:5])
            raise EngineError(f"{chosen} cannot compile the program for ns-3 {wheel.version}:\n{first}")
        output.replace(made)


def _options(wheel: Wheel, folder: Path) -> list[str]:
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
        f"-I{folder}",
        f"-isystem{wheel.root / 'include'}",
    ]


def _libraries(wheel: Wheel) -> list[str]:
    folder, prefix = wheel.root / "lib64", wheel.libraries
    modules = [f"-l{prefix}-{module}" for module in _MODULES]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *modules, "-Wl,--no-undefined", "-ldl"]
