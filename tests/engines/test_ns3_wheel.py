"""The wheel of ns-3 is the one that is known, wherever it comes from. Here it is a small one on this disk."""

from __future__ import annotations

import hashlib
import platform
import zipfile
from pathlib import Path

import pytest

from fullpipe.engines.ns3 import build
from fullpipe.errors import EngineError

RELEASE = build.RELEASES["3.44"]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with one header, the only one that pip finds, in front of an empty cache."""
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    made = tmp_path / f"ns3-{RELEASE}-cp311-cp311-manylinux_2_28_{platform.machine()}.whl"
    about = f"ns3-{RELEASE}.dist-info"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: ns3\nVersion: {RELEASE}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{about}/RECORD", "")
        archive.writestr("ns3/include/ns3/a.h", "// of tests\n")
    return made


@pytest.fixture
def known(index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That wheel, as the one that is known."""
    monkeypatch.setattr(build, "_SHA256", {RELEASE: hashlib.sha256(index.read_bytes()).hexdigest()})
    return index


def kept(tmp_path: Path) -> list[Path]:
    """Wheels in the cache, and what was unpacked."""
    return [*tmp_path.glob("cache/ns3/downloads/*"), *tmp_path.glob("cache/ns3/*/ns3")]


def header() -> str:
    return (build.install("3.44", lambda _: None).root / "include/ns3/a.h").read_text()


def test_the_wheel_that_is_known_is_unpacked(known: Path) -> None:
    assert header() == "// of tests\n"


@pytest.mark.usefixtures("index")
def test_another_wheel_is_refused_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"^ns3-.*: the SHA-256 is not.*same command again$"):
        build.install("3.44", lambda _: None)
    assert kept(tmp_path) == []


def in_the_cache(tmp_path: Path, content: bytes, name: str) -> None:
    folder = tmp_path / "cache/ns3/downloads"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)


def test_a_wheel_in_the_cache_is_taken_without_pip(
    known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_cache(tmp_path, known.read_bytes(), known.name)
    known.unlink()
    assert header() == "// of tests\n"


@pytest.mark.parametrize("place", [-30, 60])
def test_a_wheel_that_was_changed_in_the_cache_is_fetched_again(
    known: Path, tmp_path: Path, place: int
) -> None:
    changed = bytearray(known.read_bytes())
    changed[place] ^= 1
    in_the_cache(tmp_path, bytes(changed), known.name)
    assert header() == "// of tests\n"


def test_every_version_is_known() -> None:
    assert set(build._SHA256) == set(build.RELEASES.values())
