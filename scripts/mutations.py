"""Break one place of the sources after the other, and count how many breaks the tests detect.

    python -m scripts.mutations --count 40 --seed 1 --against ../before

A mutation changes a comparison, an operator, a number or a constant of the code. It is drawn from files
that are the same in both trees. The tests of its crate or package are run here. If they miss it, those of
the other tree are run, too, which shows whether this tree catches fewer. A tree is changed and restored, so
nothing else may change it meanwhile. A mutation of Rust that does not compile is replaced by another one.
The trees must be built (`make build`).
"""

from __future__ import annotations

import argparse
import io
import keyword
import os
import random
import re
import signal
import subprocess
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_S = 600
"""Seconds after which tests are stopped and count as failed."""
OTHERS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "true": "false",
    "false": "true",
    "min": "max",
    "max": "min",
}
_RUST = re.compile(r"(?<= )(<=|>=|==|!=|<|>|\+|-|\*|/|&&|\|\|)(?= )|\b(true|false|min|max)\b|\b\d+\b")
TESTS = {
    "algorithms": [
        "unit/python/test_cca.py",
        "unit/python/test_cca_failures.py",
        "unit/python/test_libraries.py",
    ],
    "analysis": ["metrics", "statistics", "precision", "export", "theory"],
    "cli": ["unit/python", "metrics", "compare/test_command.py", "plots/test_command.py", "runs"],
    "cluster": ["cluster"],
    "engines": ["engines", "flent", "pcap", "unit/python/test_native_engine.py", "unit/python/test_plan.py"],
    "plots": ["plots"],
    "report": ["report"],
    "runs": ["runs", "unit/python"],
    "scenario": ["unit/python"],
    "studies": ["studies"],
    "validation": ["compare", "agree", "conformance", "fit", "factors"],
}
"""Tests of each Python package, below `tests`."""


class DoesNotCompileError(Exception):
    """The mutated program does not compile."""


@dataclass(frozen=True)
class Mutation:
    """A place in a file, and its replacement."""

    file: str
    start: int
    end: int
    instead: str

    def text(self, tree: Path) -> str:
        """The file of a tree with the mutation."""
        text = (tree / self.file).read_text(encoding="utf-8")
        return text[: self.start] + self.instead + text[self.end :]

    def told(self, tree: Path) -> str:
        """Name the file and line, and the change."""
        text = (tree / self.file).read_text(encoding="utf-8")
        line = text.count("\n", 0, self.start) + 1
        return f"{self.file}:{line}: {text[self.start : self.end]} -> {self.instead}"


def sources(trees: list[Path]) -> list[str]:
    """Files of code that are the same in all trees."""
    found = sorted(
        str(path.relative_to(trees[0]))
        for pattern in ("crates/*/src/**/*.rs", "python/fullpipe/*/**/*.py")
        for path in trees[0].glob(pattern)
    )
    first = trees[0]
    return [
        name
        for name in found
        if "crates/python/" not in name
        and all((tree / name).is_file() for tree in trees)
        and len({(tree / name).read_bytes() for tree in (first, *trees)}) == 1
    ]


def places(file: str, text: str) -> Iterator[Mutation]:
    """Every place of a file that can be changed."""
    found = of_python(text) if file.endswith(".py") else of_rust(text)
    for start, end in found:
        word = text[start:end]
        instead = OTHERS.get(word) or (str(int(word) + 1) if word.isdigit() else "")
        if instead:
            yield Mutation(file, start, end, instead)


def of_rust(text: str) -> Iterator[tuple[int, int]]:
    """Operators, numbers and constants before the tests of a file, not those in comments and texts."""
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', lambda found: " " * len(found[0]), text)
    for found in _RUST.finditer(code.partition("#[cfg(test)]")[0]):
        yield found.span()


def of_python(text: str) -> Iterator[tuple[int, int]]:
    """Operators, whole numbers and constants of code."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_word = token.type == tokenize.NAME and (
            keyword.iskeyword(token.string) or token.string in ("min", "max")
        )
        if token.type in (tokenize.OP, tokenize.NUMBER) or is_word:
            (row, column), (_, end) = token.start, token.end
            yield starts[row - 1] + column, starts[row - 1] + end


def is_caught(mutation: Mutation, tree: Path) -> bool:
    """Whether the tests of a tree fail with a mutation.

    Raises:
        DoesNotCompileError: If it does not compile.
        SystemExit: If the tests fail without it, too.
    """
    path, test = tree / mutation.file, _tests_of(mutation.file)
    is_rust = path.suffix == ".rs"
    before = path.read_text(encoding="utf-8")
    path.write_text(mutation.text(tree), encoding="utf-8")
    try:
        if is_rust and not _passes((*test, "--no-run"), tree):
            raise DoesNotCompileError
        is_passed = _passes(test, tree)
    finally:
        path.write_text(before, encoding="utf-8")
    if not is_passed and not _pass_unchanged(test, tree):
        raise SystemExit(f"{tree}: these fail without a mutation: {' '.join(test)}")
    return not is_passed


def _tests_of(file: str) -> tuple[str, ...]:
    """The command that runs the tests of the crate or the package that has a file."""
    parts = Path(file).parts
    if file.endswith(".py"):
        chosen = [f"tests/{name}" for name in TESTS.get(parts[2], ["unit/python"])]
        return (".venv/bin/pytest", "-q", "-x", "-n", "2", *chosen)
    package = "fullpipe" if parts[1] == "fullpipe" else f"fullpipe-{parts[1]}"
    return ("cargo", "test", "--quiet", "--package", package, "--package", "fullpipe-python")


@cache
def _pass_unchanged(test: tuple[str, ...], tree: Path) -> bool:
    return _passes(test, tree)


def _passes(command: Sequence[str], tree: Path) -> bool:
    null = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=tree, stdout=null, stderr=null, start_new_session=True) as process:
        try:
            return process.wait(MOST_S) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with suppress(ProcessLookupError):  # a hanging test outlives the process that started it
                os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    """Try `--count` mutations, half of them of Rust, and print which tests catch them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against", type=Path, help="another source tree, whose tests are run, too")
    options = parser.parse_args()
    trees = [ROOT, *([options.against.resolve()] if options.against else [])]
    drawn, names = random.Random(options.seed), sources(trees)
    caught = [0] * len(trees)
    tried = 0
    while tried < options.count:
        suffix = (".rs", ".py")[tried % 2]
        file = drawn.choice([name for name in names if name.endswith(suffix)])
        found = list(places(file, (ROOT / file).read_text(encoding="utf-8")))
        if not found:
            continue
        mutation = drawn.choice(found)
        try:
            by = next((number for number, tree in enumerate(trees) if is_caught(mutation, tree)), None)
        except DoesNotCompileError:
            continue
        tried += 1
        if by is not None:
            caught[by] += 1
        told = "missed" if by is None else f"caught by {trees[by]}"
        print(f"{tried:3d} {mutation.told(ROOT)}: {told}", flush=True)
    print(f"{ROOT}: {caught[0]} of {tried} are caught")
    for tree, count in zip(trees[1:], caught[1:], strict=True):
        print(f"{tree}: catches {count} of those missed here")


if __name__ == "__main__":
    main()
