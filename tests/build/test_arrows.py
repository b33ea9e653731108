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


def test_no_circle_of_files_is_wide(check_crates: ModuleType) -> None:
    assert check_crates.wide_circles() == []


def test_a_circle_of_files_is_found_through_re_exports(check_crates: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;",
        "a/mod.rs": "mod deep;\npub use deep::Deep;",
        "a/deep.rs": "use crate::b::{self, Other};\npub struct Deep;",
        "b.rs": "use crate::a::Deep;\npub struct Other;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert check_crates.circles(tmp_path) == [["a/deep.rs", "b.rs"]]


@pytest.mark.parametrize(
    ("used", "found"),
    [
        ("pub struct Whole(Part);", [["lib.rs", "part.rs"]]),
        ("/// A [`Part`] of it.\npub struct Whole;", []),
    ],
)
def test_a_file_imports_what_it_re_exports_only_if_it_uses_it(
    check_crates: ModuleType, tmp_path: Path, used: str, found: list[list[str]]
) -> None:
    (tmp_path / "lib.rs").write_text(f"mod part;\npub use part::Part;\n{used}", encoding="utf-8")
    (tmp_path / "part.rs").write_text("use super::Whole;\npub struct Part(Box<Whole>);", encoding="utf-8")
    assert check_crates.circles(tmp_path) == found


def test_methods_beside_their_type_are_no_circle(check_crates: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod part;\nuse part::Part;\npub struct Whole(Part);", encoding="utf-8")
    (tmp_path / "part.rs").write_text(
        "use super::Whole;\npub struct Part;\nimpl Whole {\n    fn f() {}\n}", encoding="utf-8"
    )
    assert check_crates.circles(tmp_path) == []


def test_files_of_tests_that_nothing_runs_are_found(check_crates: ModuleType, tmp_path: Path) -> None:
    files = {
        "main.rs": "mod a;\nmod b;",
        "a.rs": "",
        "b/mod.rs": "mod c;",
        "b/c.rs": "",
        "b/lost.rs": "",
        "lost.rs": "",
        "d/mod.rs": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert check_crates.left_out(tmp_path) == ["b/lost.rs", "d/mod.rs", "lost.rs"]
