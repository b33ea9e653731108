"""Reports of finished runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from fullpipe.analysis.metrics.table import headlines
from fullpipe.analysis.points import Subject, as_definition, check_groups, of_parts, shape_of
from fullpipe.analysis.shown import axis_shown, margin_shown, number_shown
from fullpipe.errors import NoRunError, ScenarioError
from fullpipe.report.basis import basis_of
from fullpipe.report.content import (
    Boxes,
    Column,
    Document,
    Download,
    Figure,
    Items,
    Part,
    Section,
    Table,
    Text,
)
from fullpipe.report.files import question_of
from fullpipe.report.findings import first_table, forest_of, has_pairs, points_of
from fullpipe.report.path import long_enough, path_of_runs, sources_of
from fullpipe.report.rows import Budget
from fullpipe.report.runs import answer, figures, repeat, tables
from fullpipe.report.runs.points import Points
from fullpipe.report.text import left_out, listed
from fullpipe.runs import Run
from fullpipe.runs.population import file_shown
from fullpipe.validation.compare import EngineComparison, by_engine, closest_to_the_world, compare
from fullpipe.validation.compare.comparison import doubted
from fullpipe.validation.compare.conclusion import brief, quoted
from fullpipe.validation.compare.sentence import Names, difference_of, merged, names_of
from fullpipe.validation.over import HEADLINES

# Runs of several engines side by side, such as imported measurements and simulated runs.


_HOW = (
    "Means over seeds of several engines for the same flows, with the difference and its 90 %"
    " interval (Welch), and whether the engines are equivalent within the margin."
    ' If a margin has two parts, such as "15 % or 1.00 ms", the larger part applies.'
)


def section(runs: Sequence[Run], metrics: Sequence[str], budget: Budget) -> Section | None:
    """A table of differences; None if one engine made all runs, or if their flows differ.

    Args:
        runs: Runs of all engines.
        metrics: Metrics to compare; if empty, the metrics of `fullpipe compare`.
        budget: Limit of the number of rows.
    """
    sides = by_engine(runs)
    try:
        found = compare(sides, closest_to_the_world(sides))
    except ValueError:
        return None
    words = names_of([found])
    rows = list(_rows(found, words, metrics or headlines(HEADLINES, (run.scenario for run in runs))))
    if not rows:
        return None
    names = ("of", "metric", "engine", "mean", found.reference, "difference", "margin", "verdict")
    numbers = {"mean", found.reference, "difference", "margin"}
    columns = [Column(name, name in numbers, name == "verdict") for name in names]
    shown = rows[: budget.rows]
    table = Table("Differences", columns, shown, left_out(len(shown), len(rows), "rows"))
    notes = [*found.undecided, *merged([*found.remarks, *found.notes], words, in_words=True)]
    return Section("Engines side by side", [Text(_HOW), table, *([Items(notes)] if notes else [])])


def _rows(found: EngineComparison, names: Names, metrics: Sequence[str]) -> Iterator[list[str]]:
    for row in found.rows:
        if row.metric not in metrics:
            continue
        reference = row.mean(found.reference)
        named = axis_shown(row.metric)[1]
        for engine, judged in row.judgements.items():
            yield [
                names.group(row.label(engine)) if row.kind == "flows" else row.label(engine),
                named,
                engine,
                number_shown(row.mean(engine), row.unit, row.metric),
                number_shown(reference, row.unit, row.metric),
                difference_of(row.findings[engine], has_unit=True),
                margin_shown(row.margin, row.unit, row.metric, has_unit=True),
                str(judged.verdict),
            ]


_MOST_NAMES, _MOST_COMMANDS = 3, 2
"""Maximum number of scenarios in a title, and maximum number of command lines in the conclusion."""
_MOST_DIGESTS = 4
_MOST_GROUPS = 4
"""Maximum number of groups that a question names."""
_SCENARIOS = "scenarios.json"
"""Name of the file with all digests of scenarios."""


def page_of(
    runs: Iterable[Run],
    *,
    question: str = "",
    is_one: bool = False,
    metrics: Sequence[str] = (),
    of: str = "",
    command: str = "",
    budget: Budget | None = None,
    notes: Sequence[str] = (),
    check: Callable[[Sequence[Mapping[str, Any]]], object] = len,
) -> Document:
    """Make the report of finished runs, with a part for every name of a scenario.

    Args:
        runs: Runs in the order of scenarios and variants. The first variant is the reference.
        question: The question; if empty, a question is made from the name and the swept paths.
        is_one: Whether scenarios with the same topology and number of flows are one part even if their names
            differ.
        metrics: Metrics of the conclusion, the first figure and the tables, each a name or
            "rtt_mean of ping".
        of: Group of flows or link for these metrics. If empty: all flows, or the only group with the metric.
        command: Command that makes the page, after the commands that make the runs.
        budget: Limits of the page.
        notes: Sentences about runs that are left out.
        check: Called with the points of all runs before the page is made.

    Raises:
        ValueError: If `runs` is empty.
        UnknownNameError: If a metric does not exist, or no run has the group or link.
        NoRunError: If only other groups have a value of the metric.
    """
    every = list(runs)
    parts = parts_of(
        every,
        question=question,
        is_one=is_one,
        metrics=metrics,
        of=of,
        command=command,
        budget=budget,
        notes=notes,
        check=check,
    )
    names = list(dict.fromkeys(part.title for part in parts))
    rest = len(names) - _MOST_NAMES
    title = listed(names[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    return Document(title, [part.part for part in parts], facts(every), basis_of(every))


def groups_of(runs: Sequence[Run], *, is_one: bool = False) -> list[list[Run]]:
    """The runs of every part, grouped by topology, number of flows and, unless `is_one`, name."""
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault(("" if is_one else run.name, shape_of(run)), []).append(run)
    return list(groups.values())


class PartOfRuns(NamedTuple):
    """A part with the name of its scenario, for titles."""

    title: str
    part: Part


def parts_of(
    runs: Sequence[Run],
    *,
    question: str = "",
    is_one: bool = False,
    metrics: Sequence[str] = (),
    of: str = "",
    command: str = "",
    budget: Budget | None = None,
    notes: Sequence[str] = (),
    check: Callable[[Sequence[Mapping[str, Any]]], object] = len,
    at: Sequence[Mapping[str, Any]] = (),
) -> list[PartOfRuns]:
    """Make a part for every name of a scenario: see `page_of`.

    Figures over time include the runs at the points `at`; default: the points that the conclusion names.
    """
    budget, by_name = budget or Budget(), groups_of(runs, is_one=is_one)
    if not by_name:
        raise ValueError("runs: give at least one run")
    found = [Points.of_runs(of_name, metrics, of) for of_name in by_name]
    check([point for each in found for point in each.points])
    known = dict.fromkeys(name for each in found for name in each.known)
    check_groups([Subject.read(text, of or None) for text in metrics or ["goodput"]], known)
    _check_values(found)
    shown = found[: budget.scenarios]
    left = [left_out(len(shown), len(found), "scenarios"), *(f"{note}." for note in notes)]
    beside = section([run for each in shown for run in each.runs], metrics, budget)
    parts = [
        PartOfRuns(_title(each), _part(each, name, question, command, budget, at))
        for each, name in zip(shown, _names(shown), strict=True)
    ]
    first = parts[0].part
    first = replace(
        first,
        scope=" ".join([first.scope, *filter(None, left)]),
        details=[*([beside] if beside else []), *first.details],
    )
    return [PartOfRuns(parts[0].title, first), *parts[1:]]


def _check_values(found: Sequence[Points]) -> None:
    """Raise NoRunError if a metric is asked for a group without a value and other groups have values."""
    for metric, groups in found[0].asked.items():
        having = dict.fromkeys(of for each in found for of in each.having(metric))
        missing = [of for of in groups or () if of not in having]
        if missing and having:
            raise NoRunError(f"no run has a value of {metric} of {missing[0]}; choose {' or '.join(having)}")


def _part(
    found: Points,
    name: str,
    question: str,
    command: str,
    budget: Budget,
    at: Sequence[Mapping[str, Any]] = (),
) -> Part:
    made = doubted(tables.compared(found), found.doubts)
    told, rest = answer.answer(found, made)
    findings = [finding for one in made for finding in one.findings]
    order = answer.order(found, made)
    leading = answer.lead(found, made)
    words = {name: path for path, name in found.words.items()}
    own = points_of(order, *leading) if leading else []
    at = at or [{words.get(name, name): value for name, value in point.items()} for point in own]
    drawn, note = figures.over_points(found, budget.figures, leading, at, has_pairs=has_pairs(findings))
    series = figures.over_time(found, budget, at)
    is_swept = any(not isinstance(figure.chart, Boxes) for figure in drawn[:1])
    first = next(
        filter(
            None,
            [
                drawn[0] if is_swept else None,
                forest_of(findings, order),
                *drawn[:1],
                *(block for one in series.sections for block in one.blocks if isinstance(block, Figure)),
            ],
        ),
        None,
    )
    again, warnings = repeat.command(found), list(answer.warnings(found))
    sections = [
        Section("More findings", [Items(rest)]),
        *_tables(found, made, budget),
        Section("Figures", [*([Text(note)] if note else []), *(each for each in drawn if each is not first)]),
        _without(series, first),
        Section("Every run", [tables.every_run(found, budget)]),
        Section("What the metrics mean", [tables.meanings(found)]),
        Section("Notes", [Items(_notes(found))]),
    ]
    return Part(
        question or _question(found, made),
        [*([] if answer.are_several(found, made) else brief(made, found.metrics)), *told],
        warnings=warnings,
        scope=" ".join([answer.scope(found), *_length(warnings, found.runs), *_no_command(found, again)]),
        command=again if again.count("\n") < _MOST_COMMANDS else "",
        figure=first,
        path=path_of_runs(found.runs),
        table=first_table(
            findings,
            order,
            is_chosen=answer.are_several(found, made),
            quoted=quoted(made, found.metrics),
        )
        if findings
        else answer.first_table(found),
        details=list(filter(_has_content, sections)),
        recipe=repeat.recipe(found, command),
        repetition=repeat.blocks(found),
        data=[tables.values_file(found, budget), *repeat.files(found), *digests_file(found.runs)],
        heading=name,
    )


def _length(warnings: Sequence[str], runs: Sequence[Run]) -> Iterator[str]:
    """A sentence on what was checked of the length of the runs, if no warning is there."""
    yield from () if warnings else filter(None, [long_enough(runs)])


def _no_command(found: Points, again: str) -> Iterator[str]:
    """A sentence on the reason why the conclusion has no command that repeats the runs, if it has none."""
    if again.count("\n") >= _MOST_COMMANDS:
        yield f"{again.count(chr(10)) + 1:,} commands repeat these runs: see Provenance."
    elif not again:
        why = "no sweep has exactly these points" if found.scenario is None else "the runs were imported"
        yield f"No command repeats these runs, as {why}."


def _has_content(section: Section) -> bool:
    """Whether a section has content."""
    return bool(section.sections) or any(not isinstance(each, Items) or each.items for each in section.blocks)


def _without(section: Section, figure: Figure | None) -> Section:
    """The section without a figure that another section has."""
    inner = [
        replace(one, blocks=[each for each in one.blocks if each is not figure]) for one in section.sections
    ]
    return replace(section, sections=[one for one in inner if one.blocks])


def _tables(found: Points, made: tables.Comparisons, budget: Budget) -> Iterator[Section]:
    """Sections with tables: metrics asked for, groups of flows, verdicts and means."""
    wanted, groups = answer.asked(found, budget), answer.by_group(found, budget)
    if wanted:
        yield Section("Metrics asked for", [wanted])
    if groups and (made or found.metrics or not answer.has_all_groups(found)):
        yield Section("By group of flows", [groups])
    if made:
        yield tables.section(made, budget.rows)
    yield from tables.of_shares(found, budget.rows)
    yield Section(
        "Means", [table for kind in ("flows", "link") if (table := tables.means(found, kind, budget))]
    )


def _names(found: Sequence[Points]) -> list[str]:
    """Names of scenarios, followed by a description of the flows where scenarios have the same name."""
    names = [each.name for each in found]
    flows = [listed(flow.described for flow in each.runs[0].scenario.flows) for each in found]
    return [
        f"{name} ({of})" if names.count(name) > 1 else name for name, of in zip(names, flows, strict=True)
    ]


def _title(found: Points) -> str:
    """The name of the scenario; for a sweep without variants, also the algorithms and the swept paths."""
    if not found.paths or tables.named_paths(found):
        return found.name
    of = {name: found.algorithms[name] for name, entry in found.entries.items() if name in found.algorithms}
    known = dict.fromkeys(of[name] for name in of if found.entries[name] in found.bulk)
    return f"{found.name}: {listed(known)} over {listed(found.words.values())}" if known else found.name


def _question(found: Points, made: tables.Comparisons) -> str:
    swept = dict.fromkeys(found.words[path] for path in found.paths if path not in tables.named_paths(found))
    if len(references := {one.reference for one in made}) == 1:
        others = list(dict.fromkeys(one.other for one in made))
        return question_of(found.name, references.pop(), others, list(swept))
    if found.paths:
        verb = "do" if len(found.words) > 1 else "does"
        groups = [found.named(of) for of in found.entries if found.entries[of] in found.telling]
        whom = f" for {listed(groups)}" if len(groups) <= _MOST_GROUPS else ""
        return f"What {verb} {listed(found.words.values())} change{whom} in the scenario {found.name}?"
    return f"What happened in the scenario {found.name}?"


def _notes(found: Points) -> list[str]:
    """Remarks and limits of the runs."""
    lines = dict[str, None]()
    for run in found.runs:
        lines |= dict.fromkeys(run.meta.remarks)
        lines |= dict.fromkeys(f"{column} is {what}" for column, what in run.meta.otherwise.items())
        if run.meta.not_measured:
            lines[f"{run.meta.engine.name} does not measure {listed(run.meta.not_measured)}."] = None
    distinct = {run.scenario.digest: run.scenario for run in found.runs}
    known = found.values.drop_nulls("value").select("metric", "of").unique(maintain_order=True)
    lines |= dict.fromkeys(map(as_definition, of_parts(distinct.values(), known.iter_rows())))
    for scenario in distinct.values():
        with suppress(ScenarioError):  # the file of a recording is missing
            lines |= dict.fromkeys(scenario.notes())
    return list(lines)


def _files(runs: Sequence[Run]) -> dict[str, str]:
    """Return the files that the runs read, each with its digests."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, digest in run.meta.files.items():
            found.setdefault(file_shown(name), {})[digest] = None
    return {name: ", ".join(digests) for name, digests in found.items()}


