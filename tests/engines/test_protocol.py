"""Every engine of the registry keeps to the protocol, and the commands tell what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from fullpipe import engines
from fullpipe.errors import UnknownNameError
from fullpipe.runs import TABLES
from fullpipe.scenario import Scenario, catalogue
from fullpipe.scenario.model.workloads import workload_models

Cli = Callable[..., Any]


@pytest.mark.parametrize("name", engines.names())
def test_an_engine_has_the_name_under_which_it_is_found(name: str) -> None:
    assert engines.engine(name).name == name


@pytest.mark.parametrize("name", engines.names())
def test_what_it_does_not_measure_are_columns_or_tables_of_the_schema(name: str) -> None:
    known = {f"{table}.{column.name}" for table, described in TABLES.items() for column in described.columns}
    assert engines.engine(name).capabilities().not_measured <= known | set(TABLES)


@pytest.mark.parametrize("name", engines.names())
def test_what_it_has_goes_by_our_names(name: str) -> None:
    can = engines.engine(name).capabilities()
    assert can.ccas <= set(catalogue.controllers())
    assert can.queues <= set(catalogue.queues())
    assert can.losses <= set(catalogue.family("losses"))
    assert can.impairments <= set(catalogue.family("impairments"))
    assert can.media <= set(catalogue.family("media"))
    assert can.workloads <= workload_models().keys()


@pytest.mark.parametrize("name", engines.names())
def test_what_it_lacks_comes_with_what_to_do(name: str) -> None:
    lacks = [requirement for requirement in engines.engine(name).doctor() if requirement.is_missing]
    assert all(requirement.remedy for requirement in lacks)


@pytest.mark.parametrize("name", engines.names())
def test_an_engine_that_lacks_something_says_so_of_every_scenario(name: str) -> None:
    engine = engines.engine(name)
    told = {str(problem) for problem in engine.check(Scenario.named("single-reno"))}
    assert {str(problem) for problem in engines.missing(engine)} <= told


def test_an_unknown_engine_is_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(UnknownNameError, match="native"):
        engines.engine("omnet")


def test_doctor_says_of_every_engine_whether_it_can_run(fullpipe: Cli) -> None:
    found = json.loads(fullpipe("doctor", "--json").stdout)
    assert {name: engine["ready"] for name, engine in found.items()} == {
        name: not engines.missing(engines.engine(name)) for name in engines.names()
    }


def test_doctor_speaks_to_people(fullpipe: Cli) -> None:
    assert "native: ready" in fullpipe("doctor").stdout


def test_engines_are_listed_as_make_looks_for_them(fullpipe: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    told = fullpipe("engines", "list").stdout
    assert re.search("^native *ready", told, re.MULTILINE)
    assert fullpipe("list", "engines").stdout == told


def test_engines_are_listed_for_programs(fullpipe: Cli) -> None:
    told = fullpipe("engines", "list", "--json").stdout
    found = json.loads(told)
    assert found["native"]["ready"]
    assert list(found) == list(engines.names())
    assert fullpipe("list", "engines", "--json").stdout == told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["native"], "native needs no installation"),
        (["linux", "--rootfs", "."], "--rootfs: . is not a file"),
        (["linux", "--kernel", "missing"], "--kernel: missing is not a file"),
        (["linux", "--source", "missing"], "--source: missing is not a folder"),
        (["linux", "--version", "6.1", "--source", "."], "--version and --source both choose the kernel"),
        (["linux", "--rootfs", __file__], f"{__file__}: has no guest-"),
        (["ns3", "--source", "."], "ns3 has no option --source; it has --version"),
        (["ns3", "--unverified"], "ns3 has no option --unverified; it has --version"),
        (["ns3", "--insecure"], "ns3 has no option --insecure; it has --version"),
    ],
)
def test_what_makes_no_sense_to_install_is_misuse(fullpipe: Cli, options: list[str], told: str) -> None:
    result = fullpipe("engines", "install", *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert result.stderr.startswith(f"fullpipe: {told}")


@pytest.mark.parametrize(("profile", "told"), [("release", []), ("dev", ["fast build"])])
def test_doctor_says_that_a_build_is_not_the_fast_one(
    profile: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.engines.native.PROFILE", profile)
    found = engines.engine("native").doctor()
    lacking = [requirement for requirement in found if not requirement.present]
    assert [requirement.what for requirement in lacking] == told
    assert all("make build PROFILE=release" in requirement.detail for requirement in lacking)
    assert not any(requirement.is_missing for requirement in lacking)
