"""A page about finished runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from fullpipe.analysis.of_parts import of_parts
from fullpipe.analysis.over_seeds import are_equal_over_seeds
from fullpipe.analysis.points import shape_of
from fullpipe.analysis.subjects import Subject, check_groups
from fullpipe.analysis.values import value_text
from fullpipe.errors import ScenarioError
from fullpipe.report.basis import basis_of
from fullpipe.report.budget import Budget
from fullpipe.report.content import Block, Document, Items, Section
from fullpipe.report.runs import answer, engines, figures, over_time, repeat, tables, verdicts
from fullpipe.report.runs.points import Points
from fullpipe.report.text import counted, left_out, listed
from fullpipe.runs import Run
from fullpipe.runs.population import file_shown

_DIGITS = 16
"""Digits of a SHA-256 that are shown."""


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
) -> Document:
    """What finished runs say: a part for every name of a scenario.

    Args:
        runs: In the order in which scenarios and their variants are told; others are held against the first.
        question: What was asked; left out, made of the name and of what differs.
        is_one: Whether all of one topology and number of flows are one part, whatever they are called.
        metrics: What is asked for, each a name or "rtt_mean of ping": what came out is said of these, and
            tables have them, too.
        of: The group of flows or link that it is asked of. Left out: all flows, or the only one that has it.
        command: What makes the page; it stands below what makes the runs.
        budget: How much the page may hold.
        notes: Sentences about runs that are left out.

    Raises:
        ValueError: If there is no run.
        UnknownNameError: If there is no such metric, or no run has such a group or link.
    """
    budget = budget or Budget()
    by_name: dict[object, list[Run]] = {}
    for run in runs:
        by_name.setdefault(("" if is_one else run.name, shape_of(run)), []).append(run)
    if not by_name:
        raise ValueError("runs: there is none")
    found = [Points.of_runs(of_name, metrics, of) for of_name in by_name.values()]
    known = dict.fromkeys(name for each in found for name in each.values["of"].unique(maintain_order=True))
    check_groups([Subject.read(text, of or None) for text in metrics or ["goodput"]], known)
    shown = found[: budget.scenarios]
    parts = [(each, verdicts.compared(each)) for each in shown]
    names = _names(shown)
    told = [
        sentence if len(shown) == 1 else f"{name}: {sentence}"
        for name, (each, made) in zip(names, parts, strict=True)
        for sentence in _answer(each, made)
    ]
    told += filter(None, [left_out(len(shown), len(found), "scenarios")])
    told += [f"{note}." for note in notes]
    beside = engines.section([run for each in shown for run in each.runs], metrics, budget)
    sections = [list(_sections(each, made, command, budget)) for each, made in parts]
    whole = sections[0] if len(shown) == 1 else [
        Section(name, (), inner) for name, inner in zip(names, sections, strict=True)
    ]  # fmt: skip
    title = listed(dict.fromkeys(each.name for each in shown[:3])) + (
        f" and {len(found) - 3} more" if len(found) > 3 else ""
    )
    whole = [beside, *whole] if beside else whole
    every = [run for each in found for run in each.runs]
    return Document(title, question or _question(shown), told, whole, _facts(every), basis_of(every))


def _names(found: Sequence[Points]) -> list[str]:
    """What scenarios are called: by their names, and where several have one by their flows, too."""
    names = [each.name for each in found]
    flows = [listed(flow.described for flow in each.runs[0].scenario.flows) for each in found]
    return [
        f"{name} ({of})" if names.count(name) > 1 else name for name, of in zip(names, flows, strict=True)
    ]


def _question(found: Sequence[Points]) -> str:
    if len(found) > 1:
        return f"What came out of {counted(len(found), 'scenario')}?"
    (each,) = found
    if each.paths:
        verb = "do" if len(each.words) > 1 else "does"
        return f"What {verb} {listed(each.words.values())} change in the scenario {each.name}?"
    return f"What happened in the scenario {each.name}?"


def _answer(found: Points, made: verdicts.Comparisons) -> Iterator[str]:
    yield from answer.answer(found, made)
    if are_equal_over_seeds(list(zip(found.points, found.runs, strict=True))):
        yield "All seeds gave the same run, so no mean has an interval: nothing is random there."


def _sections(found: Points, made: verdicts.Comparisons, command: str, budget: Budget) -> Iterator[Section]:
    wanted = answer.asked(found, budget)
    if wanted:
        yield Section("What was asked for", [wanted])
    groups = answer.by_group(found, budget)
    if groups:
        yield Section("By group of flows", [groups])
    if made:
        yield verdicts.section(made, budget.rows)
    means = [table for kind in ("flows", "link") if (table := tables.means(found, kind, budget))]
    yield Section("Means", [*means, tables.meanings(found)])
    drawn = figures.over_points(found, budget.figures)
    if drawn:
        yield Section("Figures", drawn)
    yield over_time.over_time(found, budget)
    yield Section("Every run", [tables.values_file(found, budget), tables.every_run(found, budget)])
    yield repeat.section(found, command)
    notes = _notes(found)
    if notes:
        blocks: list[Block] = [Items(notes)]
        yield Section("Notes", blocks)


def _notes(found: Points) -> list[str]:
    """What is to be known of the runs."""
    lines = dict[str, None]()
    for run in found.runs:
        lines |= dict.fromkeys(run.meta.remarks)
        lines |= dict.fromkeys(f"{column} is {what}" for column, what in run.meta.otherwise.items())
        if run.meta.not_measured:
            lines[f"{run.meta.engine.name} does not measure {listed(run.meta.not_measured)}."] = None
    distinct = {run.scenario.digest: run.scenario for run in found.runs}
    known = found.values.drop_nulls("value").select("metric", "of").unique(maintain_order=True)
    lines |= dict.fromkeys(of_parts(distinct.values(), known.iter_rows()))
    for scenario in distinct.values():
        with suppress(ScenarioError):  # a recording of it is not here
            lines |= dict.fromkeys(scenario.notes())
    return list(lines)


def _files(runs: Sequence[Run]) -> dict[str, str]:
    """Return the files that runs rest on, each with the beginning of its digests."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, digest in run.meta.files.items():
            found.setdefault(file_shown(name), {})[digest[:_DIGITS]] = None
    return {name: ", ".join(digests) for name, digests in found.items()}


def _facts(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Engines, versions and when it was run; nothing of the machine."""
    engines = dict.fromkeys(
        f"{run.meta.engine.name} {run.meta.engine.version}, model version {run.meta.engine.model_version}"
        for run in runs
    )
    versions: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, version in run.meta.versions.items():
            versions.setdefault(name, {})[version] = None
    dates = sorted(run.meta.started[:10] for run in runs)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return [
        ("Engine", "; ".join(sorted(engines))),
        *((name, ", ".join(sorted(found))) for name, found in versions.items()),
        ("Run on", when),
        ("Intervals", "Student's t, 95 %, over seeds; the run is the unit"),
        ("Scenarios", value_text(len({run.meta.digest for run in runs})) + " by content"),
        *((name, f"SHA-256 {digests}...") for name, digests in _files(runs).items()),
    ]
