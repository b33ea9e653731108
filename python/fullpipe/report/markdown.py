"""Reports in Markdown, and widths of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never
from urllib.parse import quote

from fullpipe.markdown import escaped, table
from fullpipe.report.basis import markdown_of
from fullpipe.report.content import (
    Block,
    Code,
    Document,
    Download,
    Figure,
    Items,
    Part,
    Path,
    Section,
    Table,
    Text,
)
from fullpipe.report.text import lines_visible

# Wide tables made narrower: a column with equal cells moves into the caption.


WIDE = 6
"""Maximum number of columns of a table that fits a page."""


def narrowed(table: Table) -> Table:
    """A wide table without the columns whose cells are all equal; the caption names these cells.

    The first column, which names the rows, and columns of verdicts are never removed.

    >>> from fullpipe.report.content import Column
    >>> columns = [Column(name) for name in ("flow", "runs", "a", "b", "c", "d", "e")]
    >>> found = narrowed(Table("Means", columns, [["x", "10", *"12345"], ["y", "10", *"67890"]]))
    >>> found.caption, [column.name for column in found.columns]
    ('Means. In every row: runs 10', ['flow', 'a', 'b', 'c', 'd', 'e'])
    """
    if len(table.columns) <= WIDE or len(table.rows) < 2:
        return table
    same = {
        place: table.rows[0][place]
        for place, column in enumerate(table.columns)
        if place and not column.is_verdict and len({row[place] for row in table.rows}) == 1
    }
    if not same:
        return table
    left = [place for place in range(len(table.columns)) if place not in same]
    told = "; ".join(f"{table.columns[place].name} {value}" for place, value in same.items() if value != "-")
    return replace(
        table,
        caption=f"{table.caption}. In every row: {told}" if told else table.caption,
        columns=[table.columns[place] for place in left],
        rows=[[row[place] for place in left] for row in table.rows],
    )


# A report as Markdown: text, tables and links to figures. Embedded files are only named.


Pictures = Mapping[int, str]
"""The file of each figure, by the id of the figure."""


def markdown(page: Document, pictures: Pictures | None = None) -> str:
    """The Markdown file, in the order of the HTML page. Figures that have no file in `pictures` are only
    named."""
    drawn = pictures or {}
    texts = [f"# {escaped(page.title)}"]
    for part in page.parts:
        texts += _part(part, 2 if len(page.parts) == 1 else 3, drawn)
    texts += [
        "## Provenance",
        "\n".join(f"- {escaped(f'{name}: {value}')}" for name, value in page.provenance),
    ]
    if page.recipe.commands:
        texts += [escaped(page.recipe.told), _code("\n".join(page.recipe.commands))]
    for part in page.parts:
        texts += [f"### {escaped(part.heading)}"] if len(page.parts) > 1 and part.repetition else []
        texts += (_block(block, drawn) for block in part.repetition)
    if page.data:
        names = ", ".join(file.name for file in page.data)
        texts += ["## Data", escaped(f"In the HTML form of this report: {names}.")]
    if page.basis:
        texts.append(markdown_of(page.basis))
    return "\n\n".join(text for text in texts if text) + "\n"


def _part(part: Part, level: int, pictures: Pictures) -> Iterator[str]:
    mark = "#" * level
    if part.heading and level > 2:
        yield f"## {escaped(part.heading)}"
    yield escaped(part.question)
    yield f"{mark} Conclusion"
    yield "\n".join(f"- {escaped(sentence)}" for sentence in part.conclusion)
    yield from (f"> {escaped(sentence)}" for sentence in part.warnings)
    yield escaped(part.scope)
    if part.command:
        yield f"{escaped(part.before_command)}\n\n{_code(part.command)}"
    yield f"{mark} Results"
    yield from (_block(block, pictures) for block in part.results)
    if part.details:
        yield f"{mark} Details"
        for section in part.details:
            yield from _section(section, level + 1, pictures)


def _section(section: Section, level: int, pictures: Pictures) -> Iterator[str]:
    yield f"{'#' * level} {escaped(section.heading)}"
    for block in section.blocks:
        yield _block(block, pictures)
    for inner in section.sections:
        yield from _section(inner, level + 1, pictures)


def _block(block: Block, pictures: Pictures) -> str:
    match block:
        case Text():
            return escaped(block.text)
        case Items():
            return "\n".join(f"- {escaped(item)}" for item in block.items)
        case Table():
            narrow = narrowed(block)
            return "\n\n".join(filter(None, [escaped(narrow.caption), _table(narrow), escaped(narrow.note)]))
        case Code():
            return "\n\n".join(filter(None, [escaped(block.caption), _code(block.text)]))
        case Download():
            return ""
        case Figure(chart=Path(numbers=numbers)):
            lines = "\n".join(f"- {escaped(line)}" for line in numbers)
            return "\n\n".join(filter(None, [escaped(block.caption), _picture(block, pictures), lines]))
        case Figure():
            told = "" if id(block) in pictures else ", in the HTML form of this report"
            return "\n\n".join(
                filter(None, [_picture(block, pictures), f"*Figure{told}: {escaped(block.caption)}*"])
            )
        case _:
            assert_never(block)


def _picture(figure: Figure, pictures: Pictures) -> str:
    """The figure from its file; empty without a file."""
    file = pictures.get(id(figure))
    return f"![{escaped(figure.caption)}]({quote(file)})" if file else ""


def _table(made: Table) -> str:
    marks = ["--:" if column.is_number else "---" for column in made.columns]
    return "\n".join(table([column.name for column in made.columns], marks, made.rows))


def _code(text: str) -> str:
    """A fenced block; the fence is longer than the longest run of backticks in the block."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{lines_visible(text).rstrip()}\n{fence}"
