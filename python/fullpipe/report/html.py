"""A report as one HTML file that asks for nothing from elsewhere and runs only its own scripts."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, assert_never
from urllib.parse import quote

from fullpipe.plots.style import COLOURS
from fullpipe.report.content import (
    Block,
    Code,
    Column,
    Document,
    Download,
    Figure,
    Image,
    Items,
    Section,
    Series,
    Table,
    Text,
)
from fullpipe.report.pyramid import FACTOR, NOTHING, quantised
from fullpipe.report.svg.chart import legend_of, svg_of
from fullpipe.report.svg.marks import classes
from fullpipe.report.text import lines_visible

_COLUMNS = 400
_MARKS = 24_000
"""Columns of time series that are drawn for readers without scripts: of one figure, and of all lines."""
_FEWEST = 60
_ASSETS = "assets"


def html(page: Document, samples: int) -> str:
    """The whole file. It has no dates and nothing random: the same page gives the same bytes.

    Args:
        page: What it says.
        samples: The most numbers in the finest levels of all time series.
    """
    style, scripts = _style(), (_asset("uplot.js"), _asset("report.js"))
    writer = _Writer(page, samples)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, scripts)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_shown(page.title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#main">To the content</a>',
        *writer.body(),
        *(f"<script>{script}</script>" for script in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def _policy(style: str, scripts: Sequence[str]) -> str:
    """What the browser lets the page do: its own style and scripts, by their digests, and pictures in it."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return files("fullpipe.report").joinpath(_ASSETS, name).read_text(encoding="utf-8").strip()


@cache
def _style() -> str:
    """The style sheet: colours of algorithms, then those of light, of dark and of print, then the rest."""
    colours = "".join(f"--c{n}:{colour};" for n, colour in enumerate(COLOURS))
    looks = "".join(f".c{n}{{--k:var(--c{n})}}" for n in range(len(COLOURS)))
    light, dark = _asset("light.css"), _asset("dark.css")
    themes = (
        f":root{{{colours}{light}}}:root[data-theme=dark]{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media print{{:root,:root:not([data-theme=light]),:root[data-theme=dark]{{{colours}{light}}}}}"
    )
    return themes + looks + _asset("uplot.css") + _asset("report.css")


def _shown(text: str) -> str:
    return escape(lines_visible(text))


class _Writer:
    """Writes a page; figures and downloads have numbers."""

    def __init__(self, page: Document, samples: int) -> None:
        self._page = page
        self._figures = 0
        self._headings = 0
        series = [figure.chart for figure in _figures(page.sections) if isinstance(figure.chart, Series)]
        numbers = sum(len(trace.values) for chart in series for trace in chart.traces)
        traces = sum(len(chart.traces) for chart in series)
        self._size = _smallest_group(numbers, samples)
        self._columns = max(_FEWEST, min(_COLUMNS, _MARKS // max(traces, 1)))

    def body(self) -> Iterator[str]:
        """The header with question and answer, the sections, and what it rests on."""
        page = self._page
        yield f'<header><p class="kind">fullpipe report</p><h1>{_shown(page.title)}</h1>'
        yield f'<p class="question">{_shown(page.question)}</p></header>'
        yield '<nav aria-label="Contents"><ul>'
        headings = ["What came out", *(section.heading for section in page.sections)]
        yield from (f'<li><a href="#s{n}">{_shown(text)}</a></li>' for n, text in enumerate(headings))
        yield '</ul></nav><main id="main" tabindex="-1">'
        answer = Section("What came out", [Items(page.answer)])
        for section in (answer, *page.sections):
            yield from self._section(section, 2)
        if page.facts:
            yield '</main><footer><h2>What this rests on</h2><dl class="facts">'
            yield from (f"<dt>{_shown(name)}</dt><dd>{_shown(value)}</dd>" for name, value in page.facts)
            yield "</dl></footer>"
        else:
            yield "</main>"

    def _section(self, section: Section, level: int) -> Iterator[str]:
        name = f' id="s{self._headings}"' if level == 2 else ""
        self._headings += level == 2
        yield f"<section{name}><h{level}>{_shown(section.heading)}</h{level}>"
        for block in section.blocks:
            yield from self._block(block)
        for inner in section.sections:
            yield from self._section(inner, level + 1)
        yield "</section>"

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Text():
                yield f"<p>{_shown(block.text)}</p>"
            case Items():
                yield f"<ul>{''.join(f'<li>{_shown(item)}</li>' for item in block.items)}</ul>"
            case Table():
                yield from _folded(block.caption, block.is_folded, _table(block))
            case Code():
                # A region that scrolls is to be reached by keyboard.
                code = f'<pre tabindex="0"><code>{_shown(block.text)}</code></pre>'
                yield from _folded(block.caption, block.is_folded, [code])
            case Download():
                yield _download(block)
            case Figure():
                yield from self._figure(block)
            case _:
                assert_never(block)

    def _figure(self, figure: Figure) -> Iterator[str]:
        self._figures += 1
        name = f"f{self._figures}"
        yield f'<figure id="{name}"><figcaption>{_shown(figure.caption)}{self._coarse(figure)}</figcaption>'
        yield from _legend(figure)
        if isinstance(figure.chart, Image):
            data = b64encode(figure.chart.png).decode()
            yield f'<img alt="{_shown(figure.alternative)}" src="data:image/png;base64,{data}">'
        else:
            yield f'<div class="still">{svg_of(figure, self._columns)}</div>'
        if isinstance(figure.chart, Series):
            data = _json(_series(figure, self._size))
            yield f'<script type="application/json" class="series">{data}</script>'
        yield "</figure>"

    def _coarse(self, figure: Figure) -> str:
        if not isinstance(figure.chart, Series) or self._size == 1:
            return ""
        return f" To keep the page small, it has the smallest and the largest of every {self._size} samples."


def _figures(sections: Sequence[Section]) -> Iterator[Figure]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Figure))
        yield from _figures(section.sections)


