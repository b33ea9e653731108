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
_WIFI_MODULES = ("wifi", "mobility", "propagation")
"""Of the program for scenarios with Wi-Fi cells. It is another one, so that other runs do not wait for it to
be compiled and loaded."""
_HEADER = "fullpipe_congestion.h"
_ONE_AT_A_TIME = Lock()


def compiler() -> str | None:
    """The C++ compiler: what CXX names, or the first of the usual ones that is there."""
    return next((found for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name
                 and (found := shutil.which(name))), None)  # fmt: skip


@cache
def fingerprint() -> str:
    """12 hexadecimal digits that stand for the sources of the program and the interface of the algorithms."""
    files = _sources("*", wifi=True)
    content = b"".join(file.name.encode() + file.read_bytes() for file in files)
    return hashlib.sha256(content + _native.CONGESTION_HEADER.encode()).hexdigest()[:12]


def program(wheel: Wheel, *, wifi: bool = False) -> Path:
    """The compiled program, made if it is not there; that for scenarios with Wi-Fi cells is another one.

    Raises:
        EngineError: If there is no compiler, or it fails.
    """
    made = _place(wheel, wifi=wifi)
    with _ONE_AT_A_TIME:
        if not made.is_file():
            (caches.made("ns3") / "programs").mkdir(exist_ok=True)
            _compile(wheel, made, wifi=wifi)
    return made


def trusted(wheel: Wheel | None) -> Requirement:
    """Whether a wheel, if it is in the cache, and the program are ours alone."""
    if wheel is None:
        return caches.requirement(caches.folder("ns3"))
    libraries = [wheel.root / "lib64"] if wheel.root.is_relative_to(caches.folder("ns3")) else []
    return caches.requirement(_place(wheel), *libraries)


def _place(wheel: Wheel, *, wifi: bool = False) -> Path:
    return caches.folder("ns3") / "programs" / f"{wheel.release}-{fingerprint()}{'-wifi' * wifi}.so"


def _sources(pattern: str, *, wifi: bool) -> list[Path]:
    files = [*_SOURCES.glob(pattern), *(_SOURCES.glob(f"wifi/{pattern}") if wifi else ())]
    return sorted(file for file in files if file.is_file())


def _compile(wheel: Wheel, made: Path, *, wifi: bool) -> None:
    chosen = compiler()
    if chosen is None:
        raise EngineError("no C++ compiler is here; install g++ (Debian: apt install g++), or set CXX")
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="compiling-") as folder:
        (Path(folder) / _HEADER).write_text(_native.CONGESTION_HEADER)
        # One translation unit: the headers of ns-3 take longer than all that we have written.
        unit = Path(folder) / "program.cc"
        unit.write_text("".join(f'#include "{file}"\n' for file in _sources("*.cc", wifi=wifi)))
        output = Path(folder) / "program.so"
        done = subprocess.run(
            [
                chosen,
                *_options(wheel, Path(folder), wifi=wifi),
                str(unit),
                "-o",
                str(output),
                *_libraries(wheel, wifi=wifi),
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


def _options(wheel: Wheel, folder: Path, *, wifi: bool) -> list[str]:
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
        *(["-DFULLPIPE_WIFI"] if wifi else []),
        f"-I{folder}",
        f"-I{_SOURCES}",
        f"-isystem{wheel.root / 'include'}",
    ]


def _libraries(wheel: Wheel, *, wifi: bool) -> list[str]:
    folder, prefix = wheel.root / "lib64", wheel.libraries
    modules = [f"-l{prefix}-{module}" for module in (*_MODULES, *(_WIFI_MODULES if wifi else ()))]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *modules, "-Wl,--no-undefined", "-ldl"]
