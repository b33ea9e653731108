"""Kinds of flows: with congestion control, without, and those that compete for throughput."""

from __future__ import annotations

from fullpipe.analysis.metrics.samples import rows_where
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import Flow, flow_names
from fullpipe.scenario.remembered import Remembered

_DATAGRAMS = ["udp", "icmp"]


def connections(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that have congestion control.

    An engine that does not say what carries a flow has connections only.
    """
    if "protocol" not in flows.columns:
        return flows
    return rows_where(flows, [protocol not in _DATAGRAMS for protocol in flows["protocol"].to_list()])


def datagrams(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that are datagrams: UDP at a rate, calls, pings and probes."""
    return flows.filter(are_datagrams()) if "protocol" in flows.columns else flows.clear()


def bulk_flows(run: Run) -> pl.DataFrame:
    """The rows of the bulk flows in the table of flows: those that compete for throughput.

    A flow is a bulk flow if, by its scenario, it always has more to send while it is there: it has congestion
    control, no `workload` other than "bulk", no `size` and no `application`. What the others get is what they
    ask for, and often nothing, so that they neither starve nor count in fairness. Sockets with small buffers
    change nothing of this, nor do `start` and `stop`: every goodput is over the flow's own time, from its
    start or the end of the warm-up, whichever is later, to its end. A flow with no such time is left out, as
    is one that the scenario does not name.
    """
    names, flows = frozenset(bulk_names(run)), run.flows
    each = zip(flows["flow"].to_list(), flows["goodput_bps"].to_list(), strict=True)
    return rows_where(flows, [name in names and rate is not None for name, rate in each])


def bulk_names(run: Run) -> list[str]:
    """The names of the bulk flows, those with no time of their own among them: see `bulk_flows`."""
    return [*_bulk_names(run.scenario)]


@Remembered
def _bulk_names(scenario: Scenario) -> list[str]:
    entries = zip(scenario.flows, flow_names(scenario.flows), strict=True)
    return [name for flow, of_entry in entries if is_bulk(flow) for name in of_entry]


def is_bulk(flow: Flow) -> bool:
    """Whether a flow always has more to send while it is there: see `bulk_flows`."""
    writes_all = flow.workload is None or flow.workload.kind == "bulk"
    return flow.cca is not None and writes_all and flow.size_bytes is None and flow.application is None


def are_datagrams() -> pl.Expr:
    """Whether a row of the table of flows is of datagrams."""
    return pl.col("protocol").is_in(_DATAGRAMS).fill_null(value=False)
