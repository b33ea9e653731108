"""Programs of `crates/simulation/examples`, and the cost of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullpipe import Scenario

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Cost:
    """Resources that a process used, and its output."""

    cpu_s: float
    peak_mb: float
    output: str


def measured(command: list[str], cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> Cost:
    """Run a process to its end and read its resource usage from the system."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd, env=env) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, output)


def example(name: str, profile: str = "release") -> str:
    """The path of a program, built for speed unless another profile is named."""
    # The whole workspace: for a single package, third-party crates have other features and are recompiled.
    build = ["cargo", "build", "--profile", profile, "--quiet", "--workspace", "--example", name]
    subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / {"dev": "debug"}.get(profile, profile) / "examples" / name)


def simulated(scenario: Scenario, from_s: int = 0) -> dict[str, Any]:
    """Output of the program `plan` for a scenario: packets and CPU time after `from_s`, and peak memory."""
    from fullpipe.engines.native.plan import plan

    with TemporaryDirectory() as folder:
        file = Path(folder) / "plan.json"
        file.write_text(json.dumps(plan(scenario)))
        return dict(json.loads(measured([example("plan"), str(file), "1", str(from_s)]).output))


def one_flow(duration: str) -> str:
    """A scenario of one CUBIC flow at 10 Mbit/s, as TOML: seeds differ by when it starts."""
    return f"""
name = "short"
duration = "{duration}"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop_tail", packets = 50 }}

[[flows]]
cca = "cubic"
start_jitter = "100 ms"
"""
