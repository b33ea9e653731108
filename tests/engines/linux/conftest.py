"""A small scenario, the kernel if one is installed, and mirrors of packages."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.install import installed
from fullpipe.engines.linux.install.installed import Installed, everything

SMALL = """
name = "small"
duration = "4 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
cca = "cubic"
"""


@pytest.fixture
def small() -> Scenario:
    """One flow for four seconds."""
    return Scenario.from_toml(SMALL)


@pytest.fixture
def known() -> Installed:
    """A kernel that has everything; it cannot boot."""
    return everything()


@pytest.fixture(scope="session")
def linux() -> LinuxEngine:
    """The engine, if this machine can run it."""
    if installed.find() is None:
        pytest.skip(f"no kernel is installed; {installed.INSTALL} builds one")
    return LinuxEngine()


MIRROR = Path(__file__).parent / "mirror"
"""A kernel and flex, bison and m4, all of a few bytes, signed with a key that was thrown away (keys.gpg)."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the mirror, in front of an empty cache; its keys are trusted, and gpgv is there."""
    if not shutil.which("gpgv"):
        pytest.skip("there is no gpgv")
    shutil.copytree(MIRROR, tmp_path / "mirror")
    monkeypatch.setenv("FULLPIPE_DEBIAN_MIRROR", f"file://{tmp_path}/mirror")
    monkeypatch.setenv("FULLPIPE_DEBIAN_KEYRING", str(tmp_path / "mirror/keys.gpg"))
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "mirror"


Serve = Callable[[Callable[[str], bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve over plain http on this machine: from a request to all bytes of the answer; gives the address.

    The connection ends after them, whatever they announce.
    """
    listening: list[socket.socket] = []

    def answers(server: socket.socket, answer: Callable[[str], bytes]) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.sendall(answer(connection.recv(10_000).decode()))

    def start(answer: Callable[[str], bytes]) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)
        threading.Thread(target=answers, args=(server, answer), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    for server in listening:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
