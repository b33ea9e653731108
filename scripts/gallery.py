"""Draw the figures of the gallery, and write its page.

    python -m scripts.gallery                  # draws all figures again, into docs/assets/gallery
    python -m scripts.gallery queues wifi      # those of docs/gallery/*queues.toml and *wifi.toml

A file of docs/gallery is a section of the page: sets of runs, each with a scenario, the commands that run it,
and its figures. The page shows the commands that draw them.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from typer.testing import CliRunner

from fullpipe.cli import app

ROOT = Path(__file__).resolve().parent.parent
DECLARED = ROOT / "docs" / "gallery"
ASSETS = ROOT / "docs" / "assets" / "gallery"
FOUND_WORSE = 1
"""Exit status of `fullpipe compare` for a worse variant: a result, not a failure."""


@dataclass(frozen=True)
class Figure:
    """A figure, the command that draws it, and its caption."""

    name: str
    title: str
    caption: str
    draw: str
    file: str = ""
    """File name in the command; default: its name with .svg."""

    @property
    def drawn(self) -> str:
        """The file that the command writes."""
        return self.file or f"{self.name}.svg"


@dataclass(frozen=True)
class Set:
    """Figures of the same runs."""

    figures: tuple[Figure, ...]
    text: str = ""
    scenario: str = ""
    """A scenario file as text, which is saved under its name; empty if the scenario comes with fullpipe."""
    run: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    """Engines that must be installed for it."""

    @property
    def file(self) -> str:
        """The name of the scenario's file."""
        return f"{tomllib.loads(self.scenario)['name']}.toml"


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    stem: str
    title: str
    text: str
    sets: tuple[Set, ...]


def sections() -> list[Section]:
    """All sections, in the order of their files."""
    return [_section(path) for path in sorted(DECLARED.glob("*.toml"))]


def _section(path: Path) -> Section:
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    return Section(path.stem, said["title"], said["text"], tuple(_set(one) for one in said["set"]))


def _set(said: Mapping[str, Any]) -> Set:
    figures = tuple(Figure(**figure) for figure in said["figure"])
    run, engines = (tuple(said.get(key, ())) for key in ("run", "engines"))
    return Set(figures, said.get("text", ""), said.get("scenario", ""), run, engines)


def draw(one: Set, folder: Path) -> list[Path]:
    """Run the commands of a set in a folder; the figures, in their order.

    Raises:
        RuntimeError: If a command fails.
    """
    with contextlib.chdir(folder):
        if one.scenario:
            Path(one.file).write_text(one.scenario, encoding="utf-8")
        for command in (*one.run, *(figure.draw for figure in one.figures)):
            _command(command)
    return [folder / figure.drawn for figure in one.figures]


def _command(line: str) -> None:
    """Run a command of fullpipe as a shell would, with patterns expanded to files."""
    result = CliRunner().invoke(app, list(_words(line))[1:])
    if result.exit_code not in (0, FOUND_WORSE):
        raise RuntimeError(f"{line}\n{result.output}")


def _words(line: str) -> Iterator[str]:
    for word in shlex.split(line):
        yield from sorted(glob.glob(word)) if "*" in word and glob.glob(word) else [word]


def marked(figure: Path) -> str:
    """A drawn figure as stored: with a comment that has its command and a digest of its numbers."""
    return f"{figure.read_text(encoding='utf-8')}<!-- {mpl.__version__} {digest(figure)} -->\n"


def digest(figure: Path) -> str:
    """SHA-256 of the numbers of a figure, rounded to six digits: libraries may differ in the last ones."""
    numbers = figure.with_suffix(".csv").read_text(encoding="utf-8")
    rounded = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", numbers)
    return hashlib.sha256(rounded.encode()).hexdigest()


def page() -> str:
    """The page, from the declarations."""
    count = sum(len(one.figures) for section in sections() for one in section.sets)
    parts = [
        "# Gallery",
        f"{count} figures, each with the scenario and the commands that make it. Copy them into a shell: the "
        "same seeds give the same figure. With `--out` another ending gives another format, `.png` or "
        "`.pdf`, and the numbers go beside it as CSV. [Draw many runs](how-to/figures.md) has the options.",
    ]
    for section in sections():
        parts += [f"## {section.title}", section.text.strip()]
        for one in section.sets:
            parts += _set_on_page(one)
    return "\n\n".join(parts)


def _set_on_page(one: Set) -> list[str]:
    parts = [one.text.strip()] if one.text else []
    if one.scenario:
        parts += [f"`{one.file}`:", f"```toml\n{one.scenario.strip()}\n```"]
    if one.run:
        parts.append("```sh\n" + "\n".join(one.run) + "\n```")
    for figure in one.figures:
        parts += [
            f"### {figure.title}",
            f"```sh\n{figure.draw}\n```",
            f"![{figure.title}](assets/gallery/{figure.name}.svg){{ loading=lazy }}",
            figure.caption.strip(),
        ]
    return parts


def main(wanted: Sequence[str]) -> None:
    """Draw the figures of these sections, or of all, into docs/assets/gallery."""
    ASSETS.mkdir(exist_ok=True)
    for section in sections():
        if wanted and not any(section.stem.endswith(name) for name in wanted):
            continue
        for one in section.sets:
            with tempfile.TemporaryDirectory() as folder:
                for figure, path in zip(one.figures, draw(one, Path(folder)), strict=True):
                    (ASSETS / f"{figure.name}.svg").write_text(marked(path), encoding="utf-8")
                    print(f"{figure.name}.svg: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
