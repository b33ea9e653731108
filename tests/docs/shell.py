"""Runs the lines of a shell block, and says whether lines that are not run could be."""

from __future__ import annotations

import glob
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from importlib.util import find_spec
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from fullpipe.cli import app

ROOT = Path(__file__).resolve().parent.parent.parent
VERDICTS = ("compare", "check")
"""Commands whose exit status 1 is an answer."""
SHORT = "10 s"
"""A run of another engine for which the page gives no time, unless `--long` asks for all."""


def lines(text: str) -> list[str]:
    """The commands of a block, a continued one as one line, without comments of whole lines."""
    joined = text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in joined if line.strip() and not line.strip().startswith("#")]


def run(text: str, most_seeds: int | None) -> None:
    """Run every line in the current folder, with `most_seeds` at most. Raises AssertionError if one fails."""
    for line in lines(text):
        kept = re.fullmatch(r"(fullpipe [^<>|&;$]+) > (~/)?(\S+)", line)
        words = shlex.split(line, comments=True)
        if words[:3] == ["fullpipe", "engines", "install"]:
            continue  # it builds what is installed anew; make has done it
        if kept:
            Path(kept[3]).write_text(_invoke(shlex.split(kept[1])[1:], line), encoding="utf-8")
        elif words[:2] == ["fullpipe", "ui"]:
            _serve(words[2:])
        elif words[0] == "fullpipe" and not _has_operators(line):
            _invoke(_shorter(words[1:], most_seeds), line)
        else:
            _bash(line)


def _invoke(words: list[str], line: str) -> str:
    """What a command of fullpipe prints. In this process, which saves the start of another."""
    named = [found for word in words for found in (sorted(glob.glob(word)) or [word])]
    result = CliRunner().invoke(app, named)
    answers = (0, 1) if words[0] in VERDICTS else (0,)
    assert result.exit_code in answers, f"{line}\n{result.output}"
    return result.stdout


def _bash(line: str) -> None:
    shown = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        env=_environment(),
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert shown.returncode == 0, f"{line}\n{shown.stdout}"


def _serve(words: list[str]) -> None:
    """A page that is served until it is ended: it answers, and ends."""
    command = [
        sys.executable,
        "-m",
        "fullpipe",
        "ui",
        *words,
        *["--no-browser"][: "--no-browser" not in words],
    ]
    with subprocess.Popen(command, env=_environment(), text=True, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            assert b"fullpipe" in opener.open(address.group(), timeout=60).read()
        finally:
            server.terminate()


def _environment() -> dict[str, str]:
    """`fullpipe` and `python` are those of the tests, HOME is the current folder, CLONE the project."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": os.getcwd(), "CLONE": str(ROOT)}


def _has_operators(line: str) -> bool:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return any(re.fullmatch(r"[();<>|&]+", word) or word.startswith("$") for word in lexer)


def _shorter(words: list[str], most_seeds: int | None) -> list[str]:
    """The same command with fewer seeds, or a shorter run of another engine, whose time is that of Linux or
    ns-3."""
    if most_seeds is not None and words[0] == "run" and "--engine" in words and "--set" not in words:
        words = [*words, "--set", f"duration={SHORT}"]
    if most_seeds is None or "--seeds" not in words:
        return words
    at = words.index("--seeds") + 1
    return [*words[:at], str(min(int(words[at]), most_seeds)), *words[at + 1 :]]


def understood(text: str) -> list[str]:
    """What is wrong with lines that are not run: options that a command has not, files that are not there."""
    return [f"{line}: {wrong}" for line in lines(text) if (wrong := _wrong(shlex.split(line, comments=True)))]


def _wrong(words: list[str]) -> str:
    while re.match(r"\w+=", words[0]):
        words = words[1:]
    program, *rest = words
    if program == "fullpipe":
        return _parsed(rest)
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        return "" if all(f"\n{target}:" in makefile for target in rest) else "no such target"
    if program == "python" and rest[0] == "-m":
        return "" if find_spec(rest[1]) else "no such module"
    if program in ("python", "pytest"):
        files = [word for word in rest if word.endswith(".py") or word.startswith("tests/")]
        return "" if files and all((ROOT / file).exists() for file in files) else "no such file"
    known = ("cargo", "pip", "flent", "wireshark", "source", "for")
    return "" if program in known else "an unknown program"


def _parsed(words: list[str]) -> str:
    """Read a command line as fullpipe does, without doing it."""
    command = get_command(app)
    context = command.make_context("fullpipe", list(words))
    try:
        while hasattr(command, "resolve_command"):
            rest = [*context._protected_args, *context.args]
            name, command, rest = command.resolve_command(context, rest)
            context = command.make_context(name, rest, parent=context)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
