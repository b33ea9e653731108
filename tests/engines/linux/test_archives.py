"""What packages hold stays in its folder and has bounds."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import pytest

from fullpipe.engines.linux.install import debian, kernel
from fullpipe.errors import EngineError

Member = tuple[str, bytes | str]
"""Name, and content or where a link leads to."""
KERNEL = Path(__file__).parent / "mirror/pool/linux-source-9.9.deb"


def tarred(*members: Member) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, given in members:
            member = tarfile.TarInfo(name)
            content = given if isinstance(given, bytes) else b""
            member.size = len(content)
            if isinstance(given, str):
                member.type, member.linkname = tarfile.SYMTYPE, given
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def packed(archive: bytes, size: str | None = None) -> bytes:
    """A package with an archive in it."""
    head = f"{'data.tar':<16}{0:<12}{0:<6}{0:<6}{100644:<8}{size or len(archive):<10}`\n"
    return b"!<arch>\n" + head.encode() + archive


def unpack(content: bytes, folder: Path) -> None:
    """Unpack a package, which is kept beside the folder."""
    path = folder.parent / "a.deb"
    path.write_bytes(content)
    with debian.contents(path) as tar:
        debian.extract(tar, folder)


@pytest.mark.parametrize(
    "members",
    [
        [("../a", b"a")],
        [("a", "/etc/passwd")],
        [("a", "../../b")],
        [("a", ".."), ("a/b", b"b")],
        [("a/b", "../../c")],
    ],
)
def test_what_would_leave_its_folder_is_refused(tmp_path: Path, members: list[Member]) -> None:
    with pytest.raises(EngineError, match="cannot be unpacked"):
        unpack(packed(tarred(*members)), tmp_path / "folder")
    assert {path.name for path in tmp_path.iterdir()} <= {"a.deb", "folder"}


def test_a_device_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        device = tarfile.TarInfo("a")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    with pytest.raises(EngineError, match="cannot be unpacked"):
        unpack(packed(buffer.getvalue()), tmp_path / "folder")


@pytest.mark.parametrize(("limit", "most"), [("MOST_FILES", 2), ("MOST_BYTES", 25)])
def test_what_has_no_bounds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(debian, limit, most)
    archive = tarred(*((name, bytes(10)) for name in "abc"))
    with pytest.raises(EngineError, match="more than"):
        unpack(packed(archive), tmp_path / "folder")
    assert not (tmp_path / "folder/c").exists()


WHOLE = lzma.compress(tarred(("a", bytes(100_000))))
DAMAGED = {
    "no package": b"a" * 100,
    "no tar archive": packed(b"a" * 1000),
    "cut": packed(WHOLE[:-40]),
    "a flipped bit": packed(WHOLE[:60] + b"\xff" + WHOLE[61:]),
    "a negative size": packed(b"", "-60").replace(b"data.tar", b"control."),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_package_is_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(EngineError, match=r"^.*install again$"):
        unpack(content, tmp_path / "folder")


def test_the_sources_of_a_kernel_unpack_with_the_links_in_them(tmp_path: Path) -> None:
    tree = kernel.unpack(KERNEL, tmp_path, lambda _: None)
    assert (tree / "scripts/dtc/include/linux/a.h").is_file()
    assert (tree / "arch/um/Kconfig").is_file()
    assert not (tree / "sound/a.c").exists()
