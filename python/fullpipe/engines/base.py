"""The protocol of engines: capabilities, refusals, and running a scenario into tables."""

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
"""Function that is called with the simulated time reached, in seconds. An exception raised by the function
stops the run."""

_digests = Remembered[dict[frozenset[str], str]](lambda _: {})
"""Digests of a scenario, by the set of engine options (`own_options`) that each digest includes."""
_named = Remembered(Scenario.to_dict)
_metas = Remembered[dict[tuple[EngineId, frozenset[str]], Meta]](lambda _: {})
"""Shared metadata of runs, by engine and the columns that the engine does not measure."""

Say = Callable[[str], None]
"""Function that is called with one line of text per step of an installation."""


@dataclass(frozen=True)
class Problem:
    """A reason why an engine cannot run a scenario, with a remedy."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Capabilities:
    """Registry entries that an engine supports, and columns that it measures.

    The function `lacking` refuses scenarios with any other registry entry.
    """

    ccas: frozenset[str]
    queues: frozenset[str]
    losses: frozenset[str] = frozenset()
    impairments: frozenset[str] = frozenset()
    media: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset({"bulk"})
    """Kinds of workloads (`kind` in scenarios)."""
    route_policies: frozenset[str] = frozenset()
    """Policies of route controllers."""
    own_algorithms: bool = False
    """Whether the engine runs algorithms of users, in Python or in shared libraries."""
    ends_tcp: bool = False
    """Whether the engine supports hosts that split the TCP connection of a flow into two, like a proxy."""
    not_measured: frozenset[str] = frozenset()
    """Columns that stay null, as "table.column", and tables that stay empty, as "table"."""


@dataclass(frozen=True)
class Requirement:
    """A requirement of an engine on this machine, with its state and a remedy."""

    what: str
    present: bool
    detail: str
    """Description of the state, such as the version found."""
    remedy: str = ""
    """Action that meets the requirement. Empty if none is needed."""
    needed: bool = True
    """Whether the engine cannot run without this requirement."""

    @property
    def is_missing(self) -> bool:
        """Whether the engine cannot run because this requirement is missing."""
        return self.needed and not self.present


@dataclass(frozen=True)
class InstallOptions:
    """Options of `fullpipe engines install`. An engine refuses options that do not apply to it."""

    version: str | None = None
    """Version of the sources to build."""
    source: Path | None = None
    """Source tree to build from."""
    kernel: Path | None = None
    """Prebuilt kernel."""
    rootfs: Path | None = None
    """Prebuilt root file system."""
    insecure: bool = False
    """Download over plain http."""
    unverified: bool = False
    """Build sources whose signature cannot be verified."""
    jobs: int = 1
    """Parallel compilers."""
    radios: bool = False
    """Build the kernel with its wireless stack and simulated radios."""

    @property
    def chosen(self) -> list[str]:
        """Names of the options that are set, without `jobs`."""
        keys = ("version", "source", "kernel", "rootfs", "insecure", "unverified", "radios")
        return [key for key in keys if getattr(self, key) not in (None, False)]

    def not_among(self, *known: str) -> list[str]:
        """Return the options that have a value and are not in `known`."""
        return [key for key in self.chosen if key not in known]

    def check(self) -> None:
        """Check that files and folders exist, and that options for the kernel do not contradict each other.

        Raises:
            InstallOptionError: If a file or folder does not exist, or two options choose different kernels.
        """
        for key, path in (("kernel", self.kernel), ("rootfs", self.rootfs)):
            if path is not None and not path.is_file():
                raise InstallOptionError(f"--{key}: {path} is not a file")
        if self.source is not None and not self.source.is_dir():
            raise InstallOptionError(f"--source: {self.source} is not a folder")
        kernels = [key for key in self.chosen if key in ("version", "source", "kernel")]
        if len(kernels) > 1:
            raise InstallOptionError(
                f"--{kernels[0]} and --{kernels[1]} both choose the kernel; give only one of the two"
            )
        if self.radios and self.kernel is not None:
            raise InstallOptionError(
                "--radios: radios cannot be added to a kernel that is already built; leave out --radios or"
                " --kernel"
            )


class Engine(Protocol):
    """An engine that runs scenarios. An engine refuses a scenario with a feature that the engine cannot
    model, and never approximates a feature."""

    name: ClassVar[str]

    def version(self) -> str:
        """Return the version of the engine's code."""
        ...

    def model_version(self) -> str:
        """Return the version of the model, which changes whenever results can change."""
        ...

    def capabilities(self) -> Capabilities:
        """Return the supported registry entries and the measured columns."""
        ...

    def doctor(self) -> list[Requirement]:
        """Return the requirements on this machine, present or missing."""
        ...

    def check(self, scenario: Scenario) -> list[Problem]:
        """Return all reasons why the engine cannot run a scenario on this machine; empty if it can."""
        ...

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep.

        Raises:
            EngineError: If the engine cannot run the scenario, or fails.
        """
        ...


@runtime_checkable
class Installable(Protocol):
    """An engine that must be installed, with `fullpipe engines install`."""

    def install(self, options: InstallOptions, say: Say) -> Engine | None:
        """Install the engine, or resume an interrupted installation.

        Returns:
            The installed engine if the requested version is an engine of another name, else None.

        Raises:
            InstallOptionError: If a requested option does not exist or does not apply.
            EngineError: If the installation fails, with the remedy.
        """
        ...


def missing(engine: Engine) -> list[Problem]:
    """Return the missing requirements of an engine, as reasons why the engine cannot run on this machine."""
    absent = [requirement for requirement in engine.doctor() if requirement.is_missing]
    return [Problem("", "; ".join(filter(None, (f"{f.what}: {f.detail}", f.remedy)))) for f in absent]


def identity(engine: Engine, scenario: Scenario) -> EngineId:
    """Return the identity of all code on which results depend: the engine's and that of users' algorithms.

    Raises:
        EngineError: If the name of the engine cannot be the name of a folder.
    """
    kinds = [kind for kind in own_algorithms_of(scenario) if own.is_known(kind)]
    code = " ".join(own.fingerprint(kind) for kind in kinds)
    return _engine_id(engine.name, engine.version(), engine.model_version(), code)


def _files(scenario: Scenario) -> dict[str, str]:
    """Return the SHA-256 of every file on which results depend, besides the scenario, by the file's name."""
    found: dict[str, str] = {}
    for kind in own_algorithms_of(scenario):
        found |= own.digests(kind) if own.is_known(kind) else {}
    return found | (scenario.recordings() if _names_a_file(_named(scenario)) else {})


