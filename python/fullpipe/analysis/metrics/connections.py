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
    """The flows with congestion control; all flows if an engine does not record protocols."""
    if "protocol" not in flows.columns:
        return flows
    return rows_where(flows, [protocol not in _DATAGRAMS for protocol in flows["protocol"].to_list()])


def datagrams(flows: pl.DataFrame) -> pl.DataFrame:
    """The datagram flows: UDP at a rate, calls, pings and probes."""
    return flows.filter(are_datagrams()) if "protocol" in flows.columns else flows.clear()


def bulk_flows(run: Run) -> pl.DataFrame:
    """The rows of the bulk flows in the table of flows: those that compete for throughput.

    A bulk flow always has more to send between its start and its end. In the scenario it has congestion
    control, no `workload` other than "bulk", no `size` and no `application`. All other flows get what they
    send, which is often little, so that they neither starve nor count in fairness.

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
