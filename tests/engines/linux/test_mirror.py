"""Packages are used only if they are verified; what goes wrong with a mirror is one clean line."""

from __future__ import annotations

import lzma
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from fullpipe.engines.linux.install import debian, download, installed, kernel
from fullpipe.engines.linux.install.debian import Mirror, Package
from fullpipe.errors import EngineError, InstallOptionError

Serve = Callable[[Callable[[str], bytes]], str]
INDEX = "dists/sid/main/binary-all/Packages.xz"
KERNEL = "pool/linux-source-9.9.deb"
UNKNOWN = "linux-source-9.9 9.9.1-1"


def silent(line: str) -> None:
    """Ignore all progress."""


def taken(mirror: Mirror, folder: Path, said: list[str] | None = None) -> Path:
    """The newest kernel of a mirror, fetched."""
    return mirror.fetch(kernel.newest(mirror, None), folder, (said if said is not None else []).append)


def refused(do: Callable[[], object]) -> str:
    """What is said, which is one line."""
    with pytest.raises(EngineError) as caught:
        do()
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def flip(path: Path, place: int = 200) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_what_is_signed_is_taken_and_the_key_is_named(mirror: Path, tmp_path: Path) -> None:
    said: list[str] = []
    assert taken(Mirror(), tmp_path, said).read_bytes() == (mirror / KERNEL).read_bytes()
    assert said[0] == f"{UNKNOWN} of Debian, signed by a key of {mirror}/keys.gpg"


def test_nobody_needs_to_vouch_for_the_signed_kernel_of_a_version_that_nobody_knows() -> None:
    assert UNKNOWN not in debian.pins()


@pytest.mark.parametrize(
    ("name", "place", "word"),
    [
        ("dists/sid/InRelease", 60, "changed after Debian signed it"),
        (INDEX, 200, "its digest is not the one that Debian signed"),
        (KERNEL, 200, "damaged or changed on the way"),
    ],
)
def test_a_flipped_bit_is_refused(mirror: Path, tmp_path: Path, name: str, place: int, word: str) -> None:
    flip(mirror / name, place)
    assert word in refused(lambda: taken(Mirror(), tmp_path))
    assert list(tmp_path.glob("*.deb")) == []


