"""Numbers as a terminal shows them: in the unit that people use, with the digits that mean something."""

from typing import Any

_SHOWN = {
    "bit/s": ("Mbit/s", 1e-6, 2),
    "bit/s²": ("Gbit/s²", 1e-9, 3),
    "s": ("ms", 1e3, 2),
    "1": ("", 1.0, 4),
}


def unit_shown(unit: str) -> str:
    """The unit in which a quantity is shown."""
    return _SHOWN.get(unit, (unit, 1.0, 0))[0]


def number_shown(value: float | None, unit: str) -> str:
    """A value in the unit in which it is shown; a dash for what is not known.

    >>> number_shown(0.0405, "s")
    '40.50'
    """
    _, scale, digits = _SHOWN.get(unit, (unit, 1.0, 0))
    return "-" if value is None else f"{value * scale:,.{digits}f}"


def table(first: str, *numbers: str) -> Any:
    """A table without lines: names at the left, numbers at the right of their columns."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column(first, overflow="fold")
    for heading in numbers:
        made.add_column(heading, justify="right")
    return made
