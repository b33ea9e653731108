"""What the page sends, as scenarios. Nothing that it names is read but what comes with fullpipe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullpipe import api
from fullpipe.errors import ScenarioError
from fullpipe.files import inputs_only_in
from fullpipe.runs.meta import version
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.read import overlay
from fullpipe.scenario.read.files import check_plain, parse_toml

DATA = Path(str(files("fullpipe") / "data"))
_TRACES = DATA / "traces"
_OWN = "flows: {}: the page runs no code but fullpipe's own; start it with --allow-python to allow this"

_LONGEST_QUESTION = 300


@contextmanager
def only_own_files() -> Iterator[None]:
    """Within, scenarios read no file but those that come with fullpipe."""
    with inputs_only_in(DATA):
        yield


def scenario_of(sent: object, allow_python: bool) -> Scenario:
    """A scenario from its data, or from TOML text.

    Raises:
        ScenarioError: If it is none, or needs what the page must not touch.
    """
    if isinstance(sent, str):
        sent = parse_toml(sent)
    check_plain(sent)
    if not isinstance(sent, Mapping):
        raise ScenarioError(["scenario: expected a table or TOML text"])
    with only_own_files():
        made = Scenario(**overlay.resolved(dict(sent), _TRACES))
    for kind in own_algorithms(made.flows):
        if not allow_python:
            raise ScenarioError([_OWN.format(kind)])
    if allow_python:
        api.import_algorithms(made)
    return made


def seed_of(sent: object) -> int:
    """A seed.

    Raises:
        ScenarioError: If it is none.
    """
    if not isinstance(sent, int) or isinstance(sent, bool) or not 0 <= sent < 2**63:
        raise ScenarioError(["seed: expected a whole number from 0 to 9223372036854775807"])
    return sent


def question_of(body: Mapping[str, Any]) -> str:
    """The question that a report is to answer; empty if there is none.

    Raises:
        ScenarioError: If it is no text, or a long one.
    """
    sent = body.get("question", "")
    if not isinstance(sent, str) or len(sent) > _LONGEST_QUESTION:
        raise ScenarioError([f"question: expected a text of at most {_LONGEST_QUESTION} characters"])
    return sent.strip()


def seconds_of(sent: str) -> float:
    """A time in a run.

    Raises:
        ScenarioError: If it is none.
    """
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", sent):
        raise ScenarioError(["from: expected a number of seconds"])
    return float(sent)


def toml_of(scenario: Scenario) -> str:
    """The scenario as TOML, recordings of fullpipe by their names and not by where they are here."""
    return scenario.to_toml().replace(f"{_TRACES}/", "")


def body_of(data: bytes) -> dict[str, Any]:
    """The body of a request.

    Raises:
        ScenarioError: If it is no JSON object.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise ScenarioError(["the request is not JSON"]) from None
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise ScenarioError(["the request has text that is no Unicode"]) from None
    if not isinstance(body, dict):
        raise ScenarioError(["the request is no JSON object"])
    return body


def package_version() -> str:
    """The version of fullpipe."""
    return version("fullpipe")