@pytest.mark.parametrize("name", installed.BORROWED)
def test_a_flipped_bit_in_a_borrowed_tool_is_refused(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    flip(mirror / f"pool/{name}.deb")
    monkeypatch.setattr(installed.shutil, "which", lambda name: name if name == "gpgv" else None)
    assert "damaged" in refused(lambda: installed.borrowed(Mirror(), tmp_path / "tools", silent))
    assert not (tmp_path / "tools").exists()


def test_tools_are_whole_or_not_there(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacking stops at the last of them; the same command begins again with what was fetched."""
    monkeypatch.setattr(installed.shutil, "which", lambda name: name if name == "gpgv" else None)
    extract = installed.debian.extract

    def stop(tar: Any, folder: Path) -> None:
        extract(tar, folder)
        if (folder / "usr/bin/m4").exists():
            raise KeyboardInterrupt

    monkeypatch.setattr(installed.debian, "extract", stop)
    with pytest.raises(KeyboardInterrupt):
        installed.borrowed(Mirror(), tmp_path / "tools", silent)
    assert not (tmp_path / "tools").exists()
    monkeypatch.setattr(installed.debian, "extract", extract)
    said: list[str] = []
    assert "M4" in installed.borrowed(Mirror(), tmp_path / "tools", said.append)
    assert not [line for line in said if line.startswith("fetching")]


def test_a_package_that_was_changed_in_the_cache_is_fetched_again(mirror: Path, tmp_path: Path) -> None:
    flip(taken(Mirror(), tmp_path))
    assert taken(Mirror(), tmp_path).read_bytes() == (mirror / KERNEL).read_bytes()


def test_a_package_that_was_changed_in_the_cache_is_not_used_in_want_of_another(
    mirror: Path, tmp_path: Path
) -> None:
    flip(taken(Mirror(), tmp_path))
    (mirror / KERNEL).unlink()
    refused(lambda: taken(Mirror(), tmp_path))
    assert list(tmp_path.glob("*.deb")) == []


def test_text_around_the_signed_one_is_not_believed(mirror: Path, tmp_path: Path) -> None:
    index, release = mirror / INDEX, mirror / "dists/sid/InRelease"
    flip(index)
    digest = debian._digest(index)
    release.write_text(
        f"Suite: sid\nSHA256:\n {digest} 1 main/binary-all/Packages.xz\n\n{release.read_text()}"
    )
    refused(lambda: taken(Mirror(), tmp_path))


def test_what_is_signed_for_one_suite_is_not_taken_for_another(mirror: Path, tmp_path: Path) -> None:
    (mirror / "dists/sid/InRelease").write_bytes((mirror / "dists/bookworm/InRelease").read_bytes())
    assert "for another suite" in refused(lambda: taken(Mirror(), tmp_path))


def no_gpgv(monkeypatch: pytest.MonkeyPatch, mirror: Path) -> None:
    monkeypatch.setattr(debian.download.shutil, "which", lambda _: None)


def no_keys(monkeypatch: pytest.MonkeyPatch, mirror: Path) -> None:
    monkeypatch.delenv("FULLPIPE_DEBIAN_KEYRING")
    monkeypatch.setattr(debian.download, "_USUAL", ())


def empty_keys(monkeypatch: pytest.MonkeyPatch, mirror: Path) -> None:
    (mirror / "keys.gpg").write_bytes(b"")


def not_signed(monkeypatch: pytest.MonkeyPatch, mirror: Path) -> None:
    release = mirror / "dists/sid/InRelease"
    release.write_text(release.read_text().split("\n\n", 1)[1].split("-----BEGIN")[0])


@pytest.fixture(params=[no_gpgv, no_keys, empty_keys, not_signed], ids=lambda how: how.__name__)
def doubtful(mirror: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A mirror whose signatures cannot be checked."""
    request.param(monkeypatch, mirror)
    return mirror


@pytest.mark.usefixtures("doubtful")
def test_what_cannot_be_verified_is_refused_with_what_to_do(tmp_path: Path) -> None:
    told = refused(lambda: taken(Mirror(), tmp_path))
    assert told.startswith(f"{UNKNOWN} cannot be verified: ")
    assert "debian-archive-keyring" in told  # long paths are cut out of the middle
    assert "--unverified" in told
    assert list(tmp_path.glob("*.deb*")) == []


@pytest.mark.usefixtures("doubtful")
def test_what_cannot_be_verified_is_taken_when_told_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    assert taken(Mirror(unverified=True), tmp_path, said).is_file()
    assert "NOT VERIFIED" in said[0]


def test_a_known_version_is_taken_without_a_signature(
    doubtful: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian, "pins", lambda: {UNKNOWN: debian._digest(doubtful / KERNEL)})
    said: list[str] = []
    assert taken(Mirror(), tmp_path, said).is_file()
    assert "by its known digest" in said[0]


@pytest.mark.parametrize("unverified", [False, True])
def test_a_known_version_with_other_bytes_is_always_refused(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unverified: bool
) -> None:
    monkeypatch.setattr(debian, "pins", lambda: {UNKNOWN: "0" * 64})
    assert "so the package was changed" in refused(lambda: taken(Mirror(unverified=unverified), tmp_path))


def test_what_a_build_borrows_is_known_here() -> None:
    names = {package.split()[0] for package in debian.pins()}
    assert names >= set(installed.BORROWED)


def test_a_keyring_that_is_not_there_is_told(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLPIPE_DEBIAN_KEYRING", "/nowhere.gpg")
    assert "/nowhere.gpg" in refused(lambda: kernel.newest(Mirror(), None))


@pytest.mark.parametrize(
    "address", ["foo", "", "https//a", "ftp://127.0.0.1/debian", "http://127.0.0.1/debian", "data:,a"]
)
def test_an_address_that_is_none_or_not_secure_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FULLPIPE_DEBIAN_MIRROR", address)
    with pytest.raises(InstallOptionError, match=r"^\$FULLPIPE_DEBIAN_MIRROR is .*; (name|write) "):
        kernel.newest(Mirror(unverified=True), None)


def test_an_address_that_is_none_is_misuse_where_tools_are_borrowed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FULLPIPE_DEBIAN_MIRROR", "foo")
    monkeypatch.setattr(installed.shutil, "which", lambda _: None)
    with pytest.raises(InstallOptionError, match="not an address of a mirror"):
        installed.borrowed(Mirror(), tmp_path / "tools", silent)


@pytest.mark.parametrize(
    "address", ["https://[", "https://127.0.0.1:port", "http://127.0.0.1:1 2", "file:///a"]
)
def test_an_address_that_leads_nowhere_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLPIPE_DEBIAN_MIRROR", address)
    told = refused(lambda: kernel.newest(Mirror(insecure=True, unverified=True), None))
    assert "run the same command later to continue" in told


def test_nothing_leads_from_https_to_plain_http() -> None:
    asked = urllib.request.Request("https://localhost/a")
    follow = download._NoDowngrade().redirect_request
    with pytest.raises(urllib.error.URLError, match="from https"):
        follow(asked, None, 302, "Found", Message(), "http://localhost/b")
    assert follow(asked, None, 302, "Found", Message(), "https://localhost/b")


BROKEN = {
    "a connection that is cut": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc",
    "chunks that are cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nabc",
    "no http": b"220 mail\r\n",
    "nothing": b"",
    "no such file": b"HTTP/1.1 404 Not Found\r\n\r\n",
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_connection_is_one_line_that_says_what_to_do(
    serve: Serve, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FULLPIPE_DEBIAN_MIRROR", serve(lambda _: answer))
    told = refused(lambda: kernel.newest(Mirror(insecure=True, unverified=True), None))
    assert "run the same command later to continue" in told


def index(**fields: str) -> bytes:
    """An index of one package, of which some fields are others; empty ones are left out."""
    usual = {
        "Package": "linux-source-9.9",
        "Version": "9.9.1-1",
        "Filename": "a.deb",
        "Size": "10",
        "SHA256": "0" * 64,
    }
    lines = [f"{key}: {value}" for key, value in {**usual, **fields}.items() if value]
    return lzma.compress("\n".join(lines).encode())


BAD = {
    "no xz": b"Package: a\n",
    "half": index()[:-20],
    "no SHA256": index(SHA256=""),
    "a digest that is none": index(SHA256="../x"),
    "a version that is a path": index(Version="1/../../x"),
    "an escape": index(Version="1\x1b[2J"),
    "a size that is none": index(Size="-5"),
    "too large": index(Size="900000000000"),
}


def bomb() -> bytes:
    """Small, and longer than an index may be when it is unpacked."""
    return lzma.compress(bytes(debian._MOST_EXPANDED + 1), preset=0)


@pytest.mark.parametrize("name", [*BAD, "a bomb"])
def test_an_index_that_is_none_is_one_clean_line(mirror: Path, name: str) -> None:
    (mirror / INDEX).write_bytes(bomb() if name == "a bomb" else BAD[name])
    assert refused(lambda: kernel.newest(Mirror(unverified=True), None)).isprintable()


def test_an_index_without_end_is_not_read_to_its_end(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "_MOST_INDEX", 100)
    assert "longer than the limit of 100 bytes" in refused(
        lambda: kernel.newest(Mirror(unverified=True), None)
    )


def test_a_suite_in_doubt_is_passed_over_for_a_version_and_not_for_the_newest(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def packages(self: Mirror, suite: str, architecture: str, names: str) -> list[Package]:
        if suite == "sid":
            raise debian.InconsistentError("in doubt")
        return [Package("linux-source-9.9", "1", "", "", 1)]

    monkeypatch.setattr(Mirror, "packages", packages)
    assert kernel.newest(Mirror(), "9.9").version == "1"
    with pytest.raises(EngineError, match="in doubt"):
        kernel.newest(Mirror(), None)


@pytest.fixture
def package(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> tuple[Package, list[str]]:
    """A package of ten bytes from a server that ends every connection after four, and what it was asked."""
    whole, asked = b"0123456789", list[str]()

    def answer(request: str) -> bytes:
        asked.extend(line for line in request.splitlines() if line.startswith("Range"))
        start = int(asked[-1].split("=")[1].rstrip("-")) if asked else 0
        status = "206 Partial Content" if start else "200 OK"
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(whole) - start}\r\n\r\n"
        return head.encode() + whole[start : start + 4]

    digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    monkeypatch.setattr(debian, "pins", lambda: {"p 1": digest})
    return Package("p", "1", f"{serve(answer)}/p.deb", digest, len(whole), "of tests"), asked


def test_a_connection_that_is_cut_is_continued_where_it_ended(
    package: tuple[Package, list[str]], tmp_path: Path
) -> None:
    given, asked = package
    for had in (4, 8):
        assert "run the same command later to continue" in refused(
            lambda: Mirror().fetch(given, tmp_path, silent)
        )
        assert (tmp_path / "p_1.deb.part").stat().st_size == had
    assert Mirror().fetch(given, tmp_path, silent).read_bytes() == b"0123456789"
    assert asked == ["Range: bytes=4-", "Range: bytes=8-"]


def test_more_than_was_announced_is_not_kept(serve: Serve, tmp_path: Path) -> None:
    url = serve(lambda _: b"HTTP/1.1 200 OK\r\n\r\n" + bytes(1000))
    assert "longer than the 10 bytes" in refused(lambda: download.append(url, tmp_path / "a", 0, 10, silent))
    assert (tmp_path / "a").stat().st_size <= 10


def test_a_damaged_part_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "pins", lambda: {"p 1": "0" * 64})
    (tmp_path / "p_1.deb.part").write_bytes(b"something else")
    given = Package("p", "1", "https://localhost/p.deb", "0" * 64, 3, "of tests")
    assert "damaged" in refused(lambda: Mirror().fetch(given, tmp_path, silent))
    assert not (tmp_path / "p_1.deb.part").exists()
