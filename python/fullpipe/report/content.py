"""What a report says, before it is HTML or Markdown: sections of text, tables, figures and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Look:
    """How a line or a box is drawn."""

    colour: int
    """A place in `fullpipe.palette.COLOURS`."""
    dash: int = 0
    """A place in `fullpipe.palette.DASHES`."""


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
    """Rows of text."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """What was left out, if anything was."""
    is_folded: bool = False
    """Whether a reader opens it first."""


@dataclass(frozen=True)
class Code:
    """Text as it is: a scenario or a command."""

    text: str
    caption: str = ""
    is_folded: bool = False


@dataclass(frozen=True)
class Download:
    """A file in the page."""

    name: str
    media_type: str
    content: str
    note: str = ""


@dataclass(frozen=True)
class Line:
    """Means along an axis, with the ends of their intervals."""

    label: str
    look: Look
    points: Sequence[tuple[float, float, float, float]]
    """Place, mean, low and high, in the order of places."""


@dataclass(frozen=True)
class Lines:
    """Lines with bands."""

    x_label: str
    y_label: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Heat:
    """A number per cell of a grid."""

    x_label: str
    y_label: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[float | None]]
    """For every row a number, or None, per column."""
    neutral: float | None = None
    """The number that is neither much nor little; less and more of it have other colours."""


@dataclass(frozen=True)
class Box:
    """Runs of one kind: minimum, quartiles, median and maximum."""

    label: str
    look: Look
    five: tuple[float, float, float, float, float]
    runs: int


@dataclass(frozen=True)
class Boxes:
    """Boxes side by side; whiskers reach to the extremes."""

    y_label: str
    boxes: Sequence[Box]


@dataclass(frozen=True)
class Difference:
    """A difference, its interval if it has one, and its verdict."""

    label: str
    value: float
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True)
class Forest:
    """Differences under each other, with a line at zero."""

    x_label: str
    differences: Sequence[Difference]


@dataclass(frozen=True)
class Trace:
    """What was sampled of one flow or link, at the times of its `Series`."""

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
    """Up to when samples have no part in the tables."""


@dataclass(frozen=True)
class Image:
    """A picture that was drawn elsewhere."""

    png: bytes


Chart = Lines | Heat | Boxes | Forest | Series | Image


@dataclass(frozen=True)
class Figure:
    """A chart, with what a reader sees of it, and what is read out."""

    caption: str
    chart: Chart
    alternative: str
    """What it shows, in a sentence."""


Block = Text | Items | Table | Code | Download | Figure


@dataclass(frozen=True)
class Section:
    """A heading and what is below it."""

    heading: str
    blocks: Sequence[Block] = ()
    sections: Sequence[Section] = ()


@dataclass(frozen=True)
class Basis:
    """Runs that a report rests on."""

    store: str
    """Last name of the folder that has them."""
    runs: Sequence[tuple[str, str]]
    """Folder below the store, and when the run was made."""


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    question: str
    answer: Sequence[str]
    """What came out, in sentences."""
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = field(default=())
    """What it rests on: names and values, such as versions."""
    basis: Basis | None = None
    """The runs by their places, for `fullpipe pack`."""
