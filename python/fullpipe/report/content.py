"""Content of a report, independent of HTML and Markdown: a part per question, with the same order of blocks
in every part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fullpipe.report import recipe
from fullpipe.report.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Look:
    """Colour and dashes of a line or a box."""

    colour: int
    """Index in `fullpipe.palette.shaded(COLOURS)`: the colours, then their other shades."""
    dash: int = 0
    """Index in `fullpipe.palette.DASHES`."""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: Sequence[str]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    is_number: bool = False
    is_verdict: bool = False


@dataclass(frozen=True)
class Table:
    """A table: rows of text under a heading."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """Sentence on the rows that are left out."""
    is_folded: bool = False
    """Whether the table is folded until a reader opens it."""
    is_tight: bool = False
    """Whether every row is one line even if there are many columns."""


@dataclass(frozen=True)
class Code:
    """Text shown unchanged, such as a scenario or a command."""

    text: str
    caption: str = ""
    is_folded: bool = False


@dataclass(frozen=True)
class Download:
    """A file that is embedded in the page for download."""

    name: str
    media_type: str
    content: str
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a chart: means along an axis, with the ends of their intervals."""

    label: str
    look: Look
    points: Sequence[tuple[float, float, float, float]]
    """Position on the axis, mean, low and high end of the interval; sorted by position."""


_FEW_PLACES, _MOST_TICKS = 4, 9
"""Maximum number of positions at which intervals are bars instead of bands, and maximum number of positions
for which every position of a linear axis has a tick."""


@dataclass(frozen=True)
class Lines:
    """A chart of lines with intervals as bands or bars."""

    x_label: str
    y_label: str
    lines: Sequence[Line]
    is_log: bool = False
    """Whether the axis of positions is logarithmic."""

    @cached_property
    def places(self) -> list[float]:
        """Positions of all lines on the axis."""
        return sorted({point[0] for line in self.lines for point in line.points})

    @property
    def has_bars(self) -> bool:
        """Whether intervals are bars at the positions instead of bands between them."""
        return len(self.places) <= _FEW_PLACES

    @property
    def has_ticks(self) -> bool:
        """Whether the ticks of the axis are at the positions of the lines."""
        return self.is_log or len(self.places) <= _MOST_TICKS


@dataclass(frozen=True)
class Heat:
    """A heat map: a number per cell of a grid."""

    x_label: str
    y_label: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[float | None]]
    """Numbers by row and column; None for an empty cell."""
    neutral: float | None = None
    """Neutral value, such as a fair share. Smaller and larger numbers have different colours."""
    label: str = ""
    """Title of the colour bar, with the unit."""
    digits: int = 2
    """Decimals of all numbers."""

    def text(self, value: float) -> str:
        """A number of a cell or of the colour bar."""
        return f"{value:,.{self.digits}f}".replace("-", "−")


@dataclass(frozen=True)
class Box:
    """A box of a box plot: minimum, quartiles, median and maximum of runs."""

    label: str
    look: Look
    five: tuple[float, float, float, float, float]
    runs: int
    values: Sequence[float] = ()
    """Values of the runs, which are drawn instead of the box; empty if there are many runs."""


@dataclass(frozen=True)
class Boxes:
    """Boxes side by side; whiskers reach to the extremes."""

    y_label: str
    boxes: Sequence[Box]


@dataclass(frozen=True)
class Difference:
    """A difference with its interval, in the unit of its figure, and its verdict."""

    label: str
    value: float
    low: float | None
    high: float | None
    verdict: str
    text: str = ""
    """Difference and interval as text, in the unit of the metric."""


@dataclass(frozen=True)
class Forest:
    """A forest plot: differences one below the other, with a line at 0."""

    x_label: str
    differences: Sequence[Difference]
    linear: float = 1.0
    """Largest difference on the linear part of the axis; larger differences are on a logarithmic scale."""
    has_margin: bool = False
    """Whether `linear` is the margin, which is drawn as a band."""


@dataclass(frozen=True)
class PathNode:
    """A node of a drawn path."""

    name: str
    is_host: bool
    column: int
    place: float
    """Position in its column, in steps of 1; the middle of the column is 0."""


@dataclass(frozen=True)
class PathHop:
    """A link or the port of a cell."""

    ends: tuple[int, int] | None
    """Indices of the nodes at both ends; None for a hop of ACKs that is not drawn."""
    is_air: bool = False


@dataclass(frozen=True)
class PathRoute:
    """A group of flows, and the nodes that its data crosses."""

    label: str
    look: Look
    nodes: Sequence[int]


@dataclass(frozen=True)
class Path:
    """A network: nodes, numbered hops and routes, with a line of text on every hop."""

    nodes: Sequence[PathNode]
    hops: Sequence[PathHop]
    routes: Sequence[PathRoute]
    numbers: Sequence[str]
    """A line of text for every hop, and a line on hops that are left out."""


@dataclass(frozen=True)
class Trace:
    """Samples of one flow or link, at the times of its `Series`."""

    label: str
    look: Look
    values: npt.NDArray[np.float64]
    """NaN where there is no sample."""


@dataclass(frozen=True)
class Series:
    """Samples over time, at equal distances."""

    y_label: str
    start_s: float
    step_s: float
    traces: Sequence[Trace]
    warmup_s: float = 0.0
    """Length of the warm-up, which tables leave out, s."""


@dataclass(frozen=True)
class Image:
    """A finished picture."""

    png: bytes


Chart = Lines | Heat | Boxes | Forest | Path | Series | Image


