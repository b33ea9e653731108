"""How long the page of `fullpipe ui` takes: to the first picture, and for a frame that zooms a million
points.

Needs Playwright and Chromium. `python -m benches.page`. Chromium draws without a graphics card here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

POINTS = 1_000_000
FRAMES = 30

ZOOM = """async ([points, frames]) => {
    const room = document.querySelector(".plot");
    const times = new Float32Array(points), values = new Float32Array(points);
    for (let n = 0; n < points; n += 1) {
        times[n] = n * 30 / points;
        values[n] = 10 + 5 * Math.sin(n / 5000) + Math.random();
    }
    room.show(times, [values, values]);
    await new Promise(requestAnimationFrame);
    const took = [];
    for (let n = 0; n < frames; n += 1) {
        const part = 30 * 0.9 ** n, begun = performance.now();
        room.zoom([15 - part / 2, 15 + part / 2]);
        await new Promise(requestAnimationFrame);
        took.push(performance.now() - begun);
    }
    return took;
}"""
"""Zooms in by a tenth per frame; each of two lines has all the points."""


def first_picture_s(tab: Any) -> float:
    """From a request to four figures that are drawn and a run that has ended."""
    begun_s = perf_counter()
    tab.reload()
    tab.wait_for_selector(".chart:nth-child(4) canvas")
    tab.wait_for_selector(".variant:not(.running) table")
    return perf_counter() - begun_s


def main() -> None:
    """Print both."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("FULLPIPE_CHROMIUM") or shutil.which("chromium")
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder, sync_playwright() as started:
        command = [sys.executable, "-m", "fullpipe", "ui", folder, "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
            tab = browser.new_page()
            tab.goto(process.stdout.readline().strip())
            tab.wait_for_selector("table")
            print(f"first picture: {min(first_picture_s(tab) for _ in range(5)):.2f} s, least of 5")
            took = tab.evaluate(ZOOM, [POINTS, FRAMES])
            told = f"median {median(took):.0f} ms, longest {max(took):.0f} ms"
            print(f"a frame of a zoom over two lines of {POINTS:,} points: {told}")
            browser.close()
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
