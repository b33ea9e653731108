"""The agreement page in Markdown, and its figure. Equal results give equal text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fullpipe.analysis.shown import begun
from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.errors import LEVEL, QUANTITIES, ErrorTarget, beyond, chance, summarised
from fullpipe.validation.agree.suite import Found, Refused, Suite, seeds_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {quantity.metric: quantity.title for quantity in QUANTITIES} | {"marking_rate": "marks"}
_SHOWN = {
    "goodput": ("Mbit/s", 1e-6, 2),
    "srtt_mean": ("ms", 1e3, 2),
    "retransmitted": ("packets", 1.0, 0),
    "fct_p50": ("ms", 1e3, 1),
    "marking_rate": ("%", 100.0, 2),
}
"""Unit of a quantity on the page, number of these units per unit of the metric, and digits."""
_ROUNDED = 0.5e-4
"""Smallest error that tables of cases do not show as 0."""
_REAL = pl.when(pl.col("real").count() > 0).then((pl.col("real") & (pl.col("error").abs() >= _ROUNDED)).sum())
"""Expression for the number of errors that exceed chance and are not rounded to 0; null if all errors come
from single runs."""
_INTRODUCTION = (
    "`{command}` generates this page. The error of an engine is (value - {reference}) / {reference}, "
    "computed from means over runs, for every group of flows. For retransmissions, the divisor is at "
    "least {floor:.0f} packets. The mean RTT is the mean over time of the smoothed RTT. "
    "{starts} **{again}** is the error that {reference} would have against itself with other start times, "
    "estimated by resampling its runs (bootstrap): it shows the effect of chance. In the tables of cases, "
    "an error in **bold** is beyond chance: the {level:.0f} % interval of the mean difference "
    "between runs with the same start time excludes 0. {measured}"
)


def page(found: Found, figure: str | None = None) -> str:
    """The whole page: overall results, results by family and by case, and refused cases.

    Args:
        found: The results.
        figure: Path of the figure relative to the page, if there is a figure.
    """
    reference, errors, held_out = found.engines[0], found.errors, _is_held_out(found)
    suite = found.suite
    parts = [
        f"# {suite.title}",
        " ".join(conclusion(found)),
        _introduction(reference, suite),
        *filter(None, [suite.kernel]),
        "\n".join(_engines(found)),
    ]
    for title, some in (
        ("Catalogue", errors.filter(~held_out)),
        ("Held-out cases", errors.filter(held_out)),
    ):
        if some.height:
            parts += [f"## {title}", _overall(some, reference, suite)]
    if figure:
        caption = (
            "The figure shows the share of errors that are at most the value on the x axis; crosses are the "
            "targets for median and 95th percentile."
        )
        parts += [f"![{caption}]({figure})", caption]
    why = ", and why" if suite.known else ""
    parts += [f"## What differs{why}", _beyond(found), *filter(None, [suite.known])]
    if errors.height:
        parts += ["## By family", "Median and 95th percentile of the errors.", _by_family(errors, reference)]
        parts += ["## Case by case", *_cases(found)]
    if found.refused:
        parts += ["## Not run", "\n".join(f"- {line}" for line in _grouped(found.refused))]
    return "\n\n".join(parts) + "\n"


def conclusion(found: Found) -> list[str]:
    """The errors of every engine against the reference in the held-out cases, if these were run, and the
    errors by chance alone."""
    held_out = found.errors.filter(_is_held_out(found))
    errors = found.errors if held_out.is_empty() else held_out
    where = "" if held_out.is_empty() else "Held-out cases, "
    if errors.is_empty():
        return ["No case could be compared."]
    reference = found.engines[0]
    sizes = _sizes(errors, reference)
    real = dict(errors.group_by("engine").agg(_REAL).iter_rows())
    told = []
    for engine in dict.fromkeys(row["engine"] for row in sizes):
        of_engine = (
            f"{_percent(row['median'])} ({_percent(row['p95'])}) in {_TITLES[row['quantity']]}"
            for row in sizes
            if row["engine"] == engine
        )
        is_itself = engine == again(reference)
        who = f"{reference} against itself, with other start times"
        who = who if is_itself else f"{engine} against {reference}"
        is_known = real.get(engine) is not None
        beyond_chance = f"; {real[engine]} errors are beyond chance" if is_known else ""
        told.append(f"{where}{who}: the median error (p95) is {', '.join(of_engine)}{beyond_chance}.")
    return told


def _is_held_out(found: Found) -> pl.Expr:
    return pl.col("case").is_in([case.name for case in found.suite.held_out()])


def again(reference: str) -> str:
    """The name of the reference in a comparison with itself."""
    return f"{reference} again"


def with_chance(errors: pl.DataFrame, reference: str, by: Sequence[str] = ()) -> pl.DataFrame:
    """The errors of all engines; the errors by chance follow the errors of the first engine."""
    names = errors["engine"].unique(maintain_order=True).to_list()
    columns = [*by, "engine", "quantity", "error"]
    first = errors.filter(engine=names[0])
    return pl.concat(
        frame.select(columns)
        for frame in (
            first,
            chance(first, again(reference), by),
            *(errors.filter(engine=name) for name in names[1:]),
        )
    )


def _sizes(errors: pl.DataFrame, reference: str) -> list[dict[str, Any]]:
    """Summaries of the errors of all engines and of chance, by quantity in the order of the page."""
    found = summarised(with_chance(errors, reference)).to_dicts()
    return sorted(found, key=lambda row: list(_TITLES).index(row["quantity"]))


def _introduction(reference: str, suite: Suite) -> str:
    return _INTRODUCTION.format(
        command=suite.command,
        reference=reference,
        floor=_target("retransmitted", suite).floor,
        again=again(reference),
        starts=suite.starts,
        level=100 * LEVEL,
        measured=suite.measured,
    )


def _engines(found: Found) -> Iterator[str]:
    """Yield a line per engine: version, number of runs per case and, for ns-3, the algorithms of ns-3 that
    ran."""
    for name, version in found.versions.items():
        runs = sorted({len(seeds_of(case, name)) for case in found.cases})
        several = f"{runs[0]} to {runs[-1]} runs" if len(runs) > 1 else f"{runs[0]} run{'s' * (runs[0] > 1)}"
        yield f"- {name}: {version}; {several} of a case" + _own_algorithms(found, name)


def _own_algorithms(found: Found, name: str) -> str:
    """Return text on the algorithms of ns-3 itself; empty for other engines. ns-3 runs only cases with its
    own algorithms."""
    if not name.startswith("ns3"):
        return ""
    ran = set(found.errors.filter(engine=name)["case"])
    own = _algorithms(case for case in found.cases if case.name in ran)
    return f"; algorithms of its own: {', '.join(sorted(own))}" if own else ""


def _algorithms(cases: Iterable[Case]) -> set[str]:
    return {flow.cca.kind for case in cases for flow in case.scenario.flows if flow.cca}


def _overall(errors: pl.DataFrame, reference: str, suite: Suite) -> str:
    """Medians and percentiles with their targets, and the number of errors that exceed chance."""
    counts = errors.group_by("engine", "quantity").agg(_REAL).iter_rows()
    real = {(engine, quantity): str(count) for engine, quantity, count in counts if count is not None}
    rows = [
        [
            _TITLES[row["quantity"]],
            row["engine"],
            str(row["n"]),
            *(_percent(row[name]) for name in ("median", "p90", "p95", "max")),
            real.get((row["engine"], row["quantity"]), ""),
            "" if row["engine"] == again(reference) else _aims(_target(row["quantity"], suite)),
        ]
        for row in _sizes(errors, reference)
    ]
    sizes = ("median", "90th percentile", "95th percentile", "largest")
    return _table(["quantity", "engine", "values", *sizes, "beyond chance", "target"], rows)


def _target(metric: str, suite: Suite) -> ErrorTarget:
    return next(quantity for quantity in suite.quantities if quantity.metric == metric)


def _titles(errors: pl.DataFrame) -> dict[str, str]:
    """Titles of the quantities in the errors."""
    present = set(errors["quantity"])
    return {metric: title for metric, title in _TITLES.items() if metric in present}


def _beyond(found: Found) -> str:
    """Every error of the first other engine that is above the target for the 95th percentile and exceeds
    chance, and every case of a transfer that one of the two engines refuses or does not finish."""
    engines, suite = found.engines[:2], found.suite
    rows = [
        [row["case"], row["of"], _TITLES[row["quantity"]], row["engine"], f"{100 * row['error']:+.1f} %"]
        for row in beyond(found.errors.filter(engine=engines[1]), suite.quantities).iter_rows(named=True)
    ]
    timed = {case.name for case in found.cases if any(flow.size_bytes for flow in case.scenario.flows)}
    rows += [
        [one.case, "", _TITLES["fct_p50"], one.engine, "none"]
        for one in found.refused
        if one.engine in engines and one.case in timed
    ]
    if not rows:
        return "No error is above the target for the 95th percentile and beyond chance."
    words = "Errors above the target for the 95th percentile and beyond chance:"
    return f"{words}\n\n{_table(['case', 'flows', 'quantity', 'engine', 'error'], rows)}"


def _aims(aim: ErrorTarget) -> str:
    return f"{_percent(aim.median)} / {_percent(aim.p95)}"


def _by_family(errors: pl.DataFrame, reference: str) -> str:
    """Median and 95th percentile of every quantity, a row per family and engine."""
    of = {
        (row["family"], row["engine"], row["quantity"]): f"{_percent(row['median'])} / {_percent(row['p95'])}"
        for row in summarised(with_chance(errors, reference, ["family"]), ["family"]).iter_rows(named=True)
    }
    titles = _titles(errors)
    families, engines = (dict.fromkeys(key[place] for key in of) for place in (0, 1))
    rows = [
        [family, engine, *(of.get((family, engine, metric), "") for metric in titles)]
        for family in families
        for engine in engines
        if any((family, engine, metric) in of for metric in titles)
    ]
    return _table(["family", "engine", *titles.values()], rows)


def _cases(found: Found) -> Iterator[str]:
    """A table per family: the values of the reference, and the errors of every engine in percent."""
    reference, others = found.engines[0], found.engines[1:]
    for family in dict.fromkeys(found.errors["family"]):
        errors = found.errors.filter(family=family)
        known = set(errors.filter(pl.col("error").is_not_null())["quantity"])
        metrics = [metric for metric in _TITLES if metric in known]
        header = ["case", "flows", *(f"{reference}: {_TITLES[of]}, {_SHOWN[of][0]}" for of in metrics)]
        header += [f"{engine}: {_TITLES[of]}, %" for engine in others for of in metrics]
        yield f"### {begun(family)}"
        yield _table(header, list(_case_rows(errors, others, metrics)))


def _case_rows(errors: pl.DataFrame, engines: Sequence[str], metrics: Sequence[str]) -> Iterator[list[str]]:
    for (name, of), rows in errors.group_by("case", "of", maintain_order=True):
        reference = dict(rows.select("quantity", "reference").iter_rows())
        found = {(row["engine"], row["quantity"]): row for row in rows.iter_rows(named=True)}
        values = [_value(reference.get(metric), metric) for metric in metrics]
        told = [_told(found.get((engine, metric))) for engine in engines for metric in metrics]
        yield [str(name), str(of), *values, *told]


def _told(row: Mapping[str, object] | None) -> str:
    """An error in percent, in bold if it exceeds chance and is not rounded to 0."""
    error = row and row["error"]
    if row is None or not isinstance(error, float):
        return ""
    text = f"{100 * error:+.2f}"
    if float(text) == 0:
        return "0"
    return f"**{text}**" if row["real"] else text


def _grouped(refused: Iterable[Refused]) -> Iterator[str]:
    """One line per engine and reason, with the cases."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in refused:
        reasons.setdefault((one.engine, one.why), []).append(one.case)
    for (engine, why), names in reasons.items():
        yield f"{engine}, {why}: {', '.join(names)}"


