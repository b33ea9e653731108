"""Quantities: text with a unit in files and messages, numbers in base units in the code.

>>> RATE.parse("100 Mbit/s")
100000000
>>> RATE.format(100_000_000)
'100 Mbit/s'

Durations are counted in whole nanoseconds, rates in bits per second and sizes in bytes. Models hold
durations in seconds (`delay_s`), as tables do; whole nanoseconds convert to seconds and back exactly.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, PlainSerializer

from fullpipe.errors import ScenarioError, brief, shown, suggestion

NANOSECONDS = 1_000_000_000
BITS = 8
"""Bits per byte."""
OFF = "off"
_LONGEST = 40
_TEXT = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*(\S*)\s*")


class Dimension(NamedTuple):
    """A kind of quantity: its units, its limit, and an example for error messages."""

    noun: str
    example: str
    units: Mapping[str, int]
    """Units and their sizes in base units, largest first. A value is printed in the first of these units that
    divides the value."""
    limit: int
    """Largest accepted value, in base units."""
    zero: str
    only_read: frozenset[str] = frozenset()
    misspellings: Mapping[str, str] = MappingProxyType({})
    in_bytes: Mapping[str, str] = MappingProxyType({})
    """Units of bytes per second that users write by mistake, each with the corresponding unit of bits per
    second."""

    def parse(self, value: object) -> int:
        """Convert text such as "20 ms" to a whole number of base units, by rounding.

        Raises:
            ValueError: If the unit is missing or unknown, or the number is missing, negative, too large, or
                so small that it rounds to 0.
        """
        number, unit = split(value, self.noun, self.example)
        scale = self._scale(number, unit)
        if number * scale > self.limit:
            raise ValueError(
                f"{shown(value)} is too much; a {self.noun} is at most {self.format(self.limit)}"
            )
        if 0 < number * scale < 1:
            raise ValueError(f"{shown(value)} is too little; a {self.noun} is 0 or at least {self.format(1)}")
        return int((number * scale).to_integral_value())

    def format(self, value: int) -> str:
        """Return the exact text of `value` base units: `parse(format(value)) == value`."""
        if value == 0:
            return self.zero
        written = ((unit, scale) for unit, scale in self.units.items() if unit not in self.only_read)
        unit, scale = next((unit, scale) for unit, scale in written if value % scale == 0)
        return f"{value // scale} {unit}"

    def _scale(self, number: Decimal, unit: str) -> int:
        if unit in self.units:
            return self.units[unit]
        if unit in self.misspellings:
            raise ValueError(
                f'unknown unit "{brief(unit)}"; did you mean "{number} {self.misspellings[unit]}"?'
            )
        if unit in self.in_bytes:
            meant = f"{(number * BITS).normalize():f} {self.in_bytes[unit]}"
            raise ValueError(f'unknown unit "{unit}": a {self.noun} counts bits; did you mean "{meant}"?')
        raise ValueError(f'unknown unit "{brief(unit)}" of a {self.noun}{suggestion(unit, self.units)}')


def split(value: object, noun: str, example: str) -> tuple[Decimal, str]:
    """Split text into its number and its unit; the number is finite and not negative.

    Raises:
        ValueError: If `value` is not text of that form; the message shows `example`.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f'a {noun} needs a unit, such as "{example}"; got the bare number {shown(value)}')
    found = _TEXT.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if found is None:
        raise ValueError(f'expected a {noun} such as "{example}", got {shown(value)}')
    number, unit = Decimal(found[1]), found[2]
    if not unit:
        raise ValueError(f'a {noun} needs a unit, such as "{example}"; got the bare number {shown(found[1])}')
    if number < 0:
        raise ValueError(f"a {noun} cannot be negative, got {shown(value)}")
    return number, unit


