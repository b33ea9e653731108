"""Install a wheel or an sdist into a bare environment outside the clone, and use it there.

    python scripts/try_dist.py dist/fullpipe-*.whl

This tries what a user of PyPI will have: the command, the scenarios, a figure, the output of doctor, and a
report.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent
READS_ALL = """
import fullpipe
from fullpipe.scenario import scenario_names
names = scenario_names()
assert len(names) > 30, names
for name in names:
    fullpipe.Scenario.named(name)
print(f"{len(names)} scenarios are read by fullpipe {fullpipe.__version__} in {fullpipe.__file__}")
"""


def run(command: list[str], folder: Path) -> str:
    """Output of a program run in a folder, without access to the clone or to this environment."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MPLBACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    outputs: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, **outputs)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return str(done.stdout)


def try_dist(file: Path, folder: Path) -> None:
    """Install a file and use it, all in a folder."""
    environment, work = folder / "venv", folder / "work"
    work.mkdir()
    run([sys.executable, str(SCRIPTS / "make_venv.py"), str(environment)], folder)
    python, command = str(environment / "bin/python"), str(environment / "bin/fullpipe")
    # Compiling modules that are never imported would take most of the time.
    run([python, "-m", "pip", "install", "--quiet", "--no-compile", str(file.resolve())], folder)
    run([python, "-m", "pip", "check"], folder)
    print(run([command, "--version"], work), end="")
    said = run([python, "-c", READS_ALL], work)
    if str(environment) not in said:
        sys.exit(f"this is not what was installed: {said}")
    print(said, end="")
    print(run([command, "demo"], work), end="")
    for name in ("demo.png", "demo.svg", "demo.csv"):
        if (work / name).stat().st_size < 1_000:
            sys.exit(f"{name} is empty")
    doctor = run([command, "doctor"], work)
    if "native: ready" not in doctor:
        sys.exit(f"doctor does not say that the native engine is ready:\n{doctor}")
    run([command, "init", "my.toml"], work)
    run([command, "run", "my.toml", "--set", "duration=6 s", "--json"], work)
    run([command, "report", "runs"], work)


def main() -> None:
    """Try each file."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FILE...")
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="fullpipe-try-") as folder:
            try_dist(Path(name), Path(folder))
        print(f"{Path(name).name}: installed, and it works")


if __name__ == "__main__":
    main()
