"""The entries of `flows` and their single flows."""

from collections.abc import Iterator
from typing import NamedTuple

from fullpipe.scenario.model.flows import Flow, flow_names, flow_streams
from fullpipe.scenario.model.scenario import ScenarioModel


class Single(NamedTuple):
    """One flow of an entry."""

    name: str
    stream: str


class Entry(NamedTuple):
    """An entry of `flows` with its single flows."""

    place: int
    flow: Flow
    singles: list[Single]


def entries(scenario: ScenarioModel, each: int | None) -> Iterator[Entry]:
    described = zip(scenario.flows, flow_names(scenario.flows), flow_streams(scenario.flows), strict=True)
    for place, (flow, names, streams) in enumerate(described):
        yield Entry(place, flow, list(map(Single, names[:each], streams[:each])))
