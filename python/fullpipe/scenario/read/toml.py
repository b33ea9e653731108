"""TOML text as plain data, in a time that grows with the length of the text.

`tomllib` takes the square of the number of parts of a dotted key, so keys are measured before it reads them.
"""

import re
import tomllib
from typing import Any

MAX_DEPTH = 50
"""Tables and lists within each other, and parts of a key; a scenario has some eight."""

_PART = r"""(?:[\w-]+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\n]*'?)"""
_WORDS = rf'''
    """[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{{0,5}}  # text of several lines with escapes
    | \'\'\'[^']*(?:'(?!'')[^']*)*'{{0,5}}  # the same without escapes
    | \#[^\n]*  # a comment
    | (?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART}){{0,{MAX_DEPTH}}})  # a key, a number, or text of one line
'''
"""Every alternative also matches text without an end, so each character is looked at once."""


class TooDeepError(ValueError):
    """A key of too many parts, or tables and lists within each other beyond what can be read."""

    def __init__(self) -> None:
        super().__init__(f"too deeply nested; a scenario has at most {MAX_DEPTH} levels")


def parsed(text: str) -> dict[str, Any]:
    """Read a TOML document.

    Raises:
        TooDeepError: If a key has more than `MAX_DEPTH` parts, or nesting is too deep for the parser.
        ValueError: If the text is not TOML; the message says where.
    """
    _check_keys(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None


def value_of(text: str) -> Any:
    """Read one TOML value.

    >>> value_of("[1, 2]")
    [1, 2]

    Raises:
        ValueError: If the text is not a value.
    """
    return parsed(f"value = {text}")["value"]


def _check_keys(text: str) -> None:
    """Refuse a key of too many parts; dots in text and in comments do not count."""
    if all(line.count(".") < MAX_DEPTH for line in text.split("\n")):
        return  # a key is on one line
    for word in re.finditer(_WORDS, text, re.VERBOSE):
        key = word["key"]
        if key and key.count(".") >= MAX_DEPTH and len(re.findall(_PART, key)) > MAX_DEPTH:
            raise TooDeepError
