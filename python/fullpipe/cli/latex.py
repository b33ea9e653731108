"""A pivoted table in LaTeX, with rules of booktabs and numbers of siunitx."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from fullpipe.analysis.shown import mean_shown, scale_and_digits
from fullpipe.cli.forms import in_latex
from fullpipe.cli.pivot import Mean, Pivot

_SYMMETRIC = 0.01
"""Most that the halves of an interval differ, as a share; those of a truncated interval differ more."""
_MOST_UNCERTAIN = 100
"""Bound of an uncertainty in units of the last decimal: it has two digits."""


def latex_of(pivot: Pivot) -> str:
    """The table, for a document with `\\usepackage{booktabs, siunitx}`.

    A cell is the mean with the half width of its 95 % interval as its uncertainty, which siunitx prints as
    1.23(4) or, with `separate-uncertainty`, as 1.23 ± 0.04. An interval that is truncated at a bound of its
    metric is written out.
    """
    written = [_column([row[n] for row in pivot.cells]) for n in range(len(pivot.numbers))]
    kinds = ["l" * len(pivot.rows)]
    for kind, alike in groupby(f"S[table-format={_format(column)}]" for column in written):
        count = len(list(alike))
        kinds.append(kind if count == 1 else f"*{{{count}}}{{{kind}}}")
    rows = [[*map(in_latex, head), *(column[n] for column in written)] for n, head in enumerate(pivot.heads)]
    lines = [
        rf"% \usepackage{{booktabs, siunitx}}; {_about(pivot)}",
        rf"\begin{{tabular}}{{{' '.join(kinds)}}}",
        r"\toprule",
        *_head(pivot),
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*lines, ""])


def _about(pivot: Pivot) -> str:
    least, most = pivot.runs
    count = f"{most}" if least == most else f"{least} to {most}"
    metric = f"{pivot.numbers[0].metric}, " if pivot.is_of_one_metric else ""
    of = f"means of {count} runs, 95 % confidence intervals" if most > 1 else "one run each"
    return f"{metric}{of}"


def _head(pivot: Pivot) -> Iterator[str]:
    """The lines above the numbers: metrics if there are several, and one for every factor of the columns."""
    left = [""] * len(pivot.rows)
    if not (pivot.is_of_one_metric and pivot.columns):
        tops = [column.metric for column in pivot.numbers]
        yield from _spans(left if pivot.columns else pivot.rows, tops)
    for n, name in enumerate(pivot.columns):
        values = [column.values[n] for column in pivot.numbers]
        is_last = n == len(pivot.columns) - 1
        if is_last:
            count, at = len(values), len(left) + 1
            yield rf"{' & '.join(left)} & \multicolumn{{{count}}}{{c}}{{{in_latex(name)}}} \\"
            yield rf"\cmidrule(lr){{{at}-{at + count - 1}}}"
            yield from _spans(pivot.rows, values)
        else:
            yield from _spans(left, [column.titles[n] for column in pivot.numbers])


def _spans(left: Sequence[str], tops: Sequence[str]) -> Iterator[str]:
    """A line of headings, of which equal neighbours are one, with a rule below each that is wide."""
    cells, rules, at = [*map(in_latex, left)], [], len(left) + 1
    for words, group in groupby(tops):
        count = len(list(group))
        cells.append(rf"\multicolumn{{{count}}}{{c}}{{{in_latex(words)}}}")
        rules += [rf"\cmidrule(lr){{{at}-{at + count - 1}}}"] if count > 1 else []
        at += count
    yield rf"{' & '.join(cells)} \\"
    if rules:
        yield " ".join(rules)


def _column(cells: Sequence[Mean | None]) -> list[str]:
    """Numbers as siunitx reads them, or text in braces. The decimals of all are those that leave the widest
    uncertainty two digits, and at most those of the metric."""
    known = [cell for cell in cells if cell is not None]
    if not known:
        return ["{--}" for _ in cells]
    scale, decimals = scale_and_digits(known[0]["unit"], known[0]["metric"])
    widest = max((width * scale for cell in known if (width := _half_width(cell))), default=0.0)
    while decimals > 0 and widest * 10**decimals >= _MOST_UNCERTAIN:
        decimals -= 1
    return [_number(cell, scale, decimals) for cell in cells]


def _number(cell: Mean | None, scale: float, decimals: int) -> str:
    if cell is None:
        return "{--}"
    mean, width = f"{cell['mean'] * scale:.{decimals}f}", _half_width(cell)
    if width is None:
        return f"{{{in_latex(mean_shown(cell))}}}"
    return mean if width == 0 else f"{mean}({math.ceil(width * scale * 10**decimals - 1e-9)})"


def _half_width(cell: Mean) -> float | None:
    """Half the width of the interval; 0 without an interval, None if it is truncated."""
    if cell["low"] is None or cell["alike"]:
        return 0.0
    below, above = cell["mean"] - cell["low"], cell["high"] - cell["mean"]
    return None if abs(above - below) > _SYMMETRIC * max(above, below) else float(above)


def _format(column: Sequence[str]) -> str:
    """The widest number of a column as siunitx has it: digits before and behind the point, and of the
    uncertainty."""
    numbers = [cell.rstrip(")").split("(") for cell in column if not cell.startswith("{")]
    whole = max((len(number[0].lstrip("-").partition(".")[0]) for number in numbers), default=1)
    decimals = max((len(number[0].partition(".")[2]) for number in numbers), default=0)
    uncertain = max((len(number[1]) for number in numbers if len(number) > 1), default=0)
    sign = "-" if any(number[0].startswith("-") for number in numbers) else ""
    return f"{sign}{whole}.{decimals}" + (f"({uncertain})" if uncertain else "")
