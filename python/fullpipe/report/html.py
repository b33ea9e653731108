"""Reports as one HTML page that needs no network."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import assert_never
from urllib.parse import quote

from fullpipe.palette import COLOURS, STROKES, shaded, shaded_on_dark
from fullpipe.report.basis import html_of
from fullpipe.report.content import (
    Block,
    Code,
    Document,
    Download,
    Figure,
    Image,
    Items,
    Lines,
    Part,
    Section,
    Series,
    Table,
    Text,
)
from fullpipe.report.html_tables import (
    json_of,
    lines_of,
    numbers_of,
    series_of,
    shown,
    smallest_group,
    table_of,
)
from fullpipe.report.svg.charts import legend_of, narrow_svg_of, svg_of
from fullpipe.report.svg.marks import WIDTH, classes, element
from fullpipe.report.text import listed

# The body of a page, block by block.


_COLUMNS = 400
_MARKS = 24_000
"""Maximum number of columns (groups of samples) in the static drawings for readers without scripts: of one
time series, and of all lines of the page together."""
_FEWEST = 60
_BRIEF = 120
"""Minimum number of line breaks of a folded text, such as a scenario, that a printed page leaves out."""


class Writer:
    """Writer of a page, which numbers figures and downloads."""

    def __init__(self, page: Document, samples: int) -> None:
        self._page = page
        self._figures = 0
        series = [figure.chart for figure in _figures(page) if isinstance(figure.chart, Series)]
        numbers = sum(len(trace.values) for chart in series for trace in chart.traces)
        traces = sum(len(chart.traces) for chart in series)
        self._size = smallest_group(numbers, samples)
        self._columns = max(_FEWEST, min(_COLUMNS, _MARKS // max(traces, 1)))

    def body(self) -> Iterator[str]:
        """The title, the parts, the provenance and the data."""
        page = self._page
        yield f'<header><p class="kind">fullpipe report</p><h1>{shown(page.title)}</h1>'
        if len(page.parts) == 1:
            yield f'<p class="question">{shown(page.parts[0].question)}</p>'
        yield "</header>"
        yield from self._contents()
        yield '<main id="main" tabindex="-1">'
        for number, part in enumerate(page.parts, 1):
            yield from self._part(part, number)
        yield from self._provenance()
        files = page.data
        if files:
            yield '<section id="data"><h2>Data</h2>'
            yield from map(_download, files)
            yield "</section>"
        yield "</main>"

    def _contents(self) -> Iterator[str]:
        if len(self._page.parts) > 1:
            entries = [(f"p{n}", part.heading) for n, part in enumerate(self._page.parts, 1)]
        else:
            entries = [("p1", "Conclusion"), ("r1", "Results")]
            entries += [("d1", "Details")] if self._page.parts[0].details else []
        entries += [("provenance", "Provenance")] + ([("data", "Data")] if self._page.data else [])
        yield '<nav aria-label="Contents"><ul>'
        yield from (f'<li><a href="#{name}">{shown(text)}</a></li>' for name, text in entries)
        yield "</ul></nav>"

    def _part(self, part: Part, number: int) -> Iterator[str]:
        """A part of the page; a single part has no heading."""
        level = 2 if len(self._page.parts) == 1 else 3
        yield f'<section class="part" id="p{number}">'
        if level > 2:
            yield f'<h2>{shown(part.heading)}</h2><p class="question">{shown(part.question)}</p>'
        yield f'<h{level}>Conclusion</h{level}><ul class="conclusion">'
        yield from (f"<li>{shown(sentence)}</li>" for sentence in part.conclusion)
        yield "</ul>"
        if part.warnings:
            told = "".join(f"<p>{shown(sentence)}</p>" for sentence in part.warnings)
            yield f'<div class="warning" role="note">{told}</div>'
        if part.scope:
            yield f'<p class="scope">{shown(part.scope)}</p>'
        if part.command:
            yield f'<p class="scope">{shown(part.before_command)} <code>{shown(part.command)}</code></p>'
        yield f'<section class="results" id="r{number}"><h{level}>Results</h{level}>'
        for block in part.results:
            yield from self._block(block)
        yield "</section>"
        if part.details:
            yield f'<section class="details" id="d{number}"><h{level}>Details</h{level}>'
            for section in part.details:
                yield from self._folded(section, level + 1)
            yield f'<p class="printed">{shown(self._not_printed(part))}</p></section>'
        yield "</section>"

    def _not_printed(self, part: Part) -> str:
        """The line that a printed page shows for folded details."""
        names = listed(section.heading for section in part.details)
        files = listed(file.name for file in part.data)
        where = f" Data are in the HTML file of this report: {files}." if files else ""
        return f"Only open details are printed, of {names}.{where}"

    def _provenance(self) -> Iterator[str]:
        yield '<section id="provenance"><h2>Provenance</h2>'
        yield '<dl class="facts">'
        facts = self._page.provenance
        yield from (f"<dt>{shown(name)}</dt><dd>{shown(value)}</dd>" for name, value in facts)
        yield "</dl>"
        recipe = self._page.recipe
        if recipe.commands:
            yield from self._block(Text(recipe.told))
            yield from self._block(Code("\n".join(recipe.commands)))
        several = len(self._page.parts) > 1
        for part in self._page.parts:
            if several and part.repetition:
                yield f"<h3>{shown(part.heading)}</h3>"
            for block in part.repetition:
                yield from self._block(block)
        yield "</section>"

    def _folded(self, section: Section, level: int) -> Iterator[str]:
        yield f"<details><summary><h{level}>{shown(section.heading)}</h{level}></summary>"
        yield from self._inside(section, level)
        yield "</details>"

    def _inside(self, section: Section, level: int) -> Iterator[str]:
        for block in section.blocks:
            yield from self._block(block)
        for inner in section.sections:
            yield f"<section><h{level + 1}>{shown(inner.heading)}</h{level + 1}>"
            yield from self._inside(inner, level + 1)
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
                # A scrolling region must be reachable by keyboard.
                code = f'<pre tabindex="0"><code>{shown(block.text)}</code></pre>'
                is_brief = block.text.count("\n") < _BRIEF
                yield from _folded(block.caption, block.is_folded, [code], is_printed=is_brief)
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
            narrow = narrow_svg_of(figure, self._columns)
            yield f'<div class="still">{svg_of(figure, self._columns)}{narrow}</div>'
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


def _figures(page: Document) -> Iterator[Figure]:
    for part in page.parts:
        yield from (block for block in part.results if isinstance(block, Figure))
        yield from _inner(part.details)


def _inner(sections: Sequence[Section]) -> Iterator[Figure]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Figure))
        yield from _inner(section.sections)


def _legend(figure: Figure) -> Iterator[str]:
    entries = legend_of(figure)
    if entries:
        yield '<ul class="legend">'
        for label, look in entries:
            line = f'<line x1="0" x2="24" y1="5" y2="5" class="{classes(look, "line")}"/>'
            mark = f'<svg width="24" height="10" aria-hidden="true">{line}</svg>'
            yield f"<li>{mark} {shown(label)}</li>"
        yield "</ul>"


def _folded(
    caption: str, is_folded: bool, inner: Sequence[str], *, is_printed: bool = False
) -> Iterator[str]:
    """A block below its caption. The style sheet prints folded blocks if `is_printed`."""
    if is_folded:
        kind = " class=always" if is_printed else ""
        yield f"<details{kind}><summary>{shown(caption)}</summary>"
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


# A figure of a report as a file of its own.


_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
_SET = re.compile(r"--([\w-]+):([^;}]+)")
_CLASS = re.compile(r'class="([^"]*)"')
_OWN = "var(--k)"
"""Colour of the label or the verdict of an element, which a class of the element sets."""
_LEGEND_ROW, _SAMPLE, _LETTER, _GAP = 18, 30, 7.0, 20
"""Height of a row of a legend, room for the sample of a line, width of a letter, and the gap between entries,
in pixels."""


def pictures(page: Document) -> list[tuple[Figure, str, bytes]]:
    """The figures of a page in its order, each with the ending and the content of its file."""
    return [
        (figure, "png", figure.chart.png)
        if isinstance(figure.chart, Image)
        else (figure, "svg", _alone(figure).encode())
        for figure in _figures(page)
    ]


def _alone(figure: Figure) -> str:
    """A chart with its legend and its style, in light colours, as an SVG file."""
    inner, legend, below = svg_of(figure, _COLUMNS), [], 0
    left: float = 0
    for label, look in legend_of(figure):
        wide = _SAMPLE + _LETTER * len(label) + _GAP
        if left and left + wide > WIDTH:
            left, below = 0, below + _LEGEND_ROW
        y = below + _LEGEND_ROW / 2
        legend += [
            element("line", x1=left, x2=left + 24, y1=y, y2=y, class_=classes(look, "line")),
            element("text", label, x=left + _SAMPLE, y=y + 4, class_="label"),
        ]
        left += wide
    top = below + _LEGEND_ROW if legend else 0
    box = re.search(r'viewBox="0 0 (\d+) ([\d.]+)"', inner)
    assert box is not None
    wide, high = int(box[1]), float(box[2]) + top
    chart = inner.replace("<svg", f'<svg y="{top}" width="{wide}" height="{box[2]}"', 1)
    size = f'width="{wide}" height="{high:g}" viewBox="0 0 {wide} {high:g}"'
    drawn = "".join([*legend, chart])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" font-family="sans-serif" {size}>'
        f'<style>{_style_of(drawn)}</style><rect width="100%" height="100%" fill="#fff"/>{drawn}</svg>\n'
    )


def _style_of(drawn: str) -> str:
    """The rules of the classes of a drawing without variables, which few programs but browsers know."""
    used = {name for names in _CLASS.findall(drawn) for name in names.split()}
    known = dict(_SET.findall(_asset("light.css"))) | dict(_SET.findall(_variables(shaded(COLOURS))))
    always = _asset("report.css").partition("@media print{\n")[0].splitlines()
    text = _asset("shared.css") + _looks() + "".join(line for line in always if not line.startswith("@"))
    rules = [rule for rule in _RULE.findall(text) if used & set(re.findall(r"\.([\w-]+)", rule[0]))]
    colours = {
        selector.strip(): _VARIABLE.sub(lambda name: known[name[1]], own[1])
        for selectors, body in rules
        if (own := re.search(r"--k:([^;]+)", body))
        for selector in selectors.split(",")
        if selector.strip()[1:] in used
    }
    found: list[str] = []
    for selector, body in rules:
        if _OWN in body:
            each = (
                (f"{label}{part.strip()}", colour)
                for part in selector.split(",")
                for label, colour in colours.items()
            )
            found += [f"{both}{{{body.replace(_OWN, colour)}}}" for both, colour in each]
        elif "--k:" not in body:
            found.append(f"{selector.strip()}{{{body}}}")
    return _VARIABLE.sub(lambda name: known[name[1]], "".join(found))


# A report as one HTML file that loads nothing else and runs only its own scripts.


_ASSETS, _BUILT = "assets", "static"
"""Folder of the files written by hand, and folder of the files that `make page` builds from
web/src/report."""


def html(page: Document, samples: int) -> str:
    """The HTML file. The file has no dates and nothing random, so equal pages give equal bytes.

    Args:
        page: The report.
        samples: Maximum number of samples in all time series together.
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
    """Content security policy: only this style and script, by their digests, and embedded pictures."""
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str, folder: str = _ASSETS) -> str:
    return files("fullpipe.report").joinpath(folder, name).read_text(encoding="utf-8").strip()


