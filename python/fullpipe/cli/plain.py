"""Reads the plain arguments of `run`. Typer takes longer to import than a short run.

Typer reads all other arguments, and says what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

KINDS = (
    *("ccas", "queues", "losses", "impairments", "media", "workloads", "metrics", "scenarios", "papers"),
    *("flent-tests", "tables"),
)
"""Kinds that `list` prints the same way; engines have a printer of their own."""
_MOST_DIGITS = 9


def of_run(words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of `running.run` for the words behind `run`; None unless all are plain.

    Plain are a scenario, --json, --no-store, --seed N and --out DIR, each at most once, and --set PATH=VALUE
    any number of times.

    >>> of_run(["my.toml", "--json", "--seed", "3"])
    {'scenario': 'my.toml', 'as_json': True, 'seeds': (3,)}
    >>> of_run(["my.toml", "--jsn"]), of_run(["my.toml", "--seed", "three"])
    (None, None)
    """
    if not all(word and word.isascii() and word.isprintable() for word in words):
        return None
    found: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        if word == "--set":
            value = _value(left)
            found.setdefault("assignments", []).append(value)
        else:
            key, value = _read(word, left)
            if key in found:
                return None
            found[key] = value
        if value is None:
            return None
    if "scenario" not in found:
        return None
    if found.pop("no_store", False):
        found["out"] = None
    return found


def is_plain(word: str) -> bool:
    """Whether a word is no option."""
    return word.isascii() and word.isprintable() and not word.startswith("-") and bool(word)


def _read(word: str, left: Iterator[str]) -> tuple[str, Any]:
    """The name and the value of an argument; None for what is not plain."""
    match word:
        case "--json":
            return "as_json", True
        case "--no-store":
            return "no_store", True
        case "--out":
            from pathlib import Path  # here: it takes longer to import than all of this

            folder = _value(left)
            return "out", folder and Path(folder)
        case "--seed":
            number = _value(left) or ""
            is_plain = number.isdigit() and len(number) <= _MOST_DIGITS and number == str(int(number))
            return "seeds", (int(number),) if is_plain else None
        case _:
            return "scenario", None if word.startswith("-") else word


def _value(left: Iterator[str]) -> str | None:
    """The word behind an option."""
    word = next(left, "-")
    return None if word.startswith("-") else word
