"""`fullpipe plot` without `--kind`: draws runs over time, with labels that distinguish the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import typer

from fullpipe import plots
from fullpipe.analysis.metrics.groups import bulk_names
from fullpipe.analysis.over_seeds import told_of_runs
from fullpipe.analysis.points import CONTENT, points_of, shape_of
from fullpipe.cli.output import complain
from fullpipe.cli.plot_points import check_labels
from fullpipe.cli.selection import labels_of
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Run, segments
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.quantities import as_numbers

MOST_RUNS = 60
"""Maximum number of runs over time. Readers could not distinguish more lines."""


_MOST_NAMES = 4
"""Maximum number of flows that a note names."""


def over_time(
    runs: Sequence[Run],
    quantities: Sequence[str],
    variables: str | None,
    flows: Sequence[str],
    given: Mapping[str, str],
    *,
    mean: bool = False,
) -> tuple[Any, pl.DataFrame]:
    """The figure of quantities, or of internal variables, and the table of its values. If no flow is named
    and there are several runs, the flows of `default_flows` are drawn. With `mean`, means over the seeds of
    every scenario are drawn.

    Raises:
        BadParameter: If a quantity or variable does not exist, or a label has no path or value.
        UnknownNameError: If no run has a named flow.
    """
    only = labelled_flows(runs, flows or default_flows(runs))
    labels = run_labels(runs, given)
    labelled = dict(zip(labels, map(plots.presented, runs), strict=True))
    groups = dict(zip(labels, _labels_of_means(runs, given), strict=True)) if mean else None
    warmup_s = max(run.scenario.warmup_s for run in runs)
    try:
        if variables is not None:
            names = [part.strip() for part in variables.split(",") if part.strip()]
            figure, data = plots.variables(labelled, names, only=only, warmup_s=warmup_s)
        else:
            figure, data = plots.overview(labelled, quantities, only=only, warmup_s=warmup_s, means_of=groups)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    _note_missing(
        data, "panel" if variables is not None else "quantity", groups.values() if groups else labels
    )
    plots.note_below(figure, [] if mean else [told_of_runs(runs)])
    return figure, data


def _labels_of_means(runs: Sequence[Run], given: Mapping[str, str]) -> list[str]:
    """The label of the mean that each run is part of: runs differ only in their seed.

    Raises:
        BadParameter: If no scenario has several seeds.
    """
    keys = [(run.meta.digest, run.meta.engine.name) for run in runs]
    firsts = dict(zip(reversed(keys), reversed(runs), strict=True))
    if len(firsts) == len(runs):
        told = "a mean needs several seeds of a scenario; run it with --seeds 10"
        raise typer.BadParameter(told, param_hint="--mean")
    ordered = list(dict.fromkeys(keys))
    labels = dict(zip(ordered, run_labels([firsts[key] for key in ordered], given), strict=True))
    return [labels[key] for key in keys]


def default_flows(runs: Sequence[Run]) -> list[str]:
    """The flows of several runs to draw over time unless flows are named: the only changed entry of `flows`,
    or else bulk flows. Empty if all flows are drawn. A note names the option for other flows.
    """
    if len(runs) == 1 or len({shape_of(run) for run in runs}) > 1:
        return []
    entries = zip(*(run.scenario.flows for run in runs), strict=True)
    changed = [n for n, entry in enumerate(entries) if len(set(map(repr, entry))) > 1]
    entry = changed[0] if len(changed) == 1 < len(runs[0].scenario.flows) else None
    groups = [bulk_names(run) if entry is None else flow_names(run.scenario.flows)[entry] for run in runs]
    chosen = list(dict.fromkeys(name for group in groups for name in group))
    every = {name for run in runs for name in run.flows["flow"].to_list()}
    if not chosen or every <= {*chosen}:
        return []
    which = "bulk flows" if entry is None else "the flows that the runs differ in"
    more = f" and {len(chosen) - _MOST_NAMES} more" if len(chosen) > _MOST_NAMES else ""
    complain(f"note: draws {', '.join(chosen[:_MOST_NAMES])}{more}: {which}; --flow draws other flows")
    return [name for name in chosen if name in every]


def _note_missing(data: pl.DataFrame, panel: str, runs: Iterable[str]) -> None:
    """Print a note for each panel that leaves out runs because they have no samples of its quantity."""
    for (name,), rows in data.group_by([panel], maintain_order=True):
        known = set(rows["run"])
        if missing := [run for run in runs if run not in known]:
            complain(f"note: {name} was not recorded in {', '.join(missing)}; left out of this panel")


def in_order(runs: Sequence[Run], *, mean: bool = False) -> list[Run]:
    """Runs sorted by their scenarios in the store, which has scenarios in the order of the sweep.

    Raises:
        BadParameter: If there are too many runs for one figure, or too many scenarios if means are drawn.
    """
    if (len({run.meta.digest for run in runs}) if mean else len(runs)) > MOST_RUNS:
        how = "name fewer, such as runs/*/native-1, or draw a metric over all runs with --metric"
        raise typer.BadParameter(f"{len(runs)} runs are too many for a figure over time; {how}")
    folders = [run.folder.resolve() if run.folder else None for run in runs]
    stores = list(dict.fromkeys(folder.parents[1] for folder in folders if folder))
    places = {store / name: n for store in stores for n, name in enumerate(segments.read(store))}
    last = len(places)
    keys = [
        (stores.index(folder.parents[1]), places.get(folder.parent, last)) if folder else (0, last)
        for folder in folders
    ]
    return [run for _, run in sorted(zip(keys, runs, strict=True), key=lambda pair: pair[0])]


def labelled_flows(runs: Sequence[Run], flows: Sequence[str]) -> list[str] | None:
    """The labels in figures of the flows named in `flows`; None if `flows` is empty.

    Raises:
        UnknownNameError: If no run has a flow of this name.
    """
    known = dict.fromkeys(name for run in runs for name in run.flows["flow"].to_list())
    for wanted in flows:
        if wanted not in known:
            raise UnknownNameError("flow", wanted, known)
    called = {name: label for run in runs for name, label in plots.flow_labels(run).items()}
    return [called.get(name, name) for name in flows] or None


def run_labels(runs: Sequence[Run], given: Mapping[str, str]) -> list[str]:
    """A label for each run: its differences from the other runs in words, or the name of a single run.

    If the scenarios differ in the kind of topology or the number of flows, labels begin with the names of
    the scenarios. Runs with equal labels are numbered.
    """
    is_alike = len({shape_of(run) for run in runs}) == 1
    points = points_of(runs) if is_alike else [{} for _ in runs]
    labels = labels_of(runs, given, points)
    check_labels(labels)
    if len(runs) == 1:
        return [runs[0].name]
    contents = list(dict.fromkeys(point.get(CONTENT) for point in points))
    told = [
        {**point, CONTENT: contents.index(point[CONTENT]) + 1} if CONTENT in point else point
        for point in points
    ]
    parts = [
        [] if is_alike else [run.name for run in runs],
        [", ".join(_words(point, labels)) for point in told],
        [run.meta.engine.name for run in runs],
        [f"seed {run.meta.seed}" for run in runs],
    ]
    varied = [words for words in parts if len(set(words)) > 1]
    found = [", ".join(filter(None, words)) for words in zip(*varied, strict=True)] or [""] * len(runs)
    return found if len(set(found)) == len(runs) else _numbered(found)


def _words(point: Mapping[str, Any], labels: Labels) -> Iterator[str]:
    """The values of a point, each after the label of its path. A name such as bbr3 stands alone, without the
    label of its path."""
    names = labels.names([*point])
    for path, value in point.items():
        is_name = "kind" in value if isinstance(value, Mapping) else _is_name(value)
        yield labels.value(path, value) if is_name else labels.at(path, value, names[path])


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and as_numbers([value]) is None


def _numbered(labels: Sequence[str]) -> list[str]:
    """Labels followed by the number of the run, counted from 1."""
    return [f"{label} (run {number})".strip() for number, label in enumerate(labels, start=1)]
