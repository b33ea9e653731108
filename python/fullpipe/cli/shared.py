"""Options that several commands share. Their values are checked and converted before a run begins."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.forms import Form
from fullpipe.errors import brief
from fullpipe.scenario.quantities import DURATION, MAX_SEED, NANOSECONDS


def target(text: str | Path) -> Path:
    """Return the output path of an option. A wrong name is refused before a run begins.

    Raises:
        BadParameter: If the name is empty or not Unicode text.
    """
    name = str(text)
    if not name:
        raise typer.BadParameter("is empty; write . for this folder")
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode(errors="backslashreplace").decode()
        raise typer.BadParameter(f'"{shown}" is not Unicode text; choose another name') from None
    return Path(name)


_OTHER_FORMATS = (".jpg", ".jpeg", ".eps", ".ps", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".pgf")
"""File extensions of image formats that are not supported. Any other unknown extension counts as part of a
folder's name."""


def figure_target(text: str | Path) -> Path:
    """Return the output path of a figure, a file or a folder, as `target` does.

    Raises:
        BadParameter: If the name has the ending of another image format.
    """
    path = target(text)
    if path.suffix.lower() in _OTHER_FORMATS:
        raise typer.BadParameter(f"{path}: a figure ends in .png, .svg, .pdf; choose one of these endings")
    return path


def checked_width(width: str | None) -> str | None:
    """The width of a figure.

    Raises:
        BadParameter: If no width has this name.
    """
    if width is not None:
        from fullpipe.plots.style import WIDTHS  # imported here, as most commands draw nothing

        if width not in WIDTHS:
            raise typer.BadParameter(f"must be one of {', '.join(WIDTHS)}", param_hint="--width")
    return width


Out = Annotated[Path, typer.Option(parser=target, help="Store: the folder of stored runs.", metavar="DIR")]
MAX_SEEDS = 100_000


def seeds_of(text: str) -> range:
    """Seeds of `--seeds`: 1 to N, or FROM to TO.

    >>> seeds_of("3"), seeds_of("6-10")
    (range(1, 4), range(6, 11))
    """
    first, dash, last = text.strip().partition("-")
    if not all(word.isascii() and word.isdigit() for word in ([first, last] if dash else [first])):
        raise typer.BadParameter(f'expected a number of seeds or a range such as 6-10, got "{brief(text)}"')
    start, end = (int(first), int(last)) if dash else (1, int(first))
    if not dash and end < 1:
        raise typer.BadParameter("must be at least 1")
    if end < start:
        raise typer.BadParameter(f"the range {first}-{last} is empty; write {last}-{first}")
    if end - start >= MAX_SEEDS or end > MAX_SEED:
        raise typer.BadParameter(f"must be at most {MAX_SEEDS:,} seeds")
    return range(start, end + 1)


SEEDS = "N|FROM-TO"
"""Placeholder of `--seeds` in help."""


class Content(StrEnum):
    """Values of `--content`: only runs with the newest files and model, or all runs."""

    NEWEST = "newest"
    ALL = "all"


ContentOption = Annotated[
    Content,
    typer.Option(
        "--content",
        help=(
            "Runs to read: newest leaves out runs of older algorithms, recordings or models; all makes their"
            " version a factor."
        ),
    ),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="PATH[.VALUE]=WORDS",
        help='Label of a key, value or flow group (flows.NAME), such as cca.bbr3="BBRv3". Or a scenario file'
        " with [labels]. May be repeated.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Maximum number of parallel runs (default: one per processor)."
    ),
]
ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A TOML file, or a name from `fullpipe list scenarios`.")
]
On = Annotated[
    str,
    typer.Option(
        "--on", metavar="PLACE", help="Where to run: local, files, dask, dask://HOST:PORT or slurm."
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Set a scenario key; the value replaces a sweep of the key. May be repeated.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help='Show only this metric, such as goodput or "rtt_mean of ping"; may be repeated.',
    ),
]
FormOption = Annotated[Form, typer.Option("--format", help="Format of the table.")]
AllowPython = Annotated[
    bool,
    typer.Option(
        "--allow-python",
        "--allow-code",
        help="Allow your own algorithms to run: python:module:Class and library:PATH:NAME.",
    ),
]


def seconds_of(time: str | None, option: str) -> float | None:
    """The value of an option, a time such as "10 s", in seconds; None if the option is not given."""
    if time is None:
        return None
    try:
        seconds = DURATION.parse(time) / NANOSECONDS
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if seconds <= 0:
        raise typer.BadParameter("must be more than 0 s", param_hint=option)
    return seconds


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C (SIGINT) and on SIGTERM.

    Some libraries replace Python's handler of SIGINT, after which SIGINT does not interrupt a wait for a
    process.
    """

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
