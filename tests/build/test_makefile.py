"""The Makefile says the right things to the tools that it calls."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from fullpipe import _native

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("venv", "told"), [("/opt/venv", "/opt/venv"), ("venv", f"{ROOT}/venv")])
def test_the_environment_may_be_anywhere(venv: str, told: str) -> None:
    command = ["make", "--dry-run", "build", f"VENV={venv}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(re.findall('VIRTUAL_ENV="(.*?)"', done.stdout)) == {told}


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_wheel_is_compiled_once_and_with_the_oldest_maturin_that_takes_profiles() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "wheel"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert len(re.findall(r"maturin (?:build|develop) ", done.stdout)) == 1
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert re.findall("'(maturin.*?)'", done.stdout) == build["requires"]


def test_what_zig_does_not_know_is_said_as_it_does(tmp_path: Path) -> None:
    told = tmp_path / "python"
    told.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    told.chmod(0o755)
    command = [ROOT / "scripts/zig.sh", "-m", "ziglang", "cc", "-u", "a name", "b c.o", "-u", "d"]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-m", "ziglang", "cc", "-ua name", "b c.o", "-ud"]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_wheel_that_is_tried_is_of_what_is_compiled_already() -> None:
    """Another interpreter, profile or target would compile everything a second time."""
    done = subprocess.run(["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    commands = done.stdout.splitlines()
    [packed] = [line for line in commands if "maturin build" in line]
    assert "--interpreter .venv/bin/python --compatibility linux" in packed
    assert not {"--release", "--zig", "--target"} & set(packed.split())
    [profile] = re.findall(r"--profile \$\((.*?)\) ", packed)
    asked = subprocess.run(["bash", "-c", profile], cwd=ROOT, capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == _native.PROFILE
    assert any("scripts/try_dist.py" in line for line in commands[commands.index(packed) :])


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("only", "command"),
    [
        ("tests/compare", ".venv/bin/pytest -n 3 --dist worksteal tests/compare"),
        (
            "tests/build/test_makefile.py::test_a",
            ".venv/bin/pytest -n 3 --dist worksteal tests/build/test_makefile.py::test_a",
        ),
        ("not slow", '.venv/bin/pytest -n 3 --dist worksteal -k "not slow"'),
        ("crates/tcp", "cargo test --quiet --package fullpipe-tcp --package fullpipe-python"),
        ("crates/fullpipe", "cargo test --quiet --package fullpipe --package fullpipe-python"),
    ],
)
def test_a_part_of_the_tests_can_be_asked_for(only: str, command: str) -> None:
    asked = ["make", "--dry-run", "test", f"ONLY={only}"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    [tests] = [line for line in done.stdout.splitlines() if "pytest" in line or "cargo test" in line]
    assert tests.endswith(command)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("target", "profiles"), [("demo", {"dev"}), ("bench", {"release"}), ("instructions", {"release"})]
)
def test_what_is_timed_is_compiled_for_speed(target: str, profiles: set[str], tmp_path: Path) -> None:
    asked = ["make", "--dry-run", target, f"VENV={tmp_path}/venv"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(re.findall(r"maturin develop --profile (\w+)", done.stdout)) == profiles
    assert ("requirements.py dev" in done.stdout) == (target != "demo")
