"""The figures of the gallery are what their commands draw, and all of them are on its page."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import fullpipe.plots
from fullpipe.cli.plot_drawn import Kind
from fullpipe.engines import engine
from fullpipe.engines.base import missing
from scripts.gallery import ASSETS, DECLARED, Set, draw, marked, page, sections

SETS = {one.figures[0].name: one for section in sections() for one in section.sets}
"""By the name of the first figure."""
CHEAP = [name for name, one in SETS.items() if "--seeds" not in " ".join([*one.run, one.figures[0].draw])]
SOURCES = sorted([*DECLARED.glob("*.toml"), *Path(fullpipe.plots.__file__).parent.glob("*.py")])
TRIED = random.Random(b"".join(path.read_bytes() for path in SOURCES)).sample(CHEAP, 2)
"""Drawn again in every run of the tests, others whenever figures change; `--long` draws all."""
MOST_BYTES = 150_000
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NEAR = 0.02
"""Of two coordinates, in points: less than can be seen."""


def figures() -> list[str]:
    return [figure.name for one in SETS.values() for figure in one.figures]


def test_there_are_thirty_figures_of_what_can_be_drawn() -> None:
    assert len(set(figures())) == len(figures()) >= 30
    drawn = " ".join(figure.draw for one in SETS.values() for figure in one.figures)
    assert [kind for kind in Kind if kind != Kind.LINES and f"--kind {kind} " not in drawn] == []


def test_every_kept_figure_is_declared_and_small() -> None:
    assert {path.stem for path in ASSETS.glob("*.svg")} == set(figures())
    assert max(path.stat().st_size for path in ASSETS.glob("*.svg")) <= MOST_BYTES


def test_the_page_has_every_figure_below_its_command() -> None:
    text = page()
    for one in SETS.values():
        for figure in one.figures:
            above = text.partition(f"](assets/gallery/{figure.name}.svg)")[0]
            assert above.rpartition("```sh\n")[2].startswith(f"{figure.draw}\n```")
            assert len(figure.caption.split()) > 15, f"say what one sees in {figure.name}, and why"


@pytest.mark.parametrize("name", SETS)
def test_a_figure_is_drawn_again_as_it_is(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if name not in TRIED and not request.config.getoption("--long"):
        pytest.skip("--long draws it")
    one = SETS[name]
    _need(one)
    for figure, path in zip(one.figures, draw(one, tmp_path), strict=True):
        kept = (ASSETS / f"{figure.name}.svg").read_text(encoding="utf-8")
        again = marked(path)
        version, digest = _mark(kept)
        assert _mark(again)[1] == digest, f"{figure.name}: other numbers; python -m scripts.gallery draws it"
        if _mark(again)[0] == version:  # another version of the library may lay it out otherwise
            assert is_near(kept, again), f"{figure.name}: drawn otherwise; python -m scripts.gallery draws it"


def _need(one: Set) -> None:
    for name in one.engines:
        if missing(engine(name)):
            pytest.skip(f"the engine {name} is not installed")


def _mark(figure: str) -> list[str]:
    """The version that drew a figure, and the digest of its numbers."""
    return figure.rpartition("<!-- ")[2].split()[:2]


def is_near(one: str, other: str) -> bool:
    """Whether two figures are the same but for coordinates that differ invisibly."""
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= NEAR for a, b in pairs)


def test_figures_that_differ_visibly_are_not_near() -> None:
    path = '<path d="M 1.001 2.5 L 3 4"/>'
    assert is_near(path, path.replace("1.001", "1.002"))
    assert not is_near(path, path.replace("2.5", "2.6"))
    assert not is_near(path, path.replace("L", "M"))
