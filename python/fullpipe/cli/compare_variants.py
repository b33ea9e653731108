"""`fullpipe compare --over`: variants of a scenario, in pairs of runs with the same seed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import files
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import axis_shown, interval_shown, metric_shown
from fullpipe.cli.asked import note_version, read_scenario
from fullpipe.cli.output import complain, echo
from fullpipe.errors import ScenarioError
from fullpipe.report import basis
from fullpipe.report.files import file_of
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.read.files import value_of
from fullpipe.validation.compare import Finding, VariantComparison, stored
from fullpipe.validation.compare.conclusion import conclusion
from fullpipe.validation.compare.finding import family_size
from fullpipe.validation.compare.sentence import Names, names_of
from fullpipe.validation.over import SCENARIO


def axes_of(over: Sequence[str]) -> dict[str, list[Any]]:
    """The axes of several `--over PATH=VALUE,VALUE`; values of `scenario` are read as scenarios.

    Raises:
        ScenarioError: If an axis cannot be read, or a path is given twice.
    """
    found = dict[str, list[Any]]()
    for path, values in map(_axis, over):
        if path in found:
            raise ScenarioError([f"--over {path}: is given twice; write all values in one --over"])
        note_version(path, values)
        found[path] = values
    return {path: _scenarios(values) if path == SCENARIO else values for path, values in found.items()}


def _scenarios(names: Sequence[object]) -> list[Scenario]:
    """Scenarios by file or name. If two scenarios have the same name, each is named after its file."""
    read = [read_scenario(str(name)) for name in names]
    if len({each.name for each in read}) == len(read):
        return read
    return [
        each.model_copy(update={"name": Path(str(name)).stem}) for each, name in zip(read, names, strict=True)
    ]


def _axis(text: str) -> tuple[str, list[Any]]:
    """Split `path=value,value`. Values that are not valid TOML are text up to the next comma outside of
    brackets and quotes."""
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise ScenarioError([f'--over "{text}": write it as PATH=VALUE,VALUE, as in flows.0.cca=cubic,bbr3'])
    try:
        return path.strip(), value_of(f"[{values}]")
    except ValueError:
        return path.strip(), [_value(part) for part in _PART.findall(values)]


_PART = re.compile(r"""(?:[^,{\["']|\{[^}]*\}|\[[^\]]*\]|"[^"]*"|'[^']*'|[{\["'])+""")
"""A value of `--over`: text without commas, except those in a table, a list or quotes."""


def _value(text: str) -> Any:
    try:
        return value_of(text)
    except ValueError:
        return text.strip()


def write(
    file: Path,
    found: Sequence[VariantComparison],
    command: str,
    runs: Sequence[Run] = (),
    asked: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    doubts: Sequence[str] = (),
) -> None:
    """Write the findings, the scenarios and the folders of the runs as JSON, for `fullpipe report`.

    `doubts` are warnings about means that should not be trusted.

    Raises:
        ResultError: If the file cannot be written.
    """
    names = names_of(found, labels)
    content = stored.told(found, labels or {}) | file_of([one.to_dict() for one in found], command)
    is_single = len({one.other for one in found}) == 1
    paths = [*dict.fromkeys(path for one in found for path in one.point)]
    swept = names.labels.names([path for path in paths if len({str(one.point[path]) for one in found}) > 1])
    headed = [_headed(one, names, is_single=is_single) for one in found]
    shown = file_of(headed, command, list(dict.fromkeys(swept.values())))
    content |= {"title": shown["title"], "question": shown["question"]}
    content["notes"] = list(dict.fromkeys(names.note(note) for one in found for note in one.notes))
    content |= {"conclusion": conclusion(found, asked, names=names), "warnings": list(doubts)}
    content |= basis.as_json(basis.basis_of(runs))
    files.write(file, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def _headed(one: VariantComparison, names: Names, *, is_single: bool) -> dict[str, Any]:
    """Scenario, reference and variant of a comparison, from which the title of the file is made."""
    reference = names.apart(one.reference, one.other) if is_single else names.side(one.reference)
    sides = {"reference": reference, "variant": names.side(one.other)}
    return {"scenario": one.scenario, **sides, "rows": []}


_PAGE = 660 / 72
"""Height of the text on a page, in inches."""


def draw_forest(
    outs: Sequence[Path],
    found: Sequence[VariantComparison],
    labels: Mapping[str, str],
    width: str | None = None,
    *,
    quiet: bool,
) -> None:
    """Write a figure of all differences, and print the names of its files.

    Args:
        outs: Folders of the files, or .png, .svg or .pdf files.
        found: The comparisons.
        labels: Labels of paths and values. These labels replace labels in the scenarios.
        width: Width of the figure, one of `fullpipe.plots.style.WIDTHS`.
        quiet: Print the names on standard error.
    """
    in_keys, several = names_of(found, labels), len({each.other for each in found}) > 1
    names = in_keys.in_print()
    every = [row for each in names.shown(found) for row in each.rows]
    shares = _in_percent(every)
    rows = [
        {
            "metric": row.metric,
            "label": names.place(row, with_side=several),
            "verdict": row.assessment.verdict,
        }
        | _in_unit(row, is_share=shares[row.metric])
        for row in every
    ]
    units = {metric: _axis_label(metric, is_share=is_share) for metric, is_share in shares.items()}
    references = dict.fromkeys(names.side(each.reference) for each in found)
    counts = sorted({len(each.seeds) for each in found})
    seeds = " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))
    told = f"reference: {', '.join(references)}; {seeds} seed{'' if seeds == '1' else 's'}"
    if (tests := family_size(every)) > 1:
        told += f"; verdicts after Holm's correction for {tests:,} tests"
        told += f" ({tests:,} of {len(every):,} rows are tested)" if tests < len(every) else ""
    from fullpipe import plots  # imported here, as most comparisons draw nothing
    from fullpipe.plots.style import as_wide_as, is_narrow

    table = pl.DataFrame(rows, infer_schema_length=None)
    with as_wide_as(width):
        figure, data = plots.forest(table, units, notes=told)
        wider = ", or --width page" if is_narrow() else ""
    if (inches := figure.get_figheight()) > _PAGE:
        told = f"note: the figure is {inches:.1f} inches high, longer than a page of {_PAGE:.1f} inches"
        groups = " or groups with --of" if len({row.of for row in every}) > 1 else ""
        complain(f"{told}; choose metrics with --metric{groups}{wider}")
    data = data.with_columns(label=pl.Series([in_keys.place(row, with_side=several) for row in every]))
    for out in outs:
        for path in plots.write(figure, data, out, f"{found[0].scenario}-forest"):
            echo(path, err=quiet)


def _in_percent(rows: Sequence[Finding]) -> dict[str, bool]:
    """Whether all differences of a metric can be drawn in per cent of the reference, by metric."""
    found: dict[str, bool] = {}
    for row in rows:
        found[row.metric] = found.get(row.metric, True) and row.is_relative
    return found


def _in_unit(row: Finding, *, is_share: bool) -> dict[str, float | None]:
    """The difference, its interval truncated at the bounds of the metric, and the margin.

    All four values are in per cent of the reference if `is_share`, else in the unit of the figure's axis.
    """
    said, scale = row.assessment, axis_shown(row.metric, in_percent=False)[0]
    factor = 100 / abs(row.reference) if is_share else scale
    interval = interval_shown(said.interval, row.relative, row.metric, row.reference, is_share=is_share)
    return {
        "difference": said.difference * factor,
        "low": None if interval is None else interval.low * factor,
        "high": None if interval is None else interval.high * factor,
        "margin": row.margin.allowed(row.reference) * factor,
    }


def _axis_label(metric: str, *, is_share: bool) -> str:
    metric_label = f"{metric_shown(metric)} (% of the reference)"
    label = f"difference in {metric_label if is_share else axis_shown(metric, in_percent=False)[1]}"
    better = {"higher": ", better\N{NO-BREAK SPACE}→", "lower": ", ←\N{NO-BREAK SPACE}better"}
    return label + better.get(BY_NAME[metric].better, "")
