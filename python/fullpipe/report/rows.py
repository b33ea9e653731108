"""Rows of files in a report: tables, verdicts in words, and limits of a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.points import short_names
from fullpipe.analysis.shown import difference_shown, margin_shown, metric_shown, number_shown, unit_shown
from fullpipe.analysis.statistics import Interval
from fullpipe.report.content import Column, Table
from fullpipe.report.text import left_out, listed
from fullpipe.scenario.labels import Labels

# Tables from the rows of result files, whatever keys the rows have.


_IN_UNITS = (
    *("reference", "variant", "base", "change"),
    *("mean", "low", "high", "value", "estimate", "margin", "means"),
)
"""Keys whose numbers have the unit of their row."""
_VERDICT, _REASON = "verdict", "reason"
_UNFINISHED = "unfinished"
_SHOWN_ELSEWHERE = ("unit", "interval", "relative_interval", "entry", "kind")
_INTERVALS = ("interval", "relative_interval")
_LEVEL = 0.95
_HEADS = {"side": "variant", "variant": "its mean", "reference": "reference mean"}
_HEADS |= {"p_raw": "p (raw)", "p_corrected": "p (corrected)", "corrected": "p is corrected within its test"}
_HEADS |= {
    "q": "q (false discovery rate)",
    "n": "runs",
    "primary": "decides",
    "planned": "declared beforehand",
}
_HEADS |= {"effects": "effect sizes", "p_equivalent": "p (equivalence)"}
"""Headings of keys whose names are not clear as headings."""

Row = Mapping[str, Any]


def table_of(rows: Sequence[Row], caption: str, most: int, labels: Labels) -> Table:
    """Return a table with a column per key. Verdicts and units follow metrics, and intervals follow
    differences."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    hidden = {key for key in _SHOWN_ELSEWHERE if _is_told(key, keys)}
    empty = {key for key in keys if all(row.get(key) in (None, "", [], {}) for row in rows)}
    left = [key for key in keys if key not in (_VERDICT, _REASON, *hidden, *empty)]
    place = left.index("metric") + 1 if "metric" in left else len(left)
    last = [key for key in (_VERDICT, _REASON) if key in keys and key not in empty]
    shown = [*left[:place], *last[:1], *left[place:], *last[1:]]
    paths = [key for key in shown if "." in key]
    names = {**short_names(shown), **labels.names(paths)}
    columns = [
        Column(_HEADS.get(key, names[key].replace("_", " ")), _is_number(key, rows), key == _VERDICT)
        for key in shown
    ]
    written = [
        [labels.value(key, row[key]) if key in paths and key in row else _cell(row, key) for key in shown]
        for row in rows[:most]
    ]
    note = left_out(most, len(rows), "rows")
    return Table(caption, columns, written, note)


def _is_told(key: str, keys: Sequence[str]) -> bool:
    """Whether the value of a key is shown in the column of another key."""
    needs = {"unit": "metric", **dict.fromkeys(_INTERVALS, "difference"), "entry": "of", "kind": "of"}
    return needs[key] in keys


