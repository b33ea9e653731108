"""Fixtures of the tests of reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, run, sweeps
from fullpipe.report.content import (
    Document,
)
from fullpipe.report.html import html
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run
from tests.chromium import WATCH
from tests.report.pages import Show, runs_of, scenario


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens a report offline. Whatever it asked for, said to the console or was refused fails the test."""
    told: list[str] = []
    requests: list[str] = []
    contexts = []

    def opened(page: Document, samples: int = Budget().samples, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html(page, samples), encoding="utf-8")
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        context.add_init_script(WATCH)
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: told.append(message.text))
        tab.on("pageerror", lambda error: told.append(str(error)))
        tab.on("dialog", lambda dialog: (told.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.goto(path.as_uri())
        return tab

    yield opened
    ran = "document.querySelector('.theme') !== null"
    has_scripts = [tab for context in contexts for tab in context.pages if tab.evaluate(ran)]
    violations = [line for tab in has_scripts for line in tab.evaluate("window.violations")]
    for context in contexts:
        context.close()
    assert [url for url in requests if not url.startswith("data:image/")] == [requests[0]]
    assert told == []
    assert violations == []


@pytest.fixture(scope="module")
def runs() -> Document:
    """A page of six runs."""
    return page_of(runs_of())


@pytest.fixture(scope="session")
def house() -> list[Run]:
    """Two algorithms behind two queues, with a call and pages, and three seeds."""
    flows = [
        {"name": "download", "cca": "cubic", "start_jitter": "20 ms"},
        {"name": "upload", "cca": "cubic", "direction": "reverse", "start_jitter": "20 ms"},
        {"name": "reader", "cca": "cubic", "workload": {"kind": "web", "think": "100 ms", "objects": 3}},
        {"name": "call", "workload": "voip"},
    ]
    sweep = {
        "flows.0.cca, flows.1.cca": ["cubic", "bbr1"],
        "queue": {
            "deep": {"topology.bottleneck.queue": {"kind": "drop_tail", "size": "500 ms"}},
            "fair": {"topology.bottleneck.queue": "fq_codel"},
        },
    }
    made = scenario("house", duration="5 s").model_copy(update={"sweep": {}})
    varied = Scenario(**{**made.to_dict(), "flows": flows, "sweep": sweep})
    return sweeps.run(sweeps.jobs(varied, [1, 2, 3]))


@pytest.fixture(scope="session")
def shares() -> list[Run]:
    """BBRv3 and CUBIC at four sizes of the queue, with six seeds."""
    flows = [{"name": cca, "cca": cca, "start_jitter": "500 ms"} for cca in ("bbr3", "cubic")]
    sizes = ["0.25 bdp", "1 bdp", "2 bdp", "8 bdp"]
    queues = {"size": [{"size": size} for size in sizes]}
    base = scenario("share", duration="20 s", **{"topology.bottleneck.delay": "20 ms"}).to_dict()
    made = Scenario(**{**base, "flows": flows})
    return [
        run(made.with_values({"topology.bottleneck.queue": queue, "record.interval": "off"}), seed)
        for queue in queues["size"]
        for seed in range(1, 7)
    ]
