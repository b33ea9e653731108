"""The wheel of ns-3 from PyPI, with headers and libraries, in the cache or in this Python environment."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from fullpipe.engines import cache
from fullpipe.engines.base import Say
from fullpipe.errors import EngineError, InstallOptionError

RELEASES: Mapping[str, str] = {
    "3.44": "3.44.post0",
    "3.43": "3.43.post9",
    "3.42": "3.42.post2",
    "3.39": "3.39.post2",
}
"""Versions of ns-3, and the releases of the wheel that contain them."""
_SHA256: Mapping[str, str] = {
    "3.44.post0": "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce",
    "3.43.post9": "6f55927a124c6eb761b554e176231663936f842792951442cf0afb6b0444a585",
    "3.42.post2": "26878aff1eda2e06ad1eb6af842638a280e534d3e4b32e2907b2e57ebf715b2d",
    "3.39.post2": "7e6ab25b050100755a1d8fd152beb445ba3163a1acfbde0cc94d66a042e0b1d6",
}
"""SHA-256 of the wheels for x86_64, by release. Other wheels are not unpacked."""


@dataclass(frozen=True)
class Wheel:
    """An unpacked wheel."""

    version: str
    """Version of ns-3, such as "3.44"."""
    release: str
    """Release of the wheel, such as "3.44.post0"."""
    root: Path
    """Folder that contains `include` and `lib64`."""

    @property
    def libraries(self) -> str:
        """Prefix of the names of libraries: "ns3.44", or "ns3-dev"."""
        found = next(iter(sorted(self.root.glob("lib64/libns3*-core.so"))), None)
        if found is None:
            raise EngineError(f"{self.root}: no libraries of ns-3; delete the folder and install it again")
        return found.name.removeprefix("lib").removesuffix("-core.so")


def find(version: str) -> Wheel | None:
    """Return the wheel of a version in the cache or in this Python environment, or None."""
    own = _folder(version)
    if own.is_dir():
        return Wheel(version, RELEASES[version], own / "ns3")
    try:
        installed = metadata.distribution("ns3")
    except metadata.PackageNotFoundError:
        return None
    root = Path(str(installed.locate_file("ns3")))
    fits = installed.version.split(".post")[0] == version and (root / "include").is_dir()
    return Wheel(version, installed.version, root) if fits else None


def install(version: str, say: Say) -> Wheel:
    """Download the wheel with pip and unpack the needed files. An earlier download is re-used.

    Raises:
        InstallOptionError: If no such version exists.
        EngineError: If the wheel cannot be downloaded or unpacked.
    """
    if version not in RELEASES:
        raise InstallOptionError(f"ns-3 {version}: there is no wheel of it; there are {', '.join(RELEASES)}")
    if not _folder(version).is_dir():
        archive = _download(version, say)
        say(f"unpacking {archive.name}")
        _unpack(archive, _folder(version))
        archive.unlink()
    return Wheel(version, RELEASES[version], _folder(version) / "ns3")


def _folder(version: str) -> Path:
    return cache.folder("ns3") / RELEASES.get(version, version)


def _download(version: str, say: Say) -> Path:
    """Return the wheel file of a version: a complete earlier download, or a new one from pip's index.

    Raises:
        EngineError: If the wheel cannot be downloaded, or its SHA-256 is not the known one.
    """
    folder, release = cache.made("ns3") / "downloads", RELEASES[version]
    folder.mkdir(exist_ok=True)
    for path in folder.glob(f"ns3-{release}-*.whl"):
        if _is_known(path, release):
            return path
        path.unlink()
    say(f"downloading the wheel ns3 {release} (70 MB)")
    machine = f"manylinux_2_28_{platform.machine()}"
    # The wheel is for Python 3.11, but only its headers and libraries are used: any Python works.
    wanted = ["--python-version=3.11", "--implementation=cp", "--abi=cp311", f"--platform={machine}"]
    command = ["download", f"ns3=={release}", "--no-deps", "--only-binary=:all:", "--quiet", *wanted]
    with tempfile.TemporaryDirectory(dir=folder, prefix="pip-") as work:  # also removed if pip is killed
        _pip([*command, f"--dest={folder}"], Path(work))
    come = next(folder.glob(f"ns3-{release}-*.whl"))
    if not _is_known(come, release):
        come.unlink()
        raise EngineError(
            f"{come.name}: not the wheel that is known by its SHA-256, {_SHA256[release]}; it is not used. "
            "Check which index pip is told of (pip config list), and run the same again"
        )
    return come


def _is_known(path: Path, release: str) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == _SHA256[release]


def _pip(arguments: list[str], work: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        done = subprocess.run(
            command, env={**os.environ, "TMPDIR": str(work)}, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise EngineError(f"pip cannot be started: {error}") from None
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        raise EngineError(f"{sys.executable} has no pip to download with; run: python -m ensurepip")
    why = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "")
    raise EngineError(
        f"ns-3 cannot be downloaded: {why.removeprefix('ERROR: ')}; check the network, and run the same again"
    )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack to a temporary folder first, so that the final folder is complete or absent."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unpacking-") as made:
        try:
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(made, [name for name in wheel.namelist() if _is_needed(PurePosixPath(name))])
        except (OSError, zipfile.BadZipFile) as error:
            archive.unlink(missing_ok=True)
            raise EngineError(f"{archive.name} cannot be unpacked: {error}; run the same again") from None
        shutil.move(made, folder)
        Path(made).mkdir()  # for the context manager to remove


def _is_needed(path: PurePosixPath) -> bool:
    header = path.parts[:3] == ("ns3", "include", "ns3") and path.suffix == ".h"
    return header or (path.parts[:2] == ("ns3", "lib64") and ".so" in path.name)
