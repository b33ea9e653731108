"""The properties of a flow from which its application computes its plan."""

from collections.abc import Sequence

from fullpipe.scenario.model.workloads.writers import FlowContext
from fullpipe.scenario.network.parts import Hop, RoutedFlow


def flow_context(routed: RoutedFlow, hops: Sequence[Hop]) -> FlowContext:
    """Return the transport of a flow, the number of flows of its entry, and the lowest rate on its route."""
    rates = (hops[i].limit_bps for i in routed.forward)
    slowest_bps = min((rate for rate in rates if rate is not None), default=None)
    return FlowContext(routed.tcp, routed.flow.count, slowest_bps)
