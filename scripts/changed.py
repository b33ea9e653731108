"""Check a change quickly: formatting, lints, types, and the tests that belong to it.

The change is the difference from the commit at which the branch left main; on main, from the last commit. A
test file belongs to a changed module if it imports the module, has its name, or is in the folder of tests
with its name. Changed crates run all their tests, and those of the simulator also run the golden tables.
Tests marked slow, and tests that use a module only through another one, run in `make test` only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MAIN = ("origin/main", "main")
GOLDEN = "tests/golden/test_golden.py"
"""Tables that change with any result of the simulator."""
_OF_SIMULATOR = re.compile(r"crates/(capi|congestion|network|params|simulation|tcp|units)/(src/|Cargo)")


def git(*arguments: str) -> list[str]:
    """Lines of git's output; none if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed() -> list[str]:
    """Files that differ from the base and are still there."""
    base = next((found[0] for main in MAIN if (found := git("merge-base", "HEAD", main))), "HEAD")
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted({name for name in names if (ROOT / name).is_file()})


def crates(names: Iterable[str]) -> list[str]:
    """Folders of the crates that have changed files."""
    return sorted({found[0] for name in names if (found := re.match(r"crates/\w+", name))})


def of_change(names: Iterable[str], sources: dict[str, str]) -> list[str]:
    """Files of tests, with their text in `sources`, that belong to changed files."""
    found: set[str] = set()
    for name in names:
        path = Path(name)
        if name in sources:
            found.add(name)
        elif _OF_SIMULATOR.match(name):
            found |= {GOLDEN} & sources.keys()
        elif path.suffix == ".py" and path.parts[0] in ("python", "scripts", "benches", "tests"):
            found |= {test for test, text in sources.items() if belongs(Path(test), text, path)}
    return sorted(found)


def belongs(test: Path, text: str, module: Path) -> bool:
    """Whether a test file imports a module, has its name, or is in the folder with its name."""
    parts = [part for part in module.with_suffix("").parts if part not in ("python", "__init__")]
    *package, last = parts
    if test.parent.name == last or test.stem.startswith(f"test_{last}"):
        return True
    if not package:  # every test imports the package itself
        return False
    inside = r"(?!\.)" if module.stem == "__init__" else ""
    whole, above = re.escape(".".join(parts)), re.escape(".".join(package))
    return bool(re.search(rf"\b{whole}\b{inside}|from {above} import [^\n]*\b{last}\b", text))


def commands(names: list[str]) -> list[list[str]]:
    """The commands to run, the quickest first."""
    todo: list[list[str]] = []
    python = [name for name in names if name.endswith((".py", ".pyi"))]
    if python or "pyproject.toml" in names:
        todo += [[f"{BIN}/ruff", "check", *python], [f"{BIN}/ruff", "format", "--check", *python]]
        todo += [[f"{BIN}/lint-imports", "--no-cache", "--no-logo"], [f"{BIN}/mypy"]]
    if rust := [name for name in names if name.endswith(".rs")]:
        todo.append(["rustfmt", "--check", "--edition", "2024", *rust])
    if packages := [part for crate in crates(names) for part in ("--package", package_of(crate))]:
        packages += [
            "--package",
            "fullpipe-python",
        ]  # otherwise third-party crates have other features and are recompiled
        todo.append(["cargo", "clippy", *packages, "--all-targets", "--quiet", "--", "-D", "warnings"])
        todo.append(["cargo", "test", *packages, "--quiet"])
    sources = {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for file in (ROOT / "tests").rglob("test_*.py")
    }
    if chosen := of_change(names, sources):
        todo.append([f"{BIN}/pytest", "--quiet", "-n", "2", "--dist", "worksteal", "-m", "not slow", *chosen])
    return todo


def package_of(crate: str) -> str:
    """Name of a crate in cargo."""
    return "fullpipe" if crate == "crates/fullpipe" else f"fullpipe-{Path(crate).name}"


def main() -> int:
    """Run each command, and say at the end which failed."""
    names = changed()
    todo = commands(names)
    print(f"{len(names)} files differ from main: {len(todo)} checks", flush=True)
    failed: list[str] = []
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    for command in todo:
        shown = " ".join(part.removeprefix(f"{BIN}/") for part in command)
        shown = shown if len(shown) < 200 else shown[:200] + " ..."
        print(f"+ {shown}", flush=True)
        began_s = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, check=False, env=environment)
        print(f"  {time.monotonic() - began_s:.0f} s", flush=True)
        if done.returncode not in (0, 5):  # pytest: nothing but slow tests
            failed.append(shown)
    for shown in failed:
        print(f"failed: {shown}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
