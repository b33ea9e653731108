"""Check that the crates depend on each other only along the arrows of ARCHITECTURE.md."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each crate may see, for any kind of dependency: normal, for building, for tests.
MAY_SEE: dict[str, set[str]] = {
    "units": set(),
    "params": set(),
    "congestion": {"units", "params"},
    "capi": {"units", "congestion"},
    "tcp": {"units", "congestion"},
    "network": {"units", "params"},
    "simulation": {"units", "params", "congestion", "tcp", "network"},
    "python": {"units", "params", "capi", "congestion", "network", "simulation"},
}


def crate_of(package: str) -> str:
    """The short name of a package of this workspace, or an empty string for any other."""
    return package.removeprefix("fullpipe-") if package.startswith("fullpipe-") else ""


def violations(metadata: dict[str, list[dict[str, object]]]) -> list[str]:
    """Every dependency that is not an arrow of the architecture."""
    found = []
    for package in metadata["packages"]:
        crate = crate_of(str(package["name"]))
        if crate not in MAY_SEE:
            found.append(f"{package['name']}: not in the architecture; add it to {Path(__file__).name}")
            continue
        dependencies = package["dependencies"]
        assert isinstance(dependencies, list)
        seen = {crate_of(str(dependency["name"])) for dependency in dependencies} - {""}
        found += [f"{crate} must not see {other}" for other in sorted(seen - MAY_SEE[crate])]
    return found


def main() -> int:
    """Ask cargo and report."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = violations(json.loads(answer.stdout))
    for line in found:
        print(f"arrow broken: {line}", file=sys.stderr)
    print(f"crates: {len(found)} broken arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
