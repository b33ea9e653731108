"""One scenario file with every table and key as comments: type, unit, default, meaning, from the schema.

Without the comments, the file is a complete scenario. A comment of the form `#key = value` becomes a
setting if its `#` is removed. Its value is the default, or an example if there is none."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.scenario_page import toml, type_of

Schema = Mapping[str, Any]
_WIDTH = 110
_SMALLEST = """\
name = "annotated"
duration = "30 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "20 Mbit/s", delay = "20 ms", queue = { size = "1 bdp" } }

[[flows]]
cca = "cubic"
"""


def annotated_page() -> str:
    """The page that shows the file."""
    return "\n\n".join(
        [
            "# A scenario file with every key",
            "This file is made from the schema that scenarios are read by. What is not a comment is a whole "
            "scenario, the smallest there is. Then follows every table that a scenario can have, with the "
            "places where it may stand, and every key with an example of its value, its type with unit and "
            "range, its default, and what it means. To use a key, take away its first `#` and put it into a "
            "table of that kind. [Scenario file](scenario.md) has the same as tables.",
            f"```toml\n{annotated()}```",
        ]
    )


def annotated() -> str:
    """The file as text."""
    from fullpipe.scenario.schema import file_schema

    schema = file_schema()
    definitions = {name: one for name, one in schema["definitions"].items() if not name.endswith("Part")}
    places = _places(definitions)
    parts = [_SMALLEST]
    for name, one in definitions.items():
        if "properties" in one:
            parts.append("\n".join(_table(places[name], one, definitions)) + "\n")
    return "\n".join(parts)


def _places(definitions: Mapping[str, Schema]) -> dict[str, list[str]]:
    """Paths of the tables of each definition: those nearest to the root."""
    places: dict[str, list[str]] = {"ScenarioModel": [""]}
    todo = ["ScenarioModel"]
    while todo:
        name = todo.pop(0)
        for key, one in definitions[name]["properties"].items():
            path = f"{places[name][0]}.{key}".lstrip(".")
            for other in _referred(one, definitions):
                todo += [other] if other not in places else []
                places.setdefault(other, []).append(path)
    return places


def _referred(one: Any, definitions: Mapping[str, Schema]) -> Iterator[str]:
    """The tables that a value may be."""
    if isinstance(one, Mapping):
        name = one.get("$ref", "").rpartition("/")[2]
        if "properties" in definitions.get(name, {}):
            yield name
        elif name:
            yield from _referred(definitions[name], definitions)
        one = [value for key, value in one.items() if key not in ("default", "examples", "$ref")]
    for value in one if isinstance(one, list) else ():
        yield from _referred(value, definitions)


def _table(places: list[str], one: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    shown = ", ".join(dict.fromkeys(path or "the file itself" for path in places))
    yield from _comment(f"In {shown}: {' '.join(one['description'].split())}", "# ")
    required = {key for other in one.get("allOf", ()) for key in other.get("required", ())}
    for key, value in one["properties"].items():
        yield f"#{key} = {toml(example(value, definitions))}"
        said = value.get("description") or " ".join(
            other["description"] for other in value.get("anyOf", ()) if "description" in other
        )
        default = (
            "required"
            if key in required
            else f"default {toml(value['default'])}"
            if "default" in value
            else ""
        )
        kind = re.sub(r"\[(\w+)\]\(#\w+\)", r"\1", type_of(value)).replace("`", "")
        yield from _comment(
            "; ".join(part for part in (kind, default, " ".join(said.split())) if part), "#   # "
        )


def _comment(text: str, mark: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=mark,
        subsequent_indent=mark,
        break_long_words=False,
        break_on_hyphens=False,
    )


def example(one: Schema, definitions: Mapping[str, Schema]) -> Any:
    """A value that the schema allows: the default, an example, or the smallest there is."""
    if one.get("default") is not None:
        return one["default"]
    if one.get("examples"):
        return one["examples"][0]
    if "$ref" in one:
        return example(definitions[one["$ref"].rpartition("/")[2]], definitions)
    for several in ("anyOf", "allOf"):
        first = one.get(several, [{}])[0]
        if first and ("then" in first or "properties" not in one):
            return example(first.get("then", first), definitions)
    if "enum" in one:
        return one["enum"][0]
    if "properties" in one:
        needed = {key for other in one.get("allOf", ()) for key in other.get("required", ())}
        return {key: example(value, definitions) for key, value in one["properties"].items() if key in needed}
    return _plain(one, definitions)


def _plain(one: Schema, definitions: Mapping[str, Schema]) -> Any:
    kind = one.get("type")
    if kind == "array":
        items = one.get("items", {})
        return [example(item, definitions) for item in (items if isinstance(items, list) else [items])]
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return one.get("minimum", 1)
    return "a-name" if kind == "string" else {}
