"""`fullpipe compare --baseline`: what was measured once, against what is measured now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.cli.output import echo
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.sweeps import Outcome, by_point
from fullpipe.validation import baseline as baselines
from fullpipe.validation.compare import VariantComparison
from fullpipe.validation.compare.side import Side
from fullpipe.validation.compare.variants import compare_all

Points = list[tuple[Mapping[str, Any], list[Run]]]


def seeds_of(file: Path, asked: int | None, otherwise: int) -> list[int]:
    """The seeds to run: those of the baseline if there is one.

    Raises:
        ScenarioError: If others are asked for than the baseline has.
    """
    if not file.exists():
        return list(range(1, (asked or otherwise) + 1))
    kept = baselines.read(file).seeds
    if asked is not None and kept != list(range(1, asked + 1)):
        raise ScenarioError(
            [f"--seeds {asked}: {file} has {len(kept)} seeds; leave --seeds out, or delete it"]
        )
    return kept


def points_of(outcomes: Sequence[Outcome]) -> Points:
    """The runs of every point of the sweep."""
    return by_point((outcome.job, outcome.run) for outcome in outcomes)


def keep(file: Path, points: Points) -> None:
    """Write the file, and say what it is for."""
    baselines.write(file, baselines.baseline_of(points))
    echo(f"kept in {file}: the same command compares with it from now on")


def against(
    file: Path, points: Points, metrics: Sequence[str], margins: Mapping[str, Margin], of: Sequence[str] = ()
) -> list[VariantComparison]:
    """What is said of runs against the baseline, point by point, as one family.

    Raises:
        ScenarioError: If the sweep has other points now, a scenario measures other things, or no run has
            any of the metrics.
    """
    content = baselines.read(file)
    try:
        kept = content.sides()
    except ScenarioError as error:
        raise ScenarioError([f"{file}: {error}"]) from None
    if [point for point, _ in kept] != [dict(point) for point, _ in points]:
        raise ScenarioError([f"{file}: the sweep had other points; delete the file to keep another"])
    pairs = []
    for (point, reference), (_, runs) in zip(kept, points, strict=True):
        links = [str(name) for name in runs[0].links_summary["link"]]
        engine = runs[0].meta.engine
        name = f"{engine.name} {engine.version}"
        other = Side.of_runs("now" if name == reference.name else name, runs, metrics, links)
        pairs.append((point, reference, other))
    try:
        return compare_all(pairs, metrics, margins, of)
    except ValueError as error:
        raise ScenarioError([f"{file}: {error}"]) from None
