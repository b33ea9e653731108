"""The Rust of docs/how-to/add-an-algorithm.md: the steps are performed, the excerpts are of a program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def rust_blocks() -> list[str]:
    """The algorithm, its line in the registry, and the excerpts of the example that uses the crate alone."""
    text = (ROOT / "docs" / "how-to" / "add-an-algorithm.md").read_text(encoding="utf-8")
    return re.findall(r"^```rust\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def insert_before(path: Path, mark: str, line: str) -> None:
    """Put a line before the first occurrence of another."""
    text = path.read_text(encoding="utf-8")
    assert mark in text, f"{path.name} has no {mark!r}; have the steps changed?"
    path.write_text(text.replace(mark, line + mark, 1), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_an_algorithm_is_one_file_and_one_line(tmp_path: Path) -> None:
    algorithm, registry_line = rust_blocks()[:2]
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / ".cargo", tmp_path / ".cargo")
    for crate in ("params", "units", "congestion"):
        shutil.copytree(ROOT / "crates" / crate, tmp_path / "crates" / crate)
    source = tmp_path / "crates" / "congestion" / "src" / "algorithms"
    (source / "still.rs").write_text(algorithm, encoding="utf-8")
    if registry_line not in (source / "mod.rs").read_text(
        encoding="utf-8"
    ):  # a copy in which the steps were followed
        insert_before(source / "mod.rs", '    "reno"', registry_line)

    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "contributing"
    subprocess.run(
        ["cargo", "test", "--quiet", "-p", "fullpipe-congestion", "--test", "*"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": str(target), "INSTA_UPDATE": "always"},
        check=True,
    )
    assert (source.parent.parent / "tests" / "snapshots" / "rounds__still.snap").exists()


def test_the_excerpts_are_of_the_example_that_is_run() -> None:
    program = (ROOT / "crates" / "congestion" / "examples" / "bare_loop.rs").read_text(encoding="utf-8")
    lines = [line.strip() for line in program.splitlines()]
    excerpts = rust_blocks()[2:]
    assert excerpts
    for line in "".join(excerpts).splitlines():
        assert line.strip() in lines
