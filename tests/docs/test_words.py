"""The words of the field in code, comments, messages and documents: see docs/reference/glossary.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("crates", "python", "docs", "scripts", "fuzz", "benches", "tests")
"""What is read, besides the pages in the root."""
SUFFIXES = frozenset({".rs", ".py", ".pyi", ".md", ".toml", ".h", ".c", ".cc", ".yml"})
EXEMPT = frozenset({"CHANGELOG.md", "tests/docs/test_words.py", "python/fullpipe/engines/linux/guest/main.c"})
"""The past, this list, and the guest: runs are kept under its digest, so it changes with what it does."""
GENERATED = frozenset({"target", "site", "node_modules", "proptest-regressions"})


@dataclass(frozen=True)
class Word:
    """A word that is not used, and what is used instead."""

    pattern: str
    instead: str
    example: str
    """A line in which it must be found."""
    allowed: str = r"(?!)"
    """A line in which it may stand, since a key, a command or a contract of that spelling is meant."""


WORDS = [
    Word(
        r"\b([Ww]ho|[Ww]hom)ever\b|\b([Ss]ome|[Nn]o|[Aa]ny|[Ee]very)body\b|\b([Ss]ome|[Ee]very)one\b",
        "name it: the packet, the queue, the caller, the user",
        "// whoever waits stays",
    ),
    Word(r"[Ww]eather|\b[Uu]nsettled\b|\bis_fair\b", "impairments", "/// None in fair weather."),
    Word(r"\bBook\b|\bPage\b|\bturn_page\b|\b[Aa]genda\b", "counters, interval or timetable", "book: Book,"),
    Word(
        r"\b(struct|impl|class) Looks\b|\bfn look\b|\blet (mut )?looks?\b|\bnext_look\b|\b_LOOKS\b",
        "sampling times, sample",
        "let mut look = looks.after(now);",
    ),
    Word(r"\b[Tt]hinn(er|ed|ing)\b|\b[Tt]hins\b", "ACK filter", "thinner: Option<Thinner>,"),
    Word(r"\b[Ff]ores(ight|ee|een|aw)\b", "cut-through, or: known on arrival", "// served with foresight"),
    Word(r"\b[Cc]hained\b", "cut-through", "is_chained: bool, // chained to its feeder"),
    Word(
        r"\bAhead\b|\b(let|for) \(?(mut )?ahead\b|\bahead:|\bAHEAD\b",
        "cut-through, or say ahead of what",
        "enum Ahead { Yes, No }",
    ),
    Word(
        r"\b[Ww]ander(s|ed|ing)?\b",
        "Markov channel",
        "/// A rate that wanders.",
        r"[\"`(' ]wander[\"`)'{]",
    ),
    Word(
        r"\b[Dd]etours?\b|detour[A-Z]|\b_detour\b|\bdetour_",
        "reordering",
        "/// Packets per detour.",
        r"\"detour( \{)?\"|\"detour\b|DETOUR",
    ),
    Word(r"\b[Cc]ourt\b|\bJudged\b", "claim checks, result", "class Court:"),
    Word(r"\bWish(es|Error)?\b|\bby wish\b|\bwishes\b", "install options", "raise WishError(name)"),
    Word(r"\bis_lacking\b", "missing", "if tool.is_lacking:"),
    Word(r"\bORDER\b", "input (of the ns-3 program)", "worker.py PARENT PROGRAM ORDER", r"\bORDER\b ?[:=]"),
    Word(
        r"\b(Maker|Supply|Tally)\b|\b(struct|class|impl) Trips?\b",
        "factory, source, stats, probe record",
        "struct Tally {",
    ),
    Word(r"\bstruct Out\b|\bOut \{", "outbox", "pub struct Out<'a> {"),
    Word(
        r"\b(is|nobody|no)_brought\b|\bbrought along\b|\bdef bring\b|\.bring\(",
        "external, import",
        "if cca.is_brought() {",
    ),
    Word(
        r"\bdef of\(|\bfn of\(",
        "a name that says what it gives",
        "def of(queue: Queue) -> Qdisc:",
        r"def of\(self\) -> str:",
    ),
    Word(
        r"'s honour\b|\bborne\b|\btired\b",
        "plain words: what holds, and why",
        "/// A probe's sample was borne since the last refill.",
    ),
    Word(
        r"\bNewWay\b|\bnew_ways?\b|\b_?ways_of\b|\bway_count\b|\bmobile_ways\b|\bMAX_WAYS\b"
        r"|\b[Ww]ays? of ((the|a|every|all) )?(flows?|data|ACKs?)\b"
        r"|\bchang(es?|ing) (of )?(the|their|its) ways?\b"
        r"|\b(faster|slower) way\b",
        "route, reroute",
        "new_ways: tuple[NewWay, ...]  # every change of the way of a flow",
    ),
    Word(r"[Oo]n their way out\b|//! Who runs next", "what the module is", "//! Columns, on their way out."),
]


def misused(texts: Mapping[str, str]) -> list[str]:
    """Lines "file:line: word: what to write instead" for every word of these files that is not used."""
    table = pl.DataFrame({"file": [*texts], "text": [*texts.values()]})
    return [
        f"{where}:{line_number(text, match.start())}: {match.group()}: write {word.instead}"
        for word in WORDS
        # That is ten times as fast as to try the pattern of Python on all of them.
        for where, text in table.filter(pl.col("text").str.contains(word.pattern)).iter_rows()
        for match in re.finditer(word.pattern, text)
        if not re.search(word.allowed, line_of(text, match.start()))
    ]


def line_number(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def line_of(text: str, place: int) -> str:
    """The line in which a place is."""
    return text[text.rfind("\n", 0, place) + 1 :].partition("\n")[0]


def documents() -> list[Path]:
    """Every file of the project that people read or write, apart from generated ones."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    return [
        path
        for path in [*ROOT.glob("*.md"), ROOT / "mkdocs.yml", *inside]
        if path.suffix in SUFFIXES
        and path.relative_to(ROOT).as_posix() not in EXEMPT
        and not GENERATED.intersection(path.relative_to(ROOT).parts)
    ]


def test_words_are_those_of_the_glossary() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in documents()}
    found = misused(texts)
    assert not found, "\n".join(sorted(found))


def test_the_project_is_read() -> None:
    read = {path.relative_to(ROOT).parts[0] for path in documents()}
    assert {"crates", "python", "docs", "scripts", "tests", "README.md"} <= read


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.instead)
def test_a_word_that_is_not_used_is_found_with_its_line(word: Word) -> None:
    found = misused({"made/up.rs": f"// plain words\n{word.example}\n"})
    assert any(line.startswith("made/up.rs:2: ") and line.endswith(f"write {word.instead}") for line in found)


@pytest.mark.parametrize(
    "line",
    [
        'shapes = [{ kind = "wander", at = "0 s" }]',
        "A thin command; the ACK filter has the key `ack_filter`.",
        "packets are handed over ahead of the clock",
        "ORDER = [1, 2]",
    ],
)
def test_keys_and_everyday_words_may_stand(line: str) -> None:
    assert misused({"made/up.toml": line}) == []
