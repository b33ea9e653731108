"""Check that every constant and every function of a law cites the part of its specification that it follows.

A law is an algorithm or a queue discipline that others have specified. A citation is in the comment above
the item or inside it: a section of an RFC or a draft, a function of a draft (`BBRUpdateRound`), or a
function, constant or file of the Linux kernel (`bbr_update_model`). An item of our own has "Own:" or
"Own choice:" and the reason.

Run from the root of the repository. Prints the items without a citation; the exit status is 1 if there are
any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LAWS = (
    "crates/congestion/src/bbr",
    "crates/congestion/src/algorithms/bbr1.rs",
    "crates/congestion/src/algorithms/bbr2.rs",
    "crates/congestion/src/algorithms/bbr3.rs",
    "crates/congestion/src/algorithms/cubic.rs",
    "crates/congestion/src/algorithms/prague.rs",
    "crates/congestion/src/hystart.rs",
    "crates/network/src/queue/codel.rs",
    "crates/network/src/queue/dualpi2.rs",
    "crates/network/src/queue/fq_codel.rs",
    "crates/network/src/queue/fq_pie.rs",
    "crates/network/src/queue/pie.rs",
    "crates/network/src/queue/red.rs",
    "crates/network/src/queue/cake",
)
NO_LAW = frozenset({"crates/congestion/src/bbr/history.rs"})
"""A helper of several laws that none of them specifies."""
CITATION = re.compile(
    r"RFC \d{4}|draft|google/bbr|L4STeam/linux|iproute2|Linux|section \d|BBR[A-Z]\w+|Own(?: choice)?:"
    r"|`\w+_\w+(\(\))?`"  # a function or constant of the kernel: at least two words
)
ITEM = re.compile(r"^(?P<indent> *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?P<kind>fn|const) (?P<name>\w+)")
EXEMPT = {"new", "default", "name", "from", "fmt", "clone", "get", "observe", "variables", "control"}
EXEMPT |= {"traits", "backlog", "TITLE", "SOURCE", "MAX"}
"""Functions that make, name and show a state, and are no law."""
SHORT_BODY = 2
"""Lines of a body up to which a function needs no citation: accessors and conversions."""


def _items(lines: list[str]) -> Iterator[tuple[int, str, list[str], int]]:
    """Line number, name, text with the comment above, and lines of the body of every item."""
    for start, line in enumerate(lines):
        found = ITEM.match(line)
        if not found:
            continue
        top = start
        # A run of constants shares the comment above the first of them.
        while top and (
            re.match(r"\s*(//|#\[)", lines[top - 1])
            or (found["kind"] == "const" and ITEM.match(lines[top - 1]))
        ):
            top -= 1
        end = start
        while end < len(lines) - 1 and not re.match(rf"{found['indent']}\}}|.*[;}}]$", lines[end]):
            end += 1
        if lines[start].rstrip().endswith("{") or not re.search(r"[;}]$", lines[start]):
            while end < len(lines) - 1 and lines[end].rstrip() != found["indent"] + "}":
                if found["kind"] == "const" and lines[end].rstrip().endswith(";"):
                    break
                end += 1
        yield start + 1, found["name"], lines[top : end + 1], max(0, end - start - 1)


def missing(path: Path) -> list[str]:
    """The items of a file without a citation, as lines of a report."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
    return [
        f"{path}:{number}: {name} cites nothing"
        for number, name, body, length in _items(text.splitlines())
        if name not in EXEMPT
        and (length > SHORT_BODY or "const " in body[-1])
        and not CITATION.search("\n".join(body))
    ]


def main() -> int:
    """Print the items without a citation; return 1 if there are any."""
    files = [f for law in map(Path, LAWS) for f in ([law] if law.is_file() else sorted(law.rglob("*.rs")))]
    lines = [line for file in files if file.as_posix() not in NO_LAW for line in missing(file)]
    print("\n".join(lines) or f"{len(files)} files cite their specifications")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
