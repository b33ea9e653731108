"""Whether all can use the page: names of controls, contrast, roles and the order of headings, by axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.runs import Store
from tests.ui.browsing import Open, finished
from tests.ui.conftest import what_if
from tests.ui.test_bundle import WEB

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL = {"type": "tag", "values": LEVELS}
COLOURS = {"type": "rule", "values": ["color-contrast"]}
CHECK = """async (wanted) => {
    const found = await axe.run(document, { runOnly: wanted });
    return found.violations.map((each) =>
        `${each.id}: ${each.nodes.slice(0, 4).map((one) => `${one.target} ${one.any[0]?.message || ""}`)}`);
}"""
VARIANTS = "a=10,20,4,drop_tail,0,0,cubic*1@0-bbr1*1@0&b=10,20,4,codel,0,0,cubic*1@0-bbr1*1@0&time=5&seed=1"
VIEWS = {
    f"#/what-if?{VARIANTS}&packets=1": ".variant:nth-child(2) .lanes canvas",
    "#/editor": ".network, .path",
    "#/runs": "tbody tr",
    "#/studies": ".study",
    "#/study/kato2025": "tbody tr",
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two scenarios with two seeds each."""
    for ecn in (False, True):
        for seed in (1, 2):
            Store(tmp_path / "runs").save(run(Scenario(**what_if(duration="2 s", tcp={"ecn": ecn})), seed))
    return tmp_path / "runs"


@pytest.mark.skipif(not AXE.is_file(), reason="make browser")
def test_nothing_stands_in_the_way_of_anyone(show: Open, store: Path) -> None:
    script = AXE.read_text(encoding="utf-8")
    tab: Any = show(store=str(store))
    finished(tab)
    digests = [entry.name for entry in store.iterdir() if len(entry.name) == 16]
    both = "/".join(f"{digest}/1/native" for digest in digests)
    views = {**VIEWS, f"#/compare/{both}": ".variant:nth-child(2) canvas"}
    base, found = tab.url.partition("#")[0], list[str]()
    tab.evaluate(script)
    for view, wait in views.items():
        tab.goto(f"{base}{view}")
        tab.wait_for_selector(wait)
        for theme, wanted in {"light": ALL, "dark": COLOURS}.items():
            tab.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
            found += [f"{view} {theme}: {line}" for line in tab.evaluate(CHECK, wanted)]
    assert found == []