def with_sides(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of `compare --json`, each with its point and the names of both sides."""
    point = one.get("point")
    sides = {
        told: one[key]
        for key, told in (("reference", "against"), ("variant", "side"))
        if isinstance(one.get(key), str)
    }
    first = {**(point if isinstance(point, dict) else {}), **sides}
    return [{**first, **_with_point(row)} for row in one["rows"]]


def _with_point(row: Row) -> dict[str, Any]:
    """A row with a column for every path of its point."""
    point = row.get("point")
    if not isinstance(point, Mapping):
        return dict(row)
    return {**point, **{key: value for key, value in row.items() if key != "point"}}


def _is_number(key: str, rows: Sequence[Row]) -> bool:
    if key in ("difference", "margin"):
        return True
    known = [row[key] for row in rows if row.get(key) is not None]
    return bool(known) and all(map(is_real, known))


def _cell(row: Row, key: str) -> str:
    value, unit, metric = row.get(key), str(row.get("unit") or ""), str(row.get("metric") or "")
    if value is None:
        return "-"
    if key == "metric":
        return ", ".join(filter(None, [_metric(value), unit_shown(unit, metric)]))
    if key == "difference" and is_real(value):
        of = reference_of(row), unit, metric, margin_of(row), relative_of(row)
        return difference_shown(float(value), interval_of(row), *of)
    if key == _UNFINISHED and isinstance(value, Mapping):
        return "; ".join(f"{side} {_count(counts)}" for side, counts in value.items())
    if key == "margin" and isinstance(value, Mapping):
        margin = margin_of(row)
        return margin_shown(margin, unit, metric) if margin else text_of(value)
    if key in _IN_UNITS and unit and is_real(value):
        return number_shown(value, unit, metric)
    if key in _IN_UNITS and unit and isinstance(value, list) and all(map(is_real, value)):
        return ", ".join(number_shown(part, unit, metric) for part in value) or "-"
    return text_of(value)


def _metric(value: Any) -> str:
    """The label of a metric, or any other value as text."""
    return metric_shown(value) if isinstance(value, str) and value in BY_NAME else text_of(value)


def _count(counts: Any) -> str:
    """Return the number of unfinished transfers of a side, which completion times leave out.

    >>> _count({"unfinished": 16, "began": 78})
    '16 of 78'
    """
    if not isinstance(counts, Mapping):
        return text_of(counts)
    return f"{text_of(counts.get('unfinished'))} of {text_of(counts.get('began'))}"


def is_real(value: Any) -> TypeGuard[float]:
    """Whether a value of a file is a number that can be drawn."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def reference_of(row: Row) -> float:
    """Reference of a row's difference, under any of its keys, or the first of two means; 0 if unknown."""
    means = row.get("means")
    first = means[0] if isinstance(means, list) and len(means) == 2 else None
    found = [value for value in (row.get("reference"), row.get("base"), first) if is_real(value)]
    return float(found[0]) if found else 0.0


def relative_of(row: Row) -> Interval | None:
    """The interval of a row's difference as a share of the reference, if it has both ends."""
    return interval_of({"interval": row.get("relative_interval")})


def interval_of(row: Row) -> Interval | None:
    """The interval of a row's difference, if it has both ends."""
    found = row.get("interval")
    if not isinstance(found, Mapping):
        return None
    low, high = found.get("low"), found.get("high")
    return Interval(float(low), float(high), _LEVEL, "t") if is_real(low) and is_real(high) else None


def margin_of(row: Row) -> Margin | None:
    """The margin of a row as stated; None if the row has only the size of the margin."""
    value = row.get("margin")
    if not isinstance(value, Mapping):
        return None
    parts = [value.get(part) or 0.0 for part in ("relative", "absolute")]
    return Margin(*parts) if all(map(is_real, parts)) else None


def text_of(value: Any) -> str:
    """A value of a file as text.

    >>> text_of({"low": 1.0, "high": None}), text_of(0.00012345), text_of(True)
    ('low 1, high -', '0.000123', 'yes')
    >>> text_of({"name": "omega²", "value": 0.9, "interval": {"low": 0.7, "high": 0.95, "method": "F"}})
    'omega² 0.9 [0.7, 0.95]'
    """
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}" if abs(value) >= 10_000 else str(value)
        case float():
            return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
        case {"name": str(name), "value": number}:
            found = interval_of(value)
            return f"{name} {text_of(number)}" + (
                f" [{text_of(found.low)}, {text_of(found.high)}]" if found else ""
            )
        case Mapping():
            return ", ".join(f"{key} {text_of(part)}" for key, part in value.items())
        case list():
            return ", ".join(map(text_of, value)) or "-"
        case str():
            return value or "-"
        case _:
            return json.dumps(value)


# Verdicts in words.


_FIRST = (
    *("regressed", "worse", "better", "different", "higher", "lower"),
    *("undecided", "not worse", "equivalent"),
)
"""Order of verdicts: verdicts that need a decision come first."""
_COUNTED = ("undecided", "not worse", "equivalent")
"""Verdicts for which a summary states only the number of rows."""

