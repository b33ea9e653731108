"""Groups of flows for which metrics are computed, kinds of flows, and the rates of shaping queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fullpipe.analysis.metrics.samples import rows_where
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve
from fullpipe.scenario.model.flows import TOTAL_NAMES, Flow, flow_names
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.remembered import Remembered

# Groups of flows: the flows of one entry of `flows` in a scenario are a group. Metrics are computed and
# compared per group.


TOTALS = TOTAL_NAMES
"""Names of the groups that combine the flows of several entries."""
ALL, DOWNLOADS, UPLOADS = TOTALS


def flow_groups(run: Run) -> dict[str, list[str]]:
    """Return the flows of every entry of the scenario's `flows`, by a unique name of the entry.

    An entry with one flow has the name of that flow. An entry with several flows has the common name of its
    flows without their numbers. If another entry has this name, the entry has the name of its first flow and
    the number of its last flow. Each flow that the scenario does not name is a group of its own. A flow with
    the name of a total, in runs of older versions, is a group such as "all flows (flow)".
    """
    found, known = _named_groups(run.scenario)
    groups = {name: [*flows] for name, flows in found.items()}  # copies, which callers may change
    return groups | {_no_total(name): [name] for name in run.flows["flow"].to_list() if name not in known}


def _no_total(name: str) -> str:
    """The name of a flow, distinct from the names of totals. Names of flows have no parentheses."""
    return f"{name} (flow)" if name in TOTALS else name


def groups_in(scenario: Scenario) -> list[str]:
    """Return the names of the groups of flows of a scenario, one per entry of its `flows`."""
    return [*_named_groups(scenario)[0]]


def flows_in(scenario: Scenario) -> Mapping[str, Sequence[str]]:
    """Return the flows of every group of a scenario, by the name of the group."""
    return _named_groups(scenario)[0]


def algorithms_of(runs: Iterable[Run]) -> dict[str, str]:
    """Return the algorithm of every flow and group that has the same algorithm in all runs."""
    found: dict[str, set[str]] = {}
    for run in runs:
        groups, _ = _named_groups(run.scenario)
        for (group, flows), entry in zip(groups.items(), run.scenario.flows, strict=True):
            for name in (group, *flows):
                found.setdefault(name, set()).add(entry.described)
    return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}


@Remembered
def _named_groups(scenario: Scenario) -> tuple[dict[str, list[str]], frozenset[str]]:
    """Return the groups of flows that a scenario names, and the names of all flows in these groups."""
    entries = flow_names(scenario.flows)
    bases = [names[0].rpartition("-")[0] if len(names) > 1 else names[0] for names in entries]
    times = Counter(bases)
    found = {
        _no_total(base) if times[base] == 1 else f"{names[0]}..{names[-1].rpartition('-')[2]}": names
        for base, names in zip(bases, entries, strict=True)
    }
    return found, frozenset(name for names in entries for name in names)


def flow_directions(run: Run) -> dict[str, list[str]]:
    """Return the flows of a dumbbell by direction, if some download and others upload; otherwise nothing.

    The directions use different links, so that sums and shares over both are meaningless. A scenario given as
    a graph has no directions.
    """
    return {way: [*flows] for way, flows in _directions(run.scenario).items()}


@Remembered
def _directions(scenario: Scenario) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {DOWNLOADS: [], UPLOADS: []}
    for flow, names in zip(scenario.flows, flow_names(scenario.flows), strict=True):
        found[UPLOADS if flow.is_upload else DOWNLOADS] += names
    return found if all(found.values()) else {}


# Kinds of flows: flows with congestion control, flows of datagrams, and bulk flows, which compete for
# throughput.


_DATAGRAMS = ["udp", "icmp"]
ECHOES = ("ping", "probe")
"""Kinds of workloads that measure RTT: the scenario sets their rate, so metrics of rates leave them out."""


def connections(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the flows with congestion control; all flows if the engine does not record protocols."""
    if "protocol" not in flows.columns:
        return flows
    return rows_where(flows, [protocol not in _DATAGRAMS for protocol in flows["protocol"].to_list()])


