"""Selection of stored runs by their values, and labels of paths and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import ALL, TOTALS, flow_groups, groups_in
from fullpipe.analysis.metrics.measure import Combined
from fullpipe.analysis.over_seeds import paths_of, spellings
from fullpipe.analysis.points import Subject, path_called, points_of, rows_of, shape_of, with_flows
from fullpipe.analysis.shown import axis_shown, base_axis_shown
from fullpipe.analysis.values import RUN, identities
from fullpipe.errors import UnknownNameError, suggestion
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels, problem_of_words
from fullpipe.scenario.model.scenario import MOST_LETTERS
from fullpipe.sweeps import Job

# `--label`: labels of paths and values, from the command line or from a scenario file.


def check_labels(
    given: Mapping[str, str], points: Iterable[Mapping[str, Any]], groups: Iterable[str] = ()
) -> None:
    """Check that every label names a path or value of the points, or a group of flows.

    Raises:
        BadParameter: If a label names none of them.
    """
    known, names = (list(points), list(dict.fromkeys(groups))) if given else ([], [])
    if needless := Labels(given).unknown([*known, *({FLOWS: of} for of in names)]):
        key, paths = needless[0], ", ".join(dict.fromkeys(path for point in known for path in point))
        instead = (
            f"for the group of flows, write {FLOWS}.{key}=..."
            if key in names
            else f"paths that differ: {paths or 'none'}; groups of flows: {', '.join(names) or 'none'}"
        )
        raise typer.BadParameter(f"{key}: no run has this path or value; {instead}", param_hint="--label")


def read_labels(texts: Sequence[str]) -> dict[str, str]:
    """Labels by path, or by path and value. A text without "=" names a scenario file, whose labels are read.

    Raises:
        BadParameter: If a text is not a label or a scenario file, a label is empty or too long, or a label of
            a group of flows is the name of a total.
        ScenarioError: If the file is not a valid scenario.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, words = (part.strip() for part in text.partition("="))
        if text.endswith(".toml") and not equals:
            found |= Scenario.from_file(Path(text)).labels
        elif key and 0 < len(words) <= MOST_LETTERS and words.isprintable():
            if problem := problem_of_words(key, words):
                raise typer.BadParameter(f"{key}: {problem}", param_hint="--label")
            found[key] = words
        else:
            raise typer.BadParameter(
                f"{text}: expected PATH=WORDS, PATH.VALUE=WORDS or flows.NAME=WORDS, with up to "
                f'{MOST_LETTERS} letters after "=", as in cca.bbr3="BBRv3"; or a scenario file',
                param_hint="--label",
            )
    return found


# Values of many runs for a figure or table: runs of one scenario, filters, and keys whose values differ.


FLOWS = "flows"
"""Name of the factor whose values are the groups of flows."""
_OF_ENTRY = re.compile(r"flows\.(\d+)\.")
"""Beginning of the paths of an entry of `flows`."""


def of_one_scenario(runs: Sequence[Run], where: Sequence[str]) -> tuple[list[Run], list[str]]:
    """The runs that satisfy `--where scenario=NAME`, and the conditions on other paths.

    Raises:
        BadParameter: If the scenarios differ in flows or topology.
        UnknownNameError: If no run has this name.
    """
    left = _named(runs, where)
    shapes: dict[tuple[object, ...], str] = {}
    for run in left:
        shapes.setdefault(shape_of(run), run.name)
    if len(shapes) > 1:
        known = list(dict.fromkeys(shapes.values()))
        how = (
            f"choose one with --where scenario={known[0]}"
            if len(known) > 1
            else f"all have the name {known[0]}, so name the folders of one scenario"
        )
        raise typer.BadParameter(
            f"runs are of {len(shapes)} scenarios with different flows or topologies: {how}"
        )
    return left, [each for each in where if not _is_of_name(each)]


def chosen(runs: Sequence[Run], where: Sequence[str]) -> list[Run]:
    """The runs that satisfy every condition, of any number of scenarios.

    Raises:
        BadParameter: If no run has a value.
        UnknownNameError: If no swept path, or no run, has this name.
    """
    left, others = _named(runs, where), [each for each in where if not _is_of_name(each)]
    return filtered_runs(list(zip(points_of(left), left, strict=True)), others) if others else left


