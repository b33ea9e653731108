"""The three kinds of `fullpipe compare`: variants, runs against a baseline, and engines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import typer

from fullpipe.analysis.metrics.groups import groups_in
from fullpipe.analysis.metrics.table import headlines
from fullpipe.analysis.points import Subject, groups_asked, varying
from fullpipe.analysis.shown import listed
from fullpipe.analysis.values import value_text
from fullpipe.cli.asked import processors, read_scenario, values_of
from fullpipe.cli.compare_shown import tell_engines, tell_variants
from fullpipe.cli.compare_variants import axes_of, draw_forest
from fullpipe.cli.jobs import bring_all, check_all, engine_names, finished_runs
from fullpipe.cli.output import complain, echo, say
from fullpipe.cli.selection import check_labels_of_jobs, labels_of
from fullpipe.cli.stored import read_runs, runs_in
from fullpipe.cluster import executor
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.runs import Run, Store
from fullpipe.runs.population import NEWEST
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.read.files import inline
from fullpipe.sweeps import Job, Outcome, by_point, jobs
from fullpipe.validation import baseline as baselines
from fullpipe.validation import compare as comparison
from fullpipe.validation.compare import EngineComparison, VariantComparison, overlay
from fullpipe.validation.compare.comparison import compare_all
from fullpipe.validation.compare.sentence import names_of
from fullpipe.validation.compare.side import Groups, Side
from fullpipe.validation.over import HEADLINES, compared, settings_of, sides_of

_SEEDS, _SEEDS_OF_VARIANTS = 5, 20
Points = list[tuple[Mapping[str, Any], list[Run]]]


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """The arguments of `fullpipe compare`. Contradictory arguments are refused when the object is made."""

    scenario: str
    command: str
    """The command line, for reruns."""
    over: Sequence[str] = ()
    baseline: Path | None = None
    engines: str | None = None
    seeds: range | None = None
    reference: str | None = None
    margin: Sequence[str] = ()
    metric: Sequence[str] = ()
    of: Sequence[str] = ()
    assignments: Sequence[str] = ()
    workers: int | None = None
    on: str = "local"
    out: Path = Path("runs")
    content: str = NEWEST
    figures: Sequence[Path] = ()
    width: str | None = None
    """Width of figures."""
    file: Path | None = None
    allow_python: bool = False
    as_json: bool = False
    all_rows: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.of and self.subjects and all(each.of for each in self.subjects):
            told_how = "every --metric has a group of its own; leave out --of"
            raise typer.BadParameter(told_how, param_hint="--of")
        is_of_variants = bool(self.over or self.baseline)
        if self.width and not self.figures:
            raise typer.BadParameter("needs --plot", param_hint="--width")
        if self.is_stored:
            if is_of_variants or self.engines or self.assignments:
                told_how = "stored runs are compared as they are; to run variants, name a scenario"
                raise typer.BadParameter(told_how, param_hint="SCENARIO")
            return
        if self.content != NEWEST:
            raise typer.BadParameter("needs a folder of stored runs as SCENARIO", param_hint="--content")
        if self.over and self.baseline:
            raise typer.BadParameter("give either --over or --baseline, not both")
        if self.file and not is_of_variants:
            raise typer.BadParameter("needs --over or --baseline", param_hint="--file")
        if self.reference is not None and is_of_variants:
            told_how = "needs --engines; with --over, the first value is the reference"
            raise typer.BadParameter(told_how, param_hint="--reference")

    @cached_property
    def subjects(self) -> list[Subject]:
        """The metrics that the user names, with their groups. Raises UnknownNameError for other words."""
        return [Subject.read(text) for text in self.metric]

    @property
    def asked(self) -> list[str]:
        """The metrics that the user names, each once."""
        return list(dict.fromkeys(each.metric for each in self.subjects))

    def groups(self, scenarios: Iterable[Scenario]) -> Groups:
        """The groups that the user names. Labels are replaced by the groups' names in these scenarios."""
        words = {*self.of, *(each.of for each in self.subjects if each.of)}
        used = list({id(each): each for each in scenarios}.values()) if words else []
        labels = Labels(self.labels, [each.to_dict() for each in used])
        known = [groups_in(each) for each in used]
        named = {word: labels.groups_called(word, known) for word in words}
        by_metric = groups_asked(self.subjects)
        if not any(by_metric.values()):
            return [name for word in self.of for name in named[word]]
        return {
            metric: [name for word in (self.of if asked is None else asked) for name in named[word]]
            for metric, asked in by_metric.items()
        }

    @property
    def is_stored(self) -> bool:
        """Whether SCENARIO is a folder, whose stored runs are compared."""
        return Path(self.scenario).is_dir()

    @property
    def margins(self) -> dict[str, comparison.Margin]:
        """The margins that the user gives, by metric."""
        return dict(comparison.read_margin(text) for text in self.margin)

    def compare(self) -> None:
        """Compare, and print the findings.

        Raises:
            ScenarioError: If the sides cannot be compared.
            Exit: If a run failed, or a metric is worse.
        """
        if self.is_stored:
            self._compare_stored()
            return
        chosen = read_scenario(self.scenario).with_values(values_of(self.assignments, None))
        if self.over:
            self._compare_variants(chosen)
        elif self.baseline:
            self._compare_baseline(chosen, self.baseline)
        else:
            self._compare_engines(chosen)

    def _compare_stored(self) -> None:
        folder = Path(self.scenario)
        sides = _sides_in(folder, self.content)
        runs = [run for of_side in sides.values() for run in of_side]
        labels_of(runs, self.labels, [run.meta.point for run in runs])
        if self.reference is not None and self.reference not in sides:
            raise UnknownNameError("reference", self.reference, sides)
        first = self.reference or comparison.closest_to_the_world(sides)
        try:
            found = comparison.compare(sides, first, self.margins, self.groups(run.scenario for run in runs))
        except ValueError as error:
            raise ScenarioError([f"{folder}: {error}"]) from None
        metrics = self.asked or headlines(HEADLINES, (run.scenario for run in runs))
        self._tell_engines([found], [sides], metrics)

    def _compare_variants(self, chosen: Scenario) -> None:
        several = self.seeds or range(1, _SEEDS_OF_VARIANTS + 1)
        engine, over = self.engines or "native", axes_of(self.over)
        sides = sides_of(chosen, over, several, engine)
        settings = settings_of(chosen, over, engine)
        check_labels_of_jobs(self.labels, chain(*sides.values()), settings.values())
        outcomes = self._finished([job for of_side in sides.values() for job in of_side])
        runs = [outcome.run for outcome in outcomes]
        groups = self.groups(job.scenario for job in chain(*sides.values()))
        made = compared(sides, runs, self.asked or None, self.margins, groups, settings)
        if self.figures:
            draw_forest(self.figures, made, self.labels, self.width, quiet=self.as_json)
        self._tell_variants(made, runs)

    def _compare_baseline(self, chosen: Scenario, file: Path) -> None:
        seeds = _seeds_of(file, self.seeds)
        todo = jobs(chosen, seeds, self.engines or "native")
        check_labels_of_jobs(self.labels, todo)
        outcomes = self._finished(todo)
        points = by_point((outcome.job, outcome.run) for outcome in outcomes)
        if not file.exists():
            baselines.write(file, baselines.baseline_of(points))
            say(f"baseline stored in {file}; the same command now compares with this file")
            return
        metrics = self.asked or headlines(HEADLINES, [chosen])
        made = against(file, points, metrics, self.margins, self.groups(job.scenario for job in todo))
        runs = [outcome.run for outcome in outcomes]
        self._tell_variants(made, runs)

    def _compare_engines(self, chosen: Scenario) -> None:
        names = engine_names(self.engines or "native,linux")
        if self.reference is not None and self.reference not in names:
            raise UnknownNameError("reference", self.reference, names)
        several = self.seeds or range(1, _SEEDS + 1)
        todo = [job for name in names for job in jobs(chosen, several, name)]
        check_labels_of_jobs(self.labels, todo)
        try:
            outcomes = self._finished(todo)
        except ScenarioError as error:
            raise ScenarioError([*error.problems, *self._instead(chosen)]) from None
        first = self.reference or ("linux" if "linux" in names else names[0])
        at_points, groups = _by_engine(outcomes), self.groups(job.scenario for job in todo)
        made = [comparison.compare(sides, first, self.margins, groups, point) for point, sides in at_points]
        for line in self._instead(chosen) if chosen.sweep else ():
            complain(f"note: {line}")
        metrics = self.asked or headlines(HEADLINES, [chosen])
        self._tell_engines(made, [sides for _, sides in at_points], metrics)

    def _instead(self, chosen: Scenario) -> list[str]:
        """Return a hint how to compare variants, if the user names no engines: a command that compares the
        algorithms of the sweep, or else the values of the first path that `--over` can write."""
        if self.engines is not None:
            return []
        plain = [path for path, axis in chosen.sweep.items() if _is_plain(path, axis)]
        path = next((path for path in plain if path.endswith(".cca")), plain[0] if plain else "")
        if not path:
            return ["without --over, engines are compared; to compare variants, add --over PATH=VALUE,VALUE"]
        over = shlex.quote(f"{path}={','.join(map(_as_typed, chosen.sweep[path]))}")
        own = "".join(f" --set {shlex.quote(text)}" for text in self.assignments)
        return [
            f"without --over, engines are compared at every point of {listed(chosen.sweep)}; to compare the"
            f" values of {path}: fullpipe compare {shlex.quote(self.scenario)}{own} --over {over}"
        ]

    def _finished(self, todo: Sequence[Job]) -> list[Outcome]:
        """Run the jobs whose results are not stored yet. A run that fails ends the command."""
        if self.allow_python:
            bring_all(list(todo), self.scenario)
        check_all(list(todo))
        workers = self.workers or processors()
        place = executor(self.on, root=self.out, workers=workers, allow_python=self.allow_python)
        return finished_runs(todo, place, Store(self.out), 2 if self.over or self.baseline else 1)

    def _tell_variants(self, made: Sequence[VariantComparison], runs: Sequence[Run]) -> None:
        tell_variants(
            made,
            as_json=self.as_json,
            all_rows=self.all_rows,
            file=self.file,
            command=self.command,
            runs=runs,
            asked=self.asked,
            labels=self.labels,
        )

    def _tell_engines(
        self,
        made: Sequence[EngineComparison],
        sides: Sequence[Mapping[str, Sequence[Run]]],
        metrics: Sequence[str],
    ) -> None:
        tell_engines(
            made,
            metrics,
            asked=self.asked,
            as_json=self.as_json,
            all_rows=self.all_rows,
            labels=self.labels,
            runs=[run for each in sides for of_side in each.values() for run in of_side],
        )
        if self.figures:
            self._check_files(len(made))
            for one, runs in zip(made, sides, strict=True):
                labels = names_of([one], self.labels).labels
                named = (one.scenario, one.point, labels)
                _draw(self.figures, runs, *named, self.width, quiet=self.as_json)

    def _check_files(self, points: int) -> None:
        """Raise BadParameter if one file would have the figures of several points."""
        from fullpipe.plots import is_file  # imported here, as most comparisons draw nothing

        if points > 1 and (file := next(filter(is_file, self.figures), None)):
            told_how = f"{file} is one file for the figures of {points} points; name a folder"
            raise typer.BadParameter(told_how, param_hint="--plot")


