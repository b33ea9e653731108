"""Access links as in the published program of the thesis: a Wi-Fi cell on either side of the bottleneck."""

from typing import Any

from fullpipe.scenario import Scenario

NAMES = ("bottleneck", "bottleneck-reverse")
"""Names of the link between the access points, in both directions."""


def over_wifi(scenario: Scenario) -> Scenario:
    """Return a dumbbell whose senders are stations of one cell, and its receivers those of another.

    Cells have the defaults of ns-3 (preset `ns3`), each on a channel of its own."""
    tree = scenario.to_dict()
    shape, numbers = tree["topology"], range(1, len(tree["flows"]) + 1)
    senders, receivers = ([f"{side}-{n}" for n in numbers] for side in ("sender", "receiver"))
    ways = zip(NAMES, (("left", "right"), ("right", "left")), ("bottleneck", "reverse"), strict=True)
    links = [{"name": name, "from": a, "to": b, **shape[way]} for name, (a, b), way in ways]
    ends = zip(tree["flows"], senders, receivers, strict=True)
    return Scenario(
        **{
            **tree,
            "topology": {"kind": "graph", "nodes": ["left", "right", *senders, *receivers], "links": links},
            "cells": [_cell("left", senders), _cell("right", receivers)],
            "flows": [{**flow, "from": sender, "to": receiver} for flow, sender, receiver in ends],
        }
    )


def _cell(hub: str, nodes: list[str]) -> dict[str, Any]:
    stations = [{"node": node} for node in nodes]
    return {"name": f"wifi-{hub}", "kind": "wifi", "preset": "ns3", "hub": hub, "stations": stations}
