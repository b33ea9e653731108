"""Checks of reroutes and alternations, of flows and of links."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.rerouting import Moving
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph

MAX_TURNS = 10_000


def moved_link_problems(scenario: ScenarioModel) -> Iterator[str]:
    graph = scenario.topology
    if not isinstance(graph, Graph):
        return
    places = scenario.places()
    for i, link in enumerate(graph.links):
        for line in reroute_problems(link, places, scenario.duration_s):
            yield f"topology.links[{i}].{line}"


def reroute_problems(moving: Moving, places: Collection[str], duration_s: float) -> Iterator[str]:
    turns = moving.alternate.vias if moving.alternate else ()
    vias = [
        *((f"reroutes[{i}].via", reroute.via) for i, reroute in enumerate(moving.reroutes or ())),
        *((f"alternate.via[{i}]", via) for i, via in enumerate(turns)),
    ]
    yield from place_problems(vias, places)
    if moving.reroutes and moving.alternate:
        yield "alternate: there are reroutes as well; leave out one of them"
    times = [reroute.at_s for reroute in moving.reroutes or ()]
    if times != sorted(times):
        yield "reroutes: not in the order of time; sort them by at"
    made = duration_s / moving.alternate.every_s if moving.alternate else 0
    if made > MAX_TURNS:
        yield f"alternate.every: makes {made:,.0f} changes, more than {MAX_TURNS:,}; lengthen it"


def place_problems(vias: Iterable[tuple[str, Sequence[str]]], places: Collection[str]) -> Iterator[str]:
    for key, via in vias:
        for place in via:
            if place not in places:
                yield f"{key}: unknown node or link {shown(place)}{suggestion(place, islice(places, 20))}"
