"""The scenario: a frozen value that describes an experiment completely, except for its seed."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError, field_validator, model_validator

from fullpipe.algorithms import classes
from fullpipe.errors import ScenarioError, shown
from fullpipe.scenario.checks import problems_of
from fullpipe.scenario.model.base import ProblemsError, are_recorded
from fullpipe.scenario.model.flows import MAX_GROUPS, Flow
from fullpipe.scenario.model.link.impairments import has_renamed_fields, with_digest_names
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.read import dotted, files

_S = TypeVar("_S", bound="Scenario")
_DIGEST_DIGITS = 16
_MOST_PATHS = 3
"""Maximum number of paths that an error on an unknown key names."""


class Scenario(ScenarioModel):
    """An experiment: topology, transport, flows and duration.

    In Python as in TOML, quantities are text with a unit:

    >>> scenario = Scenario(
    ...     name="one flow",
    ...     duration="30 s",
    ...     topology={"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms"}},
    ...     flows=[{"cca": "cubic"}],
    ... )
    >>> scenario.duration_s
    30.0

    Raises:
        ScenarioError: With one line for every mistake.
    """

    def __init__(self, /, **data: Any) -> None:
        files.check_plain(data)
        if dotted.BASE in data or dotted.SET in data:
            data = dotted.resolved(data, Path())
        try:
            super().__init__(**data)
        except ValidationError as error:
            # imported here, as most scenarios have no mistakes
            from fullpipe.scenario.read.problems import problems

            raise ScenarioError(problems(error, type(self))) from None

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a scenario from TOML text.

        Raises:
            ScenarioError: If the text is not TOML or not a scenario.
        """
        return cls(**files.parse_toml(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a scenario from a TOML file of at most 1 MB. Relative paths in the file are resolved from the
        folder of the file.

        Raises:
            ScenarioError: If the file cannot be read or does not hold a scenario.
        """
        tree = files.parse_toml(files.read_text(Path(path)), str(path))
        return cls(**dotted.resolved(tree, Path(path).parent))

    @classmethod
    def named(cls, name: str) -> Self:
        """Return a scenario that ships with fullpipe, by name; `scenario_names()` lists them.

        Raises:
            UnknownNameError: If no such scenario exists.
        """
        scenario: Self = _read_once(cls, files.named_text(name))
        return scenario.model_copy(deep=True)

    def to_toml(self) -> str:
        """Return the scenario as TOML, without unset keys: `from_toml(to_toml(s)) == s`."""
        import tomli_w  # imported here, as most scenarios are never written

        return re.sub(r"[^\n -~]", _escaped, tomli_w.dumps(self.to_dict()))

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """Return this scenario with other values at dotted paths. A new value removes the path from the
        sweep.

        Several paths separated by commas get the same value, as in `[sweep]`.

        >>> Scenario.named("kato2025").with_values({"topology.bottleneck.queue.packets": 500}).sweep
        {}

        Raises:
            ScenarioError: If a path or a value is wrong.
        """
        files.check_plain(values)
        tree = self.to_dict()
        each = [item for key, value in values.items() for item in dotted.each_path(key, value).items()]
        for path, value in each:
            left, at_paths = dotted.pinned(tree.get("sweep", {}), path, value)
            for swept in dotted.paths(left) if path in at_paths else ():
                if dotted.replaces(tree, path, swept):  # the same key in another spelling
                    left, _ = dotted.pinned(left, swept, value)
            tree["sweep"] = left
            for where, what in at_paths.items():
                tree = dotted.replaced(tree, where, what)
        try:
            return type(self)(**tree)
        except ScenarioError as error:
            raise ScenarioError([_with_paths(line, self.to_dict()) for line in error.problems]) from None

    def points(self) -> list[dict[str, Any]]:
        """Return every combination of the values of all axes; one empty combination without a sweep.

        The last axis changes fastest. A point has the value of every swept path and, for an axis with
        variants, the name of the variant.
        """
        return [dict(point.named) for point in dotted.points(self.sweep)]

    def expand(self) -> "list[Self]":
        """Return one scenario without a sweep for each of `points()`, in the same order.

        Raises:
            ScenarioError: If a combination is invalid.
        """
        base = self.model_copy(update={"sweep": {}})
        return [base.with_values(point.values) for point in dotted.points(self.sweep)]

    @property
    def digest(self) -> str:
        """Digest of the simulated values: the first 16 hexadecimal digits of a SHA-256 of the values in base
        units.

        The digest does not cover name, sweep and labels. The spelling of a quantity does not matter: "1
        Gbit/s" equals "1000 Mbit/s".
        """
        return self.digest_without(())

    def digest_without(self, keys: Iterable[str]) -> str:
        """Return the digest without some keys, for an engine that does not read these keys.

        Switches added in later versions are included only if they are on, so that older digests stay valid.
        """
        flows = tuple(flow.model_copy(update=self._settled(flow)) for flow in self.flows)
        record = self.record.model_copy(update={"in_order": self.record.in_order or None})
        settled = self.model_copy(update={"flows": flows, "record": record})
        tree = settled.model_dump(exclude={"name", "sweep", "labels", "tcp", *keys}, exclude_none=True)
        canonical = _canonical(tree)
        if has_renamed_fields(canonical):
            canonical = _canonical(with_digest_names(tree))
        return hashlib.sha256(canonical.encode()).hexdigest()[:_DIGEST_DIGITS]

    def _settled(self, flow: Flow) -> dict[str, Any]:
        """Return the fields of a flow that can be written in several ways, in one canonical form."""
        direction = "reverse" if flow.upload else flow.direction
        tcp = self.tcp_of(flow)
        if tcp.host == "ns3-like" and tcp.timer_tick_s == 0:  # as the profile was before timers had ticks
            tcp = tcp.model_copy(update={"timer_tick_s": None})
        return {"tcp": tcp, "direction": direction, "upload": None}

    def notes(self) -> list[str]:
        """Return notes on valid but probably unintended settings, such as a change after the run's end."""
        from fullpipe.scenario.checks.notes import notes_of  # imported here, as only commands print notes

        return notes_of(self)

    @field_validator("sweep", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        """Replace classes in a sweep by their names. None is refused, as TOML cannot write it."""
        if not isinstance(value, dict):
            return value
        for key, axis in value.items():
            if files.holds_none(axis):
                raise ValueError(f"{shown(key)}: None is not a value; write a value, or leave out the key")
        return _spelt(value)

    @field_validator("flows", mode="before")
    @classmethod
    def _not_too_many(cls, value: object) -> object:
        if isinstance(value, list | tuple) and len(value) > MAX_GROUPS:
            raise ValueError(f"{len(value)} entries are too many, at most {MAX_GROUPS}; use count = 100")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if are_recorded():  # the scenario was checked before its run
            return self
        lines = problems_of(self) or self._of_sweep()
        if lines:
            raise ProblemsError(*lines)
        return self

    def _of_sweep(self) -> list[str]:
        """Return the mistakes of the sweep, at most `MOST_LINES` lines."""
        if not self.sweep:
            return []
        from fullpipe.scenario.checks import sweep_problems  # imported here, as most scenarios have no sweep
        from fullpipe.scenario.read.problems import MOST_LINES

        base = self.model_copy(update={"sweep": {}})
        return list(islice(sweep_problems(self.sweep, base.with_values), MOST_LINES))


def _canonical(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


@cache
def _read_once(cls: type[_S], text: str) -> _S:
    """Read a scenario that ships with fullpipe. The result is cached, as studies use a scenario hundreds of
    times."""
    return cls(**dotted.resolved(files.parse_toml(text), files.folder_of_names()))


def _spelt(value: Any) -> Any:
    """Return plain data with classes replaced by their names."""
    if isinstance(value, dict):
        return {key: _spelt(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_spelt(part) for part in value]
    return classes.name(value) if isinstance(value, type) else value


def _with_paths(problem: str, tree: Mapping[str, Any]) -> str:
    """A line on a mistake; if the key is unknown, such as "cca", with the paths of the tree that end with
    it."""
    key, unknown, _ = problem.partition(": unknown key")
    paths = list(islice(dotted.ending(tree, key), _MOST_PATHS)) if unknown and "." not in key else []
    if not paths:
        return problem
    return f"{key}: unknown key; did you mean {' or '.join(paths)}?"


def _escaped(character: re.Match[str]) -> str:
    """Escape a character for TOML if a terminal would interpret or hide it."""
    code = ord(character[0])
    if character[0].isprintable():
        return character[0]
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
