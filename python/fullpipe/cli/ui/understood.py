"""What is known of a scenario before it is run: its path, what theory expects, and what makes it again."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Any

from fullpipe.analysis.expected import expected, narrow_hops
from fullpipe.cli.ui.inputs import toml_of
from fullpipe.cli.ui.lanes import lanes_of
from fullpipe.cli.ui.path import MOST_FLOWS, path_of
from fullpipe.cli.ui.repeat import command_of
from fullpipe.report.looks import of_flows
from fullpipe.scenario import Network, Scenario, resolve

MOST_LINKS = 3
"""Links that are drawn over time."""


def understood(scenario: Scenario, seed: int) -> dict[str, Any]:
    """A scenario without a sweep as the page shows it, in base units."""
    network = resolve(scenario)
    return {
        "name": scenario.name,
        "digest": scenario.digest,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "seed": seed,
        "flows": flows_of(network),
        "flows_in_all": len(network.flows),
        "links": [hop.name for hop in islice(narrow_hops(network), MOST_LINKS)],
        "expected": [asdict(each) for each in islice(expected(network), MOST_LINKS)],
        "path": path_of(scenario, network),
        "lanes": lanes_of(scenario, network),
        "notes": scenario.notes(),
        "toml": toml_of(scenario),
        "command": command_of(scenario, seed),
    }


def flows_of(network: Network) -> list[dict[str, Any]]:
    """The first flows, with their looks in figures."""
    first = network.flows[:MOST_FLOWS]
    kinds = [routed.flow.cca.kind if routed.flow.cca else None for routed in first]
    looks = of_flows([(routed.name, kind) for routed, kind in zip(first, kinds, strict=True)])
    return [
        {
            "name": routed.name,
            "cca": kind,
            "mss_bytes": routed.tcp.mss_bytes,
            "colour": look.colour,
            "dash": look.dash,
        }
        for routed, kind, look in zip(first, kinds, looks, strict=True)
    ]
