"""`fullpipe ui` without the libraries that it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "anyio"])
def test_a_missing_extra_is_named_with_the_command_that_installs_it(missing: str, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['fullpipe', 'ui', '--no-browser'];"
        " from fullpipe.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert "install it with: python -m pip install starlette uvicorn" in done.stderr
    assert "Traceback" not in done.stderr
