"""A smaller SVG draws the same strokes at the same places, in the same order and look."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes

from fullpipe.plots import new_figure
from fullpipe.plots.style import house_style, save_as, smaller

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
HREF = "{http://www.w3.org/1999/xlink}href"
Stroke = tuple[str, list[float]]


def drawn(svg: str) -> list[Stroke]:
    """Every stroke and letter in its order: its look and the transforms around it, and its numbers."""
    found: list[Stroke] = []

    def walk(element: ElementTree.Element, around: str) -> None:
        around += element.get("transform", "")
        look = f"{element.get('style')} {element.get('clip-path')} {NUMBER.sub('0', around)}"
        numbers = [float(number) for number in NUMBER.findall(around)]
        if element.tag.endswith("}path"):
            for part in re.findall(r"M[^M]*", element.get("d", "")):
                places = [float(number) for number in NUMBER.findall(part)]
                found.append((f"{look} {NUMBER.sub('0', part)}", numbers + places))
        elif element.tag.endswith(("}use", "}image")):
            at = [float(element.get(name, "0")) for name in ("x", "y")]
            found.append((f"{look} {element.get(HREF)}", numbers + at))
        for child in element:
            walk(child, around)

    walk(ElementTree.fromstring(svg), "")
    return found


def lines_of_one_look(axes: Axes) -> None:
    axes.bar([0.1, 1.1, 2.1], [1.0, 3.0, 2.0], label="bars")
    axes.errorbar([0.1, 1.1, 2.1], [1.0, 3.0, 2.0], [0.25, 0.5, 0.125], fmt="none", ecolor="black")
    axes.vlines([0.3, 0.6, 0.9], 0, [1.0, 2.0, 1.5])


def lines_that_shine_through(axes: Axes) -> None:
    axes.vlines([0.3, 0.3001, 0.3002], 0, [1.0, 2.0, 1.5], alpha=0.4)
    axes.fill_between([0.0, 1.0], [0.0, 0.5], [1.0, 2.0], alpha=0.2)


def pictures(axes: Axes) -> None:
    axes.plot(range(1000), [n % 7 for n in range(1000)], ".", rasterized=True)


@pytest.mark.parametrize("draw", [lines_of_one_look, lines_that_shine_through, pictures])
def test_nothing_is_drawn_elsewhere_or_otherwise(draw: Callable[[Axes], None], tmp_path: Path) -> None:
    figure, (axes,) = new_figure()
    with house_style():
        draw(axes)
        axes.set(xlabel="time (s)", ylabel="goodput (Mbit/s)")
        whole = StringIO()
        figure.savefig(whole, format="svg")
    save_as(figure, None, tmp_path / "figure.svg")
    kept = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    before, after = drawn(whole.getvalue()), drawn(kept)
    assert [look for look, _ in after] == [look for look, _ in before]
    for (_, one), (_, other) in zip(before, after, strict=True):
        assert other == pytest.approx(one, abs=0.01)
    assert len(kept) < 0.9 * len(whole.getvalue())


def test_lines_of_one_look_are_one_and_those_that_shine_through_are_not() -> None:
    opaque, half = (
        'style="fill: none; stroke: #000000"',
        'style="fill: none; stroke: #000000; stroke-opacity: 0.4"',
    )
    two = '<path d="M 0 0 L 0 1 " {0}/>\n<path d="M 1 0 L 1 1 " {0}/>\n'
    assert smaller(two.format(opaque)) == f'<path d="M 0 0 L 0 1 M 1 0 L 1 1 " {opaque}/>\n'
    assert smaller(two.format(half)) == two.format(half)
    filled = 'style="fill: #0072b2"'
    assert smaller(two.format(filled)) == two.format(filled)


def test_scales_keep_their_digits() -> None:
    letter = '<path d="M 1.23456 2" transform="translate(1.23456 2) scale(0.015625)"/>\n'
    assert smaller(letter) == '<path d="M 1.23 2" transform="translate(1.23 2) scale(0.015625)"/>\n'


def test_names_stay_that_something_refers_to() -> None:
    svg = '<clipPath id="p1"/>\n<path d="M 0 0" id="gone" clip-path="url(#p1)"/>\n'
    assert smaller(svg) == '<clipPath id="p1"/>\n<path d="M 0 0" clip-path="url(#p1)"/>\n'
