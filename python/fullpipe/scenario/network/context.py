"""What the application of a flow may need to know of it."""

from collections.abc import Sequence

from fullpipe.scenario.model.workloads.application import FlowContext
from fullpipe.scenario.network.parts import Hop, RoutedFlow


def flow_context(routed: RoutedFlow, hops: Sequence[Hop]) -> FlowContext:
    """The transport of a flow, the flows of its entry, and the slowest link that its data crosses."""
    rates = (hops[i].limit_bps for i in routed.forward)
    slowest_bps = min((rate for rate in rates if rate is not None), default=None)
    return FlowContext(routed.tcp, routed.flow.count, slowest_bps)
