"""Make a virtual environment with pip in it, or leave a healthy one alone.

A distribution may ship Python without `ensurepip`; then pip comes from the host's pip or from its bootstrap
script. What comes with Python may be years old: pip is brought up to date, and setuptools, which nothing here
uses, goes. The file `.created` in the environment changes only when it is made anew, so that make sees it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

BOOTSTRAP = "https://bootstrap.pypa.io/get-pip.py"


def healthy(folder: Path) -> bool:
    """Whether the environment is complete, is still where it was made, and has the version of this Python."""
    python = folder / "bin" / "python"
    question = "import sys, pip; print(sys.prefix, '%d.%d' % sys.version_info[:2])"
    stamp = folder / ".created"
    # Scripts in bin/ name the folder in which they were installed; after a move they lead nowhere.
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != str(folder) or not python.exists():
        return False
    try:
        answer = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    expected = f"{folder} {sys.version_info[0]}.{sys.version_info[1]}"
    return answer.stdout.strip() == expected


def install_pip(folder: Path) -> None:
    """Put pip into an environment that was made without it."""
    python = str(folder / "bin" / "python")
    bundled = [python, "-m", "ensurepip", "--upgrade", "--default-pip"]
    host = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pip"]
    for command in (bundled, host):
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return
    print(f"fetching pip from {BOOTSTRAP}")
    with urllib.request.urlopen(BOOTSTRAP, timeout=60) as answer:
        subprocess.run([python, "-"], input=answer.read(), check=True)


def renew_pip(folder: Path) -> None:
    """Take the newest pip that can be had, and no setuptools; with what is there if none can be had."""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "uninstall", "--yes", "setuptools"], capture_output=True, check=False)
    if subprocess.run([*pip, "install", "--upgrade", "pip"], capture_output=True, check=False).returncode:
        print("pip stays as it came with Python: no newer one can be had now")


def main() -> int:
    """Make the environment named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    if healthy(folder):
        return 0
    print(f"making {folder} with Python {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    install_pip(folder)
    renew_pip(folder)
    (folder / ".created").write_text(str(folder), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
