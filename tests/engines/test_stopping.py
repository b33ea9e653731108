"""Ctrl-C and a request to end, while an engine is installed: one line, and the same command continues."""

from __future__ import annotations

import http.server
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fullpipe.engines.linux.install import installed
from tests.children import started

PACKAGE = bytes(8_000_000)
SENT = 2_500_000
FIELDS = {"Version": "1-1", "Filename": "a.deb", "Size": str(len(PACKAGE)), "SHA256": "0" * 64}
HOW = [signal.SIGINT, signal.SIGTERM]
NO_TOOLS = not installed.compiler().present or bool(installed.lacking())
NO_ROOM = shutil.disk_usage(tempfile.gettempdir()).free < 3 * 10**9
BUILDS = pytest.mark.skipif(NO_TOOLS or NO_ROOM, reason="no build tools, or no 3 GB of disk for a build")
LINE = "fullpipe: interrupted; the same command continues where this one stopped"


class Stalls(http.server.BaseHTTPRequestHandler):
    """A mirror, and an index of pip, whose packages stop coming; `asked` has the ranges asked for."""

    asked: list[str]
    coming: threading.Event
    ended: threading.Event

    def do_GET(self) -> None:
        if self.path.endswith("Packages.xz"):
            names = ("linux-source-9.9", "flex", "bison", "m4")
            paragraphs = ["\n".join(f"{k}: {v}" for k, v in {"Package": n, **FIELDS}.items()) for n in names]
            self.answer(lzma.compress("\n\n".join(paragraphs).encode()))
        elif self.path.endswith("/ns3/"):
            self.answer(b'<a href="/ns3-3.44.post0-cp311-cp311-manylinux_2_28_x86_64.whl">a</a>')
        elif self.path.endswith(("a.deb", ".whl")):
            self.asked.append(self.headers.get("Range", "all"))
            start = int(self.headers.get("Range", "bytes=0-")[6:-1])
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(PACKAGE) - start))
            self.end_headers()
            self.wfile.write(PACKAGE[start : start + SENT])
            self.coming.set()
            self.ended.wait(60)
        else:
            self.send_error(404)

    def answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def stalls() -> Iterator[type[Stalls]]:
    """Its class, with the port in `port`."""

    class Mine(Stalls):
        asked: list[str] = []  # noqa: RUF012 (of this test alone)
        coming, ended = threading.Event(), threading.Event()
        port = 0

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mine) as server:
        server.daemon_threads = True
        Mine.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Mine
        Mine.ended.set()
        server.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of engines with nothing but the program of the guest, if this machine has compiled it."""
    folder, compiled = tmp_path / "cache", installed.program()
    (folder / "linux").mkdir(mode=0o700, parents=True)
    if compiled.is_file():
        shutil.copy(compiled, folder / "linux")
    return folder


def install(
    name: str, folder: Path, port: int, *options: str, also: str = ""
) -> AbstractContextManager[subprocess.Popen[str]]:
    """Begin to install; programs are found in the folder `also`, too."""
    address = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "FULLPIPE_CACHE": str(folder),
        "FULLPIPE_DEBIAN_MIRROR": address,
        "PIP_INDEX_URL": address,
        "PIP_FIND_LINKS": "",
        "PIP_NO_CACHE_DIR": "1",
        "PATH": f"{os.environ['PATH']}:{also}",
    }
    return started([sys.executable, "-m", "fullpipe", "engines", "install", name, *options], env=environment)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def runs(pid: str) -> bool:
    """Whether a process has not ended."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def stopped(installing: subprocess.Popen[str], how: signal.Signals) -> list[str]:
    """What an installation says that is stopped; it ends with status 1."""
    installing.send_signal(how)
    _, said = installing.communicate(timeout=60)
    assert installing.returncode == 1
    assert "Traceback" not in said
    return said.splitlines()


@BUILDS
@pytest.mark.parametrize("how", HOW, ids=lambda how: how.name)
def test_a_download_that_is_stopped_is_continued(
    how: signal.Signals, cache: Path, stalls: type[Stalls]
) -> None:
    def size() -> int:
        return sum(path.stat().st_size for path in cache.rglob("*.part"))

    sizes = [0]
    for _ in range(2):
        with install("linux", cache, stalls.port, "--insecure", "--unverified") as installing:
            until(lambda: size() > sizes[-1])
            assert stopped(installing, how)[-1] == LINE
        sizes.append(size())
    assert stalls.asked == ["all", f"bytes={sizes[1]}-"]


@pytest.mark.parametrize("how", HOW, ids=lambda how: how.name)
def test_a_wheel_that_is_stopped_leaves_nothing_half(
    how: signal.Signals, tmp_path: Path, stalls: type[Stalls]
) -> None:
    with install("ns3", tmp_path, stalls.port) as installing:
        assert stalls.coming.wait(120)
        assert stopped(installing, how)[-1] == LINE
    assert not list(tmp_path.rglob("*.whl"))


@BUILDS
@pytest.mark.parametrize("how", HOW, ids=lambda how: how.name)
def test_a_build_that_is_stopped_leaves_no_compiler(how: signal.Signals, tmp_path: Path, cache: Path) -> None:
    tree, begun = tmp_path / "tree", tmp_path / "begun"
    (tree / "arch/um").mkdir(parents=True)
    (tree / "arch/um/Kconfig").touch()
    (tree / "Makefile").write_text(f"mrproper:\n\tsleep 600 & echo $$PPID $$! > {begun}; wait\n")
    for name in ("flex", "bison"):
        (tmp_path / name).touch(mode=0o755)
    with install("linux", cache, 9, "--source", str(tree), also=str(tmp_path)) as installing:
        until(begun.exists)
        until(begun.read_text)
        make, compiler = begun.read_text().split()
        assert stopped(installing, how)[-1] == LINE
    assert not runs(make)
    until(lambda: not runs(compiler))
