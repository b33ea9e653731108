"""Clients that hold a connection: how long and how many they may, and what others get meanwhile."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="pip install 'fullpipe[ui]'")

import uvicorn

from fullpipe.cli.ui import _listening
from fullpipe.cli.ui.application import Server
from fullpipe.cli.ui.guard import Guard, Limits, server_of
from tests.ui.conftest import what_if

BUFFER_BYTES = 4_096
"""Buffer of a socket, small enough that a client that does not read soon blocks its response."""
LATE_S = 10.0
"""Real time that a test waits for what should come at once."""


@dataclass
class ServedPage:
    """A page that is served in a thread, and its clients."""

    address: str
    server: uvicorn.Server
    cookie: str
    clients: ExitStack

    def client(self, sent: bytes = b"") -> socket.socket:
        """A connection that has sent something."""
        made = self.clients.enter_context(socket.socket())
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        made.settimeout(LATE_S)
        host, _, port = self.address.partition(":")
        made.connect((host, int(port)))
        made.sendall(sent)
        return made

    def request(self, body: Any) -> bytes:
        """A request for a live run."""
        data = json.dumps(body).encode()
        return (
            f"POST /api/live HTTP/1.1\r\nHost: {self.address}\r\nCookie: {self.cookie}\r\n"
            f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        ).encode() + data


Serve = Callable[..., ServedPage]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves a page with other limits than the usual ones."""
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(_served(tmp_path / "runs", Limits(**limits)))


@contextmanager
def _served(store: Path, limits: Limits) -> Iterator[ServedPage]:
    listening = _listening("127.0.0.1", 0)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    address = f"127.0.0.1:{listening.getsockname()[1]}"
    guard = Guard(Server(store, limits=limits).application(), frozenset({address}), "page")
    server = server_of(guard, limits)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        with ExitStack() as clients:
            yield ServedPage(address, server, f"page={guard._session}", clients)
    finally:
        server.should_exit = True
        thread.join()


def is_closed(client: socket.socket) -> bool:
    """Whether the server closes a connection without an answer."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def answer(client: socket.socket) -> bytes:
    """All that the server sends."""
    return b"".join(iter(lambda: client.recv(65_536), b""))


@pytest.mark.parametrize("part", [0.0, 0.1, 0.9], ids=["nothing", "headers", "body"])
def test_a_request_that_is_not_finished_is_closed(serve: Serve, part: float) -> None:
    page = serve(request_s=0.1)
    whole = page.request({"scenario": what_if()})
    assert is_closed(page.client(whole[: round(part * len(whole))]))


def test_parts_of_a_request_do_not_prolong_the_time_for_it(serve: Serve) -> None:
    client = serve(request_s=0.2).client(b"GET / HTTP/1.1\r\n")
    client.settimeout(0.02)
    end = time.monotonic() + LATE_S
    while time.monotonic() < end:
        with suppress(TimeoutError):
            assert is_closed(client)
            return
        with suppress(OSError):
            client.sendall(b"X: y\r\n")
    pytest.fail("it is still open")


def test_connections_are_counted_and_more_are_closed(serve: Serve) -> None:
    page = serve(connections=2)
    first, _, third = (page.client() for _ in range(3))
    assert is_closed(third)
    first.close()
    end = time.monotonic() + LATE_S
    while len(page.server.server_state.connections) > 1 and time.monotonic() < end:
        time.sleep(0.01)
    assert b"event: end" in answer(page.client(page.request({"scenario": what_if(duration="2 s")})))


def test_a_client_that_does_not_read_loses_its_turn(serve: Serve) -> None:
    page = serve(at_once=1, waiting=1, wall_s=0.5)
    long = what_if(duration="600 s", record={"interval": "50 ms"})  # enough for several parts
    silent = page.client(page.request({"scenario": long}))
    assert silent.recv(1, socket.MSG_PEEK)  # it has its turn
    assert b"event: end" in answer(page.client(page.request({"scenario": what_if(duration="2 s")})))


def test_a_client_that_leaves_in_mid_body_prints_nothing(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    page = serve()
    whole = page.request({"scenario": what_if()})
    leaving, end = page.client(whole[:-20]), time.monotonic() + LATE_S
    while not page.server.server_state.tasks and time.monotonic() < end:
        time.sleep(0.01)
    leaving.close()
    while page.server.server_state.tasks and time.monotonic() < end:
        time.sleep(0.01)
    assert capfd.readouterr().err == ""
