"""Runs that a report rests on, as data in its file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from fullpipe.errors import NoRunError
from fullpipe.report.content import Basis
from fullpipe.runs import Run
from fullpipe.runs.meta import DIGEST, ENGINE

_HTML = '<script type="application/json" id="basis">{}</script>'
_MARKDOWN = "<!-- basis: {} -->"
_WRITTEN = re.compile(r'(?:id="basis">|<!-- basis: )(\{.*?\})(?:</script>| -->)')
_FOLDER = re.compile(rf"{DIGEST.strip('^$')}/{ENGINE.strip('^$')}")
_LARGEST = 500_000_000


def basis_of(runs: Sequence[Run]) -> Basis | None:
    """Return where the runs of a report are; None if they are not in one store."""
    folders = [run.folder for run in runs if run.folder]
    stores = {folder.absolute().parents[1] for folder in folders}
    if len(folders) < len(runs) or len(stores) != 1:
        return None
    return Basis(
        stores.pop().name,
        [(f"{run.folder.parent.name}/{run.folder.name}", run.meta.started) for run in runs if run.folder],
    )


def html_of(basis: Basis) -> str:
    """Return the data block of a page; browsers run nothing of it."""
    return _HTML.format(_json(basis))


def markdown_of(basis: Basis) -> str:
    """Return the comment of a Markdown file."""
    return _MARKDOWN.format(_json(basis))


def read(path: Path) -> Basis:
    """Return the runs that a report names.

    Raises:
        NoRunError: If the file cannot be read, or names none.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise NoRunError(f"{path}: more than {_LARGEST // 10**6} MB is no report")
        text = path.read_text(encoding="utf-8")
        found = _WRITTEN.findall(text)
        tree = json.loads(found[-1])
        runs = [(str(folder), str(started)) for folder, started in tree["runs"]]
        store = str(tree["store"])
    except OSError as error:
        raise NoRunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (LookupError, TypeError, ValueError, RecursionError):
        raise NoRunError(f"{path}: names no runs; give a report of `fullpipe report` about runs") from None
    if not all(_FOLDER.fullmatch(folder) for folder, _ in runs):
        raise NoRunError(f"{path}: names what is no run")
    return Basis(Path(store).name, runs)


def _json(basis: Basis) -> str:
    """JSON without what would end a script or a comment."""
    text = json.dumps({"store": basis.store, "runs": list(basis.runs)})
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
