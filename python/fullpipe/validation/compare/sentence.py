"""Sentences on one finding: metric and group, direction, size, interval, unit, margin and reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import (
    LONGEST,
    begun,
    difference_unit_shown,
    is_relative,
    number_shown,
    p_in_words,
    p_shown,
    unit_shown,
    words_in,
)
from fullpipe.validation.compare.finding import Finding
from fullpipe.validation.compare.names import Names

_LEVEL = 0.05
_MOST_DIGITS = 2


class Part(NamedTuple):
    """A part of a sentence, and its rank: those of the highest are left out first, those of 0 never."""

    text: str
    rank: int = 0


def fitted(parts: Iterable[Part]) -> str:
    """A sentence of as many parts as `LONGEST` words have room for."""
    kept = list(parts)
    while words_in("".join(part.text for part in kept)) > LONGEST and any(part.rank for part in kept):
        kept.remove(max(kept, key=lambda part: part.rank))
    return f"{''.join(part.text for part in kept)}."


def one(found: Finding, family: Sequence[Finding] = ()) -> str:
    """A finding in a sentence: group, metric, direction, size with interval, value with unit, verdict.

    `family` has the findings whose tests are corrected together.
    """
    return fitted(one_point(found, family))


def one_point(found: Finding, family: Sequence[Finding]) -> Iterator[Part]:
    """The parts of a sentence on a finding."""
    name, values = name_of(found), _from_to(found)
    yield Part(f"{name} {predicate(found.outcome)}: ")
    if found.is_by_runs:
        yield Part(found.reason)
    elif found.outcome == "undecided":
        yield Part(f"{values}, {difference_in_words(found)}; ")
        yield from why_open(found, family)
    elif found.verdict in ("equivalent", "undecided"):
        yield Part(f"{values}, {difference_in_words(found)}")
        yield Part(f", within {margin_in_words(found)}" if found.verdict == "equivalent" else "")
    else:
        yield Part(f"it {moves(found)}")


def predicate(outcome: str) -> str:
    """The verb and the word of an outcome."""
    return outcome if outcome == "regressed" else f"is {outcome}"


def margin_in_words(found: Finding) -> str:
    """The margin in words."""
    unit = difference_unit_shown(found.unit, found.metric)
    amount = f"{_number(found.margin.absolute, found)} {unit}".rstrip() if found.margin.absolute else ""
    share = f"{100 * found.margin.relative:g} %" if found.margin.relative else ""
    return f"the margin of {' or '.join(filter(None, (share, amount))) or '0'}"


def why_open(found: Finding, family: Sequence[Finding]) -> Iterator[Part]:
    """The reason why nothing is decided: Holm's correction, or few seeds."""
    seeds = f"about {found.seeds:,} seeds would decide" if found.seeds else ""
    if not is_open_by_correction(found):
        yield Part(seeds or found.reason)
        return
    yield Part(f"{p_in_words(found.p_raw)}; {p_shown(found.p_corrected)} after Holm's correction")
    tests, own = family_size(family), family_size(family, found.metric)
    yield Part(f" for {tests:,} tests" if tests > 1 else "")
    yield Part(f" (`--metric {found.metric}`: {own:,})" if own < tests else "", 2)
    yield Part(f", {seeds}" if seeds else "", 3)


def is_open_by_correction(found: Finding) -> bool:
    """Whether Holm's correction makes a finding undecided."""
    p, corrected = found.p_raw, found.p_corrected
    return p is not None and corrected is not None and p < _LEVEL <= corrected


def family_size(family: Iterable[Finding], metric: str = "") -> int:
    """Number of tests that are corrected together, of all metrics or one."""
    return sum(each.p_corrected is not None and metric in ("", each.metric) for each in family)


def name_of(found: Finding) -> str:
    """Metric and group in words."""
    label = BY_NAME[found.metric].label or found.metric
    return f"{label} {'at' if found.kind == 'link' else 'of'} {found.of}"


def moves(found: Finding) -> str:
    """Direction, size with interval, and the value reached."""
    verb = "rises" if found.difference > 0 else "falls"
    size = _size(found)
    if _is_relative(found):
        return f"{verb} by {size} to {_value(found.other, found)}"
    return f"{verb} from {_number(found.reference, found)} to {_value(found.other, found)}, by {size}"


def _is_relative(found: Finding) -> bool:
    """Whether differences are given in per cent of the reference."""
    return is_relative(found.unit, found.metric, found.reference, found.margin)


def _ends(found: Finding) -> tuple[float, float] | None:
    """The ends of the interval within the bounds of the metric."""
    if found.interval is None:
        return None
    within = found.interval.clipped(*bounds_of_difference(found.metric, found.reference))
    return within.low, within.high


def _size(found: Finding) -> str:
    """The size of a difference without its sign, with its interval in the same direction."""
    sign = 1 if found.difference > 0 else -1
    return _with_interval([sign * found.difference, *sorted(sign * end for end in _ends(found) or ())], found)


def difference_in_words(found: Finding) -> str:
    """A difference with sign, unit and interval, in words."""
    return f"a difference of {signed(found)}"


def signed(found: Finding) -> str:
    """A difference with sign, unit and interval."""
    return _with_interval([found.difference, *(_ends(found) or ())], found, "+")


def _with_interval(values: Sequence[float], found: Finding, sign: str = "") -> str:
    """A difference and the ends of its interval, with decimals enough to tell the ends apart."""
    texts = [_scaled(value, found, sign) for value in values]
    for digits in range(_MOST_DIGITS + 1) if _is_relative(found) and len(values) > 1 else ():
        told = [_scaled(value, found, sign, digits) for value in values]
        if texts[1] == texts[2] and told[1] != told[2]:
            texts = told
    unit = "%" if _is_relative(found) else difference_unit_shown(found.unit, found.metric)
    interval = f" [{', '.join(texts[1:])}]" if len(texts) > 1 else ""
    return f"{f'{texts[0]} {unit}'.rstrip()}{interval}"


def _scaled(value: float, found: Finding, sign: str = "", digits: int | None = None) -> str:
    if _is_relative(found):
        percent = 100 * value / abs(found.reference)
        places = (0 if abs(percent) >= 10 else 1) if digits is None else digits
        return f"{percent:{sign},.{places}f}"
    text = number_shown(value, found.unit, found.metric)
    return f"+{text}" if sign and value > 0 else text


def _number(value: float, found: Finding) -> str:
    return number_shown(value, found.unit, found.metric)


def _value(value: float, found: Finding) -> str:
    return f"{_number(value, found)} {unit_shown(found.unit, found.metric)}".rstrip()


def _from_to(found: Finding) -> str:
    """Both means with their unit."""
    if found.is_by_runs:
        return _value(found.reference, found)
    return f"{_number(found.reference, found)} and {_value(found.other, found)}"


def placed(found: Finding, names: Names | None = None) -> str:
    """A finding in a sentence that begins with its case and point."""
    place, told = (names or Names()).place(found, with_group=False), one(found)
    return f"{place}: {told}" if place else begun(told)
