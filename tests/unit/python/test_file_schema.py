"""The JSON Schema of scenario files: what it refuses is no scenario, and mistakes that it should mark."""

from __future__ import annotations

import inspect
import json
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from typer.testing import CliRunner

from fullpipe import Scenario, ScenarioError
from fullpipe.cli import app
from fullpipe.scenario import scenario_names
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.quantities import DURATION, RATE, SIZE
from fullpipe.scenario.read.files import named_text
from fullpipe.scenario.schema import file_schema, spellings
from tests.strategies import ANY, scenarios

ROOT = Path(__file__).resolve().parent.parent.parent.parent
SCHEMA = file_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
BASE = named_text("single-bbr1")


def problems(text: str) -> list[str]:
    """Where the schema refuses a file."""
    return [error.json_path for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_that_comes_with_it_conforms(name: str) -> None:
    assert problems(named_text(name)) == []
    assert problems(Scenario.named(name).to_toml()) == []


def examples() -> Iterator[str]:
    """Scenarios of the documentation."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        blocks = page.read_text(encoding="utf-8").split("```toml\n")[1:]
        yield from (text for text in (block.split("```")[0] for block in blocks) if "[topology]" in text)


def test_every_scenario_of_the_documentation_conforms() -> None:
    found = list(examples())
    assert len(found) > 5
    assert [(text, wrong) for text in found if (wrong := problems(text))] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"bbr1"', '"cubik"'),
        ('"bbr1"', '{ kind = "cubic", beta = 2 }'),
        ('"bbr1"', '{ kind = "cubic", gamma = 1 }'),
        ("duration", "durations"),
        ('"30 s"', "30"),
        ('"30 s"', '"30 sec"'),
        ('"20 Mbit/s"', '"20 Mbps"'),
        ('size = "1 bdp"', 'sise = "1 bdp"'),
        ('size = "1 bdp"', "packets = 0"),
        ('"drop_tail"', '"codell"'),
        ('kind = "dumbbell"', ""),
        ('name = "single-bbr1"', ""),
        ('cca = "bbr1"', 'cca = "bbr1"\ndscp = "efx"'),
        ('cca = "bbr1"', 'cca = "bbr1"\ncount = "two"'),
        ('cca = "bbr1"', 'cca = "bbr1"\nworkload = { kind = "poisson", interval = "1 s" }'),
    ],
)
def test_a_mistake_is_refused_by_the_schema_and_by_the_scenario(before: str, after: str) -> None:
    text = BASE.replace(before, after, 1)
    assert text != BASE
    assert problems(text)
    with pytest.raises(ScenarioError):
        Scenario.from_toml(text)


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ('"20 Mbit/s"', '"20 Mbps"', "$.topology.bottleneck.rate"),
        ('size = "1 bdp"', "packets = 0", "$.topology.bottleneck.queue"),
        ('cca = "bbr1"', 'cca = "bbr1"\nworkload = { kind = "cbr", rate = 5 }', "$.flows[0].workload"),
    ],
)
def test_a_mistake_is_marked_where_it_is(before: str, after: str, where: str) -> None:
    assert set(problems(BASE.replace(before, after, 1))) == {where}


@pytest.mark.parametrize(
    "more",
    [
        'cca = "python:mine:Reno"',
        'cca = { kind = "library:mine.so:x", gain = 2 }',
        'cca = "bbr1"\ndscp = "ef"',
        'cca = "bbr1"\nworkload = "web"',
        'cca = "bbr1"\nworkload = { kind = "poisson", sizes = "20 kB", interval = "1 s" }',
        'cca = "bbr1"\nworkload = { kind = "web", objects = 3, think = "1 s" }',
    ],
)
def test_short_forms_are_known(more: str) -> None:
    assert problems(BASE.replace('cca = "bbr1"', more)) == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('base = "kato2025"\n[topology.bottleneck]\nrate = "1 Gbit/s"', False),
        ('base = "kato2025"\n[topology.bottleneck]\nrates = "1 Gbit/s"', True),
        ('base = "kato2025"\n[set]\n"flows.0.cca" = "bbr3"', False),
        ('base = "kato2025"\n[[flows]]\ncca = "bbr3"', False),
        ('base = "kato2025"\n[[flows]]\ncaa = "bbr3"', True),
    ],
)
def test_what_is_laid_over_a_base_may_lack_keys_but_has_no_others(text: str, refused: bool) -> None:
    assert bool(problems(text)) == refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where drawn traces and losses are written."""
    return tmp_path_factory.mktemp("drawn")


@settings(max_examples=40)
@given(data=st.data())
def test_whatever_is_a_scenario_conforms(data: st.DataObject, folder: Path) -> None:
    tree = data.draw(scenarios(ANY, folder))
    try:
        Scenario(**tree)
    except ScenarioError:
        reject()
    found = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(tree)]
    assert found == []


