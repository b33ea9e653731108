"""The same dumbbell on ns-3: fetch the wheel, compile the program beside this file, run it.

Only the headers and libraries of the wheel are used, so it works with any Python. Everything is stored in
target/peer/, which git ignores, and is fetched and compiled once.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = Path(__file__).resolve().parent / "dumbbell.cc"
STORE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "peer"
RELEASE = "3.44"
WHEEL = f"ns3=={RELEASE}.post0"
LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


class UnavailableError(Exception):
    """Why ns-3 cannot be measured here, and what to do about it."""


@dataclass(frozen=True)
class Measurement:
    """Packets and CPU of one run of ns-3."""

    data_packets: int
    cpu_s: float
    peak_mb: float
    events: int
    goodput_bps: float


def _tail(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def fetch() -> Path:
    """The folder with include/ and lib64/ of ns-3, downloaded from PyPI if it is not there."""
    folder = STORE / f"ns3-{RELEASE}"
    if (folder / "ns3" / "lib64").is_dir():
        return folder / "ns3"
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise UnavailableError(f"{WHEEL} is published for Linux on x86_64 only")
    print(f"fetching {WHEEL} into {folder}", file=sys.stderr)
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(partial)]
    command += ["--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]
    command += ["--platform=manylinux_2_28_x86_64", WHEEL]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise UnavailableError(f"pip could not fetch {WHEEL}: {_tail(answer.stderr)}")
    partial.rename(folder)
    return folder / "ns3"


def compile_program(ns3: Path) -> Path:
    """The compiled program, newer than its source."""
    program = STORE / f"dumbbell-{RELEASE}"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise UnavailableError("no C++ compiler: install g++ (or set CXX) to measure ns-3")
    libraries = ns3 / "lib64"
    command = [compiler, "-std=c++20", "-O2", "-march=native", f"-I{ns3 / 'include'}", str(SOURCE)]
    command += ["-o", str(program), f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    command += [f"-lns{RELEASE}-{name}" for name in LIBRARIES]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise UnavailableError(f"{compiler} could not compile {SOURCE.name}: {_tail(answer.stderr)}")
    return program


def measure(*, duration_s: float, queue_packets: int, socket_bytes: int) -> Measurement:
    """Run the first study's dumbbell on ns-3. Raises UnavailableError."""
    program = compile_program(fetch())
    options = [f"--duration={duration_s}", f"--queue={queue_packets}", f"--socket={socket_bytes}"]
    answer = subprocess.run([str(program), *options], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise UnavailableError(f"{program.name} failed: {_tail(answer.stderr)}")
    return Measurement(**json.loads(answer.stdout))


if __name__ == "__main__":
    print(measure(duration_s=1, queue_packets=5000, socket_bytes=1 << 20))
