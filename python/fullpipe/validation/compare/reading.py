"""Findings and comparisons in files that `compare -o` and `check -o` wrote, including format 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.comparison import Comparison, Entries, Ran
from fullpipe.validation.compare.finding import Finding, Note, Verdict
from fullpipe.validation.compare.sentence import Names, merged

_OF_ROWS = (
    *("verdict", "case", "point", "kind", "of", "entry", "metric", "unit", "reference", "variant", "base"),
    *("change", "difference", "interval", "p", "cliffs_delta", "correlation", "margin", "seeds", "side"),
    *("seeds_that_would_decide", "unfinished", "reason", "against"),
)
"""Keys of rows of format 1; every other key is a swept path of the row's point."""
_OF_USERS = frozenset({"call_score", "page_p50", "fct_p50", "stall_ratio", "video_startup", "owd_mean"})
"""Metrics that bulk flows do not have."""
_OF_TESTS = ("test", "effect", "factor")
"""Keys that only rows of `fullpipe test` have. These rows are not findings."""


def comparisons_in(found: Mapping[str, Any], findings: Sequence[Finding]) -> list[Comparison]:
    """The comparisons of findings read from a file: one per pair of sides, case and point."""
    sides, settings = found.get("sides"), _tables(found.get("settings"))
    seeds = sides if isinstance(sides, Mapping) else {}
    ran, entries = list(_ran(found.get("scenarios"))), _entries_in(found, findings)
    parts: dict[str, list[Finding]] = {}
    for each in findings:
        parts.setdefault(repr((each.sides, each.case, dict(each.point))), []).append(each)
    return [
        Comparison(
            scenario=str(found.get("scenario") or found.get("title") or ""),
            sides={name: _seeds(seeds.get(name), of[0].runs) for name in of[0].sides},
            findings=of,
            point=of[0].point,
            by_case={of[0].case: entries[of[0].sides[1], of[0].case]},
            ran=ran,
            settings=settings,
        )
        for of in parts.values()
    ]


def _entries_in(found: Mapping[str, Any], findings: Sequence[Finding]) -> dict[tuple[str, str], Entries]:
    """Changed entries and bulk flows of every side and case of findings.

    Older files have one list of changed entries and one of bulk flows, for all sides and cases together. An
    entry is then a bulk flow of a case if the file lists its index and its metrics are those of a bulk flow.
    """
    changed, bulk = (_places(found.get(key)) for key in ("changed", "bulk"))
    cases: dict[str, list[Finding]] = {}
    for each in findings:
        cases.setdefault(each.case, []).append(each)
    stored, made = _stored_entries(found.get("entries")), dict[tuple[str, str], Entries]()
    for case, of in cases.items():
        missing = [key for key in dict.fromkeys((each.sides[1], case) for each in of) if key not in stored]
        if missing:
            likely = _likely_bulk(of)
            of_case = likely if bulk is None else bulk & likely if len(cases) > 1 else bulk
            made |= dict.fromkeys(missing, Entries(changed or frozenset(), of_case))
    return {**stored, **made}


def _stored_entries(found: Any) -> dict[tuple[str, str], Entries]:
    """The readable entries of every side and case of a file."""
    return {
        (str(each.get("side", "")), str(each.get("case", ""))): Entries(
            *(_places(each.get(key)) or frozenset() for key in ("changed", "bulk"))
        )
        for each in _mappings(found)
    }


def _ran(found: Any) -> Iterator[Ran]:
    """Yield the scenarios of all sides, reduced to the readable keys that give names: labels, flows and
    links."""
    for each in found if isinstance(found, list) else ():
        if isinstance(each, Mapping) and isinstance(each.get("scenario"), Mapping):
            tree = each["scenario"]
            topology = tree.get("topology")
            links = topology.get("links") if isinstance(topology, Mapping) else None
            given = tree.get("labels")
            words = given.items() if isinstance(given, Mapping) else ()
            naming = {
                "labels": {key: text for key, text in words if isinstance(text, str)},
                "flows": _mappings(tree.get("flows")),
                "topology": {"links": _mappings(links)},
            }
            point = each.get("point")
            yield Ran(
                str(each.get("side", "")),
                naming,
                point if isinstance(point, Mapping) else {},
                str(each.get("case", "")),
            )


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    """A list of tables; empty if any entry is not a table, since the index of an entry matters."""
    is_whole = isinstance(found, list) and all(isinstance(each, Mapping) for each in found)
    return found if is_whole else []


def _tables(found: Any) -> dict[str, Mapping[str, Any]]:
    """Return the values of a table that are tables."""
    tables = found if isinstance(found, Mapping) else {}
    return {str(key): value for key, value in tables.items() if isinstance(value, Mapping)}


def _names(found: Mapping[str, Any]) -> Names:
    """The displayed names of the sides of a file."""
    words = Labels(scenarios=[one.to_dict()["scenario"] for one in _ran(found.get("scenarios"))])
    return Names(words, _tables(found.get("settings")))


