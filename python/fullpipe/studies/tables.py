"""Tables with the results of claims and with the set-up, as text, Markdown and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from math import isinf
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import engines, files
from fullpipe.studies import claims
from fullpipe.studies.claim_checks import ClaimResult, Part
from fullpipe.studies.claims import UNMEASURED, Elsewhere
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.report import Settings, Told
from fullpipe.studies.study import Transcription
from fullpipe.studies.text import Aligned, as_printed, shortened, tally, written
from fullpipe.studies.verdicts import (
    COMPARISONS,
    ENOUGH_RUNS,
    REMARKS_ON_RULE,
    RULE,
    RULE_FOR_WORDS,
    Cause,
    Verdict,
)

SCHEMA = {
    "where": pl.String,
    "printed": pl.String,
    "reading": pl.String,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
    "unit": pl.String,
    "held": pl.Int64,
    "compared": pl.Int64,
    "verdict": pl.String,
    "closest": pl.Boolean,
    "why": pl.String,
    "setting": pl.String,
    "factor": pl.Float64,
    "by_tolerance": pl.Boolean,
    "counted": pl.Boolean,
    "uncounted": pl.String,
    "each": pl.String,
}
SIGNS = {Verdict.REPRODUCED: "+", Verdict.SAME_DIRECTION: "~", Verdict.NOT_REPRODUCED: "-"}
LEGEND = "In the columns of other readings: + reproduced, ~ same direction, - not reproduced."
_TO_TURN = (Verdict.SAME_DIRECTION, Verdict.NOT_REPRODUCED)
_WHY = {
    Verdict.NOT_REPRODUCED: 'Causes of "not reproduced"',
    Verdict.SAME_DIRECTION: 'Causes of "same direction" only',
    Verdict.NOT_TESTABLE: 'Causes of "not testable here"',
}
_CUT = {1: 48, 2: 48}
"""Maximum number of characters, by column, for the columns "printed" and "ours" of the terminal's table."""
_NUMBERS = 4
"""Maximum number of our values in a row. For a claim with more values, the row has the number of values that
are reproduced."""

Columns = Callable[[pl.DataFrame], pl.DataFrame]
RULES = (
    "The rule for a number, in this order:",
    Aligned(RULE, has_heads=False),
    REMARKS_ON_RULE,
    COMPARISONS,
    Aligned(RULE_FOR_WORDS, has_heads=False),
)


def write(
    settings: Settings,
    found: Measurements,
    checked: Sequence[ClaimResult],
    seeds: int,
    more: Columns | None = None,
) -> list[Path]:
    """Write measurements and verdicts as two CSV files, and verdicts as a Markdown file.

    Args:
        settings: Folder and engine.
        found: Measurements.
        checked: The results of the claims.
        seeds: Number of seeds of every mean.
        more: Function that adds columns to the table of verdicts.

    Returns:
        The paths of the files. For an engine other than the native engine, `keep` writes a fourth file.
    """
    folder, engine = settings.folder, settings.engine
    files.make_folder(folder)
    numbers, verdicts, page = (folder / name for name in ("measured.csv", "verdicts.csv", "verdicts.md"))
    files.write_csv(numbers, by(engine, found.table()))
    given = table(checked)
    files.write_csv(verdicts, by(engine, more(given) if more else given))
    form = ", quick form" if settings.quick else ""
    model = engines.engine(engine).model_version()
    head = f"Engine {engine}, model version {model}, {counted(seeds)}{form}."
    lines = "".join(f"- {line}\n" for line in [head, *tallies(checked).splitlines()])
    files.write(page, f"{lines}\n{markdown(checked, f'ours ({engine})')}".encode())
    if engine == "native":
        return [numbers, verdicts, page]
    return [numbers, verdicts, page, keep(settings, [first for first, _ in _claims(checked)], seeds)]


def keep(settings: Settings, results: Sequence[ClaimResult], seeds: int, setting: str = "") -> Path:
    """Store results of another engine. Reports of the native engine then show these results beside the native
    results.

    Args:
        settings: Folder and engine.
        results: One result per claim. Claims that could not be run are not stored.
        seeds: Number of seeds of every mean.
        setting: The setting with which the claims were run; empty for the unchanged study.
    """
    engine, date = settings.engine, f"{datetime.now(UTC):%Y-%m-%d}"
    version = engines.engine(engine).model_version()
    rows = [
        Elsewhere(j.claim.id, engine, version, date, seeds, setting, ours_shown(j), verdict_shown(j))
        for j in results
        if j.parts and j.verdict is not Verdict.NOT_TESTABLE
    ]
    path = settings.folder / f"{engine}_results.toml"
    claims.keep(path, rows)
    return path


