"""Output of `fullpipe test`: the conclusion, and a table of the tests that support it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isnan
from textwrap import wrap

from fullpipe.analysis.statistics import Effect
from fullpipe.cli import forms
from fullpipe.cli.answer import Answer as Answered
from fullpipe.cli.answer import Row as Shown
from fullpipe.cli.answer import difference_shown, fits, number_shown, point_shown, unit_shown
from fullpipe.cli.console import styled, terminal
from fullpipe.cli.forms import NOTHING, Form, Grid
from fullpipe.cli.output import complain
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.sentence import Names, merged, with_seeds
from fullpipe.validation.test import Answer, Factor, Row, conclusion
from fullpipe.validation.test.answer import weight
from fullpipe.validation.test.factor import INTERACTION, effect_shown

_NUMBERS = ("means", "difference [95 %]", "effect size [95 %]", "p (raw)", "p (corrected)", "verdict")
_SHORT = ("effect size [95 %]", "p\n(raw)", "p\n(corrected)")
_STATUS = {"different": "matters"}
"""Words of the conclusion for those verdicts of F tests that the conclusion does not repeat unchanged."""
_LONGEST_EFFECT = 24
"""Maximum characters per line of the name of an effect, in a table with all columns."""


def show(
    title: str,
    found: Answer,
    form: Form,
    *,
    all_rows: bool = False,
    labels: Labels | None = None,
    notes: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> None:
    """Print an answer. As a table: the conclusion and the tests that support it. In other formats: all rows.

    Args:
        title: Title with scenarios and factors, from `title_of`.
        found: The answer: all tests, and the status of each factor.
        form: Format of the tables.
        all_rows: Also print pairs of levels and checks on a terminal.
        labels: Labels of paths and values; if None, the default labels.
        notes: Lines for standard error.
        warnings: Lines about means that should not be trusted.
    """
    words = labels or Labels()
    if form != Form.TABLE:
        forms.show(_whole(found.rows, words), form)
        for line in [*(f"note: {note}" for note in notes), *warnings]:
            complain(line)
        return
    answer = Answered(all_rows=all_rows)
    answer.conclude(conclusion(found, words))
    answer.title(title, "")
    of_test = {id(factor.test): factor for factor in found.factors}
    if all_rows:
        _show_all(found.rows, of_test, words)
    else:
        _show_primary(answer, found, of_test, words)
    told = merged(notes, Names(words), whole=all_rows)
    answer.notes([], [*warnings, *(f"note: {note}" for note in told)])


def title_of(scenarios: Iterable[str], found: Answer, labels: Labels) -> str:
    """The title: names of scenarios, "by", and labels of the factors of every family."""
    every = dict.fromkeys(INTERACTION.join(names) for names in factor_names(found, labels).values())
    return f"{', '.join(dict.fromkeys(scenarios))} by {', '.join(every)}"


def factor_names(found: Answer, labels: Labels) -> dict[str, list[str]]:
    """The labels of the factors of every family."""
    by_family: dict[str, dict[str, None]] = {}
    for each in found.factors:
        by_family.setdefault(each.test.family, {})[each.path] = None
    names = labels.names(list(dict.fromkeys(path for paths in by_family.values() for path in paths)))
    return {family: [names[path] for path in paths] for family, paths in by_family.items()}


def _show_primary(answer: Answered, found: Answer, of_test: Mapping[int, Factor], labels: Labels) -> None:
    """Print the tests that support the conclusion.

    Names of effects have lines of their own if the terminal is too narrow for their column.
    """

    def row_of(row: Row) -> Shown:
        return Shown(", ".join(_about(row, labels)), _short(row, of_test.get(id(row)), labels))

    headings, first = ["", *_SHORT, "verdict"], weight(found)
    primary = [row for row in found.rows if row.is_primary]
    shown = [row_of(row) for row in answer.first_of(sorted(primary, key=first))]
    is_wide = fits(headings, shown, answer.width)
    made = row_of if is_wide else lambda row: _below_effect(row_of(row))
    answer.table(headings, primary, made, first, len(found.rows))


def _below_effect(row: Shown) -> Shown:
    """A row whose name of the effect is in the line above the row, instead of the first column."""
    effect, *numbers = row.cells
    return Shown(f"{row.place}:{effect}", ["", *numbers], row.style)


def _short(row: Row, factor: Factor | None, labels: Labels) -> list[str]:
    """The cells: effect, effect size, raw and corrected p value, and verdict.

    `factor` is the factor of a main effect, None for other tests.
    """
    if row.difference is not None:
        size = _difference(row, row.difference)
    else:
        size = next((effect_shown(effect) for effect in reversed(row.effects)), NOTHING)
    return [f" {_named(row, labels)}", size, _p(row.p_raw), _p(row.p_corrected), _told_verdict(row, factor)]


def _told_verdict(row: Row, factor: Factor | None) -> str:
    """The verdict in the words of the conclusion. `factor` is the factor of a main effect, else None."""
    word = row.verdict
    if row.difference is None:
        word = factor.status if factor else _STATUS.get(word, word)
    return with_seeds(word, factor.seeds if factor else row.seeds)


def _show_all(rows: Sequence[Row], of_test: Mapping[int, Factor], labels: Labels) -> None:
    """Print a table per metric and group of flows, with all its tests."""
    console = terminal()
    for _, of_rows in groupby(rows, key=lambda row: (row.family, row.subject)):
        of_subject = list(of_rows)
        console.print()
        console.print(styled(", ".join(_about(of_subject[0], labels)), "bold"), soft_wrap=True)
        cells = [
            [row.test, _in_lines(_named(row, labels)), *_cells(row, _told_verdict(row, of_test.get(id(row))))]
            for row in of_subject
        ]
        forms.show(_told(Grid(["test", ""], _NUMBERS, cells)), Form.TABLE)
        for line in dict.fromkeys(line for row in of_subject for line in row.assumptions):
            console.print(styled(f"assumed: {line}", "dim"))
    for line in _sentences(rows):
        console.print(styled(line, "dim"), soft_wrap=True)


def _in_lines(text: str) -> str:
    """Text wrapped between words into lines of at most `_LONGEST_EFFECT` characters."""
    return "\n".join(wrap(text, _LONGEST_EFFECT, break_long_words=False, break_on_hyphens=False))


def _whole(rows: Sequence[Row], labels: Labels) -> Grid:
    verdicts = [with_seeds(row.verdict, row.seeds) for row in rows]
    cells = [
        [", ".join(_about(row, labels)), row.test, row.effect, *_cells(row, verdict)]
        for row, verdict in zip(rows, verdicts, strict=True)
    ]
    return Grid(["of", "test", "effect"], _NUMBERS, cells)


def _told(grid: Grid) -> Grid:
    """The grid without columns of numbers that are empty."""
    left = len(grid.names)
    kept = [n for n in range(left, len(grid.headings)) if any(row[n] != NOTHING for row in grid.rows)]
    rows = [[*row[:left], *(row[n] for n in kept)] for row in grid.rows]
    return Grid(grid.names, [grid.headings[n] for n in kept], rows)


def _about(row: Row, labels: Labels) -> list[str]:
    subject = row.subject
    unit = unit_shown(subject.unit, subject.metric)
    named = replace(subject, of=labels.group(subject.of)).name
    name = f"{named}{f', {unit}' if unit and unit != '1' else ''}"
    planned = f"family {row.family}, declared beforehand" if row.is_planned else ""
    return [part for part in (name, *point_shown(subject.point, labels), planned) if part]


def _named(row: Row, labels: Labels) -> str:
    """The labels of the factors of an effect or, for a pair of levels, the labels of the two levels."""
    if not row.factors:
        return row.effect
    if len(row.levels) == 2:
        return " - ".join(labels.level(row.factors[0], level) for level in reversed(row.levels))
    names = labels.names(row.factors)
    return INTERACTION.join(names[path] for path in row.factors)


def _cells(row: Row, verdict: str) -> list[str]:
    unit = row.subject.unit
    means = " / ".join(number_shown(mean, unit, row.subject.metric) for mean in row.means) or NOTHING
    difference = NOTHING
    if row.difference is not None:
        difference = _difference(row, row.difference)
    return [
        means,
        difference,
        "\n".join(map(effect_shown, _shown(row))) or row.statistic or NOTHING,
        _p(row.p_raw),
        _p(row.p if row.is_corrected and isnan(row.p_corrected) else row.p_corrected),
        verdict or NOTHING,
    ]


def _difference(row: Row, difference: float) -> str:
    of = row.means[0], row.subject.unit, row.subject.metric, row.stated, row.relative
    return difference_shown(difference, row.interval, *of)


def _shown(row: Row) -> Sequence[Effect]:
    """All effect sizes of a primary test; only the first effect size of any other test."""
    return row.effects if row.is_primary else row.effects[:1]


def _p(value: float) -> str:
    """Four decimals, as scripts read these columns: 0.0504 and 0.0496 stay apart."""
    return NOTHING if isnan(value) else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _sentences(rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    if any(row.is_primary for row in listed):
        yield "p (corrected) is corrected within the family and decides verdicts; the other tests are checks"
        yield "pairs of levels get verdicts from one test; a pair differs only if the factor has an effect"
    if not any(row.is_planned for row in listed):
        yield "no test was planned before the runs; --family FILE declares planned tests"
