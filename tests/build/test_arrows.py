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


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_file_that_only_re_exports_a_name_is_part_of_a_circle(
    check_crates: ModuleType, tmp_path: Path
) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;",
        "a/mod.rs": "mod deep;\npub use deep::Deep;",
        "a/deep.rs": "use crate::b::{self, Other};\npub struct Deep;",
        "b.rs": "use crate::a::Deep;\npub struct Other;",
    }
    assert check_crates.circles(written(tmp_path, files)) == [["a/mod.rs", "a/deep.rs", "b.rs"]]


def test_a_name_of_the_root_is_of_the_file_that_declares_it(check_crates: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\npub use a::Low;\npub use c::High;\npub use other::Foreign;",
        "a.rs": "use crate::Foreign;\npub struct Low;",
        "b.rs": "use crate::Low;\npub struct Middle(Low);",
        "c.rs": "use crate::b::Middle;\npub struct High(Middle);",
    }
    assert check_crates.circles(written(tmp_path, files)) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("fn f() -> super::Whole {}", [["lib.rs", "a.rs", "b.rs"]]),
        ("use super::*;\nfn f() -> Whole {}", [["lib.rs", "a.rs", "b.rs"]]),
        ("impl crate::Whole {}", [["lib.rs", "a.rs", "b.rs"]]),
        ('/// See `super::Whole`.\nfn f() -> &str { "crate::Whole" }', []),
        ("#[cfg(test)]\nmod tests {\n    use crate::Whole;\n}", []),
    ],
)
def test_paths_in_code_are_imports(
    check_crates: ModuleType, tmp_path: Path, code: str, found: list[list[str]]
) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nuse a::Part;\npub struct Whole(Part);",
        "a.rs": "pub struct Part(super::b::Small);",
        "b.rs": f"pub struct Small;\n{code}",
    }
    assert check_crates.circles(written(tmp_path, files)) == found


def test_two_files_may_import_each_other(check_crates: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\npub struct Whole(a::Part, b::Other);",
        "a.rs": "use super::Whole;\npub struct Part;\nimpl Whole {}",
        "b.rs": "use super::Whole;\npub struct Other;\nimpl Whole {}",
    }
    assert check_crates.circles(written(tmp_path, files)) == []


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
