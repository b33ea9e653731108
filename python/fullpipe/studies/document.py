"""Makes the page with a study's report, and the last lines on the terminal: the result and the next steps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from struct import unpack

from fullpipe import engines
from fullpipe.api import refusals
from fullpipe.engines import Engine
from fullpipe.errors import EngineError
from fullpipe.report.content import (
    Block,
    Code,
    Column,
    Document,
    Download,
    Figure,
    Image,
    Items,
    Part,
    Section,
    Table,
    Text,
    rows_of,
)
from fullpipe.report.files import write
from fullpipe.report.recipe import Recipe
from fullpipe.report.runs.tables import csv_of
from fullpipe.report.text import folded, listed
from fullpipe.runs.meta import versions
from fullpipe.studies.report import Report, Settings, Told, digest_of
from fullpipe.studies.study import Study
from fullpipe.studies.text import Aligned
from fullpipe.sweeps import Job, Progress

_VERDICTS = "Every printed number and claim"
FILE = "report.html"
"""File name of the page in the folder of a study."""
_DATA = "published-data"
"""Name of the folder of published data in the page's command. The page does not contain the user's real
path."""
_FITS = 0.6
"""Largest ratio of height to width with which a picture and a table fit into the first two screens of a
page."""
_MOST = 5
"""Maximum number of sentences in the conclusion at the top of the page."""
PUBLISHED = "published"
"""Prefix of the file names of figures that show a paper's published data."""


def of_report(
    report: Report,
    engine: Engine,
    *,
    name: str = "",
    quick: bool = False,
    seeds: Sequence[int] | None = None,
    has_data: bool = False,
) -> Document:
    """Return the page of a study: conclusion, verdicts, figures, further results, rules and set-up.

    Args:
        report: Report of the finished study.
        engine: Engine that ran the study.
        name: Name of the study in `fullpipe list papers`, for the command that repeats the study.
        quick: Whether the study ran in its quick form.
        seeds: Seeds that the user chose. None means from 1 to the number of seeds in the report.
        has_data: Whether the study used the paper's published data.
    """
    told = report.told
    answer = [*([report.head] if report.head else []), _outcome(told), *told.counts[1:]]
    more = answer[_MOST:]
    figures = list(_figures(report))
    first = min(figures, key=_excess, default=None)
    table = _table(told)
    sections = [
        Section(_VERDICTS, [Text(told.how), table]),
        Section("Figures", [each for each in figures if each is not first]),
        Section("Further results", list(map(_block, told.sections))),
        Section("Rules of verdicts", [Code(told.rules, "The rules", is_folded=True)]),
        Section("The set-up", [_setup(told)]),
    ]
    if more:
        sections.insert(0, Section("More findings", [Items(more)]))
    if report.refused:
        sections.append(Section("What the engine cannot run", [Items(report.refused)]))
    counted = list(range(1, told.seeds + 1))
    is_counted = seeds is None or list(seeds) == counted
    named = f"1 to {told.seeds}" if is_counted else listed(map(str, seeds or ()))
    facts = [
        ("Engine", f"{engine.name} {engine.version()}, model version {engine.model_version()}"),
        ("Seeds", f"{named}{', quick form' if quick else ''}"),
        *versions().items(),
    ]
    question = "Are the printed numbers and claims reproduced?"
    most, total = rows_of(len(table.rows)), len(table.rows)
    shown = replace(table, rows=table.rows[:most], note=folded(most, total, "rows", _VERDICTS), is_tight=True)
    recipe = _recipe(name, engine, told.seeds, quick, has_data) if name and is_counted else Recipe()
    part = Part(
        question,
        answer[:_MOST],
        command="".join(recipe.commands),
        figure=first,
        table=shown,
        details=[each for each in sections if each.blocks],
        recipe=recipe,
        data=[_verdicts_file(told)],
    )
    return Document(told.title, [part], facts)


def _recipe(name: str, engine: Engine, seeds: int, quick: bool, has_data: bool) -> Recipe:
    """Return the command that repeats a study with seeds from 1 on, and the instruction for its published
    data."""
    words = ["fullpipe", "paper", name, "--seeds", str(seeds), *(["--quick"] if quick else [])]
    words += ["--engine", engine.name] if engine.name != "native" else []
    if not has_data:
        return Recipe([shlex.join(words)])
    return Recipe(
        [shlex.join([*words, "--data", _DATA])], [f"Put the paper's published data into a folder {_DATA}."]
    )


def ending(name: str, report: Report, *, quick: bool = False) -> str:
    """Return the last three lines on the terminal: the result, the path of the page, and the next steps."""
    page = report.folder / FILE
    again = f"`fullpipe paper {name}` runs the full form, and " if quick else ""
    turned = f"{again}`fullpipe paper {name} --explain CLAIM` runs a claim with the setting that turns it"
    return (
        f"{_outcome(report.told)}{_whose(report.told)}\n"
        f"The verdicts are above. Open {page} in a browser to see the verdicts with figures.\n"
        f"Next, {turned} (`--explain list` lists the claims)."
    )


def _whose(told: Told) -> str:
    """Return a sentence on the meaning of differences; empty if every number is reproduced."""
    if [*told.tally] == ["reproduced"]:
        return ""
    return " The numbers are the paper's: one that our runs do not reproduce is a result, not an error."