def _named(runs: Sequence[Run], where: Sequence[str]) -> list[Run]:
    """The runs that satisfy `--where scenario=NAME`."""
    left = list(runs)
    for name in (each.partition("=")[2].strip() for each in where if _is_of_name(each)):
        known = list(dict.fromkeys(run.name for run in left))
        left = [run for run in left if run.name == name]
        if not left:
            raise UnknownNameError("scenario", name, known)
    return left


def _is_of_name(where: str) -> bool:
    return where.partition("=")[0].strip() == "scenario"


def filtered(values: pl.DataFrame, where: Sequence[str]) -> pl.DataFrame:
    """The values of runs that satisfy every condition PATH=VALUE or PATH=VALUE,VALUE.

    Raises:
        BadParameter: If no run has a value.
        UnknownNameError: If no swept path has this name.
    """
    for text in where:
        word, equals, value = text.partition("=")
        path = path_called(word.strip(), paths_of(values))
        if not equals or path is None:
            raise UnknownNameError("path", word.strip(), paths_of(values))
        known = values[path].cast(pl.String).drop_nulls().unique().sort().to_list()
        wanted: set[str] = set()
        for part in _alternatives(value.strip(), values[path]):
            found = set(spellings(part, values[path])) & {*known}
            if not found:
                raise typer.BadParameter(f"--where {text}: no run has this value{suggestion(part, known)}")
            wanted |= found
        values = values.filter(pl.col(path).cast(pl.String).is_in(wanted))
    return values


def _alternatives(text: str, values: pl.Series) -> list[str]:
    """The values of a condition, which commas separate unless the whole text is a value."""
    known = {*values.cast(pl.String).drop_nulls()}
    is_value = "," not in text or text[:1] in "{[" or known & {*spellings(text, values)}
    return [text] if is_value else [part.strip() for part in text.split(",")]


def filtered_runs(runs: Sequence[tuple[Mapping[str, Any], Run]], where: Sequence[str]) -> list[Run]:
    """The runs that satisfy every condition PATH=VALUE, of runs with their points."""
    told = identities(runs)
    told = told.with_columns(pl.int_range(told.height).alias(RUN))
    return [runs[number][1] for number in filtered(told, where)[RUN]]


def read_subjects(metrics: Iterable[str], of: str | None) -> list[Subject]:
    """The metrics of a figure or table, each once.

    Raises:
        BadParameter: If a group is given with `of`, but every metric has a group of its own.
        UnknownNameError: If there is no such metric.
    """
    texts = list(dict.fromkeys(metrics))
    if of is not None and all(" of " in text for text in texts):
        raise typer.BadParameter(f"every --metric has a group of its own; leave out --of {of}")
    return [Subject.read(text, of) for text in texts]


def varied(values: pl.DataFrame) -> list[str]:
    """The paths that differ between runs."""
    return [path for path in paths_of(values) if values[path].n_unique() > 1]


def changed_entries(paths: Iterable[str]) -> set[int]:
    """The entries of `flows` that the sweep changes, even if `--where` selects only one of their values."""
    return {int(found[1]) for path in paths if (found := _OF_ENTRY.match(path))}


def changed_entry(paths: Iterable[str], runs: Sequence[Run]) -> int | None:
    """The only entry of `flows` that the sweep changes, which figures draw unless a group is named. None if
    there is no such entry, or the scenario has a single entry."""
    entries = changed_entries(paths)
    return entries.pop() if len(runs[0].scenario.flows) > len(entries) == 1 else None


def factor_called(word: str, values: pl.DataFrame) -> str:
    """The path that `word` names, or `FLOWS`. A swept path is also found if `--where` leaves it only one
    value.

    Raises:
        UnknownNameError: If no path has this name.
    """
    known = varied(values)
    path = FLOWS if word == FLOWS else path_called(word, known) or path_called(word, paths_of(values))
    if path is None:
        raise UnknownNameError("path", word, [*known, FLOWS])
    return path


