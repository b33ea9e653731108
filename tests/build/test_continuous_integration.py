"""What continuous integration checks is what the package promises."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
JOBS = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def test_the_oldest_python_that_is_promised_is_the_oldest_that_is_tested() -> None:
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    tested = [int(minor) for minor in re.findall(r'"3\.(\d+)"', JOBS)]
    assert promised == f">=3.{min(tested)}"


def test_no_python_between_the_oldest_and_the_newest_is_left_out() -> None:
    tested = {int(minor) for minor in re.findall(r'"3\.(\d+)"', JOBS)}
    assert tested == set(range(min(tested), max(tested) + 1))


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_oldest_rust_that_is_promised_is_tested() -> None:
    promised = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    command = ["make", "--silent", "print-msrv"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == promised["rust-version"]


@pytest.mark.parametrize("target", re.findall(r"run: make ([a-z-]+)", JOBS))
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_every_target_that_is_called_exists(target: str) -> None:
    command = ["make", "--dry-run", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
