"""Performs the steps that a page shows, on a copy of what they need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

_STEP = re.compile(
    r"(?:Write `(?P<new>[^`\n]+)`|In `(?P<old>[^`\n]+)`, (?P<side>[a-z ]+) `(?P<anchor>[^`\n]+)`)"
    r"[^`]*?\n+```\w+\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Step:
    """A file to write, or lines to put beside another line of a file."""

    path: str
    code: str
    anchor: str = ""
    side: str = "after"

    def perform(self, root: Path) -> None:
        """Do it below `root`."""
        path = root / self.path
        if not self.anchor:
            assert not path.exists(), f"{self.path} is there already"
            path.write_text(self.code, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [i for i, line in enumerate(lines) if line.strip() == self.anchor]
        assert len(found) == 1, f"{self.path} has {len(found)} lines {self.anchor!r}; have the steps changed?"
        apart = "\n\n" if self.code.startswith("class ") else ""
        if self.side == "in place of":
            lines[found[0]] = self.code
        elif self.side == "append to":
            lines[found[0]] = lines[found[0]].rstrip("\n") + self.code
        else:
            lines.insert(found[0] + (self.side == "after"), self.code + apart)
        path.write_text("".join(lines), encoding="utf-8")


def steps(page: str, heading: str) -> list[Step]:
    """The steps below a heading of a page of docs/how-to."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [
        Step(m["new"] or m["old"], m["code"], m["anchor"] or "", m["side"] or "")
        for m in _STEP.finditer(section)
    ]


def copy(root: Path, parts: Sequence[str]) -> Path:
    """A fresh copy of some folders. It keeps the times of files."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for file in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy2(ROOT / file, root / file)
    for part in (".cargo", *parts):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def replace(old: Path, new: Path) -> None:
    """Put the folder `new` in the place of `old`. Files that are the same keep their times, others have now.

    So cargo compiles what changed, and that alone, as it does in the project itself.
    """
    for path in (path for path in new.rglob("*") if path.is_file()):
        before = old / path.relative_to(new)
        if before.is_file() and before.read_bytes() == path.read_bytes():
            shutil.copystat(before, path)
        else:
            path.touch()
    shutil.rmtree(old, ignore_errors=True)
    new.rename(old)


def perform(root: Path, todo: Sequence[Step]) -> list[str]:
    """Do the steps in a copy; what `git diff --stat` says then, a line per file in the order of the steps."""
    _git(root, "init", "--quiet")
    _git(root, "add", "--all")
    before = _git(root, "write-tree").strip()
    for step in todo:
        step.perform(root)
    _git(root, "add", "--all")
    stat = {}
    for line in _git(root, "diff", "--cached", "--numstat", before).splitlines():
        added, removed, path = line.split("\t")
        stat[path] = (
            f"+{added} line" + ("s" if added != "1" else "") + (f", -{removed}" if removed != "0" else "")
        )
    for path in _git(root, "diff", "--cached", "--name-only", "--diff-filter=A", before).split():
        stat[path] = "new"
    shutil.rmtree(root / ".git")
    paths = list(dict.fromkeys(step.path for step in todo))
    assert sorted(paths) == sorted(stat)
    return [f"{path} | {stat[path]}" for path in paths]


def printed(kind: str) -> list[str]:
    """The files that CONTRIBUTING.md prints for a kind of thing."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"\n### {kind}\n", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
    block = section.split("```text\n", 1)[1].split("```", 1)[0]
    return [re.sub(r" +\| +", " | ", line) for line in block.splitlines()]


def cargo(root: Path, *arguments: str) -> str:
    """What cargo prints for a copy, in the target folder of the project, which has crates of others.

    Tests are few, so nothing is optimised but what has a kit that tries many cases.
    """
    quick = {"CARGO_PROFILE_TEST_OPT_LEVEL": "0"}
    kits = [f"profile.test.package.fullpipe-{name}.opt-level=1" for name in ("congestion", "network")]
    shown = subprocess.run(
        ["cargo", *(part for kit in kits for part in ("--config", kit)), *arguments],
        cwd=root,
        env={**os.environ, **quick, "CARGO_TARGET_DIR": str(TARGET), "INSTA_UPDATE": "always"},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert shown.returncode == 0, shown.stdout
    return shown.stdout


def python(root: Path, program: str) -> str:
    """What a program prints with the Python package of a copy."""
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.autocrlf=false", "-c", "core.excludesFile=", *arguments]
    return subprocess.run(command, cwd=root, check=True, text=True, stdout=subprocess.PIPE).stdout