def datagrams(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the datagram flows: UDP at a rate, calls, pings and probes."""
    return flows.filter(are_datagrams()) if "protocol" in flows.columns else flows.clear()


def bulk_flows(run: Run) -> pl.DataFrame:
    """Return the rows of bulk flows, the flows that compete for throughput, from the table of flows.

    A bulk flow always has more to send between its start and its end. In the scenario, a bulk flow has
    congestion control, no `workload` other than "bulk", no `size` and no `application`. Other flows often
    send less than their fair share, and the path delivers all that they send. Fairness and starvation
    therefore count only bulk flows.

    Flows with small socket buffers, `start` or `stop` can be bulk flows. Every goodput is over the flow's own
    time: from its start or the end of the warm-up, whichever is later, to its end. Flows with no such time,
    and flows that the scenario does not name, are left out.
    """
    names, flows = frozenset(bulk_names(run)), run.flows
    each = zip(flows["flow"].to_list(), flows["goodput_bps"].to_list(), strict=True)
    return rows_where(flows, [name in names and rate is not None for name, rate in each])


def bulk_names(run: Run) -> list[str]:
    """Return the names of the bulk flows, including those that end within the warm-up: see `bulk_flows`."""
    return [*_bulk_names(run.scenario)]


@Remembered
def _bulk_names(scenario: Scenario) -> list[str]:
    entries = zip(scenario.flows, flow_names(scenario.flows), strict=True)
    return [name for flow, of_entry in entries if is_bulk(flow) for name in of_entry]


def is_bulk(flow: Flow) -> bool:
    """Whether a flow always has more to send between its start and its end: see `bulk_flows`."""
    writes_all = flow.workload is None or flow.workload.kind == "bulk"
    return flow.cca is not None and writes_all and flow.size_bytes is None and flow.application is None


def are_datagrams() -> pl.Expr:
    """Whether a row of the table of flows describes datagrams."""
    return pl.col("protocol").is_in(_DATAGRAMS).fill_null(value=False)


_FAIR = ("fq", "fq_codel", "fq_pie", "cake")
"""Fair queues: packets of one flow do not wait for packets of other flows."""


def waits_for_others(run: Run) -> bool:
    """Whether flows share the queue with the longest mean sojourn time, that is, the queue is not a fair
    queue."""
    waits = {row["link"]: row["sojourn_mean_s"] for row in run.rows("links_summary")}
    longest = max(resolve(run.scenario).hops, key=lambda hop: waits.get(hop.name) or 0.0)
    return not isinstance(longest.queue, Discipline) or longest.queue.kind not in _FAIR


# Queues that shape or police traffic: the configured rate, and the utilisation of this rate.


def shaper_bps(run: Run, link: str) -> float | None:
    """Return the rate to which the queue of a link shapes or polices, bit/s; None if the queue neither shapes
    nor polices.

    If the scenario changes the rate, the result is the rate at the start.
    """
    return _rates_bps(run.scenario).get(link)


def _found(scenario: Scenario) -> dict[str, float]:
    hops = ((hop.name, hop.queue) for hop in resolve(scenario).hops)
    rates = {name: queue.rate_bps for name, queue in hops if isinstance(queue, Discipline)}
    return {name: float(rate_bps) for name, rate_bps in rates.items() if rate_bps is not None}


_rates_bps = Remembered(_found)


def shaper_utilisation(run: Run, row: Mapping[str, Any]) -> float | None:
    """Rate at which bytes left a link after the warm-up, over the rate of its shaper; None without a shaper.

    Formula: 8 forwarded_bytes / (rate (duration - warmup)). forwarded_bytes lacks the overhead that the
    shaper adds to each packet. A shaper with overhead is therefore full at a value below 1.
    Source: definition.

    Args:
        run: A run of any engine.
        row: A row of the table `links_summary`.
    """
    rate_bps = shaper_bps(run, str(row["link"]))
    measured_s = run.meta.duration_s - run.scenario.warmup_s
    if rate_bps is None or row["forwarded_bytes"] is None or measured_s <= 0:
        return None
    return float(8 * row["forwarded_bytes"] / (rate_bps * measured_s))
