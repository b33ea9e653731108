"""All registered names by kind. `fullpipe list` lists the names, and `fullpipe show` explains one name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from fullpipe.scenario import catalogue

if TYPE_CHECKING:
    from fullpipe.analysis.metrics.measure import LinkMeasure, Measure
    from fullpipe.runs import Table


class Kind(StrEnum):
    """Kinds of names."""

    ccas = "ccas"
    queues = "queues"
    losses = "losses"
    impairments = "impairments"
    media = "media"
    workloads = "workloads"
    metrics = "metrics"
    scenarios = "scenarios"
    papers = "papers"
    flent_tests = "flent-tests"
    engines = "engines"
    tables = "tables"


@dataclass(frozen=True)
class Preset:
    """A named set of values for the parameters of an algorithm."""

    name: str
    algorithms: Mapping[str, Mapping[str, Any]]
    """The algorithms that have a preset of this name, each with its values."""


def workloads() -> dict[str, catalogue.Entry]:
    """The workloads. The parameters of a workload are its keys in a scenario file."""
    from fullpipe.scenario.model.workloads import workload_models  # imported here, as it is slow

    return {kind: _workload(kind) for kind in workload_models()}


def _workload(kind: str) -> catalogue.Entry:
    from fullpipe.scenario.documented import default_of, documented
    from fullpipe.scenario.model.workloads import workload_models

    model = workload_models()[kind]
    fields = {field.serialization_alias or name: field for name, field in documented(model).items()}
    params = {
        key: catalogue.Param(
            key, None if field.is_required() else default_of(field), "", field.description or ""
        )
        for key, field in fields.items()
        if key != "kind"
    }
    title = " ".join((model.__doc__ or "").partition("\n\n")[0].split())
    return catalogue.Entry(kind, title, "", (), params)


def metrics() -> dict[str, Measure | LinkMeasure]:
    """The metrics of flows and links."""
    from fullpipe.analysis.metrics import BY_NAME  # imported here, as other kinds need no metrics

    return dict(BY_NAME)


def tables() -> Mapping[str, Table]:
    """The tables of a run."""
    from fullpipe.runs import TABLES  # imported here, as other kinds need no tables

    return TABLES


def presets() -> dict[str, Preset]:
    """The presets of all algorithms."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for algorithm, entry in catalogue.controllers().items():
        for name, values in entry.presets.items():
            found.setdefault(name, {})[algorithm] = values
    return {name: Preset(name, algorithms) for name, algorithms in found.items()}


@cache
def scenarios() -> Mapping[str, str]:
    """The bundled scenarios by name, each with a line such as "2 x cubic, 30 s"."""
    from fullpipe.scenario.read import dotted, files  # imported here, as other kinds need no scenarios

    def tree(name: str) -> dict[str, Any]:
        return dotted.resolved(files.parse_toml(files.named_text(name)), files.folder_of_names())

    return {name: _in_short(tree(name)) for name in files.scenario_names()}


def papers() -> dict[str, str]:
    """The titles of the studies, by name."""
    from fullpipe import studies  # imported here, as it doubles the import time

    return {name: studies.title(name) for name in studies.names()}


def flent_tests() -> dict[str, str]:
    """The titles of Flent's tests, by name."""
    from fullpipe.scenario.flent.build import TESTS  # imported here, as other kinds need no tests

    return {name: test.title for name, test in TESTS.items()}


def engines() -> dict[str, str]:
    """The engines by name, each with one line."""
    from fullpipe.engines import engine, names  # imported here, as it is slow to import

    return {name: (type(engine(name)).__doc__ or "").strip().partition("\n")[0] for name in names()}


KINDS: Mapping[Kind, Callable[[], Mapping[str, Any]]] = {
    Kind.ccas: catalogue.controllers,
    Kind.queues: catalogue.queues,
    **{kind: partial(catalogue.family, kind.value) for kind in (Kind.losses, Kind.impairments, Kind.media)},
    Kind.workloads: workloads,
    Kind.metrics: metrics,
    Kind.scenarios: scenarios,
    Kind.papers: papers,
    Kind.flent_tests: flent_tests,
    Kind.engines: engines,
    Kind.tables: tables,
}
"""For each kind, the function that returns its entries by name."""


def called(name: str) -> dict[str, Any]:
    """All registered things called `name`, except scenarios, by family."""
    from fullpipe import studies
    from fullpipe.scenario.model.workloads import workload_models

    # Only the named workload and study are read, as reading all workloads and studies takes far longer.
    families: dict[str, Mapping[str, Any]] = {
        "workloads": {name: _workload(name)} if name in workload_models() else {},
        **{family: {name: entry} for family, entry in catalogue.entries(name).items()},
        "metrics": metrics(),
        "tables": tables(),
        "presets": presets(),
        "papers": {name: studies.title(name)} if name in studies.names() else {},
        "engines": engines(),
    }
    found = {family: known[name] for family, known in families.items() if name in known}
    # Names of fullpipe, such as `voip`, take precedence over tests of Flent with the same name.
    tests = {} if found else flent_tests()
    return {"flent-tests": tests[name]} if name in tests else found


def known_names() -> list[str]:
    """Every name that `show` explains."""
    of_registry = [name for family in catalogue.families() for name in catalogue.family(family)]
    others = (scenarios, workloads, metrics, tables, presets, papers, flent_tests, engines)
    return list(dict.fromkeys([*of_registry, *(name for names in others for name in names())]))


def _in_short(tree: Mapping[str, Any]) -> str:
    """One line on a bundled scenario, read from its TOML. Building the scenario would take longer."""
    from fullpipe.scenario.quantities import DURATION, NANOSECONDS
    from fullpipe.scenario.read import dotted

    flows = " + ".join(f"{flow.get('count', 1)} x {_described(flow)}" for flow in tree["flows"])
    sweep = f", {len(list(dotted.points(tree['sweep'])))} points" if tree.get("sweep") else ""
    return f"{flows}, {DURATION.parse(tree['duration']) / NANOSECONDS:g} s{sweep}"


def _described(flow: Mapping[str, Any]) -> str:
    """The name of a flow's algorithm, or of its workload if the flow has no algorithm."""
    kind = flow.get("cca") or flow.get("workload", "")
    name = kind if isinstance(kind, str) else kind["kind"]
    return catalogue.controller(name).name if "cca" in flow else name
