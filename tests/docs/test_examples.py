"""What the documentation shows is run: scenarios, Python and commands, every page in a folder of its own.

Every block stands alone but for files: no name of Python is shared. `blocks.py` says why some are not run."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.analysis.length import warnings_of
from fullpipe.engines import engine
from fullpipe.engines.base import missing
from scripts.notebooks import scripts
from scripts.reference_pages import pages
from tests.docs import shell
from tests.docs.blocks import ELSEWHERE, ENGINES, PAGES, REASONS, ROOT, RUN, SHOWN, Block, blocks, every_block
from tests.docs.recipes import steps
from tests.docs.test_recipes import RECIPES
from tests.quick_figures import make_figures_quick

HERE = "|".join(
    re.escape(f"https://{start}/")
    for start in (
        "github.com/fullpipe/fullpipe/blob/main",
        "raw.githubusercontent.com/fullpipe/fullpipe/main",
    )
)
"""Where PyPI, which shows the README, finds the files of the repository."""
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
COMMAND = re.compile(
    r"(\w+=\S+ )?(fullpipe|pip|python|pytest|cargo|make|flent|wireshark|cc) +[^ |]", re.MULTILINE
)
FEW_SEEDS = 3
"""What a command of a page is run with, unless `--long` asks for all."""
WITH_ENGINES = [block for block in every_block() if block.fate == "run with engines"]


def scenario(text: str) -> None:
    """A scenario that is written out in full is read, and saved under its name for what follows."""
    if "[topology]" not in text and not re.search("^base = ", text, re.MULTILINE):
        tomllib.loads(text)
        return
    Path(f"{Scenario.from_toml(text).name}.toml").write_text(text, encoding="utf-8")
    assert Scenario.from_toml(text).expand()


def save(text: str) -> None:
    """A block that begins with the name of a file is also saved under it."""
    named = re.match(r"(?:#|//) ([\w-]+\.(?:py|toml|pkt))\n", text)
    if named:
        Path(named[1]).write_text(text, encoding="utf-8")


def run_block(block: Block, most_seeds: int | None) -> None:
    """Run one block in the current folder, as if it were a file of its own."""
    save(block.text)
    if block.language == "toml":
        scenario(block.text)
    elif block.language == "sh":
        shell.run(block.text, most_seeds)
    else:
        exec(compile(block.text, block.where, "exec"), {"__name__": "example"})


def files() -> set[str]:
    """What lies in the current folder."""
    return {path.name for path in Path().iterdir()}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_block_of_a_page_runs_by_itself(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """In their order, in a folder of the page. A block that needs a file of an earlier one says which."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    is_long = request.config.getoption("--long")
    if not is_long:
        make_figures_quick(monkeypatch)
    most_seeds = None if is_long else FEW_SEEDS
    made: set[str] = set()
    said = ""
    for block in blocks(page):
        if block.language in SHOWN:
            save(block.text)
        if block.fate == "run":
            unsaid = [
                name for name in made if uses(block.text, name) and not named(name, block.before + said)
            ]
            assert not unsaid, f"{block.where}: say where it comes from, or make it: {unsaid}"
            before = files()
            run_block(block, most_seeds)
            made |= files() - before
            said += re.sub(r"# (\S+)\n.*", r"`\1`", block.text, flags=re.DOTALL)


def test_the_first_examples_are_long_enough_for_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / "README.md"):
        if block.fate == "run" and block.language == "sh":
            shell.run(block.text, None)
        elif block.fate == "run":
            found: dict[str, Any] = {}
            exec(compile(block.text, block.where, "exec"), found)
            assert warnings_of([found["run"]]) == []
    assert "too short" not in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", WITH_ENGINES, ids=lambda block: block.where)
def test_blocks_of_other_engines_run_where_these_are_installed(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    is_long = request.config.getoption("--long")
    if block.title != ENGINES[0] and not is_long:
        pytest.skip("takes minutes; run with --long")
    lacking = [name for name in ("linux", "ns3") if missing(engine(name))]
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    monkeypatch.chdir(tmp_path)
    if not is_long:
        make_figures_quick(monkeypatch)
    shell.run(block.text, None if is_long else FEW_SEEDS)


def uses(text: str, name: str) -> bool:
    """Whether a block has the name of a file; a scenario by name alone is one that comes with fullpipe."""
    return "." in name and re.search(rf"(?<![\w./-]){re.escape(name)}\b", text) is not None


def named(name: str, prose: str) -> bool:
    """Whether the prose above says the name of a file, alone or in a command."""
    return re.search(rf"`([^`\n]*[ /])?{re.escape(name)}`", prose) is not None


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_block_that_is_not_run_says_why_and_could_be(page: Path) -> None:
    for block in blocks(page):
        assert block.language in (*RUN, *ELSEWHERE, *SHOWN), f"{block.where}: say what language it is"
        if block.language == "text":
            assert not COMMAND.match(block.text), (
                f"{block.where}: commands are `sh`, with a reason in the title"
            )
        if block.fate == "not run":
            assert block.title in REASONS, f"{block.where}: {block.title} is no reason"
        if block.title:
            assert block.language != "sh" or not shell.understood(block.text), shell.understood(block.text)


def test_every_reason_is_in_use() -> None:
    titles = [block.title for block in every_block()]
    assert [reason for reason in (*REASONS, *ENGINES) if reason not in titles] == []


def test_steps_that_change_the_sources_are_those_that_are_performed() -> None:
    done = [step.code for page, heading in RECIPES for step in steps(page, heading)]
    examples = [path.read_text(encoding="utf-8") for path in (ROOT / "crates").glob("*/examples/*.rs")]
    for block in every_block():
        if block.language in ELSEWHERE:
            lines = [line.strip() for line in block.text.splitlines()]
            whole = any(
                set(lines) <= {line.strip() for line in one.splitlines()} for one in [*done, *examples]
            )
            assert whole, block.where


@cache
def generated_pages() -> list[str]:
    """Where the pages go that are made from the code."""
    return [*pages(), *(f"notebooks/{script.stem}.md" for script in scripts())]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    generated = {(ROOT / "docs" / path).resolve() for path in generated_pages()}
    text = page.read_text(encoding="utf-8")
    targets = [page.parent / target for target in re.findall(r"\]\(([^)#:\s]+)\)", text)]
    targets += [ROOT / target for target in re.findall(rf"\]\((?:{HERE})([^)#\s]+)\)", text)]
    for target in targets:
        found = target.resolve()
        assert found in generated or found.exists(), target
