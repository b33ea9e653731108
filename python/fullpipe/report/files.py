"""Files that reports are made from, scenarios and recipes of such files, and writing of reports."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fullpipe import files
from fullpipe.errors import FullpipeError, NoRunError, brief
from fullpipe.report.basis import of_json
from fullpipe.report.content import Document, Download
from fullpipe.report.html import html, pictures
from fullpipe.report.markdown import markdown
from fullpipe.report.recipe import Recipe
from fullpipe.report.rows import Budget, text_of, with_sides
from fullpipe.report.runs.points import scenario_of
from fullpipe.report.runs.repeat import file_name
from fullpipe.report.text import listed
from fullpipe.runs.meta import versions
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.base import stored
from fullpipe.validation.compare.stored import FORMAT

# Files that reports read: what `compare`, `check` and `test` write, and lines of their `--json`.


_LARGEST = 50_000_000
_DEEPEST = 32
"""Maximum number of levels of nested lists and objects."""


def read(path: Path) -> dict[str, Any]:
    """The object of a file; several lines of `--json` are joined into one object with all their rows.

    Raises:
        NoRunError: If the file cannot be read, or has no rows.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise NoRunError(
                f"{path}: is larger than {_LARGEST // 1_000_000} MB, the maximum of a file of results"
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NoRunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise NoRunError(f"{path}: is not UTF-8 text; give a file of compare, check or test") from error
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = _of_lines(path, text)
    return joined([checked(path, found)])


def checked(where: Path | str, found: Any) -> dict[str, Any]:
    """Return the object of a file or a request if it has rows.

    Raises:
        NoRunError: If the object has no rows, has a newer format, or is nested too deep.
    """
    if not isinstance(found, dict) or not _are_rows(found.get("rows")):
        told = "give a file that compare -o, check or test wrote, or a folder of runs"
        raise NoRunError(f'{where}: has no "rows"; {told}')
    version = found.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise NoRunError(
            f"{where}: has format {brief(str(version))}, and this version reads {FORMAT}; update fullpipe"
        )
    _check_depth(where, found)
    return found


def question_of(scenario: str, reference: str, others: Sequence[str], swept: Sequence[str] = ()) -> str:
    """The question that a comparison of variants answers. With a sweep, it also asks whether the answer
    depends on the swept factors.

    >>> question_of("line", "cubic", ["bbr3"], ["buffer"])
    'Is bbr3 better or worse than cubic in line, and does this depend on buffer?'
    """
    verb = "Is" if len(others) == 1 else "Are"
    depends = f", and does this depend on {listed(swept)}" if swept else ""
    return f"{verb} {listed(others)} better or worse than {reference} in {scenario}{depends}?"


def file_of(
    comparisons: Sequence[Mapping[str, Any]], command: str, swept: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the members of a file of comparisons; each row has its point and the names of both sides.

    Args:
        comparisons: One or more results of `VariantComparison.to_dict`.
        command: Command that makes the file again.
        swept: Factors of the sweep in words.
    """
    first, others = comparisons[0], dict.fromkeys(str(one.get("variant")) for one in comparisons)
    scenario, reference = str(first.get("scenario")), str(first.get("reference"))
    return {
        "kind": "compare",
        "title": f"{scenario}: {listed(others)} against {reference}",
        "question": question_of(scenario, reference, list(others), swept),
        **joined(comparisons),
        "command": command,
        "versions": versions(),
    }


def _check_depth(path: Path | str, found: Any) -> None:
    layer = [found]
    for _ in range(_DEEPEST):
        layer = [part for each in layer for part in _parts(each)]
    if layer:
        raise NoRunError(
            f"{path}: lists and objects are nested deeper than {_DEEPEST}, which no file of results has"
        )


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _no_json(path: Path, error: Exception) -> str:
    """Return the error for a file that is not JSON. For a scenario file, the error says how to run the
    scenario."""
    if path.suffix == ".toml":
        return f"is a scenario; run it with `fullpipe run {path.name} --out FOLDER`, then report FOLDER"
    return f"is not JSON: {error}"


def _of_lines(path: Path, text: str) -> dict[str, Any]:
    try:
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise NoRunError(f"{path}: {_no_json(path, error)}") from error
    if not objects or not all(isinstance(one, dict) and _are_rows(one.get("rows")) for one in objects):
        raise NoRunError(f'{path}: has lines without "rows"; give lines that compare --json printed')
    return joined(objects)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def joined(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the objects that `compare --json` prints for several points or variants."""
    rows = [row for one in objects for row in with_sides(one)]
    notes = list(dict.fromkeys(str(note) for one in objects for note in notes_of(one)))
    is_of_sides = any(isinstance(one.get("variant"), str) for one in objects)
    aside = ("rows", "notes", "findings", *(("point", "reference", "variant") if is_of_sides else ()))
    shared = {
        key: value
        for key, value in objects[0].items()
        if key not in aside and all(one.get(key) == value for one in objects)
    }
    stored = [each for one in objects for each in one.get("findings") or []]
    return {**shared, **({"findings": stored} if stored else {}), "rows": rows, "notes": notes}


def notes_of(found: Mapping[str, Any]) -> Sequence[Any]:
    """Notes of a file; empty unless the member is a list."""
    notes = found.get("notes")
    return notes if isinstance(notes, list) else []


# Scenarios of a file of results, and the recipe that makes the file again.


_MOST_SCENARIOS = 12


class FileScenario(NamedTuple):
    """A scenario of a file."""

    side: str | None
    """Name of the side that ran the scenario; None if the file names no side."""
    case: str
    scenario: Scenario


def scenarios_in(found: Mapping[str, Any]) -> list[FileScenario]:
    """The scenarios of a file that this version can read."""
    given, made = found.get("scenarios"), list[FileScenario]()
    for each in given if isinstance(given, list) else []:
        try:
            side = text_of(each["side"]) if "side" in each else None
            case = text_of(each["case"]) if each.get("case") else ""
            with stored():
                made.append(FileScenario(side, case, Scenario(**each["scenario"])))
        except (AttributeError, FullpipeError, LookupError, TypeError, ValueError):
            continue
    return made


def by_side(ran: Iterable[FileScenario]) -> dict[str, list[Scenario]]:
    """The scenarios of every side and case."""
    made: dict[str, list[Scenario]] = {}
    for each in ran:
        if each.side is not None:
            made.setdefault(", ".join(filter(None, [each.side, each.case])), []).append(each.scenario)
    return made


def by_case(ran: Iterable[FileScenario]) -> dict[str, list[Scenario]]:
    """The scenarios of every case, of all sides."""
    made: dict[str, list[Scenario]] = {}
    for each in ran:
        made.setdefault(each.case, []).append(each.scenario)
    return made


def files_of(
    found: Mapping[str, Any], scenarios: Mapping[str, Sequence[Scenario]]
) -> Iterator[tuple[str, Download]]:
    """Yield a scenario file per side, with all points as a sweep; with only the first point if no sweep has
    exactly these points.

    The file of the reference has the name of the scenario file in the command.
    """
    typed = _typed(found)
    for side, of_side in list(scenarios.items())[:_MOST_SCENARIOS]:
        scenario = scenario_of(of_side[0].name, of_side) or of_side[0]
        own = file_name(f"{scenario.name}-{side}" if side != scenario.name else side)
        yield side, Download(typed or own, "application/toml", scenario.to_toml())
        typed = ""


def _typed(found: Mapping[str, Any]) -> str:
    """The scenario file that a command of `compare` names; empty if the variants are scenario files."""
    try:
        words = shlex.split(text_of(found.get("command")))
    except ValueError:
        return ""
    is_base = words[:2] == ["fullpipe", "compare"] and not any("scenario=" in word for word in words)
    files = [Path(word).name for word in words[2:3] if word.endswith(".toml")]
    return file_name(files[0].removesuffix(".toml")) if is_base and files else ""


def recipe_of(found: Mapping[str, Any], command: str, files: Sequence[tuple[str, Download]]) -> Recipe:
    """The commands that make the file and the report again; empty if the file has no command."""
    if not found.get("command"):
        return Recipe()
    runs = _run(found, files) if found.get("kind") == "test" else ""
    commands = list(filter(None, [runs, text_of(found["command"]), command]))
    needs = [
        f"Save the scenario of {side} as {file.name}."
        for side, file in files[:1]
        if file.name in "\n".join(commands)
    ]
    return Recipe(commands, needs)


def _run(found: Mapping[str, Any], files: Sequence[tuple[str, Download]]) -> str:
    """The command that makes the runs of a test again.

    Empty unless all runs come from one scenario file, and each point has the seeds 1 to N.
    """
    basis, seeds, points = of_json(found), found.get("seeds"), found.get("scenarios")
    if not basis or len(files) != 1 or not isinstance(seeds, list) or seeds != [*range(1, len(seeds) + 1)]:
        return ""
    if isinstance(points, list) and len(basis.runs) != len(points) * len(seeds):
        return ""
    return shlex.join(["fullpipe", "run", files[0][1].name, "--seeds", str(len(seeds)), "--out", basis.store])


# Writes a report to a file.


FORMATS = (".html", ".md")
"""Endings of report files."""


def write(page: Document, path: Path, budget: Budget | None = None) -> None:
    """Write a page as HTML or Markdown, chosen by the ending of the file name.

    The figures of a Markdown file are files in a folder beside it, such as report-figures/1.svg.

    Raises:
        ValueError: If the ending is not in `FORMATS`.
        ResultError: If the file cannot be written.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f'"{path.name}" does not end in {" or ".join(FORMATS)}')
    if path.suffix == ".html":
        files.write(path, html(page, (budget or Budget()).samples).encode())
        return
    folder, named = path.with_name(f"{path.stem}-figures"), {}
    drawn = pictures(page)
    if drawn:
        files.make_folder(folder)
    for number, (figure, ending, content) in enumerate(drawn, 1):
        files.write(folder / f"{number}.{ending}", content)
        named[id(figure)] = f"{folder.name}/{number}.{ending}"
    files.write(path, markdown(page, named).encode())
