"""The blocks of code of all pages: which are run, where others are tried, and why the rest is not run.

    python -m tests.docs.blocks

prints how many there are of each. A block that is not run says so in its title, which readers see, too."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN = ("sh", "python", "toml")
"""Languages of blocks that `test_examples.py` runs, in their order."""
ELSEWHERE = {
    "rust": "test_recipes.py performs them, or cargo compiles them as an example",
    "py": "test_recipes.py performs them",
}
"""Languages of blocks that other tests run: steps that change the sources."""
SHOWN = ("text", "yaml")
"""Languages of what is no program: output, diagrams, files of others."""
REASONS = {
    "takes minutes": "tests/studies, tests/agree and tests/fuzz run most of them with less; no test runs"
    " `benches.scaling`",
    "needs a clone": "they are the targets that CI itself consists of",
    "takes hours": "tests/agree and tests/engines run parts of it; no test runs scripts/wifi_agreement.py",
    "needs another kernel": "tests/engines and tests/agree have the released one",
    "needs the Linux engine and files of this page": "tests/engines/linux play such scripts",
    "needs ns-3 3.39": "tests/engines run the newest ns-3",
    "needs a wheel": "scripts/try_dist.py installs one and runs the demo",
    "needs a cluster": "tests/cluster have workers of their own",
    "needs Flent": "it is no part of fullpipe; tests/flent read and write its files",
    "needs Wireshark": "it is no part of fullpipe; tests/export read the files back",
    "needs a nightly compiler": "CI has the stable one",
}
"""Titles of blocks of commands that are not run."""
ENGINES = ("needs the Linux engine", "needs the Linux engine, takes minutes")
"""Titles of blocks of commands that are run where the engines are installed; the second with `--long`."""
_FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: +title="(?P<title>[^"]*)")?\n(?P<text>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, without the indentation of a list."""

    page: Path
    line: int
    language: str
    title: str
    text: str
    before: str
    """The prose of the page above it."""

    @property
    def where(self) -> str:
        """The page, and the line in it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def fate(self) -> str:
        """run, run with engines, elsewhere, not run, or shown."""
        if self.language in RUN and self.title in ENGINES:
            return "run with engines"
        if self.language in RUN:
            return "not run" if self.title else "run"
        return "elsewhere" if self.language in ELSEWHERE else "shown"


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            found["title"] or "",
            re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            _FENCE.sub("", text[: found.start()]),
        )
        for found in _FENCE.finditer(text)
    ]


def every_block() -> list[Block]:
    """Those of all pages."""
    return [block for page in PAGES for block in blocks(page)]


def main() -> None:
    """Print how many there are, and why some are not run."""
    for fate, count in Counter(block.fate for block in every_block()).most_common():
        print(f"{count:4} {fate}")
    for title, count in Counter(b.title for b in every_block() if b.fate == "not run").most_common():
        print(f"{count:8} {title}")


if __name__ == "__main__":
    main()
