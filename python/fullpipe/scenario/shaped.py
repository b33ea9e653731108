"""A scenario of a line behind a router that shapes one or both directions."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from fullpipe.errors import ScenarioError
from fullpipe.scenario.model.link.queues import Discipline, Queue
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario
from fullpipe.scenario.tc.devices import Router, Table

_DELAY_S = 0.01
"""Default one-way delay of a line."""
_OF_LINE = ("rate", "delay", "queue", "device_queue")


def scenario_of(router: Router, line: Scenario | None = None) -> Scenario:
    """Return a scenario of a download, an upload and a ping through a router and a line.

    A direction without a rate limit has no flow.

    Args:
        router: The shapers of the router, one per direction.
        line: The line behind the router, as a dumbbell. Left out: a line without a rate limit and with a base
            RTT of 20 ms, or of 0 if the router itself delays packets.

    Raises:
        ScenarioError: If the line is not a dumbbell of two links, or no direction has a rate.
    """
    shaped_down: Table = router.down.link if router.down else {}
    shaped_up: Table = router.up.link if router.up else {}
    down, up = _line(line, "delay" in shaped_down or "delay" in shaped_up)
    links: Sequence[Table] = [
        {"name": "line-down", "from": "server", "to": "router", **down},
        {"name": "shaper-down", "from": "router", "to": "client", **shaped_down},
        {"name": "shaper-up", "from": "client", "to": "router", **shaped_up},
        {"name": "line-up", "from": "router", "to": "server", **up},
    ]
    ends = {"from": "client", "to": "server"}
    flows: list[Table] = []
    if any(map(has_rate, (down, shaped_down))):
        flows.append({"name": "download", "cca": "cubic", "from": "server", "to": "client"})
    if any(map(has_rate, (shaped_up, up))):
        flows.append({"name": "upload", "cca": "cubic", **ends})
    if not flows:
        raise ScenarioError(
            ["tc: no queue has a rate, so nothing limits a flow; add the line, as in --line dsl"]
        )
    return Scenario(
        name="shaped",
        duration="30 s",
        warmup="5 s",
        topology={"kind": "graph", "nodes": ["server", "router", "client"], "links": links},
        flows=[*flows, {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}, **ends}],
    )


def has_rate(link: Table) -> bool:
    """Whether a link has a rate, by itself or by the shaper in its queue."""
    queue = TypeAdapter[Any](Queue).validate_python(link["queue"]) if "queue" in link else None
    return "rate" in link or (isinstance(queue, Discipline) and queue.rate_bps is not None)


def _line(line: Scenario | None, has_delay: bool) -> tuple[Table, Table]:
    """Return both directions of the line. Without a line, a router with a delay is the whole path."""
    if line is None and has_delay:
        return {}, {}
    if line is None:
        return {"delay": f"{_DELAY_S} s"}, {"delay": f"{_DELAY_S} s"}
    topology = line.topology
    if not isinstance(topology, Dumbbell) or topology.bottleneck.cell:
        raise ScenarioError([f'line "{line.name}": a line here is a dumbbell of two links, without a cell'])
    tree = line.to_dict()["topology"]
    there = tree["bottleneck"]
    back = tree.get("reverse") or {key: there[key] for key in ("rate", "delay", "queue") if key in there}
    for where, link in (("bottleneck", there), ("reverse", back)):
        if left := sorted(link.keys() - set(_OF_LINE)):
            raise ScenarioError([f'line "{line.name}": {where}.{left[0]} is not taken over; leave it out'])
    return dict(there), dict(back)
