"""A report as one HTML file that asks for nothing from elsewhere and runs only its own scripts."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fullpipe.palette import COLOURS, STROKES
from fullpipe.report.basis import html_of
from fullpipe.report.content import Document
from fullpipe.report.html.tables import shown
from fullpipe.report.html.writer import Writer

_ASSETS, _BUILT = "assets", "static"
"""Folders of the files written by hand, and of those that `make page` builds from web/src/report."""


def html(page: Document, samples: int) -> str:
    """The whole file. It has no dates and nothing random: the same page gives the same bytes.

    Args:
        page: What it says.
        samples: The most numbers of all time series.
    """
    style, script = _style(), _asset("report.js", _BUILT)
    writer = Writer(page, samples)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{shown(page.title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#main">To the content</a>',
        *writer.body(),
        *([html_of(page.basis)] if page.basis else []),
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def _policy(style: str, script: str) -> str:
    """Content security policy: only the page's own style and script, by their digests, and pictures in it."""
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str, folder: str = _ASSETS) -> str:
    return files("fullpipe.report").joinpath(folder, name).read_text(encoding="utf-8").strip()


@cache
def _style() -> str:
    """The style sheet: colours of algorithms, then those of light, of dark and of print, then the rest."""
    colours = "".join(f"--c{n}:{colour};" for n, colour in enumerate(COLOURS))
    looks = "".join(f".c{n}{{--k:var(--c{n})}}" for n in range(len(COLOURS)))
    dashes = [(n, " ".join(map(str, stroke))) for n, stroke in enumerate(STROKES) if stroke]
    looks += "".join(f".d{n}.line{{stroke-dasharray:{dash}}}" for n, dash in dashes)
    light, dark = _asset("light.css"), _asset("dark.css")
    themes = (
        f":root{{{colours}{light}}}:root[data-theme=dark]{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media print{{:root,:root:not([data-theme=light]),:root[data-theme=dark]{{{colours}{light}}}}}"
    )
    return themes + _asset("charts.css", _BUILT) + _asset("shared.css") + looks + _asset("report.css")
