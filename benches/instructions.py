"""Instructions per data packet of ten scenarios: a measure of speed that does not depend on the load.

`python -m benches.instructions` counts them (valgrind) and prints them beside those in instructions.json.
`--check` fails if one is more than 3 % above the stored one, and `--write` stores new ones of both
profiles. The profile is that of the build in use, dev or release, so that nothing is compiled only for
this. A whole process is counted: reading the plan, building the network, running it. Other compilers and
processors give other counts, so numbers are compared only with stored ones of the same compiler. The count
of a program with a plan is stored beside the program and re-used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from benches.programs import example
from fullpipe import Scenario, files
from fullpipe._native import PROFILE
from fullpipe.engines.native.plan import plan

STORED = Path(__file__).with_name("instructions.json")
MARGIN = 0.03
PROFILES = ("dev", "release")


CCA, COUNT, QUEUE = "flows.0.cca", "flows.0.count", "topology.bottleneck.queue"
LONG = {QUEUE: {"kind": "drop_tail", "packets": 5000}}
# In recovery, too, where Linux merges ACKs that come close together.
ACK_PER_PACKET = {"duration": "10 s", "tcp.sack_compression": False}
CUBIC = ACK_PER_PACKET | {CCA: "cubic"}

# A scenario of the package, and what is changed in it.
SCENARIOS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "kato2025, 5,000 packets": ("kato2025", LONG | {"duration": "15 s"}),
    "bbr1, 5,000 packets": ("kato2025", LONG | ACK_PER_PACKET),
    "bbr1, 100 packets": ("kato2025", ACK_PER_PACKET),
    "cubic, 5,000 packets": ("kato2025", LONG | CUBIC),
    "bbr3, delayed ACKs": ("kato2025", LONG | {CCA: "bbr3", "duration": "10 s", "tcp.ack_every": 2}),
    "cubic, 1,000 flows": ("kato2025", LONG | CUBIC | {COUNT: 1000, "flows.0.start_jitter": "1 s"}),
    "cubic, fq_codel": ("kato2025", CUBIC | {QUEUE: {"kind": "fq_codel"}}),
    "cubic, cake": ("kato2025", CUBIC | {QUEUE: {"kind": "cake"}}),
    "cubic, samples every 10 ms": ("kato2025", LONG | CUBIC | {"record.interval": "10 ms"}),
    "web, 200 readers": (
        "web-1000",
        {COUNT: 200, "duration": "20 s", "warmup": "0 s", "flows.0.start_jitter": "2 s"},
    ),
}


def planned(name: str, values: Mapping[str, Any]) -> str:
    """The plan of a scenario with other values (JSON), by default without samples."""
    scenario = Scenario.named(name).with_values({"record.interval": "0 s"} | dict(values))
    return json.dumps(plan(scenario))


def count(program: list[str]) -> tuple[int, dict[str, Any]]:
    """Instructions of a process, and its output (JSON). Raises SystemExit if valgrind fails."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run([*tool, *program], capture_output=True, text=True, check=False)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"instructions: {' '.join(program)} failed under valgrind:\n{done.stderr[-500:]}")
    return int(found[1].replace(",", "")), json.loads(done.stdout)


def per_packet(program: str, text: str) -> int:
    """Instructions of the whole process per data packet sent; stored by program and plan."""
    counted = hashlib.sha256(f"{system()}\n{text}\n".encode() + Path(program).read_bytes()).hexdigest()
    kept = Path(program).parent / "instructions" / counted
    if kept.exists():
        return int(kept.read_text())
    with NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        instructions, result = count([program, file.name])
    answer = round(instructions / int(result["data_packets"]))
    kept.parent.mkdir(exist_ok=True)
    files.replace(kept, str(answer).encode())
    return answer


@cache
def system() -> str:
    """Versions of the C library and of valgrind, which change the count of the same program."""
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout
    return f"{' '.join(platform.libc_ver())}, {version.strip()}"


def compiler() -> str:
    """The compiler and the kind of processor, which determine the instructions."""
    version = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout
    return f"{version.strip()}, {platform.machine()}"


def measure(profile: str) -> dict[str, int]:
    """Count all scenarios, two at once, with the simulator built in a profile."""
    program = example("plan", profile)
    plans = [planned(*scenario) for scenario in SCENARIOS.values()]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(SCENARIOS, pool.map(lambda text: per_packet(program, text), plans), strict=True))


def slower(counts: Mapping[str, int], stored: Mapping[str, int]) -> list[str]:
    """Scenarios whose count rose by more than the margin, or is not stored."""
    return [name for name, number in counts.items() if number > stored.get(name, 0) * (1 + MARGIN)]


def main() -> None:
    """Count, print, and check or store the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="fail if a count is more than 3 %% above the stored one"
    )
    parser.add_argument("--write", action="store_true", help="store the counts")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: not counted, there is no valgrind here (apt-get install valgrind)")
        return
    kept: dict[str, Any] = json.loads(STORED.read_text())
    made_by, stored = compiler(), kept["per_packet"]
    found = {profile: measure(profile) for profile in (PROFILES if options.write else [PROFILE])}
    for profile, counts in found.items():
        print(f"instructions per data packet, a whole process, profile {profile} (stored):", flush=True)
        for name, number in counts.items():
            print(f"  {name:28s} {number:7,d}  ({stored[profile].get(name, 0):,d})")
    if options.write:
        STORED.write_text(json.dumps({"compiler": made_by, "per_packet": found}, indent=2) + "\n")
    elif made_by != kept["compiler"]:
        print(f"not compared: stored numbers are of {kept['compiler']}, these of {made_by}")
    elif options.check and (dearer := slower(found[PROFILE], stored[PROFILE])):
        sys.exit(
            f"instructions: more than {MARGIN:.0%} above the stored: {', '.join(dearer)}; make it cheaper, or"
            f" store the new ones with a reason: python -m benches.instructions --write ({STORED.name})"
        )


if __name__ == "__main__":
    main()