def _smallest_group(numbers: int, samples: int) -> int:
    """How many samples have one smallest and one largest value in the finest levels."""
    size = 1
    while (numbers if size == 1 else 2 * numbers / size) > samples:
        size *= 2
    return size if size != 2 else 4  # two numbers for every two samples save nothing


def _series(figure: Figure, size: int) -> dict[str, Any]:
    chart = figure.chart
    assert isinstance(chart, Series)
    traces = []
    for trace in chart.traces:
        found = quantised(trace.values, size)
        traces.append(
            {
                "label": lines_visible(trace.label),
                "colour": trace.look.colour,
                "dash": trace.look.dash,
                "low": found.low,
                "step": found.step,
                "levels": found.levels,
            }
        )
    return {
        "label": lines_visible(chart.y_label),
        "name": lines_visible(figure.caption),
        "start": chart.start_s,
        "step": chart.step_s,
        "size": size,
        "factor": FACTOR,
        "nothing": NOTHING,
        "traces": traces,
    }


def _json(value: Any) -> str:
    """JSON that ends no element and opens none."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _legend(figure: Figure) -> Iterator[str]:
    entries = legend_of(figure)
    if entries:
        yield '<ul class="legend">'
        for label, look in entries:
            line = f'<line x1="0" x2="24" y1="5" y2="5" class="{classes(look, "line")}"/>'
            mark = f'<svg width="24" height="10" aria-hidden="true">{line}</svg>'
            yield f"<li>{mark} {_shown(label)}</li>"
        yield "</ul>"


def _folded(caption: str, is_folded: bool, inner: Sequence[str]) -> Iterator[str]:
    if is_folded:
        yield f"<details><summary>{_shown(caption)}</summary>"
    elif caption and not inner[0].startswith("<div"):
        yield f'<p class="caption">{_shown(caption)}</p>'
    yield from inner
    if is_folded:
        yield "</details>"


def _table(table: Table) -> list[str]:
    """A table that scrolls by itself. End tags of cells and rows may be left out in HTML, and are."""
    head = "".join(
        f'<th scope="col"{" class=n" if column.is_number else ""}>{_shown(column.name)}'
        for column in table.columns
    )
    name = _shown(table.caption)
    parts = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>',
        f"<caption>{name}</caption><thead><tr>{head}</thead><tbody>",
    ]
    cells = [_cell_of(column, place) for place, column in enumerate(table.columns)]
    for row in table.rows:
        written = "".join(cell(text) for cell, text in zip(cells, row, strict=True))
        parts.append(f"<tr>{written}")
    note = f'<p class="note">{_shown(table.note)}</p>' if table.note else ""
    return [*parts, f"</tbody></table></div>{note}"]


def _cell_of(column: Column, place: int) -> Callable[[str], str]:
    if place == 0:
        return lambda text: f"<th scope=row>{_shown(text)}"
    if column.is_verdict:
        return lambda text: f'<td><span class="verdict v-{_word(text)}">{_shown(text)}</span>'
    if column.is_number:
        return lambda text: f"<td class=n>{_with_interval(_shown(text))}"
    return lambda text: f"<td>{_shown(text)}"


def _with_interval(text: str) -> str:
    """A mean, and its interval in brackets less strong."""
    mean, bracket, interval = text.partition(" [")
    return f"{mean} <i>[{interval}</i>" if bracket else text


def _word(text: str) -> str:
    """The first word of a verdict, if it can be the name of a class."""
    first = text.split(" ", maxsplit=1)[0]
    return first if first.isascii() and first.isalpha() else "other"


def _download(file: Download) -> str:
    data = quote(file.content, safe=";,/:=[]()+-_.!~*$@?")
    note = f' <span class="note">{_shown(file.note)}</span>' if file.note else ""
    link = f'href="data:{file.media_type};charset=utf-8,{escape(data)}"'
    return (
        f'<p><a class="file" download="{_shown(file.name)}" {link}>Download {_shown(file.name)}</a>{note}</p>'
    )
