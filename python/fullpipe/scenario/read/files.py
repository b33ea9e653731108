"""Reading of scenario files: TOML text, files by path, and scenarios that ship with fullpipe."""

import json
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from fullpipe.errors import ScenarioError, UnknownNameError, brief
from fullpipe.files import check_input

# Parsing of TOML in time linear in the length of the text.
# The time of `tomllib` grows quadratically with the parts of a dotted key, so the length of keys is checked
# first.


MAX_DEPTH = 50
"""Maximum nesting of tables and lists, and maximum number of parts of a key. A scenario has about eight
levels."""

_PART = r"""(?:[\w-]+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\n]*'?)"""
_WORDS = rf'''
    """[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{{0,5}}  # text of several lines with escapes
    | \'\'\'[^']*(?:'(?!'')[^']*)*'{{0,5}}  # the same without escapes
    | \#[^\n]*  # a comment
    | (?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART}){{0,{MAX_DEPTH}}})  # a key, a number, or text of one line
'''
"""Pattern of words of TOML. Every alternative also matches unterminated text, so each character is scanned
once."""


class TooDeepError(ValueError):
    """A key with too many parts, or tables and lists nested too deeply for the parser."""

    def __init__(self) -> None:
        super().__init__(f"too deeply nested; a scenario has at most {MAX_DEPTH} levels")