def _sides_in(folder: Path, content: str) -> dict[str, list[Run]]:
    """The runs in a folder by engine. `content` selects runs as in `fullpipe.cli.stored.runs_in`.

    Raises:
        NoRunError: If the folder has no run.
        ScenarioError: If all runs were made by one engine.
    """
    found = comparison.by_engine(read_runs(runs_in([folder], content)))
    if len(found) < 2:
        (runs,) = found.values()
        points = [run.meta.point for run in runs]
        swept = varying(points)
        how = (
            f"fullpipe test {shlex.quote(str(folder))} --metric goodput --factor {swept[0]}" if swept else ""
        )
        raise ScenarioError(
            [
                f"{folder}: all runs are of the engine {next(iter(found))}; add runs of another"
                " engine, or runs of `fullpipe import`, to the folder",
                *([f"to compare the values of {swept[0]}: {how}"] if how else []),
            ]
        )
    return found


def _as_typed(value: object) -> str:
    """A value as a user types it in `--over`: text without quotes, other values as in TOML."""
    is_word = isinstance(value, str) and not re.search(r"""[,{}\[\]"']""", value)
    return str(value) if is_word else inline(value)


def _is_plain(path: str, axis: object) -> bool:
    """Whether the values of an axis can be written as `--over PATH=VALUE,VALUE`."""
    is_path = "." in path and "," not in path
    return is_path and isinstance(axis, list | tuple) and not any(isinstance(each, Mapping) for each in axis)