def with_names(
    found: Mapping[str, Any], findings: Sequence[Finding], *, has_both: bool = False
) -> tuple[dict[str, Any], list[Finding]]:
    """The file and its findings with the displayed names of sides and groups: see `Names.side` and
    `Subject.has_both`."""
    names, sides = _names(found), found.get("sides")
    seeds = {names.side(str(side)): of for side, of in sides.items()} if isinstance(sides, Mapping) else {}
    shown = {side: names.side(side) for side in dict.fromkeys(s for each in findings for s in each.sides)}
    named = [
        replace(
            each,
            subject=replace(each.subject, has_both=has_both),
            sides=(shown[each.sides[0]], shown[each.sides[1]]),
        )
        for each in map(names.finding, findings)
    ]
    entries = [
        {**each, "side": shown.get(str(each.get("side", "")), "")} for each in _mappings(found.get("entries"))
    ]
    return {**found, "sides": seeds, "entries": entries}, named


_LACKING = re.compile(r"(?:.+: )?(\w+) of .+ is left out(?:, as only (.+) have it|: (\d+) of (\d+) runs.+)")
"""A note on a metric that some runs lack: see `contrast.matched` and `test.design`."""
_RUNS = re.compile(r"(\d+) of (\d+) runs of (.+?)(?: \([^()]*\))?(?= and \d+ of \d+ runs of |$)")


def notes_in_words(found: Mapping[str, Any], notes: Iterable[str]) -> list[str]:
    """The notes of a file in words: one line per metric that some runs lack, with labels of metrics."""
    names = _names(found)
    return merged(map(note_in, notes), names, in_words=True)


def note_in(text: str) -> Note:
    """A note with its metric and its numbers of runs, from the text in a file.

    >>> note_in("jain of a is left out, as only 2 of 8 runs of cubic and 3 of 8 runs of bbr3 have it").lacking
    {'cubic': (2, 8), 'bbr3': (3, 8)}
    """
    told = _LACKING.fullmatch(text)
    if not told or told[1] not in BY_NAME:
        return Note(text)
    if told[2] is None:
        lacking, runs = int(told[3]), int(told[4])
        return Note(text, told[1], {"": (runs - lacking, runs)})
    counts = {side: (int(having), int(runs)) for having, runs, side in _RUNS.findall(told[2])}
    return Note(text, told[1], counts)


def _places(found: Any) -> frozenset[int] | None:
    return frozenset(n for n in found if isinstance(n, int)) if isinstance(found, list) else None


def _likely_bulk(findings: Sequence[Finding]) -> frozenset[int]:
    """Entries with a goodput and without metrics of calls, pages, transfers, videos or pings."""
    of_entry: dict[int, set[str]] = {}
    for each in findings:
        if each.entry is not None:
            of_entry.setdefault(each.entry, set()).add(each.metric)
    return frozenset(entry for entry, of in of_entry.items() if "goodput" in of and _OF_USERS.isdisjoint(of))


def _seeds(told: Any, count: int) -> Sequence[int]:
    """Return the seeds of a side. If the file does not name the seeds, they are numbered from 1, one per
    value."""
    is_list = isinstance(told, list) and all(isinstance(seed, int) for seed in told)
    return told if is_list else range(1, count + 1)


def findings_in(found: Mapping[str, Any]) -> tuple[list[Finding], list[Mapping[str, Any]]]:
    """The findings of a file, and the rows that are not findings, such as rows of `fullpipe test`.

    Rows of format 1 become findings if they have the required keys.
    """
    stored = found.get("findings")
    is_stored = isinstance(stored, list) and all(isinstance(each, Mapping) for each in stored)
    rows: list[Mapping[str, Any]] = stored if is_stored and stored else found.get("rows") or []
    findings, others = list[Finding](), list[Mapping[str, Any]]()
    for row in rows:
        try:
            findings.append(Finding.from_dict(row if is_stored and stored else _of_format_1(row)))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            others.append(row)
    return findings, others


def _of_format_1(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of format 1 with the keys of a finding."""
    if any(key in row for key in _OF_TESTS):
        raise ValueError("no finding")
    is_check = "base" in row
    reference, other = (row["base"], row["change"]) if is_check else (row["reference"], row.get("variant"))
    margin = row.get("margin")
    told = {
        **{key: row[key] for key in ("unfinished", "cliffs_delta", "correlation") if key in row},
        **{key: row[key] for key in ("kind", "of", "entry", "metric", "unit", "interval") if key in row},
        "case": row.get("case") or "",
        "point": {**(row.get("point") or {}), **{k: v for k, v in row.items() if k not in _OF_ROWS}},
        "rule": "one-sided" if is_check else "paired",
        "sides": ["base", "change"]
        if is_check
        else [row.get("against", "reference"), row.get("side", "other")],
        "means": [reference, other],
        "difference": row["difference"],
        "p_corrected": row.get("p"),
        "margin": margin if isinstance(margin, Mapping) else {},
        "allowed": None if isinstance(margin, Mapping) else margin,
        "verdict": row["verdict"],
        "decision": row["verdict"],
        "reason": row.get("reason") or "",
        "seeds_that_would_decide": row.get("seeds_that_would_decide"),
    }
    if is_check:
        told |= {"verdict": _verdict(row), "n": [row.get("seeds", 1)] * 2}
    return told


def _verdict(row: Mapping[str, Any]) -> Verdict:
    """The verdict of a row of a check, which in format 1 has only a decision."""
    match row["verdict"]:
        case "regressed":
            return "worse"
        case "not worse":
            return "equivalent"
        case _:
            return "undecided"
