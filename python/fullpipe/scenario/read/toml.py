"""Parsing of TOML in time linear in the length of the text.

`tomllib` needs quadratic time in the parts of a dotted key, so the length of keys is checked first.
"""

import re
import tomllib
from typing import Any

MAX_DEPTH = 50
"""Deepest nesting of tables and lists, and most parts of a key. A scenario has about eight levels."""

_PART = r"""(?:[\w-]+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\n]*'?)"""
_WORDS = rf'''
    """[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{{0,5}}  # text of several lines with escapes
    | \'\'\'[^']*(?:'(?!'')[^']*)*'{{0,5}}  # the same without escapes
    | \#[^\n]*  # a comment
    | (?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART}){{0,{MAX_DEPTH}}})  # a key, a number, or text of one line
'''
"""Every alternative also matches unterminated text, so that each character is scanned once."""


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
    """Return a message of the parser with a table as a file writes it, and the cure for one written twice."""
    found = re.match(r"Cannot declare (\(.*\)) twice(.*)", message)
    if not found:
        return message
    name = ".".join(re.findall(r"'([^']*)'", found[1]))
    return f"[{name}] is there twice; write [[{name}]] for each entry of a list{found[2]}"


def value_of(text: str) -> Any:
    """Read one TOML value.

    >>> value_of("[1, 2]")
    [1, 2]

    Raises:
        ValueError: If the text is not a value.
    """
    return parsed(f"value = {text}")["value"]


def _check_keys(text: str) -> None:
    """Refuse keys with too many parts. Dots in strings and comments do not count."""
    if all(line.count(".") < MAX_DEPTH for line in text.split("\n")):
        return  # a key is on one line
    for word in re.finditer(_WORDS, text, re.VERBOSE):
        key = word["key"]
        if key and key.count(".") >= MAX_DEPTH and len(re.findall(_PART, key)) > MAX_DEPTH:
            raise TooDeepError