def _value(value: float | None, metric: str) -> str:
    _, scale, digits = _SHOWN[metric]
    return "" if value is None else f"{value * scale:.{digits}f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [list(header), ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figure(found: Found) -> tuple[Figure, pl.DataFrame]:
    """The cumulative share of errors, with a line per engine, a line for chance, and axes per quantity.

    Crosses mark the targets for the median and the 95th percentile.

    Returns:
        The figure, and the table of the drawn values: quantity, group, value in percent, share.

    Raises:
        ValueError: If there are no errors.
    """
    from fullpipe import plots  # imported here, as a page without a figure needs no matplotlib

    if found.errors.is_empty():
        raise ValueError("no errors; there was nothing to compare")
    errors = with_chance(found.errors, found.engines[0]).drop_nulls("error")
    made, axes = plots.new_figure(1, len(found.suite.quantities), row_height=2.0, share_y=True)
    shown = []
    for place, quantity in zip(axes, found.suite.quantities, strict=True):
        own = errors.filter(quantity=quantity.metric)
        groups = {
            str(name): (100 * rows["error"].abs()).to_list()
            for (name,), rows in own.group_by("engine", maintain_order=True)
        }
        drawn = plots.cumulative(place, groups, label=f"error of {quantity.title} (%)")
        place.plot([100 * quantity.median, 100 * quantity.p95], [0.5, 0.95], "x", color="black", label="_aim")
        shown.append(drawn.insert_column(0, pl.lit(quantity.metric).alias("quantity")))
    axes[0].set_ylabel("share of values")
    plots.shared_legend(made, {str(line.get_label()): line for line in axes[0].lines[:-1]})
    return made, pl.concat(shown)