_COLOUR = re.compile(r"--c(\d):(#\w{6})")
"""A colour of an algorithm in the style sheet of the dark theme."""


def _variables(colours: Sequence[str]) -> str:
    return "".join(f"--c{n}:{colour};" for n, colour in enumerate(colours))


@cache
def _style() -> str:
    """Return the style sheet: colours of algorithms, colours of the light, dark and print themes, then all
    other rules."""
    light, dark = _asset("light.css"), _asset("dark.css")
    own = dict(_COLOUR.findall(dark))
    on_dark = shaded_on_dark([own.get(str(n), colour) for n, colour in enumerate(COLOURS)])
    colours, dark = _variables(shaded(COLOURS)), dark + _variables(on_dark)
    themes = (
        f":root{{{colours}{light}}}:root[data-theme=dark]{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media print{{:root,:root:not([data-theme=light]),:root[data-theme=dark]{{{colours}{light}}}}}"
    )
    return themes + _asset("charts.css", _BUILT) + _asset("shared.css") + _looks() + _asset("report.css")


def _looks() -> str:
    """Rules of the colours and dashes of labels."""
    looks = "".join(f".c{n}{{--k:var(--c{n})}}" for n in range(len(shaded(COLOURS))))
    dashes = [(n, " ".join(map(str, stroke))) for n, stroke in enumerate(STROKES) if stroke]
    return looks + "".join(f".d{n}.line{{stroke-dasharray:{dash}}}" for n, dash in dashes)
