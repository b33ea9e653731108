"""The protocol of engines: what one supports, what it refuses, and how it runs a scenario into tables."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from fullpipe.algorithms import own
from fullpipe.errors import EngineError, InstallOptionError, brief
from fullpipe.runs import meta
from fullpipe.runs.meta import ENGINE, EngineId, Meta, host, versions
from fullpipe.scenario.model.scenario import ENGINE_OPTIONS
from fullpipe.scenario.remembered import Remembered, own_algorithms_of
from fullpipe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from fullpipe.runs import Run

Progress = Callable[[float], None]
"""Told the simulated time reached, in seconds. May raise, which stops the run."""

_digests = Remembered[dict[frozenset[str], str]](lambda _: {})
"""By the options of other engines that one reads."""
_named = Remembered(Scenario.to_dict)
_metas = Remembered[dict[tuple[EngineId, frozenset[str]], Meta]](lambda _: {})
"""Keys: the engine and the columns that it does not measure."""

Say = Callable[[str], None]
"""Told in one line what an installation does."""


@dataclass(frozen=True)
class Problem:
    """Why an engine cannot run a scenario, and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Capabilities:
    """What an engine has, by its names in the registry, and what it measures. `lacking` refuses the rest."""

    ccas: frozenset[str]
    queues: frozenset[str]
    losses: frozenset[str] = frozenset()
    impairments: frozenset[str] = frozenset()
    media: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset({"bulk"})
    """By their `kind` in scenarios."""
    route_policies: frozenset[str] = frozenset()
    """Of controllers of routes."""
    own_algorithms: bool = False
    """Whether algorithms written in Python run."""
    ends_tcp: bool = False
    """Whether hosts between the ends of a flow may end its connection."""
    not_measured: frozenset[str] = frozenset()
    """Columns that stay null, as "table.column"; a whole table that stays empty, as "table"."""


@dataclass(frozen=True)
class Requirement:
    """One thing that an engine needs on this machine: whether it is there, and what to do if it is not."""

    what: str
    present: bool
    detail: str
    """What was found, or what is missing."""
    remedy: str = ""
    """What to do; empty if there is nothing to do."""
    needed: bool = True
    """Whether the engine cannot run without it."""

    @property
    def is_missing(self) -> bool:
        """The engine cannot run, for want of it."""
        return self.needed and not self.present


@dataclass(frozen=True)
class InstallOptions:
    """What an installation is asked for. An engine refuses what it does not know."""

    version: str | None = None
    """Of what the engine is built from."""
    source: Path | None = None
    """A source tree to build from."""
    kernel: Path | None = None
    """A ready kernel."""
    rootfs: Path | None = None
    """A ready root file system."""
    insecure: bool = False
    """Fetch over plain http."""
    unverified: bool = False
    """Trust the mirror: build what cannot be verified."""
    jobs: int = 1
    """Compilers at the same time."""
    radios: bool = False
    """Build what radios need, too."""

    @property
    def chosen(self) -> list[str]:
        """The names of those that were given, but for `jobs`."""
        keys = ("version", "source", "kernel", "rootfs", "insecure", "unverified", "radios")
        return [key for key in keys if getattr(self, key) not in (None, False)]

    def not_among(self, *known: str) -> list[str]:
        """What is asked for that is not among `known`."""
        return [key for key in self.chosen if key not in known]

    def check(self) -> None:
        """Refuse what no engine can do.

        Raises:
            InstallOptionError: If a file or a folder is not there, or a ready kernel is to be built as well.
        """
        for key, path in (("kernel", self.kernel), ("rootfs", self.rootfs)):
            if path is not None and not path.is_file():
                raise InstallOptionError(f"--{key}: {path} is not a file")
        if self.source is not None and not self.source.is_dir():
            raise InstallOptionError(f"--source: {self.source} is not a folder")
        kernels = [key for key in self.chosen if key in ("version", "source", "kernel")]
        if len(kernels) > 1:
            raise InstallOptionError(
                f"--{kernels[0]} and --{kernels[1]} both say which kernel; give one of the two"
            )
        if self.radios and self.kernel is not None:
            raise InstallOptionError(
                "--radios: a ready kernel has radios or has none; leave out one of the two"
            )


