"""A page that is served to a client of HTTP within the test, and one that a process serves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="pip install 'fullpipe[ui]'")
pytest.importorskip("uvicorn", reason="pip install 'fullpipe[ui]'")

import uvicorn
from starlette.testclient import TestClient

from fullpipe.cli.ui import _listening
from fullpipe.cli.ui.application import guarded
from fullpipe.cli.ui.guard import Guard
from tests.children import started
from tests.chromium import WATCH

ADDRESS = "127.0.0.1:4321"
Served = Callable[..., tuple[str, subprocess.Popen[str]]]
"""Starts a page in a process; gives its address and the process."""


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """A page that has not been opened."""
    return guarded(tmp_path / "runs", ADDRESS, False)


@pytest.fixture
def client(guard: Guard) -> TestClient:
    """A browser that has opened it."""
    opened = TestClient(guard, base_url=f"http://{ADDRESS}")
    assert opened.get("/", params={"token": guard.token}).status_code == 200
    return opened


def what_if(**more: Any) -> dict[str, Any]:
    """A scenario as the page sends it."""
    queue = {"kind": "drop_tail", "size": "1 bdp"}
    data = {
        "name": "what-if",
        "duration": "5 s",
        "warmup": "1 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": queue},
        },
        "flows": [{"cca": "cubic", "start_jitter": "100 ms"}, {"cca": "bbr3", "start_jitter": "100 ms"}],
    }
    return {**data, **more}


def events_of(text: str) -> list[tuple[str, str]]:
    """The events of an answer: names and data."""
    lines = [part.split("\n") for part in text.split("\n\n") if part]
    return [(name.removeprefix("event: "), data.removeprefix("data: ")) for name, data in lines]


def event_named(text: str, name: str) -> Any:
    """The data of the last event of a name."""
    return json.loads([data for found, data in events_of(text) if found == name][-1])


def _serving(folder: Path, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """`fullpipe ui` as a process of its own, which prints an address first."""
    command = [sys.executable, "-m", "fullpipe", "ui", "--no-browser", *options]
    return started(command, cwd=folder, stderr=None)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Starts a page in a process; gives the address that it prints, and the process."""
    with ExitStack() as stack:

        def start(*options: str) -> tuple[str, subprocess.Popen[str]]:
            process = stack.enter_context(_serving(tmp_path, *options))
            assert process.stdout is not None
            return process.stdout.readline().strip(), process

        yield start


@contextmanager
def _serving_here(folder: Path) -> Iterator[str]:
    """The page in a thread of this process: its address with the token."""
    listening = _listening("127.0.0.1", 0)
    address = f"127.0.0.1:{listening.getsockname()[1]}"
    guard = guarded(folder, address, False)
    server = uvicorn.Server(
        uvicorn.Config(guard, log_level="warning", ws="none", timeout_graceful_shutdown=1)
    )
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://{address}/?token={guard.token}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def empty_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with an empty store, for all tests that need no other: its address with the token."""
    with _serving_here(tmp_path_factory.mktemp("empty") / "runs") as url:
        yield url


@pytest.fixture(scope="session")
def empty_state() -> dict[str, Any]:
    """Stored state of a browser that has opened the page; empty before."""
    return {}


@pytest.fixture
def empty(empty_url: str, empty_state: dict[str, Any], browser: Any) -> tuple[str, dict[str, Any]]:
    """Its address without the token, and what a browser keeps of it."""
    if not empty_state:
        context = browser.new_context()
        context.new_page().goto(empty_url)
        empty_state.update(context.storage_state())
        context.close()
    return empty_url.partition("?")[0], empty_state


@pytest.fixture
def told() -> list[str]:
    """Messages of pages on the console, and errors of pages."""
    return []


@pytest.fixture
def show(
    browser: Any,
    served: Served,
    told: list[str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Any]]:
    """Opens the page. A request to another machine, a message of the console, an error or a breach of the
    policy fails the test."""
    monkeypatch.chdir(tmp_path)
    servers = ExitStack()
    requests: list[str] = []
    contexts: list[Any] = []
    starts: list[str] = []

    def opened(
        view: str = "",
        wait: str = ".sentence:not(:empty)",
        store: str | None = None,
        alone: bool = False,
        **options: Any,
    ) -> Any:
        """`store`: a server of its own shows this folder, `alone` in a process of its own; left out, one
        with an empty store is shared."""
        process = None
        if store is None:
            url, kept = request.getfixturevalue("empty")
            options = {"storage_state": kept, **options}
        elif alone:
            url, process = served(store)
        else:
            url = servers.enter_context(_serving_here(Path(store)))
        starts.append(urlsplit(url).netloc)
        context = browser.new_context(**options)
        context.process = process
        contexts.append(context)
        context.add_init_script(WATCH)
        context.on("request", lambda sent: requests.append(sent.url))
        tab = context.new_page()
        tab.on("console", lambda message: told.append(message.text))
        tab.on("pageerror", lambda error: told.append(str(error)))
        tab.on("dialog", lambda dialog: told.append(f"dialog {dialog.message}"))
        tab.on("dialog", lambda dialog: dialog.dismiss())
        if store is not None:
            tab.goto(url)
        if view or store is None:
            tab.goto(f"http://{starts[-1]}/{view}")
        tab.wait_for_selector(wait)
        return tab

    with servers:
        yield opened
        violations = [
            line for context in contexts for tab in context.pages for line in tab.evaluate("violations")
        ]
        for context in contexts:
            context.close()
    foreign = [url for url in requests if url.startswith("http") and urlsplit(url).netloc not in starts]
    assert foreign == []
    assert told == []
    assert violations == []