def models_within(annotation: Any, seen: set[type[BaseModel]] | None = None) -> set[type[BaseModel]]:
    """Every model that a type refers to."""
    seen = set() if seen is None else seen
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        seen.add(annotation)
        for field in annotation.model_fields.values():
            models_within(field.annotation, seen)
    for part in get_args(annotation):
        models_within(part, seen)
    return seen


def definitions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table of the schema with its properties."""
    for name, one in SCHEMA["definitions"].items():
        if "properties" in one:
            yield name, one["properties"]


def test_every_key_of_every_model_is_there_with_its_meaning() -> None:
    tables = {name: one for name, one in definitions() if not name.endswith("Part")}
    described = [one.get("description") for one in SCHEMA["definitions"].values()]
    for model in models_within(ScenarioModel):
        found = [keys for name, keys in tables.items() if name.endswith(model.__name__)]
        for name, field in documented(model).items():
            if found:  # what is chosen from a catalogue has a table per entry
                assert all(any(key in keys for keys in found) for key in spellings(name, field))
        assert (model.__doc__ or "").split("\n")[0] in "\n".join(filter(None, described))


def test_threads_read_the_meanings_of_keys_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 fails if two parse at once."""
    inside, most = 0, 0

    def source(_: type) -> str:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.005)
        inside -= 1
        return "class Read:\n    one: int\n    'Its meaning.'"

    monkeypatch.setattr(inspect, "getsource", source)
    classes = [type(f"Read{number}", (BaseModel,), {}) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(documented, classes))
    assert most == 1


def test_a_key_says_its_meaning_default_and_unit() -> None:
    start = SCHEMA["definitions"]["Flow"]["properties"]["start"]
    assert (start["default"], start["x-quantity"]) == ("0 s", "duration")
    assert start["description"].startswith("Time at which the flow starts")
    mss = SCHEMA["definitions"]["Tcp"]["properties"]["mss"]
    assert (mss["default"], mss["x-limits"]) == ("1448 B", "at least 1 B and at most 9 kB")


@pytest.mark.parametrize("dimension", [DURATION, RATE, SIZE])
def test_patterns_take_every_unit_that_is_read(dimension: Any) -> None:
    patterns = (one for _, keys in definitions() for one in keys.values())
    schema = next(one for one in patterns if one.get("x-quantity") == dimension.noun)
    validator = jsonschema.Draft7Validator(schema)
    for unit in dimension.units:
        for number in ("1", "4 ", "+2e1", "10.0 "):
            assert dimension.parse(f"{number}{unit}")
            assert validator.is_valid(f"{number}{unit}")
    for text in ("1", f"-1 {unit}", f"1 {unit}x", "", "1e9999 s"):
        assert not validator.is_valid(text)


def test_the_command_prints_it_and_writes_it(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["schema"])
    assert json.loads(printed.stdout) == SCHEMA
    file = tmp_path / "s.json"
    assert CliRunner().invoke(app, ["schema", "-o", str(file)]).stdout.strip() == str(file)
    assert json.loads(file.read_text(encoding="utf-8")) == SCHEMA