def parsed(text: str) -> dict[str, Any]:
    """Read a TOML document.

    Raises:
        TooDeepError: If a key has more than `MAX_DEPTH` parts, or nesting is too deep for the parser.
        ValueError: If the text is not TOML. The message has the line.
    """
    _check_keys(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(_with_brackets(str(error))) from None


def _with_brackets(message: str) -> str:
    """Return a message of the TOML parser about a repeated table, rewritten with TOML's spelling of the table
    and a remedy. Other messages are returned unchanged."""
    found = re.match(r"Cannot declare (\(.*\)) twice(.*)", message)
    if not found:
        return message
    name = ".".join(re.findall(r"'([^']*)'", found[1]))
    return f"[{name}] is written twice; write [[{name}]] for each entry of a list{found[2]}"


def value_of(text: str) -> Any:
    """Read one TOML value.

    >>> value_of("[1, 2]")
    [1, 2]

    Raises:
        ValueError: If the text is not a value.
    """
    return parsed(f"value = {text}")["value"]


def inline(value: Any) -> str:
    """Return a value as TOML on one line.

    >>> inline([{"cca": "cubic", "count": 2}])
    '[{cca = "cubic", count = 2}]'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _check_keys(text: str) -> None:
    """Refuse keys with too many parts. Dots in strings and comments do not count."""
    if all(line.count(".") < MAX_DEPTH for line in text.split("\n")):
        return  # no line, and so no key, has too many dots
    for word in re.finditer(_WORDS, text, re.VERBOSE):
        key = word["key"]
        if key and key.count(".") >= MAX_DEPTH and len(re.findall(_PART, key)) > MAX_DEPTH:
            raise TooDeepError


# Reading of scenario files. Files that cannot be scenarios are refused early.


MAX_FILE_BYTES = 1_000_000
MAX_BITS = 1_024
"""Maximum size of a whole number, in bits. Python refuses to print much longer numbers."""
_SUFFIX = ".toml"
_HARMLESS = frozenset({bool, float, type(None)})
"""Types of values that `check_plain` always accepts."""
_FILES = ("file", "trace", "light")
"""Keys whose values name a file."""


def read_text(path: Path, kind: str = "scenario") -> str:
    """Return the text of a TOML file.

    Args:
        path: The file.
        kind: Content of the file in one word, for errors.

    Raises:
        ScenarioError: If the file is missing, not regular, unreadable, too large, or not UTF-8.
    """
    try:
        check_input(path)
        if path.is_dir():
            raise ScenarioError([f"{path}: is a directory; give a TOML file"])
        if path.exists() and not path.is_file():
            raise ScenarioError([f"{path}: is not a regular file; give a TOML file"])
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        named = "; fullpipe list scenarios shows the named scenarios" if kind == "scenario" else ""
        raise ScenarioError([f"{path}: no such file{named}"]) from None
    except (OSError, ValueError) as error:
        raise ScenarioError(
            [f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"]
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise ScenarioError([f"{path}: larger than 1 MB; a {kind} is a short TOML file"])
    try:
        return data.removeprefix(BOM_UTF8).decode()  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise ScenarioError(
            [f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 text"]
        ) from None


def parse_toml(text: str, source: str | None = None) -> dict[str, Any]:
    """Parse TOML into plain data; `source` names the text in errors.

    Raises:
        ScenarioError: If the text is not TOML. The message has the line.
    """
    where = f"{source}: " if source else ""
    try:
        tree = parsed(text)
    except TooDeepError as error:
        raise ScenarioError([f"{where}{error}"]) from None
    except ValueError as error:
        message = str(error)
        raise ScenarioError([f"{where}not TOML: {message[0].lower()}{message[1:]}"]) from None
    check_plain(tree, where)
    return tree


def check_plain(data: object, where: str = "") -> None:
    """Refuse data that no scenario has, and that could break recursive code.

    `where` is the beginning of the error message.

    Raises:
        ScenarioError: If tables and lists are too deeply nested, text is not Unicode, or a number is huge.
    """
    left: list[tuple[object, int]] = [(data, 0)]
    while left:
        item, depth = left.pop()
        if type(item) in _HARMLESS:
            continue
        if isinstance(item, str):
            _check_text(item, where)
        elif isinstance(item, int) and item.bit_length() > MAX_BITS:
            raise ScenarioError(
                [f"{where}a number of {item.bit_length():,} bits is too large; write a smaller number"]
            )
        elif isinstance(item, dict | list | tuple | Mapping):
            if depth >= MAX_DEPTH:
                raise ScenarioError([f"{where}{TooDeepError()}"])
            parts = chain(item.keys(), item.values()) if isinstance(item, dict | Mapping) else item
            left += [(part, depth + 1) for part in parts]


def holds_none(data: object) -> bool:
    """Whether plain data contains None at any depth."""
    if isinstance(data, Mapping):
        return any(map(holds_none, data.values()))
    return any(map(holds_none, data)) if isinstance(data, list | tuple) else data is None


def _check_text(text: str, where: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError([f'{where}"{brief(text)}" is not Unicode text; write it in UTF-8']) from None


def located(tree: Any, folder: Path) -> Any:
    """Return scenario data in which relative file names begin with the scenario's folder.

    A bare file name that this folder lacks can be the name of a recording that ships with fullpipe.
    """
    if isinstance(tree, list):
        return [located(item, folder) for item in tree]
    if not isinstance(tree, dict):
        return tree
    return {key: _located(key, value, folder) for key, value in tree.items()}


def _located(key: str, value: Any, folder: Path) -> Any:
    paths = [path.strip().rpartition(".")[2] for path in key.split(",")]  # keys of a sweep can link paths
    if isinstance(value, str):
        return _beside(value, folder) if paths[-1] in _FILES else value
    if isinstance(value, list):
        return [_located_in_sweep(paths, key, item, folder) for item in value]
    return located(value, folder)


def _located_in_sweep(paths: list[str], key: str, item: Any, folder: Path) -> Any:
    if isinstance(item, list) and len(item) == len(paths) > 1:
        return [_located(path, part, folder) for path, part in zip(paths, item, strict=True)]
    return _located(key, item, folder)


def _beside(name: str, folder: Path) -> str:
    bundled = _data("traces") / name
    found = folder / name
    if Path(name).name == name and not found.exists() and bundled.is_file():
        return str(bundled)
    return str(found)


def scenario_names() -> list[str]:
    """Return the names of the scenarios that ship with fullpipe, in alphabetical order."""
    found = _data("scenarios").iterdir()
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in found if entry.name.endswith(_SUFFIX))


def folder_of_names() -> Path:
    """Return the folder of the scenarios that ship with fullpipe."""
    return _data("scenarios")


def named_text(name: str) -> str:
    """Return the TOML text of a scenario that ships with fullpipe.

    Raises:
        UnknownNameError: If no such scenario exists.
    """
    if name not in scenario_names():
        raise UnknownNameError("scenario", name, scenario_names())
    return (_data("scenarios") / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def _data(kind: str) -> Path:
    """Return the folder of the scenarios or traces that ship with fullpipe."""
    return Path(__file__).parents[2] / "data" / kind