def _digests(runs: Sequence[Run]) -> str:
    """Return the number of scenarios and their first digests, which name stored folders."""
    found = sorted({run.meta.digest for run in runs})
    more = (
        f" and {len(found) - _MOST_DIGESTS:,} more, all in {_SCENARIOS}" if len(found) > _MOST_DIGESTS else ""
    )
    return f"{len(found):,} by content: {', '.join(found[:_MOST_DIGESTS])}{more}"


def digests_file(runs: Sequence[Run]) -> list[Download]:
    """Return the file with the digest and the point of every scenario; empty if the provenance has all
    digests."""
    distinct = {run.meta.digest: run for run in runs}
    if len(distinct) <= _MOST_DIGESTS:
        return []
    rows = [
        {"digest": digest, "scenario": run.name, "point": dict(run.meta.point)}
        for digest, run in sorted(distinct.items())
    ]
    told = "Digest and point of every scenario; the digest names the folder of its runs."
    return [Download(_SCENARIOS, "application/json", json.dumps(rows, indent=1), told)]


def facts(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Engines, versions, dates and digests of the runs; the machine is not named."""
    engines = dict.fromkeys(
        f"{run.meta.engine.name} {run.meta.engine.version}, model version {run.meta.engine.model_version}"
        for run in runs
    )
    distinct = {run.meta.digest: run for run in runs if run.meta.engine.name == "native"}
    versions: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, version in run.meta.versions.items():
            versions.setdefault(name, {})[version] = None
    dates = sorted(run.meta.started[:10] for run in runs)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return [
        ("Engine", "; ".join(sorted(engines))),
        *sources_of(run.scenario for run in distinct.values()),
        *((name, ", ".join(sorted(found))) for name, found in versions.items()),
        ("Run on", when),
        ("Intervals of means", "Student's t, 95 %, over seeds; the run is the unit"),
        ("Scenarios", _digests(runs)),
        *((name, f"SHA-256 {digests}") for name, digests in _files(runs).items()),
    ]
