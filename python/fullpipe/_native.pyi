"""The simulator: a plan (JSON) and a seed in, tables of columns out. ARCHITECTURE.md describes the plan."""

from typing import Any, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

MODEL_VERSION: str
SOURCES: str
"""Changes whenever the results of some plan may."""

Floats: TypeAlias = NDArray[np.float64]
"""NaN where nothing was measured."""
Counts: TypeAlias = NDArray[np.int64]

class PlanError(ValueError):
    """A plan that cannot be simulated."""

    path: str
    """Where, for example ``flows[1].cca``; empty for the plan as a whole."""
    message: str
    """What, and what would be right."""

class SimulationPanic(RuntimeError):  # noqa: N818
    """The simulator broke one of its own rules. The simulation cannot be used any more."""

    digest: str
    """A hash of the plan."""
    seed: int

class Param(TypedDict):
    """A parameter of an algorithm or a queue discipline."""

    name: str
    doc: str
    unit: str
    default: Any
    min: float | None
    max: float | None

class Description(TypedDict):
    """A congestion control algorithm or a queue discipline."""

    name: str
    title: str
    source: str
    aliases: list[str]
    params: list[Param]

class Flows(TypedDict):
    """One row per flow; counts and rates cover the end of the warm-up to the end of the run."""

    flow: list[str]
    cca: list[str]
    start_s: Floats
    end_s: Floats
    delivered_bytes: Counts
    goodput_bps: Floats
    wire_bps: Floats
    sent_packets: Counts
    retransmitted_packets: Counts
    lost_packets: Counts
    marked_packets: Counts
    rtt_min_s: Floats
    rtt_mean_s: Floats
    rtt_p50_s: Floats
    rtt_p95_s: Floats
    rtt_p99_s: Floats
    fct_s: Floats
    limited_cwnd: Floats
    limited_pacing: Floats
    limited_application: Floats
    limited_receiver: Floats
    limited_send_buffer: Floats

class LinksSummary(TypedDict):
    """One row per link; the same span. Dropped packets include those lost at the far end."""

    link: list[str]
    dropped_packets: Counts
    marked_packets: Counts
    forwarded_packets: Counts
    forwarded_bytes: Counts
    utilisation: Floats
    sojourn_mean_s: Floats
    sojourn_p95_s: Floats
    backlog_max_packets: Counts

class Series(TypedDict):
    """One row per sample and flow; goodput and retransmissions cover the interval that ends at ``time_s``."""

    time_s: Floats
    flow: list[str]
    goodput_bps: Floats
    cwnd_bytes: Floats
    in_flight_bytes: Floats
    srtt_s: Floats
    min_rtt_s: Floats
    pacing_bps: Floats
    delivery_bps: Floats
    retransmitted_packets: Counts
    state: list[str]

class Links(TypedDict):
    """One row per sample and link; all but the backlog cover the interval that ends at ``time_s``."""

    time_s: Floats
    link: list[str]
    backlog_bytes: Counts
    backlog_packets: Counts
    sojourn_s: Floats
    dropped_packets: Counts
    marked_packets: Counts
    utilisation: Floats

class Variables(TypedDict):
    """One row per sample, flow and internal variable of its algorithm, while the flow runs; more whenever
    a state changes. A variable is a number, or a state: then ``value`` is NaN and ``state`` is not empty."""

    time_s: Floats
    flow: list[str]
    name: list[str]
    value: Floats
    unit: list[str]
    state: list[str]

class Packets(TypedDict):
    """One row per packet and point of capture, in the order of time."""

    time_ns: Counts
    point: list[str]
    flow: list[str]
    kind: list[str]
    seq: Counts
    len: Counts
    ack: Counts
    window: Counts
    sacks: list[str]
    ts_val: Counts
    ts_ecr: Counts
    flags: list[str]
    ecn: list[str]
    size: Counts

class Results(TypedDict):
    """Everything a run gives."""

    flows: Flows
    links_summary: LinksSummary
    series: Series
    links: Links
    variables: Variables
    packets: Packets
    data_packets: int
    """Data segments sent by all senders."""
    packet_hops: int
    """Packets forwarded, over all links."""

@final
class Simulation:
    """A simulation that can be run in steps. Stepping never changes results."""

    def __new__(cls, plan_json: str, seed: int) -> Simulation:
        """Build everything that the plan describes. All randomness comes from the seed.

        Raises PlanError if the plan makes no sense.
        """

    @property
    def duration_ns(self) -> int:
        """Simulated time of the whole run in nanoseconds."""

    def advance(self, until_ns: int) -> int:
        """Run up to and including ``until_ns``; return the simulated time reached. Releases the GIL."""

    def finish(self) -> Results:
        """Run to the end and return the tables. The simulation is used up."""

def controllers() -> list[Description]:
    """Describe the congestion control algorithms."""

def queues() -> list[Description]:
    """Describe the queue disciplines."""
