"""The built site in a browser: a search finds what explains a word, and every page is whole.

`make docs` builds the site and says where it is in FULLPIPE_SITE; otherwise these tests are skipped."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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
BROKEN = "() => [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
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


@pytest.fixture(scope="module")
def searched(address: str, browser: Any) -> Iterator[Any]:
    """A page whose search has read its index, which takes seconds."""
    page = browser.new_page()
    page.goto(address)
    page.locator("input.md-search__input").click()
    yield page
    page.close()


@pytest.mark.parametrize("word", EXPLAINED)
def test_a_search_finds_first_what_explains_a_word(word: str, address: str, searched: Any) -> None:
    searched.locator(".md-search-result__list").evaluate("found => found.replaceChildren()")
    searched.locator("input.md-search__input").fill(word)
    searched.keyboard.press("End")  # it searches when a key comes up
    named = word.split(maxsplit=1)[0].lower()
    searched.wait_for_selector(f'.md-search-result__link[href*="?h={named}" i]')
    links = searched.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    shown = [re.sub(r"\?h=[^#]*", "", link.removeprefix(address)) for link in links[:FIRST]]
    assert EXPLAINED[word] in shown


@pytest.mark.parametrize("path", WIDE)
def test_a_dark_page_is_no_wider_than_a_phone(path: str, address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.goto(address + path)
    assert page.evaluate(OVERFLOW) <= 0
    page.close()


def test_every_page_fits_and_has_its_pictures_and_asks_for_nothing_elsewhere(
    address: str, browser: Any
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    network = page.context.new_cdp_session(page)  # `page.route` would keep nothing for the next page
    network.send("Network.enable")
    network.send("Network.setBlockedURLs", {"urls": ["*search_index.json"]})  # which takes longest to read
    found = {}
    pages = sorted(path.relative_to(str(SITE)).as_posix() for path in Path(str(SITE)).rglob("index.html"))
    for path in pages:
        page.goto(address + path)
        found[path] = [page.evaluate(OVERFLOW) > 0, *page.evaluate(BROKEN)]
    page.close()
    assert {path: wrong for path, wrong in found.items() if wrong != [False]} == {}
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert len(pages) > 100
