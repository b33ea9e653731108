"""Labels of scenario paths and their values: given by the user, or derived from the model."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import cache
from sys import float_info
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fullpipe.algorithms import own
from fullpipe.errors import ScenarioError, suggestion
from fullpipe.scenario.model.base import Unit
from fullpipe.scenario.model.flows import TOTAL_NAMES
from fullpipe.scenario.model.later import declared, models_of
from fullpipe.scenario.model.registered import Chosen
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.quantities import as_numbers

KEY = "labels"
"""The table of labels in a scenario file."""
SIDE = "variant"
"""Path of the sides of a comparison, whose names are values of swept paths."""
_FLOWS = "flows"
_PLACES = {"bottleneck": "bottleneck", "reverse": "reverse link", "access": "access link"}
"""Names of the parts of a dumbbell by their keys."""
_UNITS = {"bdp": "BDP"}
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+(e-?[0-9]+)?|e-?[0-9]+)")
Tree = Mapping[str, Any]


class Labels:
    """Labels for paths, such as "flows.0.count", and their values, in figures, tables and sentences.

    Args:
        given: Labels by path, or by path and value: "flows.0.cca" or "flows.0.cca.bbr3". A path can be
            shortened to its last parts, and "*" matches every index in the path.
        scenarios: Scenarios as plain data, for their labels and the names of their flows and links. Labels of
            flow groups that are names of totals, in runs of older versions, are left out.

    >>> labels = Labels({"flows.0.cca.bbr3": "BBRv3"})
    >>> labels.at("flows.0.cca", "bbr3"), labels.at("topology.bottleneck.loss.probability", 0.001)
    ('BBRv3', 'loss 0.1 %')
    """

    _in_print = False

    def __init__(self, given: Mapping[str, str] | None = None, scenarios: Iterable[Tree] = ()) -> None:
        trees = list(scenarios)
        each = ((key, words) for tree in trees for key, words in tree.get(KEY, {}).items())
        self._given = {key: words for key, words in each if not problem_of_words(key, words)}
        self._given |= given or {}
        self._flows = [tree.get(_FLOWS, []) for tree in trees]
        self._links = [tree.get("topology", {}).get("links", []) for tree in trees]

    def in_print(self) -> Labels:
        """Return the labels of figures and tables: algorithms have the names that papers use. Other labels
        have the keys of algorithms, as in commands.

        >>> Labels().in_print().at("flows.0.cca", "bbr1")
        'algorithm BBRv1'
        """
        found = copy(self)
        found._in_print = True
        return found

    @property
    def words(self) -> list[str]:
        """The labels given by the user or in scenarios."""
        return list(self._given.values())

    def names(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the label of every path. If labels are equal, the owner of the path is added, such as a
        flow; if labels are still equal, the full path is used.

        >>> Labels().names(["flows.0.cca", "flows.1.cca", "topology.bottleneck.delay"])["flows.0.cca"]
        'algorithm of flows.0'
        """
        found = {path: self.name(path) for path in paths}
        owned = {path: self._owned(path, name) for path, name in found.items()}
        return told_apart(found, told_apart(owned))

    def owned_names(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the labels as `names` does. The label of a flow's algorithm also has the name of the flow,
        if several flows have an algorithm.

        >>> flows = [{"name": "mine", "cca": "bbr3"}, {"name": "beside", "cca": "cubic"}]
        >>> Labels(scenarios=[{"flows": flows}]).owned_names(["flows.0.cca"])
        {'flows.0.cca': 'algorithm of mine'}
        """
        found = self.names(paths)
        several = any(sum("cca" in flow for flow in flows) > 1 for flows in self._flows)
        for path, name in found.items():
            words = _first(path).split(".")
            is_plain = name == title_of(path) and len(words) == 3 and words[0] == _FLOWS
            if several and is_plain and words[2] == "cca" and self._called(self._flows, words[1]):
                found[path] = self._owned(path, name)
        return found

    def name(self, path: str) -> str:
        """Return the label of a path, without a unit. Several paths joined by commas have the label of the
        first path.

        The label of a flow count has the name of the entry of `flows` if all scenarios agree on the name,
        otherwise the entry's algorithm.

        >>> Labels(scenarios=[{"flows": [{"cca": "cubic"}]}]).name("flows.0.count")
        'CUBIC flows'
        """
        path = _first(path)
        words = self._words_of(path, ())
        if words is None and path.startswith(f"{_FLOWS}.") and path.endswith(".count"):
            entry = path.split(".")[1]
            whose = self._called(self._flows, entry) or self._algorithm(entry)
            return f"{whose or 'number of'} {_FLOWS}"
        return title_of(path) if words is None else words

    def value(self, path: str, value: Any) -> str:
        """Return the label of a value at a path, with its unit.

        >>> Labels().value("topology.bottleneck.queue", {"kind": "drop_tail", "packets": 50})
        'drop_tail 50 packets'
        >>> Labels().value("topology.bottleneck.queue.size", "0.5 bdp")
        '0.5 BDP'
        """
        words = self.given(path, value)
        if words is not None:
            return words
        if isinstance(value, Mapping):
            parts = ((path if key == "kind" else f"{path}.{key}", part) for key, part in value.items())
            return " ".join(self.value(where, part) for where, part in parts)
        if value is None or isinstance(value, bool):
            return {None: "default", True: "on", False: "off"}[value]
        if _is_number(value):
            return unit_of(path).text(value)
        if self._in_print and _is_algorithm(path):
            return algorithm_title(str(value))
        if self._in_print and path == SIDE:
            return ", ".join(algorithm_named(part) for part in str(value).split(", "))
        number, _, unit = str(value).rpartition(" ")
        return f"{number} {_UNITS[unit]}" if unit in _UNITS else own.title(str(value))

    def level(self, path: str, level: str) -> str:
        """Return the label of a factor's level, a value given as text.

        >>> Labels().level("topology.bottleneck.loss.probability", "0.001")
        '0.1 %'
        """
        return self.value(path, float(level) if _FLOAT.fullmatch(level) else level)

    def at(self, path: str, value: Any, name: str = "") -> str:
        """Return the user's label of a value, or the label of its path followed by the value.

        `name` replaces the label of the path if paths must be distinguished.
        """
        return self.given(path, value) or f"{name or self.name(path)} {self.value(path, value)}"

    def given(self, path: str, value: Any) -> str | None:
        """Return the user's label of a value, or None."""
        return self._words_of(path, _texts(value))

    def group(self, name: str) -> str:
        """Return the user's label of a group of flows, or its name.

        >>> Labels({"flows.mine": "my flow"}).group("mine")
        'my flow'
        """
        return self.given(_FLOWS, name) or name

    def flows(self, groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Return the label of every flow of groups: the label of the flow, or of its group with the number of
        the flow, or the name of the flow.

        >>> Labels({"flows.mine": "my flows"}).flows({"mine": ["mine-1", "mine-2"], "ping": ["ping"]})
        {'mine-1': 'my flows 1', 'mine-2': 'my flows 2', 'ping': 'ping'}
        """
        found = {}
        for group, names in groups.items():
            words = self.given(_FLOWS, group)
            for name in names:
                numbered = f"{words} {name.rpartition('-')[2]}" if words and len(names) > 1 else words
                found[name] = self.given(_FLOWS, name) or numbered or name
        return found

    def groups_called(self, word: str, runs: Iterable[Iterable[str]]) -> list[str]:
        """Return the groups of flows with this name, or else all groups with this label, or else the word.

        >>> Labels({"flows.mine": "my flow"}).groups_called("my flow", [["mine", "beside"]])
        ['mine']

        Args:
            word: Name or label.
            runs: Names of the groups of every run or scenario.

        Raises:
            ScenarioError: If a run has several groups with this label.
        """
        every = [dict.fromkeys(names) for names in runs]
        if any(word in names for names in every):
            return [word]
        found = dict[str, None]()
        for names in every:
            same = [name for name in names if self.group(name) == word]
            if len(same) > 1:
                told = f'"{word}": {len(same)} groups have this label: {", ".join(same)}'
                raise ScenarioError([f"{told}; name one of them, or change the label"])
            found |= dict.fromkeys(same)
        return [*found] or [word]

    def point(self, point: Mapping[str, Any]) -> list[str]:
        """Return the label of every path of a point with its value."""
        names = self.names([*point])
        return [self.at(path, value, names[path]) for path, value in point.items()]

    def axis(self, path: str, values: Sequence[Any], name: str = "") -> str:
        """Return the label of an axis with these values, with the unit of numbers.

        >>> Labels().axis("topology.bottleneck.queue.packets", [50, 100])
        'buffer (packets)'
        """
        named = name or self.name(path)
        found = as_numbers(values)
        if found is None:
            return named
        unit = _UNITS.get(found[1], found[1]) or unit_of(path).name
        return f"{named} ({unit})" if unit else named

    def unknown(self, points: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the keys of given labels that match no path and no value of these points."""
        texts: set[tuple[str, tuple[str, ...]]] = {(path, ()) for point in points for path in point}
        texts |= {(path, tuple(_texts(value))) for point in points for path, value in point.items()}
        used = {key for path, spelt in texts for key in _keys(path, spelt)}
        return [key for key in self._given if key not in used]

    def _words_of(self, path: str, texts: Sequence[str]) -> str | None:
        """Return the user's label for a path or, with `texts`, for its value."""
        if not self._given:
            return None
        return next((self._given[key] for key in _keys(path, texts) if key in self._given), None)

    def _algorithm(self, entry: str) -> str:
        """Return the title of the algorithm of an entry of `flows`.

        Empty if scenarios differ in the algorithm, or another entry has the same algorithm.
        """
        if not entry.isdecimal() or not self._flows:
            return ""
        kinds = {_kind(flow) for flows in self._flows for flow in flows[int(entry) : int(entry) + 1]}
        others = {_kind(flow) for flows in self._flows for n, flow in enumerate(flows) if n != int(entry)}
        return algorithm_title(kinds.pop()) if len(kinds) == 1 and not kinds & others else ""

    @staticmethod
    def _called(lists: Sequence[Sequence[Tree]], entry: str) -> str:
        """Return the name of an entry of lists, or "" if scenarios differ in the name."""
        if not entry.isdecimal():
            return ""
        names = {str(each[int(entry)].get("name", "")) for each in lists if len(each) > int(entry)}
        return names.pop() if len(names) == 1 else ""

    def _owned(self, path: str, name: str) -> str:
        """Return the label of a path followed by the owner of the path."""
        path = _first(path)
        words = path.split(".")
        first = {_FLOWS: self._flows, "topology.links": self._links}
        for start, of in first.items():
            at = len(start.split("."))
            if path.startswith(f"{start}.") and len(words) > at + 1 and words[at].isdecimal():
                return f"{name} of {self._called(of, words[at]) or '.'.join(words[: at + 1])}"
        return f"{name} of {_PLACES[words[1]]}" if len(words) > 2 and words[1] in _PLACES else name


def told_apart(names: Mapping[str, str], otherwise: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the name of every path. A shared name is replaced by the name in `otherwise`, or by the path."""
    given = list(names.values())
    apart = otherwise or {}
    return {path: name if given.count(name) == 1 else apart.get(path, path) for path, name in names.items()}


@cache
def title_of(path: str) -> str:
    """Return the title of the scenario key at a path, or the last word of the path if the key has no title.

    >>> title_of("topology.bottleneck.delay"), title_of("topology.bottleneck.queue.size"), title_of("queue")
    ('one-way delay', 'buffer', 'queue')
    """
    fields, rest = _fields(path)
    titles = [field.title for field in fields if field.title]
    words = [word for word in _first(path).split(".") if word != "kind" and not _is_place(word)]
    return titles[0] if titles and not rest else (words or [path])[-1].replace("_", " ")


@cache
def unit_of(path: str) -> Unit:
    """Return the unit in which plain numbers at a path are shown."""
    fields, rest = _fields(path)
    return next((note for field in fields for note in _notes(field)), Unit("")) if not rest else Unit("")


def algorithm_title(kind: str) -> str:
    """Return the usual name of an algorithm.

    >>> algorithm_title("bbr3"), algorithm_title("cubic"), algorithm_title("python:brake:Brake")
    ('BBRv3', 'CUBIC', 'Brake')
    """
    from fullpipe.palette import names_of_algorithms  # imported here, as most runs need no names

    return names_of_algorithms().get(kind) or own.title(kind)


def algorithm_named(word: str) -> str:
    """Return the usual name of an algorithm, or the word if no algorithm has this key.

    >>> algorithm_named("bbr3"), algorithm_named("ping")
    ('BBRv3', 'ping')
    """
    from fullpipe.palette import names_of_algorithms  # imported here, as most runs need no names

    return names_of_algorithms().get(word, word)


def in_print(name: str, kinds: Iterable[str]) -> str:
    """Return a name in which these algorithms have the names that papers use.

    >>> in_print("bbr3, seed 1", ["cubic", "bbr3"]), in_print("bbr3-1", ["bbr3"])
    ('BBRv3, seed 1', 'BBRv3-1')
    >>> in_print("cubics", ["cubic"])
    'cubics'
    """
    for kind in filter(None, dict.fromkeys(kinds)):
        name = algorithm_title(kind).join(re.split(rf"(?<![\w+]){re.escape(kind)}(?![\w+])", name))
    return name


def problem_of(key: str, axes: Collection[str] = (), flows: Collection[str] = ()) -> str | None:
    """Return why a key of `[labels]` matches nothing in any scenario, or None if the key can match.

    Args:
        key: A path, or a path and a value.
        axes: The keys of the sweep, including the names of axes with variants. If empty, as for a single
            point, any first word can be the name of an axis with variants.
        flows: Names of flows. A group of flows can have other names at other points of a sweep, so every name
            counts as a possible match unless it resembles a key of `flows`.
    """
    words = key.split(".")
    if words[0] in axes or (not axes and not any(_called(ScenarioModel, words[0]))):
        return None
    found: list[type[BaseModel]] = [ScenarioModel]
    for at, word in enumerate(words):
        if _is_place(word):
            continue
        fields = [field for model in found for field in _called(model, word)]
        if not fields and any(
            issubclass(model, Chosen) for model in found
        ):  # the word is a name or a parameter
            return None
        if not fields and not (at == len(words) - 1 and any("kind" in declared(model) for model in found)):
            known = [field.alias or name for model in found for name, field in declared(model).items()]
            if words[:at] == [_FLOWS] and (word in flows or not get_close_matches(word, known)):
                return None
            return f'unknown key "{word}"{suggestion(word, known)}'
        found = [model for field in fields for model in models_of(field)]
        if not found:  # the rest of the key is a value
            return None
    return None


def problem_of_words(key: str, words: str) -> str | None:
    """Return why a label is refused for a key, or None. A group of flows cannot have the name of a total.

    >>> problem_of_words("flows.upload", "all flows"), problem_of_words("flows.*.count", "all flows")
    ('"all flows" is the name of a total; choose another label', None)
    """
    first, *rest = key.split(".")
    is_group = first == _FLOWS and rest and not (len(rest) > 1 and _is_place(rest[0]))
    return (
        f'"{words}" is the name of a total; choose another label'
        if is_group and words in TOTAL_NAMES
        else None
    )


def _fields(path: str) -> tuple[list[FieldInfo], bool]:
    """Return the fields of models at a key path, and whether the path has more parts after the last known
    field."""
    found: list[type[BaseModel]] = [ScenarioModel]
    fields: list[FieldInfo] = []
    for word in _first(path).split("."):
        if _is_place(word) or word == "kind":
            continue
        fields = [field for model in found for field in _called(model, word)]
        if not fields:
            return [], True
        found = [model for field in fields for model in models_of(field)]
    return fields, False


def _called(model: type[BaseModel], word: str) -> Iterator[FieldInfo]:
    for name, field in declared(model).items():
        if word in (name, field.alias, field.serialization_alias):
            yield field


def _first(path: str) -> str:
    """Return the first of several paths separated by commas."""
    return path.partition(",")[0].strip()


def _is_place(word: str) -> bool:
    return word.isdecimal() or word == "*"


def _notes(field: FieldInfo) -> Iterator[Unit]:
    """Yield the units of the numbers of a field."""
    yield from (note for note in field.metadata if isinstance(note, Unit))
    parts = [field.annotation]
    while parts:
        part = parts.pop()
        yield from (note for note in get_args(part) if isinstance(note, Unit))
        parts.extend(get_args(part))


def _keys(path: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield the keys of `[labels]` that match a path, or those that match its values in `texts`.

    The whole path comes first, followed by its last parts, such as "count" for "flows.0.count".
    """
    words = _first(path).split(".")
    any_place = ["*" if word.isdecimal() else word for word in words]
    for start in range(len(words)):
        for spelt in dict.fromkeys((".".join(words[start:]), ".".join(any_place[start:]))):
            yield from (f"{spelt}.{text}" for text in texts)
            if not texts:
                yield spelt


def _texts(value: Any) -> list[str]:
    """Return the spellings that a value can have in the key of a label."""
    if isinstance(value, Mapping):
        return [" ".join(map(str, value.values()))]
    numbers = [f"{value:g}"] if _is_number(value) else []
    return list(dict.fromkeys([str(value), *numbers]))


def _kind(flow: Tree) -> str:
    cca = flow.get("cca") or flow.get("workload") or ""
    return str(cca.get("kind", "")) if isinstance(cca, Mapping) else str(cca)


def _is_algorithm(path: str) -> bool:
    """Whether the values at a path are algorithms."""
    return _first(path).removesuffix(".kind").rpartition(".")[2] == "cca"


def _is_number(value: Any) -> bool:
    """Whether a value is a number within the range of floats."""
    is_numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return is_numeric and abs(value) <= float_info.max
