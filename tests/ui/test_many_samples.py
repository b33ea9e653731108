"""A figure of very many samples: what is drawn of them, in Chromium."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.browsing import Open, finished

POINTS = 1_000_000
FRAME_MS = 50 * 4
"""Four times what an idle machine must reach."""
SPIKE = 654_321
MAKE = """(room, [points, spike]) => {
    const [times, values, gap] = [0, 1, 2].map(() => new Float32Array(points));
    gap.fill(NaN);
    for (let n = 0; n < points; n += 1) { times[n] = n * 30 / points; values[n] = Math.sin(n / 40000); }
    values[spike] = 9;
    room.show(times, [values, gap]);
}"""
SEEN = """(room, part) => new Promise((done) => {
    room.zoom(part);
    requestAnimationFrame(() => {
        const [times, values] = room.plot.data;
        let best = 0;
        values.forEach((value, n) => { if (value > values[best]) best = n; });
        done([times.length, values[best], times[best], times[0], times[times.length - 1]]);
    });
})"""

TOOK = """async (room) => {
    const took = [];
    for (let n = 0; n < 21; n += 1) {
        const began = performance.now();
        room.zoom([n / 3, 30 - n / 3]);
        await new Promise((done) => requestAnimationFrame(done));
        took.push(performance.now() - began);
    }
    return took.sort((a, b) => a - b)[10];
}"""

PARTS = """(room, values) => new Promise((done) => {
    const times = Float64Array.from(values, (_, n) => n);
    const known = Float32Array.from(values, (value) => value ?? NaN);
    room.show(times, [known, new Float32Array(values.length)]);
    room.zoom([0, values.length]);
    requestAnimationFrame(() => {
        const { plot } = room, [, line] = plot.series;
        done([line.gaps(plot, 1).length, line.points.filter(plot, 1)]);
    });
})"""
"""The number of gaps of a line, and its values that are points."""


@pytest.fixture
def room(show: Open) -> Any:
    """A figure with a million samples, of which one stands out, and a line without any."""
    tab = show()
    finished(tab)
    found = tab.locator(".plot").first
    found.evaluate(MAKE, [POINTS, SPIKE])
    return found


def test_no_extreme_is_lost_however_much_is_in_view(room: Any) -> None:
    at_s = SPIKE * 30 / POINTS
    for half in (15, 3, 0.5, 0.05, 0.001):
        low, high = max(0, at_s - half), min(30, at_s + half)
        count, most, time_s, first_s, last_s = room.evaluate(SEEN, [low, high])
        assert count <= 6_100
        assert most == 9
        assert time_s == pytest.approx(at_s, abs=max(2 * half / 1_000, 1e-4))
        assert first_s <= low + 1e-4
        assert last_s >= high - max(2 * half / 500, 1e-4)


def test_a_zoom_over_all_samples_is_smooth(room: Any) -> None:
    assert room.evaluate(TOOK) < FRAME_MS


def test_close_up_every_sample_is_there(room: Any) -> None:
    count, *_ = room.evaluate(SEEN, [10, 10.01])
    assert count == pytest.approx(POINTS / 30 * 0.01, abs=4)


@pytest.mark.parametrize(
    ("values", "gaps", "alone"),
    [
        ([1, None, 2, None, 3, None, 4], 0, None),
        ([1, None, 2, None, None, None, 3, None, 4, None, 5], 1, None),
        ([1, 2, 3, 4, None, None, 5, None, None, 6, 7], 2, [6]),
    ],
    ids=["ping", "a ping is lost", "a sample alone"],
)
def test_a_flow_that_is_measured_less_often_is_a_line(
    room: Any, values: list[float | None], gaps: int, alone: list[int] | None
) -> None:
    assert room.evaluate(PARTS, values) == [gaps, alone]