def _names_a_file(tree: object) -> bool:
    """Whether a table has the key `file` at any depth."""
    if isinstance(tree, dict):
        return "file" in tree or any(map(_names_a_file, tree.values()))
    return isinstance(tree, list) and any(map(_names_a_file, tree))


@lru_cache
def _engine_id(name: str, version: str, model_version: str, code: str) -> EngineId:
    """Return an engine's identity. All runs of a sweep share the returned object."""
    if not re.fullmatch(ENGINE, name):
        raise EngineError(f'engine "{brief(name)}": a name has letters, digits, "_", "-" and "." only')
    return EngineId(name=name, version=version, model_version=model_version, code=code)


def digest_of(engine: Engine, scenario: Scenario) -> str:
    """Return the digest of a scenario without the options of other engines.

    An engine reads the keys of `ENGINE_OPTIONS` that are in its attribute `own_options`; without this
    attribute, it reads no key of `ENGINE_OPTIONS`. Runs are stored in the folder that `place_of` returns.
    """
    own: frozenset[str] = getattr(engine, "own_options", frozenset())
    digests = _digests(scenario)
    if own not in digests:
        digests[own] = scenario.digest_without(ENGINE_OPTIONS - own)
    return digests[own]


def place_of(engine: Engine, scenario: Scenario) -> str:
    """Return the folder, relative to the store, of an engine's runs of a scenario; see `meta.place_of`."""
    code = identity(engine, scenario).code
    return meta.place_of(digest_of(engine, scenario), code, _files(scenario) if code else {})


class Stopwatch:
    """The start and the elapsed real time of a run."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self._began_s = time.perf_counter()

    @property
    def wall_s(self) -> float:
        """Real time since the start."""
        return time.perf_counter() - self._began_s


def not_measured(measured: Mapping[str, str]) -> frozenset[str]:
    """Return the columns and tables of the schema that an engine does not measure.

    Args:
        measured: The measured columns of each table, separated by spaces. New columns of the schema count as
            not measured until an engine adds them to this argument.
    """
    from fullpipe.runs import TABLES  # imported here, as the native engine measures all columns

    rest = set(TABLES) - set(measured)
    for name, columns in measured.items():
        rest |= {f"{name}.{column}" for column in set(TABLES[name].names) - set(columns.split())}
    return frozenset(rest)


def _not_measured(engine: Engine) -> frozenset[str]:
    """Return the columns that an engine does not measure.

    If the engine has the attribute `not_measured`, its other capabilities are not computed.
    """
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
    """Return the metadata of a finished run; `hops` counts every packet once per link that it crossed."""
    shared = _shared(engine, scenario)
    # model_copy does not validate, so NumPy numbers are converted to Python numbers. Each run gets copies of
    # the dictionaries.
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
    """Return the metadata that all runs of a scenario on an engine share, with 0 for the seed, times and
    packets."""
    from fullpipe.runs.schema import SCHEMA_VERSION  # imported here, as checking a scenario needs no tables

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
