"""Reports of files that `compare`, `check` or `test` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullpipe.analysis.length import warnings_of
from fullpipe.analysis.points import Subject, are_both, shape_of
from fullpipe.analysis.shown import begun
from fullpipe.errors import NoRunError
from fullpipe.report import factors
from fullpipe.report.basis import of_json
from fullpipe.report.content import (
    Block,
    Boxes,
    Code,
    Document,
    Download,
    Figure,
    Items,
    Part,
    Section,
    Table,
    Text,
    rows_of,
)
from fullpipe.report.factors import factors_in, forest_of_effects
from fullpipe.report.files import FileScenario, by_case, by_side, files_of, notes_of, recipe_of, scenarios_in
from fullpipe.report.findings import (
    VERDICTS,
    FindingPoints,
    first_table,
    forest_of,
    has_pairs,
    points_of,
    whole_table,
    widths,
)
from fullpipe.report.path import long_enough, made_by, path_of, path_of_runs, setup_of, sources_of
from fullpipe.report.rows import HOW, Budget, summary, table_of, tally, text_of
from fullpipe.report.runs import figures, page, repeat, tables
from fullpipe.report.runs.answer import lead, scope
from fullpipe.report.runs.points import Points
from fullpipe.report.text import counted, folded, listed
from fullpipe.runs import Run
from fullpipe.scenario.labels import Labels
from fullpipe.validation.check.forms import level_in_words
from fullpipe.validation.compare.comparison import key_of
from fullpipe.validation.compare.conclusion import MOST, brief, conclusion, quoted, ranked
from fullpipe.validation.compare.fair_share import FAIR_WORDS
from fullpipe.validation.compare.finding import Finding, weight
from fullpipe.validation.compare.reading import comparisons_in, findings_in, notes_in_words, with_names
from fullpipe.validation.compare.sentence import placed

_TOP = (
    *("kind", "title", "question", "verdict", "rows", "notes", "warnings", "command", "versions", "basis"),
    *("format", "findings", "conclusion", "scenarios", "sides", "changed", "bulk", "entries"),
    *("factors", "settings", "identical", "runs", "counts", "looks", "level"),
)
"""Keys of a file that sections of the page show; all other keys are listed as facts."""
_FACTS = {"intervals": "Intervals of differences"}
"""Readable names of keys."""
_OF_RATIOS = ("Intervals of differences in %", "Fieller, of the relative change; same runs and level")
_OF_FILES = ("More findings", VERDICTS, "Metrics asked for", "Notes")
"""Headings of those details of the runs that are left out, because the file has its own details with these
headings."""
_OF_TESTS = (
    *("test", "effect", "of", "metric", "unit", "point", "means", "difference", "interval", "statistic"),
    *("relative_interval", "p_corrected", "verdict"),
)
"""Keys of rows of a test in the first table."""
_MOST_SIDES, _MOST_LOOKS = 20, 20

Row = Mapping[str, Any]


def page_of_file(
    found: Mapping[str, Any],
    *,
    question: str = "",
    budget: Budget | None = None,
    runs: Sequence[Run] = (),
    command: str = "",
    metrics: Sequence[str] = (),
    of: str = "",
) -> Document:
    """Make the report of a file: its conclusion, the first differences, the path, and all rows.

    Args:
        found: The content of the file, as `read` gives it.
        question: Question that the page opens with; if empty, the question in the file.
        budget: Limits of the size of the page.
        runs: Runs that the file was made from, if available. The details then have the time series and tables
            of these runs.
        command: Command that makes the page.
        metrics: Metrics asked for, each a name or "rtt_mean of ping": the conclusion, the figure and the
            first table are limited to these metrics.
        of: Group of flows or link to which the metrics are limited.

    Raises:
        NoRunError: If the file has no finding on these metrics and this group.
        UnknownNameError: If a metric does not exist.
    """
    title = text_of(found.get("title") or found.get("scenario") or found.get("kind") or "results")
    asked = [Subject.read(text, of or None) for text in metrics]
    part = _part(found, asked, of, question, budget or Budget(), runs, command)
    scenarios = [each.scenario for each in scenarios_in(found)]
    facts = [*facts_of(found), *(page.facts(runs) if runs else sources_of(scenarios))]
    return Document(title, [part], list(dict(facts).items()), of_json(found))


def facts_of(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Versions, and the keys of a file that no other section of the page shows."""
    facts = [
        (_FACTS.get(key, key.replace("_", " ")), text_of(value))
        for key, value in found.items()
        if key not in _TOP
    ]
    if found.get("findings"):
        facts.append(_OF_RATIOS)
    of_versions = found.get("versions")
    facts += [*_checked(found)] if found.get("kind") == "check" else []
    facts += (
        [(str(k), text_of(v)) for k, v in of_versions.items()] if isinstance(of_versions, Mapping) else []
    )
    return facts


