"""Writes a report to a file."""

from __future__ import annotations

from pathlib import Path

from fullpipe import files
from fullpipe.report.budget import Budget
from fullpipe.report.content import Document
from fullpipe.report.html.page import html
from fullpipe.report.markdown import markdown

FORMATS = (".html", ".md")
"""Endings of files that a report can be written as."""


def write(page: Document, path: Path, budget: Budget | None = None) -> None:
    """Write a page as HTML or Markdown, as the ending says.

    Raises:
        ValueError: If the ending is another.
        ResultError: If the file cannot be written.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f'"{path.name}" does not end in {" or ".join(FORMATS)}')
    is_html = path.suffix == ".html"
    text = html(page, (budget or Budget()).samples) if is_html else markdown(page)
    files.write(path, text.encode())
