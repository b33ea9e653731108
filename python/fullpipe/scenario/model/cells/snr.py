"""Signal-to-noise ratios of stations."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.quantities import OrWritten, Seconds, Written

_DECIBELS = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*dB\s*")
_MOST_DECIBELS = 100.0


def _decibels(value: object) -> float:
    found = _DECIBELS.fullmatch(value) if isinstance(value, str) else None
    if found is None or abs(float(found[1])) > _MOST_DECIBELS:
        raise ValueError(f'expected a ratio such as "30 dB", from -100 to 100, got {shown(value)}')
    return float(found[1])


def _text(value: float) -> str:
    return f"{value:g} dB"


Decibels = Annotated[
    float,
    BeforeValidator(_decibels),
    PlainSerializer(_text, return_type=str, when_used="json-unless-none"),
    Written("ratio", "30 dB", ("dB",), _text, signed=True),
]


class ChangingSnr(Model):
    """A signal-to-noise ratio that varies: normally distributed in dB, with a new value every millisecond.

    Its correlation decays exponentially over time, as that of shadowing does over distance (Gudmundson,
    1991). Traffic does not affect it.
    """

    mean_db: Decibels = Field(alias="mean", examples=["25 dB"])
    """Mean of the ratio."""
    spread_db: Annotated[Decibels, Field(ge=0)] = Field(0.0, alias="spread", examples=["4 dB"])
    """Standard deviation of the ratio."""
    memory_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(1.0, alias="memory", examples=["2 s"])
    """Time after which the correlation has decayed to 1/e."""

    @property
    def numbers(self) -> list[float]:
        """Mean and standard deviation in dB and memory in seconds, as in the plan."""
        return [self.mean_db, self.spread_db, self.memory_s]


def _table(value: object) -> object:
    """Accept a single ratio for a constant one."""
    if value is None or isinstance(value, dict | ChangingSnr):
        return value
    return {"mean": _text(_decibels(value))}


Snr = Annotated[ChangingSnr | None, BeforeValidator(_table), OrWritten(Decibels)]
"""A signal-to-noise ratio: `"30 dB"`, or a table if it varies."""
