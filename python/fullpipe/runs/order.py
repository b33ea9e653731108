"""In which order the scenarios of a store were named: that of the sweep or the commands that ran them.

A run says which point it is of, and not which came first: a file in the store has the digests in their order.
Of two commands that name the same scenarios the later one counts. Without the file, as in older stores, runs
are in the order of what their scenarios say.
"""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from fullpipe import files
from fullpipe.runs.meta import DIGEST

FILE = ".order"
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")


def read(root: Path) -> list[str]:
    """The digests of a store in their order, as far as it is known."""
    with suppress(OSError, ValueError), files.open_regular(root / FILE) as file:
        lines = file.readall().decode("ascii").splitlines()
        return [line for line in dict.fromkeys(lines) if re.fullmatch(DIGEST, line)]
    return []


def write(root: Path, place: Path, digests: Iterable[str]) -> None:
    """Write the file; `place` is a hidden folder of ours in the store.

    Raises:
        OSError: If it cannot be written.
    """
    draft = place / f"order-{uuid4().hex}"
    files.put(draft, "".join(f"{digest}\n" for digest in digests).encode())
    draft.replace(root / FILE)


def merged(before: Sequence[str], named: Sequence[str]) -> list[str]:
    """Both lists as one: in the order of `named`, and what only `before` has at the places where it was.

    What is new comes behind what it was named behind.

    >>> merged(["a", "b", "c"], ["c", "new", "a"])
    ['c', 'new', 'b', 'a']
    """
    known, again = set(before), set(named)
    new: dict[str | None, list[str]] = {}
    last = None
    for digest in named:
        if digest in known:
            last = digest
        else:
            new.setdefault(last, []).append(digest)
    turns = iter([digest for digest in named if digest in known])
    kept = [next(turns) if digest in again else digest for digest in before]
    behind = [each for digest in kept for each in (digest, *new.get(digest, ()))]
    first = new.get(None, [])
    return [*behind, *first] if last is None else [*first, *behind]


def places(root: Path, others: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The place of every digest: those that are known, and then others, each with a text that says what it
    is, in which numbers are compared as numbers.
    """
    known = dict.fromkeys(read(root))
    rest = sorted((by_size(text), digest) for digest, text in others if digest not in known)
    return {digest: place for place, digest in enumerate([*known, *(digest for _, digest in rest)])}


def told(name: str, point: Any, scenario: Any) -> str:
    """The text of a run that is not known: its scenario's name, its point, and all else."""
    return f"{name} {json.dumps(point, default=str)} {json.dumps(scenario, default=str)}"


def by_size(text: str) -> list[tuple[float, str]]:
    """What texts are sorted by if numbers in them count as such.

    >>> sorted(["10 ms", "5 ms", "bbr3"], key=by_size)
    ['5 ms', '10 ms', 'bbr3']
    """
    parts = _NUMBER.split(text)
    return [(float(part), "") if n % 2 else (float("inf"), part) for n, part in enumerate(parts) if part]
