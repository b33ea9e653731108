"""The units of Linux's `tc`, which differ from those of scenarios: "10k" is 10,240 bytes, "mbit" is 10^6
bit/s.

A time without a unit is in microseconds (`get_time`), or in nanoseconds if `tc` stores 64 bits
(`get_time64`). Sources: tc(8), PARAMETERS; iproute2 lib/utils.c and lib/utils_math.c.

>>> rate("20mbit"), size("100k"), milliseconds("5ms"), nanoseconds("5ms")
(20000000, 102400, 5.0, 5000000)
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeVar

from fullpipe.errors import shown, suggestion

_NUMBER = r"(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,2})?"
_Number = TypeVar("_Number", int, float)
_TEXT = re.compile(f"({_NUMBER})([A-Za-z]*)")
_WHOLE = re.compile("[+-]?(?:(0[xX][0-9a-fA-F]{1,15})|(0[0-7]{1,18})|0|[1-9][0-9]{0,17})")
_MOST = 2**63 - 1
"""Largest value of any option in its base unit, as in `get_time64`."""
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

_MICROSECONDS, _NANOSECONDS = {"": 1}, {"": 1}
for _unit, _length_ns in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)):
    for _word in (_unit, _unit + "ec", _unit + "ecs"):
        _NANOSECONDS[_word] = _length_ns
        if _length_ns >= 1000:
            _MICROSECONDS[_word] = _length_ns // 1000


def rate(text: str) -> int:
    """Parse a rate into bit/s, rounded down to whole bytes per second as in `get_rate64`."""
    if text.endswith("%"):
        raise ValueError(f"{shown(text)} is relative to the speed of a device; write a rate such as 10mbit")
    return _read(text, "rate", _RATES) // 8 * 8


def size(text: str) -> int:
    """Parse a size into bytes."""
    return _read(text, "size", _SIZES)


def burst(text: str) -> int:
    """Parse a burst into bytes. The part after a slash, the cell size of obsolete rate tables, is ignored."""
    return size(text.partition("/")[0])


def nanoseconds(text: str) -> int:
    """Parse a time into nanoseconds. A number without a unit is in nanoseconds (`get_time64`)."""
    return _read(text, "time", _NANOSECONDS)


def microseconds(text: str) -> int:
    """Parse a time into whole microseconds. A number without a unit is in microseconds (`get_time`)."""
    return _read(text, "time", _MICROSECONDS)


def milliseconds(text: str) -> float:
    """Parse a time into milliseconds. The time is truncated to whole microseconds, as `tc` stores it."""
    return microseconds(text) / 1000


def is_bare(text: str) -> bool:
    """Whether a text is a number other than 0 without a unit."""
    found = _TEXT.fullmatch(text)
    return found is not None and not found[2] and Decimal(found[1]) != 0


def whole(text: str) -> int:
    """Parse a whole number, hexadecimal after 0x and octal after 0 (tc(8), VALUES)."""
    found = _WHOLE.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a whole number, got {shown(text)}")
    return int(text, 16 if found[1] else 8 if found[2] else 10)


def decimal(text: str) -> int:
    """Parse a whole number that is never octal, such as an overhead (`cake_parse_opt`)."""
    return whole(re.sub("^([+-]?)0+(?=[0-9])", r"\1", text))


def packets(text: str) -> int:
    """Parse a number of packets, which `tc qdisc show` prints with the suffix "p"."""
    return whole(text.removesuffix("p"))


def packets_as_size(text: str) -> int:
    """Parse a number of packets that `tc` reads as a size: "1k" is 1024 (`fifo_parse_opt`)."""
    return size(text.removesuffix("p"))


def number(text: str) -> float:
    """Parse a number without a unit."""
    return float(_value(text, "number", {"": 1}))


def percent(text: str) -> int:
    """Parse a percentage, with or without "%", into whole percents (iproute2 `try_get_percent`)."""
    return round(100 * probability(text))


def probability(text: str) -> float:
    """Parse a percentage, with or without "%", into a number from 0 to 1 (iproute2 `parse_percent`)."""
    value = _value(text.removesuffix("%"), "percentage", {"": 1}) / 100
    if value > 1:
        raise ValueError(f"expected at most 100%, got {shown(text)}")
    return float(value)


def or_default(read: Callable[[str], _Number]) -> Callable[[str], _Number | None]:
    """Return a parser that gives None for 0. `tc` does not send a 0 to the kernel, so the default of the
    kernel applies."""
    return lambda text: read(text) or None


def _read(text: str, noun: str, units: Mapping[str, int | Decimal]) -> int:
    """Parse a number with a unit into its base unit, truncated as in C."""
    return int(_value(text, noun, units))


def _value(text: str, noun: str, units: Mapping[str, int | Decimal]) -> Decimal:
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a {noun}, got {shown(text)}")
    unit = found[2].lower()
    if unit not in units:
        known = [name for name in units if name]
        raise ValueError(f'unknown unit "{found[2]}" of a {noun}{suggestion(unit, known)}')
    value = Decimal(found[1]) * units[unit]
    if value > _MOST:
        raise ValueError(f"expected a smaller {noun}, got {shown(text)}")
    return value
