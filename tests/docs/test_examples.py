"""What the documentation shows is run: scenarios, Python and commands, every page in a folder of its own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario
from fullpipe.cli import app
from scripts.reference_pages import pages

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HERE = "|".join(
    re.escape(f"https://{start}/")
    for start in (
        "github.com/fullpipe/fullpipe/blob/main",
        "raw.githubusercontent.com/fullpipe/fullpipe/main",
    )
)
"""Where PyPI, which shows the README, finds the files of the repository."""
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of every fenced block, without the indentation of a list."""
    return [
        (language, re.sub(f"^{indent}", "", text, flags=re.MULTILINE))
        for indent, language, text in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def scenario(text: str) -> None:
    """A scenario that is written out in full is read, and saved under its name for what follows."""
    if "[topology]" not in text and not text.startswith("base = "):
        return
    Path(f"{Scenario.from_toml(text).name}.toml").write_text(text, encoding="utf-8")
    assert Scenario.from_toml(text).expand()


def commands(text: str) -> None:
    """Every line of a shell block is a fullpipe command that succeeds."""
    for line in filter(None, text.splitlines()):
        words = shlex.split(line)
        assert words[0] == "fullpipe", f"put commands other than fullpipe into a text block: {line}"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, f"{line}\n{result.output}"


def save(text: str) -> None:
    """A block that begins with the name of a file is also saved under it."""
    named = re.match(r"# (\w+\.(?:py|toml))\n", text)
    if named:
        Path(named[1]).write_text(text, encoding="utf-8")


def run_page(page: Path) -> None:
    """Run the blocks of a page in their order; Python blocks share their names."""
    names: dict[str, object] = {"__name__": "example"}
    for language, text in blocks(page):
        if language == "toml":
            save(text)
            scenario(text)
        elif language == "sh":
            commands(text)
        elif language == "python":
            save(text)
            exec(compile(text, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    generated = {(ROOT / "docs" / path).resolve() for path in pages()}
    text = page.read_text(encoding="utf-8")
    targets = [page.parent / target for target in re.findall(r"\]\(([^)#:\s]+)\)", text)]
    targets += [ROOT / target for target in re.findall(rf"\]\((?:{HERE})([^)#\s]+)\)", text)]
    for target in targets:
        found = target.resolve()
        assert found in generated or found.exists(), target
