"""All public metrics. The package imports this module on first use of a name other than the summary."""

from fullpipe.analysis.metrics.connections import bulk_flows, connections, datagrams
from fullpipe.analysis.metrics.delay import (
    mean_srtt_s,
    normalised_power,
    power,
    queue_sojourn_s,
    rtt_inflation,
    rtt_percentiles_s,
    srtt_percentile_s,
)
from fullpipe.analysis.metrics.dynamics import (
    convergence_time_s,
    recovery_time_s,
    settling_time_s,
    time_to_fill_s,
)
from fullpipe.analysis.metrics.fairness import (
    harm,
    jain,
    jain_among,
    jain_of,
    jain_over_time,
    starved_flows,
    throughput_ratio,
)
from fullpipe.analysis.metrics.groups import flow_groups
from fullpipe.analysis.metrics.link_measures import LINK_MEASURES
from fullpipe.analysis.metrics.loss import (
    drop_rate,
    dropped_share,
    loss_rate,
    marking_rate,
    retransmission_rate,
)
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.reordering import (
    arrivals,
    reorder_density,
    reordered_ratio,
    reordering_extents,
)
from fullpipe.analysis.metrics.responsiveness import (
    bufferbloat_grade,
    latency_increase_s,
    responsiveness,
)
from fullpipe.analysis.metrics.samples import between, spacing_s
from fullpipe.analysis.metrics.shapers import shaper_utilisation
from fullpipe.analysis.metrics.summary import summary
from fullpipe.analysis.metrics.table import BY_NAME, busy_links, measured
from fullpipe.analysis.metrics.throughput import (
    cumulative_goodput,
    cumulative_wire_bps,
    interval_goodput,
    interval_wire_throughput,
    mean_goodput_bps,
    standard_deviation_bps,
    throughput_percentiles_bps,
    total_goodput_bps,
    utilisation,
)
from fullpipe.analysis.metrics.transfers import (
    completion_percentiles_s,
    measured_transfers,
    page_times_s,
    slowdowns,
)
from fullpipe.analysis.metrics.variables import numbers, states
from fullpipe.analysis.metrics.videos import stall_ratio, stalls, video_rate_bps
from fullpipe.analysis.metrics.voice import (
    call_scores,
    mos,
    mos_wideband,
    mouth_to_ear_s,
    opinion,
    rating,
    rating_wideband,
)

__all__ = [
    "BY_NAME",
    "LINK_MEASURES",
    "MEASURES",
    "arrivals",
    "between",
    "bufferbloat_grade",
    "bulk_flows",
    "busy_links",
    "call_scores",
    "completion_percentiles_s",
    "connections",
    "convergence_time_s",
    "cumulative_goodput",
    "cumulative_wire_bps",
    "datagrams",
    "drop_rate",
    "dropped_share",
    "flow_groups",
    "harm",
    "interval_goodput",
    "interval_wire_throughput",
    "jain",
    "jain_among",
    "jain_of",
    "jain_over_time",
    "latency_increase_s",
    "loss_rate",
    "marking_rate",
    "mean_goodput_bps",
    "mean_srtt_s",
    "measured",
    "measured_transfers",
    "mos",
    "mos_wideband",
    "mouth_to_ear_s",
    "normalised_power",
    "numbers",
    "opinion",
    "page_times_s",
    "power",
    "queue_sojourn_s",
    "rating",
    "rating_wideband",
    "recovery_time_s",
    "reorder_density",
    "reordered_ratio",
    "reordering_extents",
    "responsiveness",
    "retransmission_rate",
    "rtt_inflation",
    "rtt_percentiles_s",
    "settling_time_s",
    "shaper_utilisation",
    "slowdowns",
    "spacing_s",
    "srtt_percentile_s",
    "stall_ratio",
    "stalls",
    "standard_deviation_bps",
    "starved_flows",
    "states",
    "summary",
    "throughput_percentiles_bps",
    "throughput_ratio",
    "time_to_fill_s",
    "total_goodput_bps",
    "utilisation",
    "video_rate_bps",
]
