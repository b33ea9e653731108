"""The body of a page, block by block."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import assert_never
from urllib.parse import quote

from fullpipe.report.content import (
    Block,
    Code,
    Document,
    Download,
    Figure,
    Image,
    Items,
    Lines,
    Section,
    Series,
    Table,
    Text,
)
from fullpipe.report.html.numbers import numbers_of
from fullpipe.report.html.samples import json_of, lines_of, series_of, smallest_group
from fullpipe.report.html.tables import shown, table_of
from fullpipe.report.svg.chart import legend_of, svg_of
from fullpipe.report.svg.marks import classes

_COLUMNS = 400
_MARKS = 24_000
"""Columns of time series that are drawn for readers without scripts: of one figure, and of all lines."""
_FEWEST = 60


class Writer:
    """Writes a page; figures and downloads have numbers."""

    def __init__(self, page: Document, samples: int) -> None:
        self._page = page
        self._figures = 0
        self._headings = 0
        series = [figure.chart for figure in _figures(page.sections) if isinstance(figure.chart, Series)]
        numbers = sum(len(trace.values) for chart in series for trace in chart.traces)
        traces = sum(len(chart.traces) for chart in series)
        self._size = smallest_group(numbers, samples)
        self._columns = max(_FEWEST, min(_COLUMNS, _MARKS // max(traces, 1)))

    def body(self) -> Iterator[str]:
        """The header with question and answer, the sections, and what it rests on."""
        page = self._page
        yield f'<header><p class="kind">fullpipe report</p><h1>{shown(page.title)}</h1>'
        yield f'<p class="question">{shown(page.question)}</p></header>'
        yield '<nav aria-label="Contents"><ul>'
        headings = ["What came out", *(section.heading for section in page.sections)]
        yield from (f'<li><a href="#s{n}">{shown(text)}</a></li>' for n, text in enumerate(headings))
        yield '</ul></nav><main id="main" tabindex="-1">'
        answer = Section("What came out", [Items(page.answer)])
        for section in (answer, *page.sections):
            yield from self._section(section, 2)
        if page.facts:
            yield '</main><footer><h2>What this rests on</h2><dl class="facts">'
            yield from (f"<dt>{shown(name)}</dt><dd>{shown(value)}</dd>" for name, value in page.facts)
            yield "</dl></footer>"
        else:
            yield "</main>"

    def _section(self, section: Section, level: int) -> Iterator[str]:
        name = f' id="s{self._headings}"' if level == 2 else ""
        self._headings += level == 2
        yield f"<section{name}><h{level}>{shown(section.heading)}</h{level}>"
        for block in section.blocks:
            yield from self._block(block)
        for inner in section.sections:
            yield from self._section(inner, level + 1)
        yield "</section>"

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Text():
                yield f"<p>{shown(block.text)}</p>"
            case Items():
                yield f"<ul>{''.join(f'<li>{shown(item)}</li>' for item in block.items)}</ul>"
            case Table():
                yield from _folded(block.caption, block.is_folded, table_of(block))
            case Code():
                # A region that scrolls is to be reached by keyboard.
                code = f'<pre tabindex="0"><code>{shown(block.text)}</code></pre>'
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
        yield f'<figure id="{name}"><figcaption>{shown(figure.caption)}{self._coarse(figure)}</figcaption>'
        yield from _legend(figure)
        if isinstance(figure.chart, Image):
            data = b64encode(figure.chart.png).decode()
            yield f'<img alt="{shown(figure.alternative)}" src="data:image/png;base64,{data}">'
        else:
            yield f'<div class="still">{svg_of(figure, self._columns)}</div>'
        if isinstance(figure.chart, Lines):
            data = json_of(lines_of(figure.chart, figure.caption))
            yield f'<script type="application/json" class="lines">{data}</script>'
        if isinstance(figure.chart, Series):
            data = json_of(series_of(figure.chart, figure.caption, self._size))
            yield f'<script type="application/json" class="series">{data}</script>'
        if rows := numbers_of(figure):
            yield f'<script type="application/json" class="numbers">{json_of(rows)}</script>'
        yield "</figure>"

    def _coarse(self, figure: Figure) -> str:
        if not isinstance(figure.chart, Series) or self._size == 1:
            return ""
        return f" To keep the page small, it has the smallest and the largest of every {self._size} samples."


def _figures(sections: Sequence[Section]) -> Iterator[Figure]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Figure))
        yield from _figures(section.sections)


def _legend(figure: Figure) -> Iterator[str]:
    entries = legend_of(figure)
    if entries:
        yield '<ul class="legend">'
        for label, look in entries:
            line = f'<line x1="0" x2="24" y1="5" y2="5" class="{classes(look, "line")}"/>'
            mark = f'<svg width="24" height="10" aria-hidden="true">{line}</svg>'
            yield f"<li>{mark} {shown(label)}</li>"
        yield "</ul>"


def _folded(caption: str, is_folded: bool, inner: Sequence[str]) -> Iterator[str]:
    if is_folded:
        yield f"<details><summary>{shown(caption)}</summary>"
    elif caption and not inner[0].startswith("<div"):
        yield f'<p class="caption">{shown(caption)}</p>'
    yield from inner
    if is_folded:
        yield "</details>"


def _download(file: Download) -> str:
    data = quote(file.content, safe=";,/:=[]()+-_.!~*$@?")
    note = f' <span class="note">{shown(file.note)}</span>' if file.note else ""
    link = f'href="data:{file.media_type};charset=utf-8,{escape(data)}"'
    return (
        f'<p><a class="file" download="{shown(file.name)}" {link}>Download {shown(file.name)}</a>{note}</p>'
    )
