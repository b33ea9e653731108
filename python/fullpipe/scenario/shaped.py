"""A line behind a router that shapes both of its directions, as a scenario."""

from collections.abc import Sequence

from fullpipe.errors import ScenarioError
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario
from fullpipe.scenario.tc.router import Router, Table

_DELAY_S = 0.01
"""One way, of a line that is not said."""
_OF_LINE = ("rate", "delay", "queue", "device_queue")


def scenario_of(router: Router, line: Scenario | None = None) -> Scenario:
    """A download, an upload and a ping through a router and a line.

    Args:
        router: What the router does.
        line: The line behind it, as a dumbbell. Left out: one that is never the bottleneck.

    Raises:
        ScenarioError: If the line is no dumbbell of two links.
    """
    down, up = _line(line)
    links: Sequence[Table] = [
        {"name": "line-down", "from": "server", "to": "router", **down},
        {
            "name": "shaper-down",
            "from": "router",
            "to": "client",
            **(router.down.link if router.down else {}),
        },
        {"name": "shaper-up", "from": "client", "to": "router", **(router.up.link if router.up else {})},
        {"name": "line-up", "from": "router", "to": "server", **up},
    ]
    ends = {"from": "client", "to": "server"}
    return Scenario(
        name="shaped",
        duration="30 s",
        warmup="5 s",
        topology={"kind": "graph", "nodes": ["server", "router", "client"], "links": links},
        flows=[
            {"name": "download", "cca": "cubic", "from": "server", "to": "client"},
            {"name": "upload", "cca": "cubic", **ends},
            {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}, **ends},
        ],
    )


def _line(line: Scenario | None) -> tuple[Table, Table]:
    """Both directions."""
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
