"""The JSON Schema of scenario files (draft 7), for editors: every key with type, range, default and meaning.

`Scenario` checks rules that a schema cannot express, such as that a link's end exists. So it may refuse files
that the schema accepts. A file that the schema refuses is no scenario, except for the case of names.
"""

from typing import Any

from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.read.overlay import BASE, SET
from fullpipe.scenario.schema.models import Definitions

TITLE = "Scenario file of fullpipe"
_BASE = {
    BASE: {
        "type": "string",
        "description": "Name or file of a scenario that this one extends.",
        "examples": ["single-cubic"],
    },
    SET: {
        "type": "object",
        "description": "Paths and the values that replace those of the base.",
        "examples": [{"flows.0.cca": "bbr3"}],
    },
}


def file_schema() -> dict[str, Any]:
    """Return the schema of a scenario file. A file with a base can omit any key."""
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
    """Return the definitions with `set` among the keys of a whole scenario."""
    root = made[name]
    return {**made, name: {**root, "properties": {**root["properties"], SET: _BASE[SET]}}}


def _name(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
