"""Differentiated services code points: numbers, or their names in RFCs and `tc`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.quantities import OrWritten

NAMES = {
    "le": 1,
    **{f"cs{n}": 8 * n for n in range(8)},
    **{f"af{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "va": 44,
    "ef": 46,
}
"""LE: RFC 8622; CS: RFC 2474; AF: RFC 2597; VA: RFC 5865; EF: RFC 3246."""


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lower() not in NAMES:
        raise ValueError(f"unknown code point {shown(value)}{suggestion(value, NAMES)}")
    return NAMES[value.lower()]


Dscp = Annotated[int, Field(strict=True, ge=0, le=63), BeforeValidator(_number), OrWritten(Literal[*NAMES])]
"""A differentiated services code point: 0 to 63, or a name such as "ef"."""
