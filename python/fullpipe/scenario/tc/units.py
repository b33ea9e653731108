"""The units of Linux's `tc`, which differ from ours: "10k" is 10,240 bytes, a bare time is in microseconds.

>>> rate("20mbit"), size("100k"), milliseconds("5ms")
(20000000, 102400, 5.0)
"""

import re
from collections.abc import Mapping
from decimal import Decimal

from fullpipe.errors import shown, suggestion

_TEXT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})([A-Za-z]*)")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

_RATES = {"": 1}
for _prefix, _power in _POWERS.items():
    for _unit, _bits in (("bit", 1), ("bps", 8)):  # bps: bytes per second
        _RATES[_prefix + _unit] = _bits * 1000**_power
        _RATES[_prefix + "i" * bool(_prefix) + _unit] = _bits * (1024 if _prefix else 1000) ** _power

_SIZES: dict[str, int | Decimal] = {"": 1, "b": 1}
for _prefix, _power in list(_POWERS.items())[1:4]:
    _SIZES |= {_prefix: 1024**_power, _prefix + "b": 1024**_power}
    _SIZES[_prefix + "bit"] = Decimal(1024**_power) / 8

_TIMES: dict[str, int | Decimal] = {"": 1000}  # nanoseconds
for _unit, _nanoseconds in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)):
    _TIMES |= {_unit: _nanoseconds, _unit + "ec": _nanoseconds, _unit + "ecs": _nanoseconds}


def rate(text: str) -> int:
    """Bits per second."""
    return int(_read(text, "rate", _RATES))


def size(text: str) -> int:
    """Bytes."""
    return int(_read(text, "size", _SIZES))


def burst(text: str) -> int:
    """Bytes; what follows a slash is the granularity of tables that are no longer used."""
    return size(text.partition("/")[0])


def nanoseconds(text: str) -> int:
    """Nanoseconds."""
    return int(_read(text, "time", _TIMES))


def milliseconds(text: str) -> float:
    """Milliseconds."""
    return float(_read(text, "time", _TIMES) / 10**6)


def whole(text: str) -> int:
    """A whole number."""
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise ValueError(f"expected a whole number, got {shown(text)}")
    return int(text)


def packets(text: str) -> int:
    """A whole number, which `tc qdisc show` prints with a "p" behind it."""
    return whole(text.removesuffix("p"))


def number(text: str) -> float:
    """A number."""
    return float(_read(text, "number", {"": 1}))


def percent(text: str) -> int:
    """A percentage, with or without its sign."""
    return whole(text.removesuffix("%"))


def probability(text: str) -> float:
    """A percentage, with or without its sign, as a number from 0 to 1 (iproute2 `parse_percent`)."""
    value = _read(text.removesuffix("%"), "percentage", {"": 1}) / 100
    if value > 1:
        raise ValueError(f"expected at most 100%, got {shown(text)}")
    return float(value)


def _read(text: str, noun: str, units: Mapping[str, int | Decimal]) -> Decimal:
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a {noun}, got {shown(text)}")
    unit = found[2].lower()
    if unit not in units:
        raise ValueError(f'unknown unit "{found[2]}" of a {noun}{suggestion(unit, units)}')
    return Decimal(found[1]) * units[unit]
