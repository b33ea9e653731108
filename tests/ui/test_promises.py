"""Every promise of the page names tests that there are."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "python" / "fullpipe"
PAGE = HERE.parents[1] / "docs" / "explanation" / "ui.md"


def test_every_module_of_the_server_is_in_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Files")[2].partition("\n## ")[0]
    modules = {path.name for path in (PACKAGE / "cli" / "ui").glob("*.py")}
    assert {f"{name}.py" for name in re.findall(r"`(\w+)\.py`", text.partition("`web/src`")[0])} == modules


def test_every_promise_of_the_page_names_a_test_that_there_is() -> None:
    named = re.findall(r"`(test_\w+\.py)(?:::(test_\w+))?`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 20
    for file, name in named:
        text = (HERE / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text if name else "def test_" in text, (file, name)
