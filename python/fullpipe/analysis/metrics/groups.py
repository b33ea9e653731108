"""Groups of flows: those of one entry of a scenario. Values are per group, and engines are compared by it."""

from collections import Counter
from collections.abc import Iterable

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.remembered import Remembered

ALL, DOWNLOADS, UPLOADS = "all flows", "all downloads", "all uploads"
TOTALS = (ALL, DOWNLOADS, UPLOADS)
"""Names of the groups that combine the flows of several entries."""


def flow_groups(run: Run) -> dict[str, list[str]]:
    """Return the flows of every entry of the scenario's `flows`, by a unique name of the entry.

    An entry with one flow has the name of that flow. An entry with several has their name without numbers,
    or their first name and last number if another entry has the same. Flows that the scenario does not name
    are groups of their own.
    """
    found, known = _named_groups(run.scenario)
    groups = {name: [*flows] for name, flows in found.items()}  # a caller may change its own
    return groups | {name: [name] for name in run.flows["flow"].to_list() if name not in known}


def algorithms_of(runs: Iterable[Run]) -> dict[str, str]:
    """Return the algorithms of flows and groups that have the same one in all runs."""
    found: dict[str, set[str]] = {}
    for run in runs:
        groups, _ = _named_groups(run.scenario)
        for (group, flows), entry in zip(groups.items(), run.scenario.flows, strict=True):
            for name in (group, *flows):
                found.setdefault(name, set()).add(entry.described)
    return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}


@Remembered
def _named_groups(scenario: Scenario) -> tuple[dict[str, list[str]], frozenset[str]]:
    """Return the groups of flows that a scenario names, and all names in them."""
    entries = flow_names(scenario.flows)
    bases = [names[0].rpartition("-")[0] if len(names) > 1 else names[0] for names in entries]
    times = Counter(bases)
    found = {
        base if times[base] == 1 else f"{names[0]}..{names[-1].rpartition('-')[2]}": names
        for base, names in zip(bases, entries, strict=True)
    }
    return found, frozenset(name for names in entries for name in names)


def flow_directions(run: Run) -> dict[str, list[str]]:
    """Return the flows of a dumbbell by direction, if some download and others upload; otherwise nothing.

    The directions use different links, so that sums and shares over both are meaningless. In a graph no
    directions are distinguished.
    """
    return {way: [*flows] for way, flows in _directions(run.scenario).items()}


@Remembered
def _directions(scenario: Scenario) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {DOWNLOADS: [], UPLOADS: []}
    for flow, names in zip(scenario.flows, flow_names(scenario.flows), strict=True):
        found[UPLOADS if flow.is_upload else DOWNLOADS] += names
    return found if all(found.values()) else {}
