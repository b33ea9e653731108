"""The basis of a report: the runs that it was made from, as data in the file of the report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe.errors import NoRunError
from fullpipe.report.content import Basis
from fullpipe.runs import Run
from fullpipe.runs.meta import DIGEST, ENGINE, versions
from fullpipe.validation.compare.comparison import Ran

_HTML = '<script type="application/json" id="basis">{}</script>'
_MARKDOWN = "<!-- basis: {} -->"
_WRITTEN = re.compile(r'(?:id="basis">|<!-- basis: )(\{.*?\})(?:</script>| -->)')
_FOLDER = re.compile(rf"{DIGEST.strip('^$')}/{ENGINE.strip('^$')}")
_LARGEST = 500_000_000


def basis_of(runs: Sequence[Run]) -> Basis | None:
    """Return the store and the folders of the runs of a report; None unless one store has all runs."""
    stores = {run.store for run in runs}
    store = stores.pop() if len(stores) == 1 else None
    if store is None:
        return None
    return Basis(
        store.name,
        [(f"{run.folder.parent.name}/{run.folder.name}", run.meta.started) for run in runs if run.folder],
    )


def as_json(basis: Basis | None) -> dict[str, Any]:
    """Return the member `basis` of a file of results; an empty object if `basis` is None."""
    return {"basis": {"store": basis.store, "runs": list(basis.runs)}} if basis else {}


def of_test(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the members of a file of `fullpipe test` besides the answer.

    The members are scenarios, seeds, versions and the places of the runs.
    """
    distinct = {run.meta.digest: Ran(run.name, run.meta.scenario, run.meta.point) for run in runs}
    return {
        "scenarios": [ran.to_dict() for ran in distinct.values()],
        "seeds": sorted({run.meta.seed for run in runs}),
        "versions": versions(),
        **as_json(basis_of(runs)),
    }


def of_json(found: Mapping[str, Any]) -> Basis | None:
    """Return the basis that `as_json` wrote; None if the file has no valid basis."""
    try:
        tree = found["basis"]
        runs = [(str(folder), str(started)) for folder, started in tree["runs"]]
        store = Path(str(tree["store"])).name
    except (LookupError, TypeError, ValueError):
        return None
    is_it = store not in ("", "..") and all(_FOLDER.fullmatch(folder) for folder, _ in runs)
    return Basis(store, runs) if is_it else None


def folders_of(basis: Basis, places: Iterable[Path]) -> list[Path]:
    """Return the existing folders of the runs, from the first place whose store has any of the runs."""
    for place in places:
        store = place / basis.store
        found = [store / folder for folder in dict(basis.runs) if (store / folder / "meta.json").is_file()]
        if found:
            return found
    return []


def html_of(basis: Basis) -> str:
    """Return the data block of a page; browsers do not execute the block."""
    return _HTML.format(_json(basis))


def markdown_of(basis: Basis) -> str:
    """Return the comment of a Markdown file."""
    return _MARKDOWN.format(_json(basis))


def read(path: Path) -> Basis:
    """Return the runs that a report, or a file of `compare` or `test`, names.

    Raises:
        NoRunError: If the file cannot be read, or names no runs.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise NoRunError(f"{path}: is larger than {_LARGEST // 10**6} MB, the maximum of a report")
        text = path.read_text(encoding="utf-8")
        written = _WRITTEN.findall(text)
        found = of_json({"basis": json.loads(written[-1])} if written else json.loads(text))
    except OSError as error:
        raise NoRunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError):
        found = None
    if found is None:
        raise NoRunError(f"{path}: names no runs; give a report about runs, or a file of compare or test")
    return found


def _json(basis: Basis) -> str:
    """JSON in which the characters that would end a script or a comment are escaped."""
    text = json.dumps(as_json(basis)["basis"])
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
