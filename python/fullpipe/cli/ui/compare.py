"""Comparison of two scenarios on the page of `fullpipe ui`."""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from anyio import to_thread

from fullpipe.analysis.length import doubts_of
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.points import at, differences, short_names
from fullpipe.analysis.shown import (
    LARGER_PART,
    axis_shown,
    difference_shown,
    interval_shown,
    margin_shown,
    number_shown,
    shown_in,
)
from fullpipe.analysis.values import value_text
from fullpipe.cli.ui import inputs
from fullpipe.cli.ui.export import verdicts_page
from fullpipe.cli.ui.guard import Limits
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.live import Turns, event
from fullpipe.errors import FullpipeError, ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.quantities import natural
from fullpipe.sweeps import jobs
from fullpipe.validation.compare import Finding, VariantComparison, sentence
from fullpipe.validation.compare.comparison import doubted
from fullpipe.validation.compare.conclusion import conclusion
from fullpipe.validation.compare.finding import known, weight
from fullpipe.validation.over import Jobs, compared

# Names of two scenarios in a comparison: the values in which the scenarios differ.


_ASIDE = ("name", "labels", "record")
"""Keys of a scenario that do not affect results."""
_MOST = 4
"""Maximum number of differing paths in a name."""


def names_of(one: Scenario, other: Scenario) -> tuple[str, str]:
    """Names for two scenarios: the values in which they differ.

    If more than `_MOST` values differ, the names are those of the scenarios, or A and B if these are equal.

    >>> base = Scenario.named("single-cubic")
    >>> names_of(base, base.with_values({"flows.0.cca": "bbr3"}))
    ('cubic', 'bbr3')
    """
    trees = [_tree(each) for each in (one, other)]
    paths, labels = differences(*trees), Labels(scenarios=[one.to_dict(), other.to_dict()])
    if 0 < len(paths) <= _MOST:
        words = short_names(paths)
        values = [[at(tree, _keys(path)) for path in paths] for tree in trees]
        pairs = list(zip(paths, *values, strict=True))

        def said(path: str, value: Any, against: Any) -> str:
            return labels.given(path, value) or _said(words[path], value, against)

        first = ", ".join(said(path, value, against) for path, value, against in pairs)
        second = ", ".join(said(path, value, against) for path, against, value in pairs)
        if first != second:
            return first, second
    return (one.name, other.name) if one.name != other.name else ("A", "B")


def files_of(names: Sequence[str]) -> list[str]:
    """File names for scenarios with these names.

    >>> files_of(["drop_tail 1 bdp", "fq_codel"])
    ['drop_tail-1-bdp.toml', 'fq_codel.toml']
    """
    stems = [re.sub(r"[^\w.+]+", "-", name, flags=re.ASCII).strip("-.")[:60] for name in names]
    if not all(stems) or len({stem.lower() for stem in stems}) < len(stems):
        stems = [chr(ord("a") + number) for number in range(len(names))]
    return [f"{stem}.toml" for stem in stems]


def _tree(scenario: Scenario) -> dict[str, Any]:
    return {key: value for key, value in scenario.to_dict().items() if key not in _ASIDE}


def _keys(path: str) -> list[str | int]:
    return [int(word) if word.isdecimal() else word for word in path.split(".")]


def _said(word: str, value: Any, against: Any) -> str:
    """A value in words, preceded by the name of its path unless the value is itself a name, such as cubic."""
    if value is None:
        return f"default {word}"
    speaks = isinstance(value, str) or (isinstance(value, Mapping) and "kind" in value)
    text = _text(value)
    return text if speaks and against is not None else f"{word} {text}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and "kind" not in value:
        return " ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, Mapping):
        return " ".join(_text(part) for part in value.values())
    return natural(value) if isinstance(value, str) else value_text(value).lower()


# Comparisons as JSON for the page: the conclusion, and findings with numbers as the terminal prints them.


def told(made: VariantComparison, runs: Sequence[Run]) -> dict[str, Any]:
    """A comparison of runs in the format of `fullpipe compare --json`, with the most important findings
    first.

    Returns:
        The keys of that format, and `shown`: for every finding, its texts and its place on an axis, from
        `shown_of`.
    """
    (made,) = doubted([made], doubts_of(runs))
    findings, names = sorted(made.findings, key=weight), sentence.names_of([made])
    return {
        **made.to_dict(),
        "conclusion": conclusion([made]),
        "findings": [finding.to_dict() for finding in findings],
        "shown": [shown_of(names.finding(finding)) for finding in findings],
    }


def shown_of(found: Finding) -> dict[str, Any]:
    """The texts of a finding, and its difference as a share of the reference.

    Returns:
        `of`, the group with its label and its number of flows; `metric` with its unit; `means` of the two
        sides, `difference` with its interval, and `margin`, as the terminal prints them; `share`, from
        `_share`.
    """
    of = found.unit, found.metric
    name = axis_shown(found.metric)[1] if found.metric in BY_NAME else shown_in(found.metric, found.unit)[1]
    has_value, larger = isfinite(found.difference), f", {LARGER_PART}" if found.margin.has_two_parts else ""
    texts = found.difference, found.interval, found.reference, *of, found.margin, found.relative
    return {
        "of": found.group,
        "metric": name,
        "means": [number_shown(found.reference, *of), number_shown(known(found.other), *of)],
        "difference": difference_shown(*texts) if has_value else "-",
        "margin": f"{margin_shown(found.margin, *of, has_unit=True)}{larger}",
        "share": _share(found) if has_value else None,
    }


