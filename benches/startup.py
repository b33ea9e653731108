"""CPU time of starting: the interpreter, the import, and commands that do little.

The programs take turns, each in a fresh process in a separate folder, and the minimum of several times is
printed. The bare interpreter is the reference, because all take longer on a busy machine. `--against DIR`
measures another source tree, such as an older one, in the same turns and prints the ratio. Python files are
compiled once, as they are for an installed package.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.programs import measured, one_flow

COMMANDS = (
    *("--version", "--help", "run --help", "compare --help"),
    *("list ccas", "list scenarios", "list metrics", "list tables", "list papers", "list engines"),
    *("show single-cubic", "show tiny.toml", "show cubic"),
    *("run tiny.toml", "run tiny.toml --json", "run tiny.toml --json --no-store"),
)
PROGRAMS = {
    "python -c pass": ["-c", "pass"],
    "import fullpipe": ["-c", "import fullpipe"],
    **{f"fullpipe {command}": ["-m", "fullpipe", *command.split()] for command in COMMANDS},
}


def cpu_ms(program: list[str], tree: Path, folder: Path) -> float:
    """CPU milliseconds of a program by the package in a source tree, in a folder with a scenario alone."""
    there = folder / "there"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    (there / "tiny.toml").write_text(one_flow("2 s"), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(tree / "python"), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    return 1e3 * measured([sys.executable, *program], there, environment).cpu_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--against", type=Path, help="another source tree")
    parser.add_argument("--only", default="", help="only programs whose name contains this text")
    options = parser.parse_args()
    trees = [Path(__file__).resolve().parent.parent]
    if options.against:
        trees.append(options.against.resolve())
    programs = {name: program for name, program in PROGRAMS.items() if options.only in name}
    times: dict[tuple[str, Path], list[float]] = {(name, tree): [] for name in programs for tree in trees}
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder:
        for number in range(options.repeats + 1):
            for (name, tree), found in times.items():
                took_ms = cpu_ms(programs[name], tree, Path(folder))
                if number:  # before, files are compiled
                    found.append(took_ms)
    print(f"CPU-ms to start, least of {options.repeats}:")
    for name in programs:
        here, *other = (min(times[name, tree]) for tree in trees)
        against = f" {here / other[0]:5.2f} of {other[0]:.0f}" if other else ""
        print(f"  {name:<43} {here:6.0f}{against}")


if __name__ == "__main__":
    main()
