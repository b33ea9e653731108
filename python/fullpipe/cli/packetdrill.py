"""`fullpipe packetdrill`: plays packetdrill scripts against a TCP."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullpipe import _native
from fullpipe.cli.output import complain, echo
from fullpipe.errors import EngineError, InputFileError

if TYPE_CHECKING:
    from fullpipe._native import PacketdrillOutcome

_MOST_CHARACTERS = (64 << 20) + 1
"""Characters read of a file. The parser rejects such a text as too long."""
_DEFAULTS = "defaults.sh"
"""Settings that scripts of the kernel run first, from the folder of the script."""
_WORDS = {
    "failed": "failed",
    "malformed": "malformed",
    "passed": "passed",
    "says_nothing": "saying nothing",
    "not_applicable": "not applicable",
}
"""Verdicts as in a summary, in the order of the summary."""
_MALFORMED = 2
_ENGINE_FAILED = 4
"""Exit code without verdicts. A script that failed has 1."""
_LACKING = {"native": "the model", "linux": "the player in the guest"}
"""Nouns for what lacks a part of a script, by engine."""


def _play_natively(scripts: Sequence[tuple[str, str]]) -> list["PacketdrillOutcome"]:
    return [_native.packetdrill(*script) for script in scripts]


def _play_on_linux(scripts: Sequence[tuple[str, str]]) -> list["PacketdrillOutcome"]:
    from fullpipe.engines.linux import drill  # imported only here: other commands need no engine

    return drill.play(scripts)


class Engine(StrEnum):
    """Engines whose TCP can be tested."""

    native = "native"
    linux = "linux"


PLAYERS: Mapping[Engine, Callable[[Sequence[tuple[str, str]]], list["PacketdrillOutcome"]]] = {
    Engine.native: _play_natively,
    Engine.linux: _play_on_linux,
}
"""Functions that play scripts, each with its defaults, and return their verdicts, by engine."""


def packetdrill(
    path: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="A script, or a folder whose .pkt files are played.")
    ],
    engine: Annotated[Engine, typer.Option(help="Engine whose TCP is tested.")] = Engine.native,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """A script says when packets arrive and what an application does, and expects packets and values of
    tcp_info. A failed script is shown with its first difference. Scripts of the kernel run defaults.sh,
    which is read from their folder.

    The exit code is 0 if the script passed, 1 if it failed, 2 if it is malformed, and 3 if it says nothing of
    this TCP: it does not apply, or checks only fixed packets of a handshake. For a folder, the exit code is 1
    if a script failed. It is 4 if the engine fails, and no script has a verdict.
    """
    scripts = _scripts(path)
    try:
        played = PLAYERS[engine]([_texts(script) for script in scripts])
    except EngineError as error:
        complain(error)
        raise typer.Exit(_ENGINE_FAILED) from None
    outcomes = dict(zip(scripts, played, strict=True))
    malformed = [script for script, outcome in outcomes.items() if outcome["verdict"] == "malformed"]
    if malformed and len(scripts) == 1 and not as_json:
        raise InputFileError(*_told(scripts[0], played[0], ""))
    if as_json:
        told = [{"script": str(script), **outcome} for script, outcome in outcomes.items()]
        echo(json.dumps({"engine": engine.value, "scripts": told}))
    else:
        echo("\n".join(_lines(outcomes, _LACKING[engine])))
    code = _exit_code([outcome["verdict"] for outcome in outcomes.values()])
    if code == _MALFORMED:
        raise InputFileError(f"{path}: malformed scripts: {len(malformed)} of {len(scripts)}")
    if code:
        raise typer.Exit(code)


def _scripts(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.pkt"))
    if not found:
        raise InputFileError(f"{path}: has no .pkt file; name a script or a folder with scripts")
    return found


def _texts(script: Path) -> tuple[str, str]:
    """Return the text of a script, and that of its defaults."""
    defaults = script.with_name(_DEFAULTS)
    return _text(script), _text(defaults) if defaults.is_file() else ""


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_CHARACTERS)
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror}") from error


def _exit_code(verdicts: Sequence[str]) -> int:
    codes = {"failed": 1, "malformed": _MALFORMED, "passed": 0}
    return next((code for verdict, code in codes.items() if verdict in verdicts), 3)


def _lines(outcomes: Mapping[Path, "PacketdrillOutcome"], lacking: str) -> list[str]:
    """Return the lines about outcomes: a summary of several scripts, then each script with its cause."""
    counts = Counter[str](outcome["verdict"] for outcome in outcomes.values())
    parts = [f"{counts[verdict]} {word}" for verdict, word in _WORDS.items() if counts[verdict]]
    summary = [f"{len(outcomes)} scripts: {', '.join(parts)}"] if len(outcomes) > 1 else []
    order = list(_WORDS)
    ranked = sorted(outcomes.items(), key=lambda item: order.index(item[1]["verdict"]))
    return [*summary, *(line for script, outcome in ranked for line in _told(script, outcome, lacking))]


def _told(script: Path, outcome: "PacketdrillOutcome", lacking: str) -> list[str]:
    verdict = outcome["verdict"].replace("_", " ")
    place = f", line {outcome['line']}" if outcome["line"] else ""
    difference = outcome["difference"]
    if difference is None:
        return [f"{script}{place}: {verdict}{_because(outcome, lacking)}"]
    packet = f"packet {difference['packet']}" if difference["packet"] else "assertion"
    return [
        f"{script}{place}: {verdict}, {packet} at {difference['time_s']:.6f} s",
        f"  expected: {difference['expected']}",
        f"  seen:     {difference['seen']}",
    ]


def _because(outcome: "PacketdrillOutcome", lacking: str) -> str:
    if outcome["verdict"] == "not_applicable":
        return f", because {lacking} lacks {outcome['reason']}"
    if outcome["reason"]:
        return f": {outcome['reason']}"
    if outcome["verdict"] == "says_nothing":
        return " of this TCP: it compares only fixed packets of a handshake"
    checked: dict[str, Any] = {"packet": outcome["packets"], "assertion": outcome["assertions"]}
    counts = " and ".join(f"{n} {word}{'s' * (n != 1)}" for word, n in checked.items() if n)
    unread = f"; not read: {', '.join(dict.fromkeys(outcome['unread']))}" if outcome["unread"] else ""
    return f" ({counts} compared{unread})"