def _seeds_of(file: Path, asked: range | None) -> list[int]:
    """The seeds to run: those of the baseline if its file exists, else `asked` (default: 1 to 20).

    Raises:
        ScenarioError: If the user asks for other seeds than the baseline has.
    """
    if not file.exists():
        return list(asked or range(1, _SEEDS_OF_VARIANTS + 1))
    stored = baselines.read(file).seeds
    if asked is not None and stored != list(asked):
        words = f"{asked[-1]}" if asked[0] == 1 else f"{asked[0]}-{asked[-1]}"
        has = f"{len(stored)} {'' if asked[0] == 1 else 'other '}seeds"
        raise ScenarioError([f"--seeds {words}: {file} has {has}; leave out --seeds, or delete the file"])
    return stored


def against(
    file: Path,
    points: Points,
    metrics: Sequence[str],
    margins: Mapping[str, comparison.Margin],
    of: Groups = (),
) -> list[VariantComparison]:
    """Compare runs with a baseline at every sweep point. All tests are corrected as one family.

    Raises:
        ScenarioError: If the points of the sweep or the measured metrics differ from the baseline, or if no
            run has any of the metrics.
    """
    content = baselines.read(file)
    try:
        stored = content.sides()
    except ScenarioError as error:
        raise ScenarioError([f"{file}: {error}"]) from None
    if [point for point, _ in stored] != [dict(point) for point, _ in points]:
        raise ScenarioError([f"{file}: has other sweep points; delete the file to measure a new baseline"])
    pairs = []
    for (point, reference), (_, runs) in zip(stored, points, strict=True):
        links = [str(name) for name in runs[0].links_summary["link"]]
        engine = runs[0].meta.engine
        name = f"{engine.name} {engine.version}"
        other = Side.of_runs("now" if name == reference.name else name, runs, metrics, links)
        pairs.append((point, reference, other))
    try:
        return [replace(one, is_of_versions=True) for one in compare_all(pairs, metrics, margins, of)]
    except ValueError as error:
        raise ScenarioError([f"{file}: {error}"]) from None


