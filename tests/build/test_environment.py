"""The environment of a clone has no pip and no setuptools of years ago."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "scripts" / "make_venv.py"
NEWER = "99.0"
LISTS = "from importlib import metadata; print({d.name: d.version for d in metadata.distributions()})"


def installed(index: Path, folder: Path) -> dict[str, str]:
    """What is in a new environment, if pip finds what is in a folder and nothing else."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}
    command = [sys.executable, str(SCRIPT), str(folder)]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    asked = [str(folder / "bin/python"), "-I", "-c", LISTS]
    text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return dict(pair.replace("'", "").split(": ") for pair in text.strip("{}\n").split(", ") if pair)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder with a newer pip, of which there is nothing but the name."""
    folder, about = tmp_path / "index", f"pip-{NEWER}.dist-info"
    folder.mkdir()
    with zipfile.ZipFile(folder / f"pip-{NEWER}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: pip\nVersion: {NEWER}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return folder


@pytest.mark.slow
def test_a_newer_pip_is_taken_and_setuptools_goes(index: Path, tmp_path: Path) -> None:
    assert installed(index, tmp_path / "venv") == {"pip": NEWER}


@pytest.mark.slow
def test_without_a_newer_pip_there_is_the_one_that_came(tmp_path: Path) -> None:
    found = installed(tmp_path, tmp_path / "venv")
    assert list(found) == ["pip"]
    assert found["pip"] != NEWER