def with_name(subject: Subject, values: pl.DataFrame, labels: Labels) -> Subject:
    """The subject with the name of its group instead of a label or index. A label of groups at several points
    stays."""
    if subject.of is None:
        return subject
    found = values.filter(rows_of(subject.of, values, labels))["of"].unique().to_list()
    is_one = len(found) == 1 and values.filter(of=found[0])["entry"].n_unique() == 1
    return subject._replace(of=found[0]) if is_one else subject


def of_groups(
    values: pl.DataFrame, subject: Subject, labels: Labels | None = None, *, by_group: bool
) -> pl.DataFrame:
    """The values of a metric for the named group, for every group, or for all flows together.

    Raises:
        BadParameter: If the metric has no meaning for all flows together, such as a share.
        UnknownNameError: If no group has this name.
    """
    table = values.filter(pl.col("metric") == subject.metric)
    groups = table["of"].unique(maintain_order=True).to_list()
    if subject.of is not None:
        return table.filter(rows_of(subject.of, values, labels))
    if by_group:
        return table.filter(~pl.col("of").is_in(TOTALS)) if len(groups) > 1 else table
    if subject.metric == "share" and len(groups) > 1:
        names = ", ".join(name for name in groups if name not in TOTALS)
        raise typer.BadParameter(f"the share of all flows is 1: choose a group with --of, one of {names}")
    if ALL not in groups and table["kind"].eq("flows").all():
        return table  # each run has one group; the names of the groups may differ
    return table.filter(pl.col("of") == (ALL if ALL in groups else groups[0]))


def no_value(subject: Subject, values: pl.DataFrame) -> typer.BadParameter:
    """The error for a metric without a value. The error names the groups that have a value of the metric."""
    known = values.filter(pl.col("metric") == subject.metric).drop_nulls("value")["of"]
    names = known.unique(maintain_order=True).to_list()
    instead = f"; choose {' or '.join(names)} with --of" if names else ""
    return typer.BadParameter(f"no run has a value of {subject.called} for these options{instead}")


def labels_of(runs: Sequence[Run], given: Mapping[str, str], points: Sequence[Mapping[str, Any]]) -> Labels:
    """The labels in the scenarios, and the labels that the user gives.

    Raises:
        BadParameter: If no point has the path or value of a label that the user gives.
    """
    check_labels(given, points, (of for run in runs for of in flow_groups(run)))
    return Labels(given, {run.meta.digest: run.meta.scenario for run in runs}.values())


def check_labels_of_jobs(
    given: Mapping[str, str], todo: Iterable[Job], points: Iterable[Mapping[str, Any]] = ()
) -> None:
    """Check labels before the runs, as `labels_of` does after the runs.

    Args:
        given: The labels that the user gives.
        todo: The jobs.
        points: Further values that runs differ in.

    Raises:
        BadParameter: If no job has the path, value or group of flows of a label.
    """
    scenarios = {id(job.scenario): job for job in todo}.values() if given else ()
    groups = (of for job in scenarios for of in groups_in(job.scenario))
    check_labels(given, [*points, *(job.point for job in scenarios)], groups)


def group_counted(words: str, of: str, runs: Iterable[Run], combined: Combined) -> str:
    """The words for a flow group, followed by the number of its flows if it is the same in all runs."""
    by_scenario = {run.meta.digest: run for run in runs}.values()
    counts = {len(flow_groups(run).get(of, ())) for run in by_scenario}
    return with_flows(words, counts if len(counts) == 1 else (), combined)


def labelled(
    subject: Subject,
    labels: Labels,
    runs: Sequence[Run] = (),
    *,
    in_base_unit: bool = False,
    in_percent: bool = True,
) -> str:
    """The label of the axis of a metric, with its group of flows: see `with_flows`. The label has the number
    of flows if it is the same in all `runs`.

    The unit is that of printed tables or, with `in_base_unit`, that of stored values. Shares are in per cent,
    or from 0 to 1 if `in_percent` is false.
    """
    of = labels.value(FLOWS, subject.of) if subject.of else ""
    of = group_counted(of, subject.of or "", runs, BY_NAME[subject.metric].combined)
    if in_base_unit:
        return base_axis_shown(subject.metric, of)
    return axis_shown(subject.metric, of, in_percent=in_percent)[1]
