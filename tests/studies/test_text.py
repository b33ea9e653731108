"""Reports of studies as text: prose and tables that fit a terminal."""

from __future__ import annotations

import pytest

from fullpipe.studies.text import Aligned, fitted, written

ROWS = [
    ["where", "printed", "ours", "verdict"],
    ["Fig. 2, 500: fast flows", "nine or ten flows are high (above 50 Mbit/s)", "0.5", "not reproduced"],
    ["Table II, 100: mean", "39.5 Mbit/s", "26.8", "same direction"],
]
PROSE = "Every printed number and claim, with ours over 3 seeds and its 95 % interval. " * 3


@pytest.mark.parametrize("columns", [24, 40, 60, 80, 200])
def test_a_table_fits_the_terminal_and_its_words_stay_whole(columns: int) -> None:
    lines = Aligned(ROWS, right=[2]).fitted(columns).splitlines()
    assert max(map(len, lines)) <= max(columns, 2 * 18 + 2)
    words = " ".join(lines).split()
    assert {word for row in ROWS for cell in row for word in cell.split()} <= set(words)


def test_a_table_that_fits_is_in_one_piece() -> None:
    table = Aligned(ROWS, right=[2])
    assert table.fitted(200) == str(table)
    assert len(str(table).splitlines()) == len(ROWS) + 1


def test_a_table_that_does_not_fit_is_in_several_that_begin_alike() -> None:
    first, second = Aligned(ROWS).fitted(40).split("\n\n")
    assert first.split()[:2] == ["where", "printed"]
    assert second.split()[:3] == ["where", "ours", "verdict"]


def test_cells_are_cut_only_where_no_terminal_is() -> None:
    table = Aligned(ROWS, cut={1: 20})
    assert "…" in str(table)
    assert "…" not in table.fitted(80)


def test_prose_fits_as_well_and_lines_that_end_stay_ended() -> None:
    text = f"{PROSE}\nThe end."
    for shown, columns in ((fitted([text], 40), 40), (written([text]), 100)):
        lines = shown.splitlines()
        assert max(map(len, lines)) <= columns
        assert lines[-1] == "The end."