DURATION = Dimension(
    noun="duration",
    example="20 ms",
    units={
        "min": 60 * NANOSECONDS,
        "s": NANOSECONDS,
        "ms": 1_000_000,
        "us": 1_000,
        "\u00b5s": 1_000,
        "ns": 1,
    },
    limit=86_400 * NANOSECONDS,
    zero="0 s",
    only_read=frozenset({"min", "\u00b5s"}),
    misspellings={"sec": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns", "S": "s", "MS": "ms"},
)
RATE = Dimension(
    noun="rate",
    example="100 Mbit/s",
    units={"Tbit/s": 10**12, "Gbit/s": 10**9, "Mbit/s": 10**6, "kbit/s": 10**3, "bit/s": 1},
    limit=10**15,
    zero="0 bit/s",
    misspellings={
        wrong: right
        for prefix in ("T", "G", "M", "k", "")
        for right in (f"{prefix}bit/s",)
        for wrong in (f"{prefix}bps", f"{prefix}b/s", f"{prefix}bit", f"{prefix}bits/s", f"{prefix}bit/sec")
    },
    in_bytes={
        wrong: f"{prefix}bit/s"
        for prefix in ("T", "G", "M", "k", "")
        for wrong in (f"{prefix}B/s", f"{prefix}Bps", f"{prefix}byte/s", f"{prefix}bytes/s")
    },
)
SIZE = Dimension(
    noun="size",
    example="64 KiB",
    units={"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6, "KiB": 2**10, "kB": 10**3, "B": 1},
    limit=2**50,
    zero="0 B",
    misspellings={"KB": "kB", "K": "KiB", "M": "MiB", "G": "GiB", "bytes": "B", "byte": "B", "b": "B"},
)


_OF_UNITS = {
    "ns": (DURATION, 1),
    "ms": (DURATION, 1_000_000),
    "s": (DURATION, NANOSECONDS),
    "bit/s": (RATE, 1),
    "Mbit/s": (RATE, 1_000_000),
    "bytes": (SIZE, 1),
}
"""The dimension of each unit, and the number of base units in the unit."""


def number_in(unit: str, value: object) -> float:
    """Return a quantity as a number in `unit`. The number is whole if `unit` is a base unit.

    >>> number_in("ms", "1 s")
    1000.0

    Raises:
        ValueError: If the text is not a quantity of this dimension.
    """
    dimension, scale = _OF_UNITS[unit]
    found = dimension.parse(value)
    return found if scale == 1 else found / scale


def text_of(unit: str, number: float) -> str:
    """Return a number in `unit` as text, in the largest unit of which it is a multiple.

    >>> text_of("ms", 0.5)
    '500 us'
    """
    dimension, scale = _OF_UNITS[unit]
    return dimension.format(round(number * scale))


def as_numbers(values: Sequence[object]) -> tuple[list[float], str] | None:
    """Return values as numbers, and their unit. Quantities are converted to the unit of the middle value by
    size. The result is None if a value is neither a number nor a quantity, or the dimensions of units differ.

    >>> as_numbers(["10 Mbit/s", "1 Gbit/s"]), as_numbers(["250 kB", "1 MB", "4 MB"])
    (([10.0, 1000.0], 'Mbit/s'), ([0.25, 1.0, 4.0], 'MB'))
    """
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(str(value)) for value in values], ""
    found = [_TEXT.fullmatch(value) if isinstance(value, str) else None for value in values]
    if not found or not all(found):
        return None
    parts = [(Decimal(part[1]), part[2]) for part in found if part]
    unit = parts[0][1]
    if all(other == unit for _, other in parts):
        return [float(number) for number, _ in parts], unit
    for dimension in (DURATION, RATE, SIZE):
        if all(other in dimension.units for _, other in parts):
            sizes = [(number * dimension.units[other], other) for number, other in parts]
            distinct = sorted(set(sizes))
            unit = distinct[(len(distinct) - 1) // 2][1]
            return [float(size / dimension.units[unit]) for size, _ in sizes], unit
    return None


def natural(text: str) -> str:
    """Return a time or rate in the largest unit in which it is at least 1, with at most three decimals.

    Other text is returned unchanged.

    >>> natural("2500 us"), natural("1500 ms"), natural("20 ms"), natural("cubic")
    ('2.5 ms', '1.5 s', '20 ms', 'cubic')
    """
    found = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
    for dimension in (DURATION, RATE) if found else ():
        if found and found[2] in dimension.units:
            value = Decimal(found[1]) * dimension.units[found[2]]
            fits = (unit for unit, scale in dimension.units.items() if value >= scale)
            unit = next((unit for unit in fits if unit not in dimension.only_read), "")
            number = (value / dimension.units[unit]) if unit else Decimal(0)
            if unit and number == round(number, 3):
                return f"{number.normalize():f} {unit}"
    return text


def to_nanoseconds(seconds: float) -> int:
    """Convert seconds to whole nanoseconds."""
    return round(seconds * NANOSECONDS)


def _seconds(value: object) -> float:
    return DURATION.parse(value) / NANOSECONDS


def _seconds_or_off(value: object) -> float:
    return 0.0 if value == OFF else _seconds(value)


def _seconds_text(value: float) -> str:
    return DURATION.format(to_nanoseconds(value))


def _bytes_or_off(value: object) -> int:
    return 0 if value == OFF else SIZE.parse(value)


def _is_time(value: object) -> bool:
    found = _TEXT.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    return found is not None and found[2] in DURATION.units


def _bdps(value: object) -> float | None:
    if _is_time(value):
        return None
    number, unit = split(value, "relative size", "1 bdp")
    if unit.lower() != "bdp":
        raise ValueError(
            f'unknown unit "{brief(unit)}"; write "1 bdp" or "50 ms", or use packets = 100 or bytes = "1 MiB"'
        )
    if not 0 < number <= 1_000_000:
        raise ValueError(f"expected more than 0 bdp and at most 1000000 bdp, got {shown(value)}")
    return float(number)


def _drain_seconds(value: object) -> float | None:
    if not _is_time(value):
        return None
    seconds = _seconds(value)
    if not seconds:
        raise ValueError(f"expected more than 0 s, got {shown(value)}")
    return seconds


def _text(write: Any) -> PlainSerializer:
    return PlainSerializer(write, return_type=str, when_used="json-unless-none")


class Written(NamedTuple):
    """Annotation of a type whose values are text with a unit in files. The JSON Schema is made from it."""

    noun: str
    example: str
    units: tuple[str, ...]
    write: Callable[[Any], str]
    """Returns a value as written in a file."""
    signed: bool = False


def _written(dimension: Dimension, write: Callable[[Any], str]) -> Written:
    return Written(dimension.noun, dimension.example, tuple(dimension.units), write)


class OrWritten(NamedTuple):
    """Annotation of a type: a second type that files may use. Values of the second type are converted to the
    annotated type."""

    type: Any


Seconds = Annotated[
    float,
    BeforeValidator(_seconds),
    _text(_seconds_text),
    _written(DURATION, _seconds_text),
]
"""A duration such as "20 ms", held in seconds."""
SecondsOrOff = Annotated[
    float,
    BeforeValidator(_seconds_or_off),
    _text(lambda value: _seconds_text(value) if value else OFF),
    _written(DURATION, _seconds_text),
    OrWritten(Literal["off"]),
]
"""A duration or "off", held in seconds or 0."""
BitsPerSecond = Annotated[
    int,
    BeforeValidator(RATE.parse),
    _text(RATE.format),
    _written(RATE, RATE.format),
]
"""A rate such as "100 Mbit/s", held in bits per second."""
Bytes = Annotated[
    int,
    BeforeValidator(SIZE.parse),
    _text(SIZE.format),
    _written(SIZE, SIZE.format),
]
"""A size such as "64 KiB", held in bytes."""
BytesOrOff = Annotated[
    int,
    BeforeValidator(_bytes_or_off),
    _text(lambda value: SIZE.format(value) if value else OFF),
    _written(SIZE, SIZE.format),
    OrWritten(Literal["off"]),
]
"""A size or "off", held in bytes or 0."""


def _bdps_text(value: float) -> str:
    return f"{repr(value).removesuffix('.0')} bdp"


Bdps = Annotated[
    float | None,
    BeforeValidator(_bdps),
    _text(_bdps_text),
    Written("relative size", "1 bdp", ("bdp", "BDP"), _bdps_text),
]
"""A size relative to the path, such as "1 bdp", held as a multiple of the BDP; None for a time."""
DrainSeconds = Annotated[
    float | None,
    BeforeValidator(_drain_seconds),
    _text(_seconds_text),
    _written(DURATION, _seconds_text),
]
"""A size of a queue, given as the time in which the full queue drains, such as "50 ms", held in seconds; None
for any other size."""


# The range of seeds.


MAX_SEED = 2**63 - 1


def check_seed(seed: int) -> None:
    """Raise ScenarioError if a seed is out of range."""
    if not 0 <= seed <= MAX_SEED:
        raise ScenarioError([f"seed: {seed} is out of range; from 0 to {MAX_SEED}"])