def counted(seeds: int) -> str:
    """Return a number of seeds with its noun.

    >>> counted(1)
    '1 seed'
    """
    return f"{seeds} seed{'' if seeds == 1 else 's'}"


def caveat(seeds: int, *, quick: bool = False) -> str:
    """Return a sentence that warns of few seeds or of the quick form; empty if neither applies.

    >>> caveat(5)
    ''
    """
    differ = "verdicts may differ from those of the full form."
    if seeds < ENOUGH_RUNS:
        why = f"a number is not judged by its prediction interval, which takes {ENOUGH_RUNS} runs"
        return f"Over {counted(seeds)} {why}: {differ}"
    return f"This is the quick form: {differ}" if quick else ""


def by(engine: str, table: pl.DataFrame) -> pl.DataFrame:
    """Add the column `engine` to a table."""
    return table.select(pl.lit(engine).alias("engine"), pl.all())


def report(
    source: Transcription,
    checked: Sequence[ClaimResult],
    seeds: int,
    remarks: str,
    *,
    sections: Iterable[str | Aligned] = (),
    setup: str = "The set-up, as printed and as used here:",
    quick: bool = False,
) -> Told:
    """Return the report of a study.

    Args:
        source: Transcription of the study.
        checked: Results of all claims.
        seeds: Number of seeds over which our means are computed.
        remarks: Text that follows "ours over 5 seeds and its 95 % interval" and further defines our numbers.
        sections: Sections of this study, which follow the verdicts.
        setup: Heading of the table of the set-up.
        quick: Whether the study ran in its quick form with shorter runs.
    """
    how = (
        f"Every printed number and claim, with ours over {counted(seeds)}"
        + (" and its 95 % interval" if seeds > 1 else "")
        + remarks
        + (" This is the quick form: shorter runs than the study's." if quick else "")
    )
    few = [line for line in [caveat(seeds, quick=quick)] if line]
    sections = list(sections)
    verdicts = (*verdict_parts(checked), tallies(checked), *few)
    parts = (source.title, how, *verdicts, *sections, *RULES, setup, Aligned(setup_rows(source.setup)))
    counted_ones = [j for j in checked if j.counts]
    return Told(
        parts=parts,
        title=source.title,
        how=how,
        verdicts=verdict_rows(checked),
        tally=Counter(str(v) for v in Verdict for j in counted_ones if j.verdict is v),
        causes=_frequent(j for j in counted_ones if j.verdict is Verdict.NOT_REPRODUCED),
        counts=[*tallies(checked).splitlines(), *([caveat(seeds, quick=quick)] if few else [])],
        sections=sections,
        rules=written(RULES),
        setup=setup_rows(source.setup),
        seeds=seeds,
    )


def table(checked: Sequence[ClaimResult]) -> pl.DataFrame:
    """Return the results as a table with one row per claim and reading."""
    rows = []
    for j in checked:
        low, high = j.ends or (None, None)
        numbers = (j.mean, low, high, j.claim.unit, j.held, len(j.parts), str(j.verdict), j.closest)
        notes = (
            j.why and str(j.why),
            _setting(j),
            j.factor,
            j.by_tolerance,
            j.counts,
            j.claim.uncounted,
            _each(j),
        )
        rows.append((j.claim.id, j.claim.says, j.reading, *numbers, *notes))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def verdict_parts(checked: Sequence[ClaimResult]) -> list[str | Aligned]:
    """Return the table of verdicts for a terminal, with one row per claim, and its legend.

    A row has our number, the verdict and the cause under the reading that counts. Each other reading has a
    column with a sign for its verdict.
    """
    others = other_readings(checked)
    kept = _kept(checked)
    rows = [["where", "printed", "ours", "verdict", "why", *kept, *others]]
    for first, of in _claims(checked):
        signs, cells = [_sign(of.get(other)) for other in others], [_elsewhere(first) for _ in kept]
        given = [first.claim.says, ours_shown(first), verdict_shown(first), _why(first)]
        rows.append([first.claim.id, *given, *cells, *signs])
    legend = [f"The reading that counts is {_counted(checked)}. {LEGEND}"] if others else []
    return [Aligned(rows, cut=_CUT | dict.fromkeys(range(5, 5 + len(kept)), 60)), *legend]