def _excess(figure: Figure) -> float:
    """Return the ratio of height to width of a picture, or `_FITS` if the picture fits into the first two
    screens."""
    if not isinstance(figure.chart, Image):
        return _FITS
    width, height = map(
        int, unpack(">II", figure.chart.png[16:24])
    )  # width and height in the header of a PNG file
    return max(height / width, _FITS)


def _outcome(told: Told) -> str:
    """Return a sentence with the number of claims with each verdict, and the most frequent cause of
    differences."""
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in told.tally.items())
    why = f"; the most frequent cause is {told.causes[0][0]} ({told.causes[0][1]})" if told.causes else ""
    return f"Of {sum(told.tally.values())} printed numbers and claims: {verdicts}{why}."


def _table(told: Told) -> Table:
    heads, *rows = told.verdicts
    columns = [Column(head, is_verdict=head == "verdict") for head in heads]
    return Table("Every printed number and claim, with ours", columns, rows)


def _verdicts_file(told: Told) -> Download:
    """Return the table of verdicts as a CSV file to download."""
    text = csv_of([[text.strip() for text in row] for row in told.verdicts])
    return Download("verdicts.csv", "text/csv", text, "Every printed number and claim, with ours.")


def _setup(told: Told) -> Table:
    heads, *rows = told.setup
    return Table("The set-up, as printed and as used here", list(map(Column, heads)), rows)


def _block(part: str | Aligned) -> Block:
    """Return prose as a text block, and a table as a code block."""
    return Code(str(part)) if isinstance(part, Aligned) else Text(" ".join(part.split()))


def described(stem: str) -> str:
    """Return the caption of a figure, made from the name of its file without the suffix.

    >>> described("published-figure-3")
    'Published figure 3, drawn from the published data'
    """
    source = "the published data" if stem.startswith(PUBLISHED) else "our runs"
    return f"{stem.replace('-', ' ').capitalize()}, drawn from {source}"


def _figures(report: Report) -> Iterator[Figure]:
    for path in report.figures:
        if path.suffix == ".png":
            told = described(path.stem)
            yield Figure(f"{told}.", Image(path.read_bytes()), f"{told}; its numbers are in {path.stem}.csv.")


# Preparation of a study: reads published data, makes the jobs, and finds the scenarios that the engine
# refuses.


@dataclass(frozen=True)
class Prepared:
    """A study with its jobs, before the runs."""

    name: str
    study: Study
    settings: Settings
    todo: tuple[Job, ...]
    """All jobs of the study, including jobs that the engine refuses."""
    scenarios: int
    refused: Mapping[str, tuple[str, str]]
    """Scenarios that the engine refuses, by digest: the name of the scenario with its conditions, and the
    reason."""

    @property
    def jobs(self) -> list[Job]:
        """Jobs of the study that the engine can run."""
        return self.settings.possible(self.todo)

    def run(self, progress: Progress | None = None, echo: Callable[[str], None] | None = None) -> Report:
        """Run the jobs that are not stored yet, and write the report; see `fullpipe.studies.run`."""
        engine, quick = self.settings.engine, self.settings.quick
        if self.scenarios and len(self.refused) == self.scenarios:
            raise EngineError("\n".join(dict.fromkeys(why for _, why in self.refused.values())))
        report = self.study.run(replace(self.settings, progress=progress), self.todo)
        if engine != "native":
            lines = tuple(dict.fromkeys(f"{where}: {why}" for where, why in self.refused.values()))
            report = replace(report, head=self._head(), refused=lines)
        page = report.folder / FILE
        made = of_report(
            report,
            engines.engine(engine),
            name=self.name,
            quick=quick,
            seeds=self.settings.seeds,
            has_data=self.settings.data is not None,
        )
        write(made, page)
        report = replace(report, files=(*report.files, page))
        if echo is not None:
            echo(f"{report.text}\n\n{ending(self.name, report, quick=quick)}")
        return report

    def _head(self) -> str:
        left_out = (
            f"; it cannot run {len(self.refused)} of {self.scenarios} scenarios" if self.refused else ""
        )
        version = engines.engine(self.settings.engine).version()
        return f"Our numbers are by the {self.settings.engine} engine, {version}{left_out}."


def prepared(name: str, study: Study, settings: Settings) -> Prepared:
    """Make the jobs of a study, and find the scenarios that the study's engine refuses."""
    todo = study.jobs(settings)
    scenarios = _by_digest(todo)
    refused = _refused(settings.engine, scenarios)
    settings = replace(settings, refused=frozenset(refused))
    return Prepared(name, study, settings, tuple(todo), len(scenarios), refused)


def _by_digest(todo: Iterable[Job]) -> dict[str, Job]:
    """Return one job per scenario, by the digest of the scenario."""
    return {digest_of(job.scenario): job for job in todo}


def _refused(engine: str, todo: Mapping[str, Job]) -> Mapping[str, tuple[str, str]]:
    """Return the scenarios that an engine refuses. See `Prepared.refused` for the format."""
    chosen, found = engines.engine(engine), {}
    for digest, job in todo.items():
        why = refusals(chosen, job.scenario)
        if why:
            where = ", ".join(f"{key} {value}" for key, value in job.point.items())
            found[digest] = f"{job.scenario.name}, {where}", "; ".join(why)
    return found
