"""Fixtures of the tests of reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fullpipe.report.content import (
    Document,
)
from fullpipe.report.html import html
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from tests.chromium import WATCH
from tests.report.pages import Show, runs_of


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens a report offline. Whatever it asked for, said to the console or was refused fails the test."""
    told: list[str] = []
    requests: list[str] = []
    contexts = []

    def opened(page: Document, samples: int = Budget().samples, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html(page, samples), encoding="utf-8")
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        context.add_init_script(WATCH)
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: told.append(message.text))
        tab.on("pageerror", lambda error: told.append(str(error)))
        tab.on("dialog", lambda dialog: (told.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.goto(path.as_uri())
        return tab

    yield opened
    ran = "document.querySelector('.theme') !== null"
    has_scripts = [tab for context in contexts for tab in context.pages if tab.evaluate(ran)]
    violations = [line for tab in has_scripts for line in tab.evaluate("window.violations")]
    for context in contexts:
        context.close()
    assert [url for url in requests if not url.startswith("data:image/")] == [requests[0]]
    assert told == []
    assert violations == []


@pytest.fixture(scope="module")
def runs() -> Document:
    """A page of six runs."""
    return page_of(runs_of())