_UNCORRECTED = (
    "Intervals are uncorrected: each is of a single test. Intervals are truncated at the metric's bounds. "
    "Intervals in per cent are Fieller's intervals of the relative change. "
    'If a margin has two parts, such as "15 % or 1.00 ms", the larger part applies. p (corrected) is after '
    "Holm's correction over "
)
HOW_CHECKED = (
    "Not worse: the one-sided interval of the difference, at the level of the tests, ends within the margin. "
    "Regressed: this interval ends beyond the margin, and the paired t-test finds a difference for the "
    "worse. Undecided: neither; the number of seeds is the total that would decide. "
    f"{_UNCORRECTED}all tests of the check."
)
HOW_COMPARED = (
    "Pairs of runs with the same seed. Equivalent: the 90 % interval of the difference lies within the "
    "margin, which is the same as two one-sided tests at 5 %. Better or worse: this interval does not lie "
    "within the margin, and p (corrected) is below 0.05. Undecided: neither; the number of seeds is the "
    f"total that would decide. {_UNCORRECTED}all tests of one command; a command with "
    "--metric has fewer tests. A row is of a metric, of a group of flows or a link, and of a point."
)
HOW_SHARED = (
    "Goodput share of a group against its fair share in the same runs: higher or lower if p (corrected) of "
    "the t-test over seeds is below 0.05, equivalent if the 90 % interval lies within the margin. If there "
    f"are two groups, the one with the larger share is tested. {_UNCORRECTED}the rows of this table."
)
HOW = {"check": HOW_CHECKED, "compare": HOW_COMPARED}
"""Rules of verdicts in words, by the kind of file."""


def summary(rows: Sequence[Row]) -> str:
    """Summarise verdicts, the most important first, with the number of rows per metric.

    >>> rows = [{"verdict": "better", "metric": "jain"}, {"verdict": "worse", "metric": "goodput"}]
    >>> summary([*rows, {"verdict": "undecided", "metric": "goodput"}])
    "worse in goodput (1 of 2); better in Jain's index; undecided in 1 of 3 rows"
    """
    return "; ".join(_told(word, rows) for word, _ in tally(rows)) or "nothing was compared"


def _told(word: str, rows: Sequence[Row]) -> str:
    of = [row for row in rows if str(row.get("verdict")) == word]
    if len(rows) == 1 and word in _COUNTED:
        return word
    if word in _COUNTED or not all(row.get("metric") for row in of):
        return f"{word} in {len(of)} of {len(rows)} rows"
    metrics = dict.fromkeys(str(row["metric"]) for row in of)
    return f"{word} in {listed(_share(metric, of, rows) for metric in metrics)}"


def _share(metric: str, of: Sequence[Row], rows: Sequence[Row]) -> str:
    count, total = (sum(str(row.get("metric")) == metric for row in part) for part in (of, rows))
    label = _metric(metric)
    return label if total == 1 else f"{label} ({count} of {total})"


def tally(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Count each verdict, in the order of `_FIRST`."""
    given = [str(row["verdict"]) for row in rows if row.get("verdict")]
    order = sorted(set(given), key=lambda word: (_FIRST.index(word) if word in _FIRST else len(_FIRST), word))
    return [(word, given.count(word)) for word in order]


# Limits on the size of a page, so that the page can be sent and opened anywhere. The page states the number
# of items left out.


@dataclass(frozen=True)
class Budget:
    """Upper limits for the contents of a page that grow with the number of runs."""

    samples: int = 300_000
    """Samples of all time series; each takes 8/3 bytes."""
    runs_over_time: int = 8
    """Runs whose time series are drawn."""
    traces: int = 12
    """Flows or links in a figure over time."""
    rows: int = 1_000
    """Rows of a table."""
    figures: int = 12
    """Figures over points, per scenario."""
    csv_bytes: int = 600_000
    """Bytes of the table of values."""
    scenarios: int = 12
    """Scenarios with different names."""
