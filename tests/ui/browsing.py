"""Functions that tests of the page in Chromium share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Open = Callable[..., Any]


def drawn(tab: Any, number: int = 0) -> int:
    """How many points of the canvas of a figure are not empty."""
    code = """(canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
        .data.filter((value, n) => n % 4 === 3 && value > 0).length"""
    return int(tab.locator(".chart canvas").nth(number).evaluate(code))


def samples(tab: Any, number: int = 0, line: int = 1) -> list[float]:
    """The values of a line of a figure."""
    code = "(plot, line) => Array.from(plot.plot.data[line])"
    found: list[float] = tab.locator(".plot").nth(number).evaluate(code, line)
    return found


def finished(tab: Any) -> str:
    """The sentence with the result, after the run has ended."""
    from playwright.sync_api import expect

    expect(tab.locator(".variant.running")).to_have_count(0, timeout=60_000)
    return str(tab.locator(".sentence").first.inner_text())


def moved(tab: Any, change: Callable[[], Any]) -> str:
    """The sentence with the result after a change, once it differs."""
    from playwright.sync_api import expect

    before = finished(tab)
    change()
    expect(tab.locator(".sentence").first).not_to_have_text(before, timeout=60_000)
    return finished(tab)


def written(tab: Any, name: str, value: str) -> None:
    """Write a number into a field."""
    field = tab.get_by_role("spinbutton", name=name)
    field.fill(value)
    field.press("Enter")
