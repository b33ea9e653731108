"""The commands that a new user types: `init` and `demo`."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Scenario
from fullpipe.cli import app
from fullpipe.cli.init import first_text
from fullpipe.scenario.flent.build import LINES, path_of

KEYS = [line for line in first_text("x").splitlines() if re.match(r"#[a-z]\w* = ", line)]


def test_init_writes_a_scenario_that_runs_and_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(app, ["init", "my line.toml"])
    assert made.exit_code == 0, made.output
    text = Path("my line.toml").read_text(encoding="utf-8")
    assert text.startswith("#:schema ./fullpipe.schema.json\n")
    schema = json.loads(Path("fullpipe.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(tomllib.loads(text), schema, jsonschema.Draft7Validator)
    assert Scenario.from_file("my line.toml").name == "my line"
    ran = CliRunner().invoke(app, ["run", "my line.toml", "--set", "duration=6s", "--no-store"])
    assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize("line", KEYS)
def test_every_key_that_is_commented_out_may_be_used_as_it_stands(line: str) -> None:
    text = first_text("x").replace(f"\n{line}\n", f"\n{line[1:]}\n")
    assert Scenario.from_toml(text) != Scenario.from_toml(first_text("x"))


def test_tables_that_are_commented_out_may_be_used_as_they_stand() -> None:
    assert len(KEYS) > 12
    text = re.sub(r"^#(?=[a-z\[\"])", "", first_text("x"), flags=re.MULTILINE)
    made = Scenario.from_toml(text)
    assert len(made.points()) == 3
    assert made.to_dict()["topology"]["reverse"]["rate"] == "10 Mbit/s"


def test_init_leaves_a_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "there.toml"
    file.write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(app, ["init", str(file)])
    assert refused.exit_code == 2
    assert "exists already" in refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]
    assert file.read_text(encoding="utf-8") == "mine"


def test_init_knows_its_lines(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["init", str(tmp_path / "mine.toml"), "--path", "cabel"])
    assert refused.exit_code == 2
    assert 'unknown line "cabel"; did you mean "cable"?' in refused.output
    assert not list(tmp_path.iterdir())


def test_init_writes_toml_only(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["init", str(tmp_path / "scenario.json")])
    assert refused.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_init_without_a_schema_names_none(tmp_path: Path) -> None:
    file = tmp_path / "a*b.toml"
    assert CliRunner().invoke(app, ["init", str(file), "--no-schema"]).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert "#:schema" not in file.read_text(encoding="utf-8")
    assert Scenario.from_file(file).name == "a-b"


@pytest.mark.parametrize("line", LINES)
def test_init_begins_with_the_line_of_a_home(tmp_path: Path, line: str) -> None:
    file = tmp_path / "mine.toml"
    assert CliRunner().invoke(app, ["init", str(file), "--path", line]).exit_code == 0
    scenario = Scenario.from_file(file)
    assert scenario.name == "mine"
    assert path_of(scenario).parts == path_of(Scenario.named(line)).parts
    assert file.read_text().startswith("#:schema ./")


def test_the_demo_draws_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(app, ["demo"])
    assert made.exit_code == 0, made.output
    width, height = struct.unpack(">II", Path("demo.png").read_bytes()[16:24])
    assert width > 500 < 2 * height
    said = {kind: float(ms) for kind, ms in re.findall(r"(\w+) +ping +(\d+) ms", made.output)}
    assert said["drop_tail"] > 5 * said["fq_codel"] > 5 * 30
    drawn = pl.read_csv("demo.csv").drop_nulls()
    means = {str(key[0]): group["value"].mean() for key, group in drawn.group_by("run")}
    assert means == pytest.approx(said, rel=0.1)
    for command in re.findall(r"^  (fullpipe .*?)  ", made.output, flags=re.MULTILINE):
        next_one = CliRunner().invoke(app, command.split()[1:])
        assert next_one.exit_code == 0, next_one.output


def test_the_demo_takes_little_of_the_processor(tmp_path: Path) -> None:
    program = (
        "import sys, time; sys.argv = ['fullpipe', 'demo']\n"
        "from fullpipe.cli import main\n"
        "try: main()\n"
        "finally: print(time.process_time(), file=sys.stderr)"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert float(made.stderr.split()[-1]) < 6  # 1.7 on a processor that has nothing else to do