@dataclass(frozen=True)
class Figure:
    """A chart with its caption and its alternative text."""

    caption: str
    chart: Chart
    alternative: str
    """Content of the chart in a sentence, for readers who do not see it."""


Block = Text | Items | Table | Code | Download | Figure


@dataclass(frozen=True)
class Section:
    """A heading, and the blocks and sections below it."""

    heading: str
    blocks: Sequence[Block] = ()
    sections: Sequence[Section] = ()


@dataclass(frozen=True)
class Basis:
    """Runs that a report was made from."""

    store: str
    """Name of the folder of the runs, without its parents."""
    runs: Sequence[tuple[str, str]]
    """Path of each run, relative to the store, and the time at which the run was made."""


@dataclass(frozen=True)
class Part:
    """A question, its answer, and the figures and tables behind it, in the order of the page."""

    question: str
    conclusion: Sequence[str]
    """One to five sentences."""
    warnings: Sequence[str] = ()
    """Sentences in a box below the conclusion: reasons to doubt it."""
    scope: str = ""
    """Sentence on the numbers of runs, points and seeds, and the version."""
    command: str = ""
    """Commands that make the runs again."""
    figure: Figure | None = None
    path: Figure | None = None
    """Drawing of the network."""
    table: Table | None = None
    """At most `ALL_ROWS` rows."""
    details: Sequence[Section] = ()
    """Further sections, folded until a reader opens them."""
    recipe: Recipe = field(default_factory=Recipe)
    """Commands that make the part again."""
    repetition: Sequence[Block] = ()
    """Scenarios of the runs, which the page shows below the provenance."""
    data: Sequence[Download] = ()
    heading: str = ""
    """Heading of the part in a report of several parts."""

    @property
    def before_command(self) -> str:
        """The words before the command: the files to save first."""
        return " ".join([*self.recipe.needs, "Repeat:"])

    @property
    def results(self) -> list[Figure | Table]:
        """Figure, path and table of the part, without missing ones."""
        return [block for block in (self.figure, self.path, self.table) if block]


ROWS, ALL_ROWS = 10, 12
"""Number of rows of the first table of a part. A table with at most `ALL_ROWS` rows is shown whole."""


def rows_of(total: int) -> int:
    """Return the number of rows of the first table.

    >>> rows_of(12), rows_of(13)
    (12, 10)
    """
    return total if total <= ALL_ROWS else ROWS


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    parts: Sequence[Part]
    provenance: Sequence[tuple[str, str]] = field(default=())
    """Names and values, such as versions."""
    basis: Basis | None = None
    """Folders of the runs, for `fullpipe pack`."""

    @property
    def recipe(self) -> Recipe:
        """Commands that make all parts again, each once."""
        return recipe.joined(part.recipe for part in self.parts)

    @property
    def data(self) -> list[Download]:
        """Files of all parts. If several files have one name, the later files get a number."""
        found: dict[str, Download] = {}
        taken: dict[str, str] = {}
        for file in (file for part in self.parts for file in part.data):
            name = _take_name(file, taken)
            found.setdefault(name, replace(file, name=name))
        return list(found.values())


def joined(pages: Sequence[Document]) -> Document:
    """Join reports: the result has the parts of all reports in order, and one provenance.

    Facts with the same name become one fact with all their values. The basis has the runs of all reports, if
    one store has these runs.
    """
    facts: dict[str, dict[str, None]] = {}
    for name, value in (fact for page in pages for fact in page.provenance):
        facts.setdefault(name, {})[value] = None
    bases = [page.basis for page in pages if page.basis]
    stores = {basis.store for basis in bases}
    runs = dict.fromkeys(run for basis in bases for run in basis.runs)
    return Document(
        " and ".join(dict.fromkeys(page.title for page in pages)),
        _with_names([part for page in pages for part in page.parts]),
        [(name, "; ".join(values)) for name, values in facts.items()],
        Basis(stores.pop(), list(runs)) if len(stores) == 1 else None,
    )


def _with_names(parts: Sequence[Part]) -> list[Part]:
    """Rename files of the parts, also in commands, so that files with different content have different
    names."""
    taken: dict[str, str] = {}
    made = []
    for part in parts:
        for file in part.data:
            name = _take_name(file, taken)
            if name != file.name:
                part = _renamed(part, file, name)
        notes = [f"{part.heading}. {file.note}".strip() for file in part.data]
        data = [replace(file, note=note) for file, note in zip(part.data, notes, strict=True)]
        made.append(replace(part, data=data))
    return made


def _take_name(file: Download, taken: dict[str, str]) -> str:
    """Return the name of a file, with a number if a file with other content has the same name. `taken` has
    the contents by name."""
    stem, dot, ending = file.name.rpartition(".")
    names = (file.name, *(f"{stem}-{number}{dot}{ending}" for number in range(2, len(taken) + 3)))
    name = next(name for name in names if taken.get(name, file.content) == file.content)
    taken[name] = file.content
    return name


def _renamed(part: Part, file: Download, name: str) -> Part:
    """Return a part with another name for a file, also in its commands."""
    word = re.compile(rf"(?<![\w.-]){re.escape(file.name)}(?![\w-])")

    def told(text: str) -> str:
        return word.sub(lambda _: name, text)

    commands, needs = map(told, part.recipe.commands), map(told, part.recipe.needs)
    data = [replace(each, name=name) if each is file else each for each in part.data]
    return replace(part, command=told(part.command), recipe=Recipe(list(commands), list(needs)), data=data)
