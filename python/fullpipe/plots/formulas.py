"""Formulas between dollar signs in what users write into figures."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser


def check_formulas(texts: Iterable[str]) -> None:
    """Raise ValueError with a line if a text has a formula that cannot be drawn."""
    for text in texts:
        if is_math_text(text):
            try:
                MathTextParser("path").parse(text)
            except ValueError as error:
                reason = (
                    str(error).strip().splitlines()[-1].rpartition("Exception: ")[2].partition("  (at")[0]
                )
                raise ValueError(
                    f'{text}: no formula between its "$": {reason}; write \\$ for the sign'
                ) from None
