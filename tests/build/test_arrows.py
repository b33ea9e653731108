"""The check of the crates' arrows finds what it is for."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def check_crates() -> ModuleType:
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("check_crates", ROOT / "scripts" / "check_crates.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workspace(**crates: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What cargo says of crates with these dependencies."""
    return {
        "packages": [
            {"name": f"fullpipe-{name}", "dependencies": [{"name": seen} for seen in dependencies]}
            for name, dependencies in crates.items()
        ]
    }


def test_arrows_of_the_architecture_are_allowed(check_crates: ModuleType) -> None:
    allowed = workspace(units=["serde"], congestion=["fullpipe-units"], tcp=["fullpipe-congestion"])
    assert check_crates.violations(allowed) == []


def test_a_broken_arrow_is_named(check_crates: ModuleType) -> None:
    broken = workspace(congestion=["fullpipe-units", "fullpipe-tcp"], network=["fullpipe-congestion"])
    assert check_crates.violations(broken) == [
        "congestion must not see tcp",
        "network must not see congestion",
    ]


def test_an_unknown_crate_is_named(check_crates: ModuleType) -> None:
    assert "not in the architecture" in check_crates.violations(workspace(extra=[]))[0]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_this_workspace_keeps_its_arrows(check_crates: ModuleType) -> None:
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert check_crates.violations(json.loads(answer.stdout)) == []
