"""The reference of scenario files: one annotated file, and every key with type, default and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.markdown_table import table

Schema = Mapping[str, Any]
_NAMES = {"ScenarioModel": "Scenario"}
_PLURALS = {"integer": "whole numbers", "number": "numbers", "string": "texts", "object": "tables"}
_SINGULAR = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "object": "table",
    "array": "list",
}
_ELSEWHERE = {
    "Cca": "The names, and the parameters of each, are on the page of [algorithms](algorithms.md).",
    "Discipline": "The names, and the parameters of each, are on the page of [queues](queues.md).",
}


def scenario_page() -> str:
    """Every key of a scenario file, from the schema that editors read."""
    from fullpipe.cli.init import first_text
    from fullpipe.scenario.schema import file_schema

    definitions = {
        name: one for name, one in file_schema()["definitions"].items() if not name.endswith("Part")
    }
    parts = [
        "# Scenario file",
        'A scenario is a TOML file. Quantities are text with a unit (`"100 Mbit/s"`, `"20 ms"`, `"64 KiB"`, '
        '`"1 bdp"`); a bare number is refused, and so is an unknown key. Begin with a file of your own, '
        "`fullpipe init my.toml`, or with one that comes with it, `fullpipe show kato2025 > my.toml`.",
        "Editors complete and check all this by a JSON Schema: `fullpipe init` writes it beside the "
        "scenario, and `fullpipe schema` prints it.",
        "## An annotated file",
        "[A scenario file with every key](annotated-scenario.md) says everything that may be said. "
        f"What `fullpipe init my.toml` writes:\n\n```toml\n{first_text('my')}```",
        "## Units",
        _units(),
    ]
    for name, one in definitions.items():
        parts += [f"## {_NAMES.get(name, name)}", one["description"], _keys(one), _ELSEWHERE.get(name, "")]
        parts += _profiles() if name == "Tcp" else []
    return "\n\n".join(part for part in parts if part)


def _units() -> str:
    from fullpipe.scenario.quantities import DURATION, RATE, SIZE

    rows = [[one.noun, " ".join(f"`{unit}`" for unit in one.units)] for one in (DURATION, RATE, SIZE)]
    rows.append(["relative size", "`bdp`: rate times base RTT of what it belongs to"])
    rows.append(["ratio", "`dB`"])
    return table(["quantity", "units"], rows)


def _keys(definition: Schema) -> str:
    """A row per key; for a choice from a catalogue, only the keys that all entries have."""
    if "properties" not in definition:
        return ""
    required = {key for one in definition.get("allOf", ()) for key in _all_required(one)}
    rows = [[f"`{key}`", *_row(one, key in required)] for key, one in definition["properties"].items()]
    return table(["key", "type", "default", "meaning"], rows)


def _row(one: Schema, required: bool) -> list[str]:
    default = "required" if required else _code(one["default"]) if "default" in one else ""
    alternatives = [one] if "description" in one else one.get("anyOf", [])
    said = " ".join(part["description"] for part in alternatives if "description" in part)
    examples = one.get("examples") or ()
    shown = f" Example: {_code(examples[0])}." if examples and "x-quantity" not in one else ""
    return [type_of(one), default, said + shown]


def _all_required(one: Schema) -> Iterator[str]:
    yield from one.get("required", ())
    for other in one.get("anyOf", ()):
        yield from _all_required(other)


def type_of(one: Schema, plural: bool = False) -> str:
    """Type of a value in words."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "allOf" in one:
        return ", or ".join(type_of(other.get("then", other), plural) for other in one["allOf"])
    if "anyOf" in one:
        return ", or ".join(dict.fromkeys(type_of(other, plural) for other in one["anyOf"]))
    if "enum" in one:
        return " or ".join(_code(value) for value in one["enum"]) if len(one["enum"]) <= 12 else "a name"
    return _plain(one, plural)


def _plain(one: Schema, plural: bool) -> str:
    if "x-quantity" in one:
        limits = one.get("x-limits")
        return f"{one['x-quantity']}{'s' * plural}" + (f", {limits}" if limits else "")
    if one.get("type") == "array":
        items = one.get("items", {})
        if isinstance(items, list):
            return " and ".join(type_of(item) for item in items) + ", in a list"
        return f"list of {type_of(items, plural=True)}" if items else "list"
    if one.get("pattern"):
        return f"text such as {_code(one['examples'][0])}" if one.get("examples") else "text"
    words = _PLURALS if plural else _SINGULAR
    return words.get(one.get("type", ""), "any value") + _range(one)


def _range(one: Schema) -> str:
    low, high = one.get("minimum", one.get("exclusiveMinimum")), one.get("maximum")
    high = one.get("exclusiveMaximum", high)
    if low is None and high is None:
        return ""
    above, below = ("more than" if "exclusiveMinimum" in one else "at least"), "less than"
    below = below if "exclusiveMaximum" in one else "at most"
    bounds = ((above, low), (below, high))
    said = [f"{words} {bound:,}" for words, bound in bounds if bound is not None]
    return ", " + " and ".join(said)


def _code(value: Any) -> str:
    """The same, as code."""
    return f"`{toml(value)}`"


def toml(value: Any) -> str:
    """A value as TOML has it, on one line."""
    if isinstance(value, Mapping):
        return (
            "{}"
            if not value
            else "{ " + ", ".join(f"{_key(key)} = {toml(one)}" for key, one in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() else json.dumps(key)


def _profiles() -> list[str]:
    """Settings of each profile of hosts, from their declaration; missing keys have their own defaults."""
    from fullpipe.scenario.model.tcp import PROFILES

    names = [name for name, said in PROFILES.items() if said]
    keys = dict.fromkeys(key for name in names for key in PROFILES[name])
    rows = [
        [f"`{key}`", *(_code(PROFILES[name][key]) if key in PROFILES[name] else "" for name in names)]
        for key in keys
    ]
    return [
        "### What a host sets",
        '`host = "linux"` sets nothing. A key beside `host` overrides the value of the host.',
        table(["key", *(f"`{name}`" for name in names)], rows),
        '"ns3-like" is of the transport alone. It does not make BBR like ns-3\'s own, whose rate samples '
        "overestimate, so that it [fills the queue](../how-to/engines.md#fullpipes-algorithms-inside-ns-3).",
    ]
