"""The steps of the GitHub Action, in a repository with an algorithm in C: a base, and changes of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fullpipe import _native

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text())
SUITE = """
scenarios = ["small.toml"]
seeds = 5
[metrics]
goodput = "2 %"
"""
SMALL = """
name = "small"
duration = "10 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop_tail", packets = 20 }
[[flows]]
cca = "library:build/libquic.so:newreno"
start_jitter = "1 s"
[record]
interval = "off"
"""
BUILD = "mkdir -p build; cc -O2 -shared -fPIC -o build/libquic.so newreno.c"

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") and shutil.which("git") and shutil.which("fullpipe")),
    reason="there is no C compiler, no git, or no fullpipe on the path",
)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit with the example, NewReno of a QUIC stack."""
    folder = tmp_path / "repository"
    folder.mkdir()
    shutil.copy(ROOT / "crates/capi/examples/quic_newreno.c", folder / "newreno.c")
    (folder / "fullpipe_congestion.h").write_text(_native.CONGESTION_HEADER)
    (folder / "suite.toml").write_text(SUITE)
    (folder / "small.toml").write_text(SMALL)
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "A commit")
    return git(folder, "rev-parse", "HEAD")


def perform(folder: Path, base: str, **inputs: str) -> tuple[int, dict[str, str]]:
    """The exit status of the steps that are commands, and the files that they leave; nothing is installed."""
    runner, given = folder.parent / "runner", {"suite": "suite.toml", "base": base, "build": BUILD, **inputs}
    runner.mkdir()
    defaults = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
    steps = [step for step in ACTION["runs"]["steps"] if "run" in step and "install" not in step["run"]]
    status = 0
    for step in steps:
        own = {name: filled(text, defaults | given) for name, text in step.get("env", {}).items()}
        places = {"RUNNER_TEMP": str(runner), "GITHUB_STEP_SUMMARY": str(runner / "summary.md")}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        environment = {**os.environ, **own, **places}
        status = status or subprocess.run(command, cwd=folder, env=environment, check=False).returncode
    return status, {path.name: path.read_text() for path in runner.glob("*.*") if path.is_file()}


def filled(text: str, inputs: dict[str, str]) -> str:
    """An expression of the action with what an input has."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def change(folder: Path, old: str, new: str) -> str:
    """Another commit, and the one before it."""
    base, source = git(folder, "rev-parse", "HEAD"), folder / "newreno.c"
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    commit(folder)
    return base


def test_a_change_of_comments_is_identical(repository: Path) -> None:
    base = change(repository, "kMinimumWindow", "the least window")
    status, files = perform(repository, base)
    assert (status, "Bit-identical" in files["summary.md"]) == (0, True)


def test_a_change_that_is_worse_fails_and_says_so(repository: Path) -> None:
    base = change(repository, "double reduction = 0.5;", "double reduction = 0.1;")
    status, files = perform(repository, base)
    assert status == 1
    assert "| regressed | small |" in files["summary.md"]
    assert "<failure" in files["fullpipe-check.xml"]
    assert "regressed" in files["fullpipe-check.html"]


def test_what_stays_undecided_may_pass(repository: Path) -> None:
    (repository / "suite.toml").write_text(SUITE.replace("2 %", "0 %"))
    base = change(repository, ".max_burst = 10", ".max_burst = 9")
    status, _ = perform(repository, base, undecided="pass", options="--seeds 2")
    assert status == 0


def test_a_build_that_fails_ends_the_job(repository: Path) -> None:
    base = change(repository, "kMinimumWindow", "the least window")
    status, files = perform(repository, base, build="false")
    assert (status, files) == (1, {})


def test_inputs_never_become_part_of_a_script() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]
