"""`--label`: words for paths and their values, on the command line or from a scenario file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.model.scenario import MOST_LETTERS


def check_labels(given: Mapping[str, str], points: Iterable[Mapping[str, Any]]) -> None:
    """Refuse labels of no path and no value of these points.

    Raises:
        BadParameter: If there is such a label.
    """
    known = [*points] if given else []
    if needless := Labels(given).unknown(known):
        paths = ", ".join(dict.fromkeys(path for point in known for path in point)) or "none"
        raise typer.BadParameter(
            f"{needless[0]}: no run has this path or value; paths that differ: {paths}", param_hint="--label"
        )


def read_labels(texts: Sequence[str]) -> dict[str, str]:
    """Words by path, or by path and value. A text without "=" is a scenario file, whose labels are taken.

    Raises:
        BadParameter: If a text is neither, or its words are empty or too long.
        ScenarioError: If the file is no scenario.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, words = (part.strip() for part in text.partition("="))
        if text.endswith(".toml") and not equals:
            found |= Scenario.from_file(Path(text)).labels
        elif key and 0 < len(words) <= MOST_LETTERS and words.isprintable():
            found[key] = words
        else:
            raise typer.BadParameter(
                f"{text}: expected a path, with or without a value, and up to {MOST_LETTERS} letters, "
                'as in flows.0.cca.bbr3="BBRv3"; or a scenario file',
                param_hint="--label",
            )
    return found