def _share(found: Finding) -> dict[str, float | None] | None:
    """Difference, ends of the interval and margin, divided by the reference; None if the reference is 0.

    The interval is truncated at the bounds of the metric. For a metric that is never negative, the lowest
    share is therefore -1.
    """
    if not found.reference:
        return None
    whole = abs(found.reference)
    of = found.metric, found.reference
    within = found.relative and interval_shown(found.interval, found.relative, *of, is_share=True)
    ends = (within.low / whole, within.high / whole) if within else (None, None)
    low, high = (end if end is not None and isfinite(end) else None for end in ends)
    return {"value": found.difference / whole, "low": low, "high": high, "margin": found.allowed / whole}


# Comparison of two scenarios over many seeds, with a verdict for every metric.


async def comparison(
    scenarios: Sequence[Scenario], seeds: int, limits: Limits, turns: Turns
) -> AsyncIterator[bytes]:
    """The events of a comparison: `progress` after every run, and `end` or `problem`.

    The comparison stops when the page stops reading events.
    """
    try:
        sides = await to_thread.run_sync(_sides, scenarios, seeds)
        runs: list[Run] = []
        for job in (job for of_side in sides.values() for job in of_side):
            async with turns.turn():
                runs.append(await to_thread.run_sync(inputs.run, job.scenario, job.seed, limits))
            yield event("progress", {"done": len(runs)})
        yield event("end", await to_thread.run_sync(_judged, sides, runs))
    except FullpipeError as error:
        yield event("problem", {"problems": str(error).split("\n")})


async def comparison_report(
    scenarios: Sequence[Scenario], seeds: int, limits: Limits, turns: Turns, question: str = ""
) -> str:
    """The HTML page of a report about a comparison, with its verdicts and all its runs.

    Raises:
        ScenarioError: If the scenarios cannot be compared, or a run exceeds a limit.
    """
    sides = await to_thread.run_sync(_sides, scenarios, seeds)
    runs: list[Run] = []
    for job in (job for of_side in sides.values() for job in of_side):
        async with turns.turn():
            runs.append(await to_thread.run_sync(inputs.run, job.scenario, job.seed, limits))
    async with turns.turn():
        return await to_thread.run_sync(_reported, sides, runs, question)


def _reported(sides: Jobs, runs: Sequence[Run], question: str) -> str:
    return verdicts_page(_judged(sides, runs), runs, question)


def seeds_of(sent: object, most: int) -> int:
    """The number of seeds in a request.

    Raises:
        ScenarioError: If `sent` is not a whole number from 2 to `most`.
    """
    if not isinstance(sent, int) or isinstance(sent, bool) or not 2 <= sent <= most:
        raise ScenarioError([f"seeds: expected a whole number from 2 to {most}"])
    return sent


def _sides(scenarios: Sequence[Scenario], seeds: int) -> Jobs:
    """The jobs of the two scenarios, by the names of `names_of`."""
    if len(scenarios) != 2:
        raise ScenarioError(["scenarios: expected two scenarios to compare"])
    if len({len(scenario.flows) for scenario in scenarios}) > 1:
        raise ScenarioError(
            ["flows: the two scenarios need the same number of entries, to compare each pair"]
        )
    chosen = range(1, seeds + 1)
    with only_own_files():
        named = zip(names_of(*scenarios), scenarios, strict=True)
        return {name: jobs(scenario, chosen) for name, scenario in named}


def _judged(sides: Jobs, runs: Sequence[Run]) -> dict[str, Any]:
    found = told(compared(sides, runs)[0], runs)
    return {**found, **taken_along([*sides], found["seeds"])}


def taken_along(
    names: Sequence[str], seeds: Sequence[int], store: Path = Path("runs"), engine: str = "native"
) -> dict[str, Any]:
    """Return names of files for the scenarios of a comparison, and the command that compares these files."""
    files = files_of(names)
    return {"files": files, "command": compare_command(files, seeds, store, engine)}


def compare_command(
    files: Sequence[str], seeds: Sequence[int], store: Path = Path("runs"), engine: str = "native"
) -> str:
    """The command that makes the same comparison from scenario files; empty unless the seeds are 1 to N."""
    if list(seeds) != list(range(1, len(seeds) + 1)):
        return ""
    words = ["fullpipe", "compare", files[0], "--over", f"scenario={','.join(files)}"]
    words += ["--seeds", str(len(seeds))]
    words += [] if engine == "native" else ["--engines", engine]
    words += [] if store == Path("runs") else ["--out", str(store)]
    return shlex.join(words)
