"""What it costs to start: CPU of the interpreter, of the import, and of commands that do little.

The programs take turns, each in a fresh process, and of each the least of several times counts. The bare
interpreter is the yardstick: on a busy machine everything takes longer, and so does that.
"""

from __future__ import annotations

import argparse
import sys

from benches.programs import measured

PROGRAMS = {
    "python -c pass": ["-c", "pass"],
    "import fullpipe": ["-c", "import fullpipe"],
    "fullpipe --version": ["-m", "fullpipe", "--version"],
    "fullpipe --help": ["-m", "fullpipe", "--help"],
    "fullpipe list ccas": ["-m", "fullpipe", "list", "ccas"],
    "fullpipe show single-cubic": ["-m", "fullpipe", "show", "single-cubic"],
    "fullpipe run --help": ["-m", "fullpipe", "run", "--help"],
}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(options.repeats):
        for name, arguments in PROGRAMS.items():
            times[name].append(measured([sys.executable, *arguments]).cpu_s)
    print(f"start, least of {options.repeats}:")
    for name, found in times.items():
        print(f"  {name:<27} {1e3 * min(found):6.0f} CPU-ms")


if __name__ == "__main__":
    main()
