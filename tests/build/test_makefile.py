"""The Makefile says the right things to the tools that it calls."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("venv", "told"), [("/opt/venv", "/opt/venv"), ("venv", f"{ROOT}/venv")])
def test_the_environment_may_be_anywhere(venv: str, told: str) -> None:
    command = ["make", "--dry-run", "build", f"VENV={venv}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall('VIRTUAL_ENV="(.*?)"', done.stdout) == [told]
