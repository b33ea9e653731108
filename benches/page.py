"""Times of the page of `fullpipe ui`: to the first picture, for a frame that zooms a million points or
the packets of a capture, and for a store of very many runs.

Needs Playwright and Chromium. `python -m benches.page`. Chromium draws without a graphics card here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from tests.ui.stores import many

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
"""Script that zooms in by a tenth per frame; each of two lines has all the points."""
PACKETS = "#/what-if?a=20,40,0.3,drop_tail,0,0,cubic*1@0-bbr3*1@2&time=30&seed=1&packets=1"
LANES = """async (frames) => {
    const room = document.querySelector(".plot"), took = [];
    for (let n = 0; n < frames; n += 1) {
        const part = 30 * 0.9 ** n, begun = performance.now();
        room.zoom([15 - part / 2, 15 + part / 2]);
        await new Promise(requestAnimationFrame);
        took.push(performance.now() - begun);
    }
    return [document.querySelector(".room").lanes.packets.length, took];
}"""
"""Script that does the same over four figures and the lanes of captured packets."""
RUNS = 100_000


def first_picture_s(tab: Any) -> float:
    """Seconds from a request until four figures are drawn and the run has ended."""
    begun_s = perf_counter()
    tab.reload()
    tab.wait_for_selector(".chart:nth-child(4) canvas")
    tab.wait_for_selector(".variant:not(.running) table")
    return perf_counter() - begun_s


def store_of_many(folder: Path, browser: Any) -> None:
    """Print the time of the list of a store of very many runs, and the memory of its server."""
    many(folder / "many", RUNS)
    process, url = served(folder / "many")
    try:
        tab = browser.new_page()
        tab.goto(url)
        tab.wait_for_selector("table")
        begun_s = perf_counter()
        tab.get_by_role("link", name="Runs").click()
        tab.wait_for_selector("tbody tr td a")
        took_s = perf_counter() - begun_s
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
        (peak,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        print(f"a store of {RUNS:,} runs: {took_s:.2f} s, {int(peak) / 1000:.0f} MB of memory")
    finally:
        process.kill()
        process.wait()


def served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start `fullpipe ui` in a process; yield the address that it prints."""
    command = [sys.executable, "-m", "fullpipe", "ui", str(folder), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("FULLPIPE_CHROMIUM") or shutil.which("chromium")
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder, sync_playwright() as started:
        process, url = served(Path(folder) / "none")
        try:
            browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
            tab = browser.new_page()
            tab.goto(url)
            tab.wait_for_selector("table")
            print(f"first picture: {min(first_picture_s(tab) for _ in range(5)):.2f} s, least of 5")
            took = tab.evaluate(ZOOM, [POINTS, FRAMES])
            told = f"median {median(took):.0f} ms, longest {max(took):.0f} ms"
            print(f"a frame of a zoom over two lines of {POINTS:,} points: {told}")
            tab.goto(f"{tab.url.partition('#')[0]}{PACKETS}")
            tab.reload()
            tab.wait_for_selector(".lanes canvas")
            packets, took = tab.evaluate(LANES, FRAMES)
            told = f"median {median(took):.0f} ms, longest {max(took):.0f} ms"
            print(f"a frame of a zoom over figures and {packets:,} captured packets: {told}")
            store_of_many(Path(folder), browser)
            browser.close()
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
