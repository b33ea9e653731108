"""What all tests share: command line, browser, steady property tests, how many cases a long test tries.

No process is left at the end of a run (`tests.children`).

Property tests draw the same cases every time, and have as long as they need on a busy machine.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from typer.testing import CliRunner

from fullpipe.cli import app
from tests import children
from tests.chromium import ARGUMENTS, PATH

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long`, which `make test-long` gives."""
    parser.addoption("--long", action="store_true", help="try all cases of tests that otherwise try a tenth")


def pytest_configure(config: pytest.Config) -> None:
    """Mark the processes of this run; workers of xdist have the mark of the process that started them.

    Collecting tests leaves no garbage to look for. Workers have a width of the terminal in their environment,
    which would wrap notes in pipes.
    """
    gc.disable()
    os.environ.pop("COLUMNS", None)
    if not hasattr(config, "workerinput"):
        children.begin()


def pytest_collection_finish() -> None:
    """Look for garbage again, seldom, and not among the ten thousand tests and all that they import."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)
    gc.enable()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Say why there were no tests: pytest alone only fails."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and (word := config.getoption("keyword")):
        terminalreporter.write_line(f"no test has {word!r} in its name")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # after what has failed is printed
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail a run that leaves processes behind, after workers of xdist have ended."""
    yield
    _BROWSER.end()  # of a run that was stopped
    if not hasattr(session.config, "workerinput") and (left := children.left()):
        pytest.exit("processes are left:\n" + "\n".join(left), returncode=1)


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """How many of `n` cases to try: all with `--long`, else a tenth. The first ones are the same."""
    return lambda n: n if request.config.getoption("--long") else n // 10


class _Browser:
    """Chromium, which is started when a test first needs it."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._launched: Any = None

    def launched(self) -> Any:
        """Start the Chromium of FULLPIPE_CHROMIUM, or the one on the path."""
        playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'fullpipe[e2e]'")
        if PATH is None:
            pytest.skip("there is no chromium; say where one is in FULLPIPE_CHROMIUM")
        if self._launched is None:
            chromium = self._running.enter_context(playwright.sync_playwright()).chromium
            self._launched = chromium.launch(executable_path=PATH, args=ARGUMENTS)
            self._running.callback(self._launched.close)
        return self._launched

    def end(self) -> None:
        """End it, if it was started."""
        self._launched = None
        self._running.close()


_BROWSER = _Browser()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the browser after the last test of a folder: elsewhere, tests look for processes and threads."""
    try:
        yield
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            _BROWSER.end()


@pytest.fixture(scope="module")
def browser() -> Any:
    """Chromium, of which the tests of a folder share one."""
    return _BROWSER.launched()


@pytest.fixture
def fullpipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """The command line, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])
