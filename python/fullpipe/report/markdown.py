"""A report as Markdown: its text and its tables. Figures and files in the page are named, not shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from fullpipe.markdown import escaped, table
from fullpipe.report.basis import markdown_of
from fullpipe.report.content import Block, Code, Document, Download, Figure, Items, Section, Table, Text
from fullpipe.report.narrow import narrowed
from fullpipe.report.text import lines_visible


def markdown(page: Document) -> str:
    """The whole file."""
    parts = [f"# {escaped(page.title)}", escaped(page.question)]
    for section in (Section("What came out", [Items(page.answer)]), *page.sections):
        parts += _section(section, 2)
    if page.facts:
        facts = [f"{name}: {value}" for name, value in page.facts]
        parts += _section(Section("What this rests on", [Items(facts)]), 2)
    if page.basis:
        parts.append(markdown_of(page.basis))
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {escaped(section.heading)}"
    for block in section.blocks:
        yield _block(block)
    for inner in section.sections:
        yield from _section(inner, level + 1)


def _block(block: Block) -> str:
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
        case Figure():
            return f"*Figure, in the HTML form of this report: {escaped(block.caption)}*"
        case _:
            assert_never(block)


def _table(made: Table) -> str:
    marks = ["--:" if column.is_number else "---" for column in made.columns]
    return "\n".join(table([column.name for column in made.columns], marks, made.rows))


def _code(text: str) -> str:
    """A block fenced by more backticks than it has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{lines_visible(text).rstrip()}\n{fence}"