def _by_engine(outcomes: Sequence[Outcome]) -> list[tuple[Mapping[str, Any], dict[str, list[Run]]]]:
    """Every point of the sweep with the runs of every engine."""
    found = []
    for point, at_point in by_point((outcome.job, outcome) for outcome in outcomes):
        runs: dict[str, list[Run]] = {}
        for outcome in at_point:
            runs.setdefault(outcome.job.engine, []).append(outcome.run)
        found.append((point, runs))
    return found


def _draw(
    outs: Sequence[Path],
    runs: Mapping[str, Sequence[Run]],
    name: str,
    point: Mapping[str, Any],
    labels: Labels,
    width: str | None,
    *,
    quiet: bool,
) -> None:
    """Draw the time series of all engines in one figure, and print the names of its files."""
    series = overlay(runs)
    if series.is_empty():
        raise typer.BadParameter('--plot: there are no samples to draw; set record.interval = "100 ms"')
    from fullpipe import plots  # imported here, as most comparisons draw nothing
    from fullpipe.plots.style import as_wide_as

    words = {of: labels.group(of) for of in series["of"].unique()}
    with as_wide_as(width):
        figure, data = plots.engines(series.with_columns(pl.col("of").replace(words)))
    stem = "-".join([name, *(value_text(v).replace("/", "-").replace(" ", "") for v in point.values())])
    for out in outs:
        for path in plots.write(figure, data, out, stem):
            echo(path, err=quiet)
