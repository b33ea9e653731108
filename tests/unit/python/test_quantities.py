"""Quantities: exact round trips, and messages that show the right spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.scenario.quantities import DURATION, RATE, SIZE, Dimension

DIMENSIONS = [DURATION, RATE, SIZE]
any_dimension = pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda dimension: dimension.noun)


@any_dimension
@given(data=st.data())
def test_format_then_parse_is_the_identity(dimension: Dimension, data: st.DataObject) -> None:
    value = data.draw(st.integers(0, dimension.limit))
    assert dimension.parse(dimension.format(value)) == value


@any_dimension
@given(data=st.data())
def test_every_unit_scales_a_whole_number(dimension: Dimension, data: st.DataObject) -> None:
    unit, scale = data.draw(st.sampled_from(sorted(dimension.units.items())))
    number = data.draw(st.integers(0, dimension.limit // scale))
    assert dimension.parse(f"{number} {unit}") == number * scale


@any_dimension
@given(number=st.one_of(st.integers(), st.floats()))
def test_bare_numbers_are_refused_with_an_example(dimension: Dimension, number: float) -> None:
    with pytest.raises(ValueError, match="needs a unit, such as") as error:
        dimension.parse(number)
    assert dimension.example in str(error.value)


@any_dimension
@given(text=st.text())
def test_any_text_is_a_quantity_or_a_short_message_on_one_line(dimension: Dimension, text: str) -> None:
    try:
        message = str(dimension.parse(text))
    except ValueError as error:
        message = str(error)
    assert len(message) < 200
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (DURATION, "20 ms", 20_000_000),
        (DURATION, "20ms", 20_000_000),
        (DURATION, " 1.5 s ", 1_500_000_000),
        (DURATION, "2 min", 120_000_000_000),
        (DURATION, "5 \u00b5s", 5_000),
        (RATE, "1 Gbit/s", 1_000_000_000),
        (RATE, "2.5e1 Mbit/s", 25_000_000),
        (SIZE, "1420 B", 1420),
        (SIZE, "64 KiB", 65_536),
        (SIZE, "64 kB", 64_000),
    ],
)
def test_spellings(dimension: Dimension, text: str, value: int) -> None:
    assert dimension.parse(text) == value


@pytest.mark.parametrize(
    ("dimension", "text", "hint"),
    [
        (RATE, "100 Mbps", 'did you mean "100 Mbit/s"'),
        (RATE, "100 Mb/s", 'did you mean "100 Mbit/s"'),
        (RATE, "100 MB/s", 'did you mean "800 Mbit/s"'),
        (RATE, "12.5 kBps", 'did you mean "100 kbit/s"'),
        (RATE, "20 ms", 'unknown unit "ms" of a rate'),
        (DURATION, "20 Mbit/s", 'unknown unit "Mbit/s" of a duration'),
        (DURATION, "20 sec", 'did you mean "20 s"'),
        (SIZE, "64 KB", 'did you mean "64 kB"'),
        (DURATION, "-1 s", "cannot be negative"),
        (DURATION, "nan s", 'expected a duration such as "20 ms"'),
        (DURATION, "inf s", 'expected a duration such as "20 ms"'),
        (DURATION, "", 'expected a duration such as "20 ms"'),
        (DURATION, "1e999 s", "at most 86400 s"),
        (RATE, "9" * 30 + " Tbit/s", "at most 1000 Tbit/s"),
    ],
)
def test_messages(dimension: Dimension, text: str, hint: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        dimension.parse(text)
    assert hint in str(error.value)
