"""The arrival rate of transfers that offers a load."""

from collections.abc import Sequence

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.workloads.distributions import Constant
from fullpipe.scenario.model.workloads.transfers import Poisson
from fullpipe.scenario.network.parts import Link, Port, Route

MAX_ARRIVALS = 10_000_000
"""Of one flow."""


def interval_s(workload: Poisson, route: Route, hops: Sequence[Link | Port]) -> float:
    """The mean time between two arrivals of one flow of a workload, in seconds.

    A load counts payload and headers: load * rate = flows * 8 * mean bytes on the wire / interval. A transfer
    of b bytes has a header for every segment begun: as many as it takes if all are alike, else about b / mss
    + 1/2.

    Raises:
        ProblemsError: If the load is relative to links that have no rate.
    """
    if workload.interval_s is not None:
        return workload.interval_s
    rates = (hops[i].limit_bps for i in route.forward)
    rate_bps = workload.of_bps or min((rate for rate in rates if rate is not None), default=None)
    if rate_bps is None or workload.load is None:
        raise ProblemsError(
            'workload.load: no link on the way has a rate; say what a load of 1 is, as in of = "100 Mbit/s"'
        )
    mean, mss = workload.sizes.mean, route.tcp.mss_bytes
    segments = -(-mean // mss) if isinstance(workload.sizes, Constant) else mean / mss + 0.5
    wire_bits = 8 * (mean + segments * route.tcp.overhead_bytes)
    return route.flow.count * wire_bits / (workload.load * rate_bps)
