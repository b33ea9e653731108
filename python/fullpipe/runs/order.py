"""The order of the scenarios of a store, which is that of the sweeps and commands that ran them.

Runs contain their point, but not its position in the sweep, so a file in the store lists their digests in
order. If two commands ran the same scenarios, the later one's order counts. Without the file, as in older
stores, runs are sorted by the text of their scenarios.
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
    """Return the digests of a store in order, as far as the order is known."""
    with suppress(OSError, ValueError), files.open_regular(root / FILE) as file:
        lines = file.readall().decode("ascii").splitlines()
        return [line for line in dict.fromkeys(lines) if re.fullmatch(DIGEST, line)]
    return []


def write(root: Path, place: Path, digests: Iterable[str]) -> None:
    """Write the order. `place` is a hidden folder of this process in the store.

    Raises:
        OSError: If the file cannot be written.
    """
    draft = place / f"order-{uuid4().hex}"
    files.put(draft, "".join(f"{digest}\n" for digest in digests).encode())
    draft.replace(root / FILE)


def merged(before: Sequence[str], named: Sequence[str]) -> list[str]:
    """Merge two orders. Digests in `named` get its order; digests only in `before` keep their positions.

    A new digest follows the digest that precedes it in `named`.

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
    """Return the position of every digest: known ones first, then others sorted by their texts.

    Numbers in texts are compared as numbers.
    """
    known = dict.fromkeys(read(root))
    rest = sorted((by_size(text), digest) for digest, text in others if digest not in known)
    return {digest: place for place, digest in enumerate([*known, *(digest for _, digest in rest)])}


def told(name: str, point: Any, scenario: Any) -> str:
    """Return the text by which unlisted runs are sorted: the scenario's name, the point, the scenario."""
    return f"{name} {json.dumps(point, default=str)} {json.dumps(scenario, default=str)}"


def by_size(text: str) -> list[tuple[float, str]]:
    """Return a sort key of text in which numbers are compared as numbers.

    >>> sorted(["10 ms", "5 ms", "bbr3"], key=by_size)
    ['5 ms', '10 ms', 'bbr3']
    """
    parts = _NUMBER.split(text)
    return [(float(part), "") if n % 2 else (float("inf"), part) for n, part in enumerate(parts) if part]
