"""Make a virtual environment with pip in it, or leave a healthy one alone.

The pip that comes with Python may be years old. It runs from its own wheel and installs the newest
available pip. A distribution may ship Python without pip; then pip comes from the host's pip or from its
bootstrap script. The file `.created` in the environment changes only when the environment is made again, so
that make sees it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path

BOOTSTRAP = "https://bootstrap.pypa.io/get-pip.py"


def healthy(folder: Path) -> bool:
    """Whether the environment is complete, is still where it was made, and has the version of this Python."""
    python = folder / "bin" / "python"
    question = "import sys, pip; print(sys.prefix, '%d.%d' % sys.version_info[:2])"
    stamp = folder / ".created"
    # Scripts in bin/ name the folder in which they were installed; after a move this folder is wrong.
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != str(folder) or not python.exists():
        return False
    try:
        answer = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    expected = f"{folder} {sys.version_info[0]}.{sys.version_info[1]}"
    return answer.stdout.strip() == expected


def bundled() -> Path | None:
    """The wheel of pip that comes with Python, in the folder that `ensurepip` would take it from."""
    own = Path(venv.__file__).parents[1] / "ensurepip" / "_bundled"
    folder = Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or own)
    return next(folder.glob("pip-*.whl"), None)


def install_pip(folder: Path) -> None:
    """Install the newest available pip into an environment that was made without it."""
    python = str(folder / "bin" / "python")
    options = [
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
        "--retries",
        "1",
        "--upgrade",
    ]
    commands = [[sys.executable, "-m", "pip", "--python", python, *options, "pip"]]
    if wheel := bundled():
        commands.insert(0, [python, f"{wheel}/pip", *options, "--find-links", str(wheel.parent), "pip"])
    for command in commands:
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return
    print(f"fetching pip from {BOOTSTRAP}")
    with urllib.request.urlopen(BOOTSTRAP, timeout=60) as answer:
        subprocess.run([python, "-"], input=answer.read(), check=True)


def main() -> int:
    """Make the environment named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    if healthy(folder):
        return 0
    print(f"making {folder} with Python {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    install_pip(folder)
    (folder / ".created").write_text(str(folder), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