class Engine(Protocol):
    """Runs scenarios. It refuses loudly what it cannot model, and never approximates in silence."""

    name: ClassVar[str]

    def version(self) -> str:
        """Version of the engine's code."""
        ...

    def model_version(self) -> str:
        """Changes whenever results may."""
        ...

    def capabilities(self) -> Capabilities:
        """What it knows and measures."""
        ...

    def doctor(self) -> list[Requirement]:
        """What it needs on this machine, there or not."""
        ...

    def check(self, scenario: Scenario) -> list[Problem]:
        """Every reason why it cannot run a scenario here; empty if it can."""
        ...

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep.

        Raises:
            EngineError: If it cannot, or fails.
        """
        ...


@runtime_checkable
class Installable(Protocol):
    """An engine that has to be installed, with `fullpipe engines install`."""

    def install(self, options: InstallOptions, say: Say) -> Engine | None:
        """Install it, or continue an installation that was interrupted.

        Returns:
            The engine that is ready now, if a version was asked for that goes by another name.

        Raises:
            InstallOptionError: If there is not what was asked for.
            EngineError: If it cannot, with what to do.
        """
        ...


def missing(engine: Engine) -> list[Problem]:
    """What an engine needs and this machine does not have, as reasons why it runs nothing here."""
    absent = [requirement for requirement in engine.doctor() if requirement.is_missing]
    return [Problem("", "; ".join(filter(None, (f"{f.what}: {f.detail}", f.remedy)))) for f in absent]


def identity(engine: Engine, scenario: Scenario) -> EngineId:
    """What results depend on apart from scenario and seed: the code, that of own algorithms included.

    Raises:
        EngineError: If the name of the engine cannot be that of a folder.
    """
    kinds = [kind for kind in own_algorithms_of(scenario) if own.is_known(kind)]
    code = " ".join(own.fingerprint(kind) for kind in kinds)
    return _engine_id(engine.name, engine.version(), engine.model_version(), code)


def _files(scenario: Scenario) -> dict[str, str]:
    """Return the SHA-256 of every file that results depend on besides the scenario, by its name."""
    found: dict[str, str] = {}
    for kind in own_algorithms_of(scenario):
        found |= own.digests(kind) if own.is_known(kind) else {}
    return found | (scenario.recordings() if _names_a_file(_named(scenario)) else {})


def _names_a_file(tree: object) -> bool:
    """Whether a table has the key `file`; most scenarios have none, and are not written for that."""
    if isinstance(tree, dict):
        return "file" in tree or any(map(_names_a_file, tree.values()))
    return isinstance(tree, list) and any(map(_names_a_file, tree))


@lru_cache
def _engine_id(name: str, version: str, model_version: str, code: str) -> EngineId:
    """The same object for all runs of a sweep."""
    if not re.fullmatch(ENGINE, name):
        raise EngineError(f'engine "{brief(name)}": a name has letters, digits, "_", "-" and "." only')
    return EngineId(name=name, version=version, model_version=model_version, code=code)


def digest_of(engine: Engine, scenario: Scenario) -> str:
    """What stands for all that an engine reads of a scenario. Runs are stored below `place_of`.

    It is the digest of the scenario without the options of other engines. Of `ENGINE_OPTIONS` an engine reads
    those that its `own_options` names; one without that attribute reads none.
    """
    own: frozenset[str] = getattr(engine, "own_options", frozenset())
    digests = _digests(scenario)
    if own not in digests:
        digests[own] = scenario.digest_without(ENGINE_OPTIONS - own)
    return digests[own]


def place_of(engine: Engine, scenario: Scenario) -> str:
    """The folder below a store of what an engine makes of a scenario: see `meta.place_of`."""
    code = identity(engine, scenario).code
    return meta.place_of(digest_of(engine, scenario), code, _files(scenario) if code else {})


class Stopwatch:
    """When a run began, and how long it has taken."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self._began_s = time.perf_counter()

    @property
    def wall_s(self) -> float:
        """Time since then."""
        return time.perf_counter() - self._began_s


def not_measured(measured: Mapping[str, str]) -> frozenset[str]:
    """The rest of the schema, given the columns that an engine measures of each table, parted by spaces.

    A column that is new in the schema is in it until an engine says that it measures it.
    """
    from fullpipe.runs import TABLES  # here: only engines that do not measure everything ask

    rest = set(TABLES) - set(measured)
    for name, columns in measured.items():
        rest |= {f"{name}.{column}" for column in set(TABLES[name].names) - set(columns.split())}
    return frozenset(rest)


def _not_measured(engine: Engine) -> frozenset[str]:
    """The columns that an engine does not measure: its attribute of that name, for which not all capabilities
    have to be known, or else what these say."""
    known = getattr(engine, "not_measured", None)
    return engine.capabilities().not_measured if known is None else frozenset(known)


def origin(
    engine: Engine,
    scenario: Scenario,
    seed: int,
    took: Stopwatch,
    *,
    cpu_s: float,
    data_packets: int,
    hops: int,
    otherwise: Mapping[str, str] | None = None,
    remarks: Iterable[str] = (),
) -> Meta:
    """Return the origin of a finished run; `hops` are packets times the links that they crossed."""
    shared = _shared(engine, scenario)
    # Numbers may be numpy's, and a copy is not checked. Of a dictionary each run has its own.
    of_run = {
        "scenario": dict(shared.scenario),
        "files": dict(shared.files),
        "seed": index(seed),
        "point": {},
        "wall_s": took.wall_s,
        "cpu_s": float(cpu_s),
        "data_packets": index(data_packets),
        "packet_hops": index(hops),
        "otherwise": dict(otherwise or {}),
        "remarks": tuple(remarks),
        "started": took.started,
        "host": dict(shared.host),
        "versions": dict(shared.versions),
    }
    return shared.model_copy(update=of_run)


def _shared(engine: Engine, scenario: Scenario) -> Meta:
    """Return the origin that runs of a scenario by an engine share; seed, times and packets are 0."""
    from fullpipe.runs.schema import SCHEMA_VERSION  # here: a scenario is checked without tables

    known, who = _metas(scenario), identity(engine, scenario)
    not_measured = _not_measured(engine)
    if (who, not_measured) not in known:
        known[who, not_measured] = Meta(
            schema_version=SCHEMA_VERSION,
            scenario=_named(scenario),
            digest=digest_of(engine, scenario),
            engine=who,
            files=_files(scenario),
            seed=0,
            duration_s=scenario.duration_s,
            wall_s=0.0,
            cpu_s=0.0,
            data_packets=0,
            packet_hops=0,
            not_measured=tuple(sorted(not_measured)),
            started="",
            host=host(),
            versions=versions(),
        )
    return known[who, not_measured]
