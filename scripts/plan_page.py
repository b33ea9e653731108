"""The page of the plan, from the JSON Schema that the compiled module gives."""

from __future__ import annotations

import json
from typing import Any

from scripts.markdown_table import table

Schema = dict[str, Any]


def plan_page() -> str:
    """Every part of a plan with its fields, the plan itself first."""
    from fullpipe import _native

    schema = json.loads(_native.plan_schema())
    parts = [
        "# The plan",
        "A plan is the input of the simulator as JSON: a fully resolved experiment in base units. Unknown "
        "keys are errors, and every error names its path. `_native.plan_schema()` gives the JSON Schema "
        "from which this page is made; `Plan` in `crates/simulation/src/plan` declares it.",
    ]
    for name, part in {"Plan": schema, **_in_order(schema)}.items():
        parts += [f"## {name}", _meaning(part)]
        rows = _rows(part)
        parts += [table(list(rows[0]), [list(row.values()) for row in rows])] if rows else []
        for variant in _variants(part):
            kind = variant["properties"]["kind"]["const"]
            fields = _rows({**variant, "properties": _without_kind(variant)})
            parts += [f"### {name}: {kind}", f'`"kind": "{kind}"`. {_meaning(variant)}']
            parts += [table(list(fields[0]), [list(row.values()) for row in fields])] if fields else []
    return "\n\n".join(parts)


def _in_order(schema: Schema) -> dict[str, Schema]:
    """The parts that a plan refers to, in the order in which they are first named."""
    found: dict[str, Schema] = {}
    waiting = _references(schema["properties"])
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = schema["$defs"][name]
            waiting = _references(found[name]) + waiting
    return found


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"].rpartition("/")[2]] if "$ref" in value else []
    return own + [name for item in value.values() for name in _references(item)]


def _variants(part: Schema) -> list[Schema]:
    """The objects among which `kind` chooses."""
    return [option for option in part.get("oneOf", []) if "properties" in option]


def _without_kind(variant: Schema) -> Schema:
    return {name: field for name, field in variant["properties"].items() if name != "kind"}


def _rows(part: Schema) -> list[dict[str, str]]:
    """One row per field of an object, or per value of a choice."""
    if "properties" in part:
        required = part.get("required", [])
        return [
            {
                "key": f"`{name}`",
                "type": _type(field),
                "": "required" if name in required else "may be left out",
                "meaning": _meaning(field),
            }
            for name, field in part["properties"].items()
        ]
    options: list[Schema] = part.get("oneOf") or part.get("anyOf") or []
    return [{"value": _type(o), "meaning": _meaning(o)} for o in options if "properties" not in o]


def _type(field: Schema) -> str:
    """The type in one or a few words, parts of a plan as links."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    names = field.get("type", "any")
    words = [names] if isinstance(names, str) else names
    return " or ".join(_items(field) if word == "array" else word for word in words)


def _items(field: Schema) -> str:
    if "prefixItems" in field:
        return "[" + ", ".join(_type(item) for item in field["prefixItems"]) + "]"
    return f"list of {_type(field['items'])}" if isinstance(field.get("items"), dict) else "list"


def _meaning(part: Schema) -> str:
    """Its documentation, with the names that JSON has."""
    text = str(part.get("description", ""))
    return " ".join(text.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`").split())
