"""Every figure of the documentation is drawn by a command that its page shows, and none is kept unused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.gallery import page as gallery_page
from scripts.write_docs import SITE
from tests.docs.blocks import PAGES, ROOT

ASSETS = ROOT / "docs" / "assets"
GALLERY = ROOT / "docs" / "gallery.md"
"""Written when the documentation is built."""
IMAGE = re.compile(r"!\[[^]]+\]\((?:[^)\s]*/)?assets/([^)\s]+)\)")
COMMAND = re.compile(r"\b(?:fullpipe|python) [^`\n]+")
BY_MAKE = {"agreement.svg": "fullpipe agree"}
"""Beside pages that a command writes whole: `make engines` has all of it."""


def figures() -> list[tuple[Path, str]]:
    """Every figure with the page on which it is, the README and the gallery among them."""
    return [(page, name) for page in [*PAGES, GALLERY] for name in IMAGE.findall(_text(page))]


def _text(page: Path) -> str:
    return gallery_page() if page == GALLERY else page.read_text(encoding="utf-8")


def draws(command: str, name: str) -> bool:
    """Whether a command draws a figure of this name."""
    if script := re.search(r"python (scripts/\w+\.py)", command):
        stem = name.removesuffix(".svg")
        return f'"{stem}' in (ROOT / script[1]).read_text(encoding="utf-8")
    if study := re.match(r"fullpipe paper (\w+)", command):
        return name.removesuffix(".svg") in {f"{study[1]}-{stem}" for stem in stems(study[1], name)}
    if name in BY_MAKE:
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        return command.startswith(BY_MAKE[name]) and f"--plot docs/assets/{name}" in makefile
    return command.endswith(f" {name}")


def stems(study: str, name: str) -> set[str]:
    """What a study may call a figure of this name in its sources; `figure-7-{rtt}ms` is any such text."""
    sources = (ROOT / "python" / "fullpipe" / "studies" / study).glob("*.py")
    said = {text for path in sources for text in re.findall(r'"([\w{}-]+)"', path.read_text("utf-8"))}
    patterns = [re.sub(r"\\{.*?\\}", r"\\w+", re.escape(text)) for text in said]
    return {found[1] for text in patterns if (found := re.fullmatch(f"{study}-({text}).svg", name))}


def shows_command(page: Path, name: str) -> bool:
    """Whether a page shows how a figure was drawn, or leads to the part of the gallery that does."""
    if name.startswith("gallery/"):  # test_gallery.py holds the commands beside them
        return page == GALLERY or f"{SITE}gallery/#" in _text(page)
    return any(draws(command, name) for command in COMMAND.findall(_text(page)))


@pytest.mark.parametrize(("page", "name"), figures(), ids=lambda value: str(getattr(value, "stem", value)))
def test_a_page_shows_the_command_that_draws_its_figure(page: Path, name: str) -> None:
    assert (ASSETS / name).exists()
    assert shows_command(page, name)


def test_every_figure_is_on_a_page() -> None:
    kept = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*") if path.suffix != ".csv"}
    assert kept - {"gallery"} == {name for _, name in figures()}


@pytest.mark.parametrize(
    ("command", "name", "does"),
    [
        ("fullpipe plot runs --out lines.svg", "lines.svg", True),
        ("fullpipe plot runs --out other-lines.svg", "lines.svg", False),
        ("fullpipe paper kato2025", "kato2025-figure-2.svg", True),
        ("fullpipe paper kato2025", "kato2025-figure-99.svg", False),
        ("fullpipe paper adbbr2025", "adbbr2025-figure-7-20ms.svg", True),
        ("fullpipe paper adbbr2025", "adbbr2025-figure-7.svg", False),
        ("fullpipe paper kato2025", "gniaz2025-figure-2.svg", False),
        ("python scripts/two_flows.py", "two-flows-rtt.svg", True),
        ("python scripts/two_flows.py", "ns3-ablation.svg", False),
        ("fullpipe agree --seeds 3", "agreement.svg", True),
        ("fullpipe compare a.toml", "agreement.svg", False),
    ],
)
def test_a_command_draws_the_figures_that_it_names(command: str, name: str, does: bool) -> None:
    assert draws(command, name) == does
