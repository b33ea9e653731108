"""The JSON Schema of scenario files (draft 7), for editors: every key with type, range, default and meaning.

What no schema can say, such as that one of two keys is given or that an end exists, is left to `Scenario`:
a file that the schema refuses is no scenario, but for the case of names, and not the other way round.
"""

from typing import Any

from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.read.overlay import BASE, SET
from fullpipe.scenario.schema.models import Definitions

TITLE = "Scenario file of fullpipe"
_BASE = {
    BASE: {
        "type": "string",
        "description": "The name of a scenario, or a file, that this one begins with.",
        "examples": ["single-cubic"],
    },
    SET: {
        "type": "object",
        "description": "Over a base: paths and the values that they take in place of those there.",
        "examples": [{"flows.0.cca": "bbr3"}],
    },
}


def file_schema() -> dict[str, Any]:
    """The schema of a scenario file, or of one that begins with another, in which any key may be missing."""
    whole = Definitions()
    part = Definitions(whole)
    scenario, over_base = whole.model(ScenarioModel), part.model(ScenarioModel)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": TITLE,
        "type": "object",
        "properties": {**part.made[_name(over_base)]["properties"], **_BASE},
        "additionalProperties": False,
        "if": {"not": {"required": [BASE]}},
        "then": {"allOf": [scenario]},
        "definitions": {**_with_paths(whole.made, _name(scenario)), **part.made},
    }


def _with_paths(made: dict[str, Any], name: str) -> dict[str, Any]:
    """The definitions with `set` among the keys of a whole scenario."""
    root = made[name]
    return {**made, name: {**root, "properties": {**root["properties"], SET: _BASE[SET]}}}


def _name(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