def _checked(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts of a file of `check` in words."""
    if isinstance(found.get("identical"), bool):
        yield "Base and change", "bit-identical runs" if found["identical"] else "different runs"
    if isinstance(found.get("runs"), int):
        yield "Runs of each side", text_of(found["runs"])
    if isinstance(counts := found.get("counts"), Mapping):
        yield "Values", ", ".join(f"{text_of(count)} {word}" for word, count in counts.items())
    if told := _level(found):
        yield "Level", told


def _level(found: Mapping[str, Any]) -> str:
    """Return the error rate of each test of a `check`; empty if the file does not have this rate."""
    level, looks = found.get("level"), found.get("looks")
    if not isinstance(level, float) or not isinstance(looks, list):
        return ""
    return "".join(level_in_words(level, list(map(text_of, looks[:_MOST_LOOKS]))))


def _part(
    found: Mapping[str, Any],
    asked: Sequence[Subject],
    of: str,
    question: str,
    budget: Budget,
    runs: Sequence[Run],
    command: str,
) -> Part:
    kind = text_of(found.get("kind") or "results")
    every, others = findings_in(found)
    ran = scenarios_in(found)
    has_both = are_both(each.scenario for each in ran)
    found, every = with_names(found, every, has_both=has_both)
    trees = [each.scenario.to_dict() for each in ran]
    findings = _asked(every, asked, of, Labels(scenarios=trees))
    made = comparisons_in(found, findings)
    is_whole = len(findings) == len(every)
    told = (_stored(found) if is_whole else []) or conclusion(
        made, [each.metric for each in asked], family=every
    )
    if kind == "check" and is_whole and not _stored(found):
        worse = sorted((each for each in findings if each.decision == "regressed"), key=weight)
        told = [f"Verdict: {text_of(found.get('verdict'))}.", *map(placed, worse)]
    told = told or list(_of_rows(found, others))
    order = ranked(made, [each.metric for each in asked])
    bulk = frozenset[int]().union(*(each.bulk for each in made))
    tested = factors_in(found)
    given = {key: words for each in ran for key, words in each.scenario.labels.items()}
    runs = [run.with_labels(given) for run in runs]
    of_runs = _measured(runs, tested)
    labels = of_runs.labels if of_runs else Labels(scenarios=trees)
    if tested:
        tested = [each.model_copy(update={"of": labels.group(each.of)}) for each in tested]
        others = [{**each, "of": labels.group(str(each["of"]))} if "of" in each else each for each in others]
    others = factors.in_words(others, tested, labels) if tested else others
    points = of_runs or FindingPoints.of_findings(
        text_of(found.get("scenario") or found.get("title")),
        findings,
        bulk,
        labels,
        _engine_of(found),
        has_both=has_both,
    )
    has_cases = any(each.case for each in findings)
    leading = lead(points, made) if points else None
    at = points_of(order, *leading) if leading else []
    drawn = (
        figures.over_points(points, budget.figures, leading, at, has_pairs=has_pairs(findings))[0]
        if points and not has_cases
        else []
    )
    is_swept = points is not None and len(points.paths) > 1
    scenarios = by_side(ran)
    files = [] if of_runs else list(files_of(found, scenarios))
    forest = (
        factors.forest_of(tested, labels)
        if tested
        else forest_of(findings, order, labels) or forest_of_effects(others)
    )
    is_drawn = bool(drawn) and (not isinstance(drawn[0].chart, Boxes) if of_runs else is_swept)
    first = drawn[0] if is_drawn else forest
    notes = notes_in_words(found, [text_of(note) for note in notes_of(found) if note])
    of_shares = [note for note in notes if FAIR_WORDS in note]
    notes = [note for note in notes if note not in of_shares]
    shares = [f"{begun(note)}." for note in of_shares if is_whole]
    more = [*told[MOST:], *(shares if len(told) >= MOST else [])]
    whole = path_of([each for of_side in scenarios.values() for each in of_side]) or path_of_runs(runs)
    paths = _paths(ran, (each.case for each in findings)) if has_cases else list(filter(None, [whole]))
    where = "All tests" if tested else "Rows"
    sections = [
        Section("More findings", [Items(more)] if more else []),
        Section(VERDICTS, list(_verdicts(kind, _level(found), every, budget, labels))),
        Section(
            where,
            [table_of(others, f"All rows of {kind}", budget.rows, labels)] if others else [],
        ),
        *_of_values(points, [each for each in drawn if each is not first], budget, runs, at),
        Section("Paths", paths if len(paths) > 1 else []),
        Section("Notes", [Items(notes)] if notes else []),
    ]
    again = text_of(found["command"]) if found.get("command") else ""
    table = factors.table_of(tested, labels) if tested else None
    own = quoted(made, [each.metric for each in asked])
    table = first_table(findings, order, labels, quoted=own, family=every) if findings else table
    warnings = _warnings(found, runs)
    return Part(
        question or text_of(found.get("question") or f"What does {kind} say?"),
        [
            *brief(made, [each.metric for each in asked]),
            *told[:MOST],
            *(shares if len(told) < MOST else []),
        ],
        warnings=warnings,
        scope=" ".join(
            filter(
                None,
                [
                    scope(of_runs) if of_runs else _scope(found, findings, runs),
                    long_enough(runs) if runs and not warnings else "",
                    _stored_in(found, runs),
                ],
            )
        ),
        command=again if "\n" not in again else "",
        figure=first,
        path=paths[0] if len(paths) == 1 else None,
        table=table or _first(others, kind, where, labels),
        details=[section for section in sections if section.blocks or section.sections],
        recipe=repeat.recipe(of_runs, again, command) if of_runs else recipe_of(found, command, files),
        repetition=repeat.blocks(of_runs)
        if of_runs
        else [Code(file.content, f"Scenario of {side} as TOML", is_folded=True) for side, file in files],
        data=[
            *_data(found, budget, points, [file for _, file in files]),
            *(repeat.files(of_runs) if of_runs else []),
            *page.digests_file(runs),
        ],
        heading=text_of(found.get("title") or kind),
    )


def _measured(runs: Sequence[Run], tested: Sequence[factors.StoredFactor]) -> Points | None:
    """The runs of a test with its metrics; None if the runs are missing or of several topologies."""
    if not tested or not runs or len({shape_of(run) for run in runs}) > 1:
        return None
    return Points.of_runs(runs, list(dict.fromkeys(each.subject for each in tested)))


def _asked(findings: Sequence[Finding], asked: Sequence[Subject], of: str, labels: Labels) -> list[Finding]:
    """The findings on the metrics and the group that the user names; all findings if the user names none."""
    wanted = asked or ([Subject("", of)] if of else [])
    known: dict[str, list[str]] = {}
    for each in findings:
        for side, name in zip(each.sides, each.labels, strict=True):
            known.setdefault(key_of(side, each.case, each.point), []).extend((name, each.of))
    named = {each.of: labels.groups_called(each.of, known.values()) for each in wanted if each.of}
    kept = [
        each
        for each in findings
        if not wanted
        or any(
            subject.metric in ("", each.metric)
            and (subject.of is None or each.subject.is_of(named[subject.of], each.labels))
            for subject in wanted
        )
    ]
    if wanted and not kept:
        metrics = listed(dict.fromkeys(each.metric for each in findings))
        groups = listed(dict.fromkeys(each.of for each in findings))
        raise NoRunError(
            f"the file has no finding on this metric and group; it has {metrics or 'no metrics'} of {groups}"
        )
    return kept


def _first(rows: Sequence[Row], kind: str, where: str, labels: Labels) -> Table | None:
    """The first rows of a file without findings; for a test, rows with a verdict come first.

    `where` is the heading of the section with all rows.
    """
    tests = [
        {key: row[key] for key in row if key in _OF_TESTS or "." in key} for row in rows if "test" in row
    ]
    if tests:
        tests.sort(key=lambda row: not row.get("verdict"))
        rows = tests
    if not rows:
        return None
    most, total = rows_of(len(rows)), len(rows)
    made = table_of(rows[:most], f"{'First rows' if most < total else 'Rows'} of {kind}", most, labels)
    return replace(made, note=folded(most, total, "rows", where), is_tight=True)


def _stored(found: Mapping[str, Any]) -> list[str]:
    """Return the conclusion in the file; an empty list if the file has no conclusion."""
    told = found.get("conclusion")
    return [text_of(each) for each in told if each] if isinstance(told, list) else []


def _warnings(found: Mapping[str, Any], runs: Sequence[Run]) -> list[str]:
    """Warnings about the available runs, or the warnings in the file if no run has a warning."""
    stored = found.get("warnings")
    return warnings_of(runs) or ([text_of(each) for each in stored] if isinstance(stored, list) else [])


def _of_rows(found: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    """Sentences on rows of a file without findings: the number of rows per verdict."""
    if found.get("verdict"):
        yield f"Verdict: {text_of(found['verdict'])}."
    decided = [row for row in rows if row.get("verdict")]
    sides: dict[str, list[Row]] = {}
    for row in decided:
        sides.setdefault(text_of(row["effect"]) if row.get("effect") else "", []).append(row)
    given = tally(decided)
    if given:
        counts = ", ".join(f"{count} {word}" for word, count in given)
        yield f"{counted(len(decided), 'verdict')}: {counts}."
    if any(sides):
        yield from (f"{side or 'All'}: {summary(of)}." for side, of in list(sides.items())[:_MOST_SIDES])
    elif given:
        yield f"In detail: {summary(decided)}."
    elif not found.get("verdict"):
        yield f"{counted(len(rows), 'row')}, without verdicts."


def _scope(found: Mapping[str, Any], findings: Sequence[Finding], runs: Sequence[Run]) -> str:
    """Seeds, points, engine, version, and the durations of the runs."""
    seeds = len(max((each.values[0] for each in findings), key=len, default=()))
    given = found.get("seeds")
    seeds = len(given) if isinstance(given, list) and seeds < 2 else seeds
    points = len({repr((each.case, dict(each.point))) for each in findings})
    told = found.get("versions")
    version = told.get("fullpipe") if isinstance(told, Mapping) else None
    words = [
        counted(seeds, "seed") + (" per side" if findings else "") if seeds > 1 else "",
        counted(points, "point") if points > 1 else "",
        made_by(runs, _engine_of(found)),
        f"fullpipe {text_of(version)}" if version else "",
    ]
    text = ", ".join(filter(None, words))
    is_of_a_file = any(run.meta.engine.is_of_a_file for run in runs)
    setup = setup_of((each.scenario for each in scenarios_in(found)), is_of_a_file=is_of_a_file)
    sentences = [text, f"each run: {setup}" if setup else ""]
    return " ".join(f"{begun(sentence)}." for sentence in sentences if sentence)


def _stored_in(found: Mapping[str, Any], runs: Sequence[Run]) -> str:
    """Return a sentence on the folder of the runs, or that the runs were not found."""
    basis = of_json(found)
    if basis is None:
        return ""
    if not runs:
        return f"Its runs are not in a folder {basis.store} here, so the report has no time series."
    known = len(basis.runs)
    what = f"{len(runs):,} of {known:,} runs are" if len(runs) < known else f"All {counted(known, 'run')} are"
    store = runs[0].store or Path(basis.store)
    here = Path().absolute()
    named = store.relative_to(here) if store.is_relative_to(here) else Path(basis.store)
    return f"{what} in the folder {named}, which is not part of this page."


def _engine_of(found: Mapping[str, Any]) -> str:
    """The engine of all runs that a file names; empty if it names none, or several engines."""
    basis = of_json(found)
    names = {place.rpartition("/")[2].rpartition("-")[0] for place, _ in basis.runs} if basis else set()
    return names.pop() if len(names) == 1 else ""


def _verdicts(
    kind: str,
    level: str,
    findings: Sequence[Finding],
    budget: Budget,
    labels: Labels,
) -> Iterator[Block]:
    if kind in HOW and findings:
        told = [HOW[kind], widths(findings) if kind == "compare" else "", f"{begun(level)}." if level else ""]
        yield Text(" ".join(filter(None, told)))
    if findings:
        yield whole_table(findings, budget.rows, labels)


def _of_values(
    points: Points | None,
    drawn: Sequence[Figure],
    budget: Budget,
    runs: Sequence[Run],
    at: Sequence[Mapping[str, Any]],
) -> Iterator[Section]:
    """Means, figures and the meaning of metrics; if runs are available, all details of a report of runs."""
    if runs:
        for each in page.parts_of(runs, is_one=True, budget=budget, at=at):
            yield from (part for part in each.part.details if part.heading not in _OF_FILES)
    elif points:
        both = (tables.means(points, kind, budget) for kind in ("flows", "link"))
        yield Section("Means", [table for table in both if table])
        yield Section("Figures", list(drawn))
        yield Section("What the metrics mean", [tables.meanings(points)])


def _paths(ran: Iterable[FileScenario], cases: Iterable[str]) -> list[Figure]:
    """Return the drawing of the network of every case, with the name of the case in the caption."""
    known = by_case(ran)
    drawn = ((case, path_of(known.get(case, ()))) for case in dict.fromkeys(cases))
    return [replace(figure, caption=f"{case}: {figure.caption}") for case, figure in drawn if figure]


def _data(
    found: Mapping[str, Any], budget: Budget, points: Points | None, files: Iterable[Download]
) -> Iterator[Download]:
    name = "findings" if found.get("findings") else "rows"
    data = json.dumps(list(found.get(name) or []), indent=1)
    if len(data) <= budget.csv_bytes:
        yield Download(f"{name}.json", "application/json", data, f"All {name}, in base units.")
    if points:
        yield tables.values_file(points, budget)
    yield from files
