"""The built site in a browser: a search finds what explains a word, and nothing is wider than a phone.

`make docs` builds the site and says where it is in FULLPIPE_SITE; otherwise these tests are skipped."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

SITE = os.environ.get("FULLPIPE_SITE")
pytestmark = pytest.mark.skipif(SITE is None, reason="`make docs` tries the site that it builds")

EXPLAINED = {
    "bufferbloat": "reference/glossary/#bufferbloat",
    "starvation": "reference/glossary/#starvation",
    "L4S": "reference/glossary/#l4s",
    "RTT unfairness": "reference/glossary/#rtt-unfairness",
    "pacing": "reference/glossary/#pacing",
    "AQM": "reference/glossary/#aqm",
    "jitter": "reference/glossary/#jitter",
}
"""Where a word of the field is explained, with links to all that is about it."""
FIRST = 3
"""Results that a reader sees without scrolling."""
WIDE = ["", "gallery/", "reference/scenario/", "reference/glossary/", "explanation/adbbr2025/"]
"""Pages with figures, long commands and wide tables."""
OVERFLOW = "() => document.documentElement.scrollWidth - window.innerWidth"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served, as a search has to fetch its index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.parametrize("word", EXPLAINED)
def test_a_search_finds_first_what_explains_a_word(word: str, address: str, browser: Any) -> None:
    page = browser.new_page()
    page.goto(address)
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").fill(word)
    page.wait_for_selector(".md-search-result__link")
    links = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    page.close()
    shown = [re.sub(r"\?h=[^#]*", "", link.removeprefix(address)) for link in links[:FIRST]]
    assert EXPLAINED[word] in shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", WIDE)
def test_a_page_is_no_wider_than_a_phone(path: str, scheme: str, address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page.goto(address + path)
    assert page.evaluate(OVERFLOW) <= 0
    page.close()
