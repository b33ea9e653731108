"""Every dependency is justified where the documentation says so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")


def listed() -> set[str]:
    """Every name in the first column of the tables."""
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"[a-z0-9_-]+", row)}


def test_python_packages_are_justified() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(d for extra in project["optional-dependencies"].values() for d in extra),
    ]
    names = {re.split(r"[\s<>=!;\[]", requirement, maxsplit=1)[0] for requirement in wanted}
    assert names - listed() == set()


def test_crates_are_justified() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    names = {
        name
        for name, wanted in workspace["dependencies"].items()
        if not (isinstance(wanted, dict) and "path" in wanted)
    }
    assert names - listed() == set()
