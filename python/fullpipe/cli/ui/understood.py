"""What is known of a scenario before it is run: its path, what theory expects, and what makes it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from fullpipe.analysis.expected import expected, narrow_hops
from fullpipe.cli.ui.inputs import toml_of
from fullpipe.cli.ui.lanes import lanes_of
from fullpipe.cli.ui.lines import drawn, lines_of
from fullpipe.cli.ui.marks import marks_of
from fullpipe.cli.ui.path import path_of
from fullpipe.cli.ui.repeat import command_of
from fullpipe.scenario import Scenario, resolve

MOST_LINKS = 3
"""Links that are drawn over time."""


def understood(
    scenario: Scenario, seed: int, measured: Sequence[tuple[str, str | None]] | None = None
) -> dict[str, Any]:
    """A scenario without a sweep as the page shows it, in base units.

    Args:
        scenario: What is shown.
        seed: Of its run.
        measured: Names and algorithms of the flows that a run has. Left out: those of the scenario.

    Returns:
        Among others, `flows`: every flow with the number of its line; `lines`: of the figures, with their
        looks; `marks`: reference lines of the figures, if the run has the flows of the scenario.
    """
    network = resolve(scenario)
    flows = drawn(network, measured)
    lines, numbers = lines_of(flows)
    line_of = {flow.name: number for flow, number in zip(flows, numbers, strict=True)}
    links = [hop.name for hop in islice(narrow_hops(network), MOST_LINKS)]
    rows = expected(network)
    is_whole = line_of.keys() == {routed.name for routed in network.flows}
    return {
        "name": scenario.name,
        "digest": scenario.digest,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "seed": seed,
        "lines": lines,
        "flows": [{"name": flow.name, "line": line} for flow, line in zip(flows, numbers, strict=True)],
        "links": links,
        "expected": [asdict(each) for each in rows[:MOST_LINKS]],
        "expected_in_all": len(rows),
        "marks": marks_of(network, rows, links) if is_whole else {},
        "path": path_of(scenario, network, line_of),
        "lanes": lanes_of(scenario, network),
        "notes": scenario.notes(),
        "toml": toml_of(scenario),
        "command": command_of(scenario, seed),
    }