def markdown(checked: Sequence[ClaimResult], ours: str = "ours") -> str:
    """Return a Markdown table with one row per claim, and with our number under every reading."""
    header, *rows = verdict_rows(checked, ours)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"


def verdict_rows(checked: Sequence[ClaimResult], ours: str = "ours") -> list[list[str]]:
    """Return the cells of the table of `markdown`. The first row has the column heads."""
    others = other_readings(checked)
    kept = _kept(checked)
    rows = [["where", "printed", ours, "verdict", "why", *kept, *others]]
    for first, of in _claims(checked):
        cells = [_elsewhere(first) for _ in kept]
        cells += [f"{ours_shown(of[o])}: {of[o].verdict}" if o in of else "" for o in others]
        why = f"{_why(first)}: {_setting(first)}" if _setting(first) else _why(first)
        rows.append([first.claim.id, first.claim.says, ours_shown(first), verdict_shown(first), why, *cells])
    return rows


def setup_rows(setup: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return the column heads, followed by rows with the printed set-up and the set-up of our runs."""
    rows = [("where", "printed", "here")]
    for row in setup:
        remark = f" ({Verdict.CONTRADICTED})" if row.get("contradicted") else ""
        rows.append((row["id"], row["says"] + remark, row["used"]))
    return rows


def tallies(checked: Sequence[ClaimResult]) -> str:
    """Return sentences with the numbers of verdicts and of causes. Every printed number counts once.

    If claims depend on readings, further sentences give the numbers of verdicts under every other reading.
    """
    counted = [j for j in checked if j.counts]
    repeated = sum(bool(first.claim.uncounted) for first, _ in _claims(checked))
    tolerated = sum(j.by_tolerance for j in counted)
    lines = [f"{len(counted)} printed numbers and claims, each counted once: {_tally(counted)}."]
    if tolerated:
        lines.append(f"Reproduced only by tolerance: {tolerated}. Our own runs exclude the printed value.")
    if repeated:
        lines.append(f"Rows not counted, as they are printed twice or true by definition: {repeated}.")
    lines += _unknown(counted)
    for verdict, why in _WHY.items():
        if causes := _causes(j for j in counted if j.verdict is verdict):
            lines.append(f"{why}: {causes}.")
    for other in other_readings(checked):
        mine = [j for j in checked if j.reading == other and not j.claim.uncounted]
        lines.append(f'Under the reading "{other}" ({len(mine)} counted): {_tally(mine)}.')
    return "\n".join(lines)


def other_readings(checked: Sequence[ClaimResult]) -> list[str]:
    """Return all readings except the reading that counts, in the order of the study."""
    return [r for r in dict.fromkeys(j.reading for j in checked) if r and r != _counted(checked)]


def verdict_shown(j: ClaimResult) -> str:
    """Return the verdict with its factor if any, and "(by tolerance)" if the claim is reproduced only by
    tolerance."""
    factor = f" (x {_digits(j.factor)})" if j.factor is not None else ""
    return f"{j.verdict}{factor}{' (by tolerance)' if j.by_tolerance else ''}"


def _why(j: ClaimResult) -> str:
    """Return the text of the column "why": the cause, or "not counted" with the cause that the claim
    names."""
    if not j.claim.uncounted:
        return str(j.why or "")
    named = j.claim.why if j.verdict in _TO_TURN else None
    return f"not counted; {named}" if named else "not counted"


def _setting(j: ClaimResult) -> str:
    """Return the setting that improves the verdict; empty if the verdict cannot be improved, or the claim
    names no setting."""
    told = j.verdict in _TO_TURN and (j.why or j.claim.uncounted)
    return str(j.claim.setting) if told and j.claim.setting else ""


def _kept(checked: Sequence[ClaimResult]) -> list[str]:
    """Return the head of the column with stored results of other engines; no head if there are no stored
    results."""
    sources = {j.claim.elsewhere.source for j in checked if j.claim.elsewhere}
    return ["; ".join(sorted(sources))] if sources else []


def _elsewhere(j: ClaimResult, width: int = 200) -> str:
    return shortened(j.claim.elsewhere.shown, width) if j.claim.elsewhere else ""


def _unknown(counted: Sequence[ClaimResult]) -> list[str]:
    """Return a sentence with the number of claims that are not reproduced for an unknown reason."""
    failed = [j for j in counted if j.verdict is Verdict.NOT_REPRODUCED]
    unknown = sum(j.why is Cause.UNKNOWN for j in failed)
    return [f"Of {len(failed)} not reproduced, the cause of {unknown} is unknown."] if failed else []


def _counted(checked: Sequence[ClaimResult]) -> str:
    return next((j.reading for j in checked if j.reading and j.counts), "")


def _claims(checked: Sequence[ClaimResult]) -> list[tuple[ClaimResult, dict[str, ClaimResult]]]:
    """Return, for every claim, its result under the first reading, and its results under all readings by
    name."""
    groups = [list(group) for _, group in groupby(checked, key=lambda j: j.claim.id)]
    return [(group[0], {j.reading: j for j in group}) for group in groups]


def _tally(checked: Sequence[ClaimResult]) -> str:
    return tally(j.verdict for j in checked)


def _causes(checked: Iterable[ClaimResult]) -> str:
    return ", ".join(f"{cause} ({count})" for cause, count in _frequent(checked))


def _frequent(checked: Iterable[ClaimResult]) -> list[tuple[str, int]]:
    """Return causes with the numbers of their claims. The most frequent cause is first."""
    given = Counter(str(j.why) for j in checked if j.why)
    return sorted(given.items(), key=lambda pair: (-pair[1], pair[0]))


def _sign(j: ClaimResult | None) -> str:
    return "" if j is None else SIGNS.get(j.verdict, "")


def ours_shown(j: ClaimResult, width: int = 200) -> str:
    """Return our value or values as text or, for a claim with more parts, the number of parts that hold."""
    if j.claim.kind in UNMEASURED:
        return shortened(str(j.claim.what), width)
    if j.verdict is Verdict.NOT_JUDGED:
        return j.claim.published
    if j.claim.kind == "equals":
        return shortened(_recomputed(j), width)
    if len(j.numbers) == 1:
        return _number(j.numbers[0], j.ends, j.claim.unit)
    if 0 < len(j.numbers) <= _NUMBERS:
        return _joined(j.numbers, j.claim.unit)
    return f"{j.held} of {len(j.parts)} hold" if j.parts else "-"


def _recomputed(j: ClaimResult) -> str:
    """Return our recomputed numbers with as many digits as the printed numbers."""
    pairs = zip(j.parts, j.claim.what.values(), strict=True)
    numbers = ", ".join(as_printed(part.ours[0], printed) for part, printed in pairs)
    return f"{numbers} {j.claim.unit}".rstrip() + (f" ({j.note})" if j.note else "")


def _joined(numbers: Sequence[Part], unit: str) -> str:
    """Join several values. The unit follows the last value, or every value if an event never happened in a
    run."""
    if any(part.mean is None for part in numbers):
        return ", ".join(_number(part, unit=unit) for part in numbers)
    return f"{', '.join(map(_number, numbers))} {unit}".rstrip()


def _number(part: Part, ends: tuple[float, float] | None = None, unit: str = "") -> str:
    if part.mean is None:
        return f"never in {sum(map(isinf, part.ours))} of {len(part.ours)} runs"
    interval = f" [{_digits(ends[0])}, {_digits(ends[1])}]" if ends else ""
    return f"{_digits(part.mean)}{interval} {unit}".rstrip()


def _digits(value: float) -> str:
    """Return a number with three significant digits, or without a fraction from 1000 on."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _each(j: ClaimResult) -> str:
    """Return every value of a claim with its conditions; empty for a claim with a single value."""
    if len(j.numbers) < 2:
        return ""
    return "; ".join(f"{_conditions(part)}: {_number(part)}" for part in j.numbers)


def _conditions(part: Part) -> str:
    return ", ".join(f"{key} {value}" for key, value in part.where.items())
