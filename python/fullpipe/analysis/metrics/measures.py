"""The measures of groups of flows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fullpipe.analysis.metrics.delay import power, responsiveness, rtt_inflation
from fullpipe.analysis.metrics.loss import dropped_share, loss_rate, marking_rate, retransmission_rate
from fullpipe.analysis.metrics.measure import (
    DELAY,
    EVERYWHERE,
    FLOWS,
    PACKETS,
    PART,
    RATE,
    SHARE,
    SHARE_OF_PACKETS,
    Better,
    Margin,
    Measure,
    Value,
    View,
)
from fullpipe.analysis.metrics.rows import Group
from fullpipe.analysis.metrics.samples import mean, real
from fullpipe.analysis.metrics.specific import OF_APPLICATIONS, OF_CALLS
from fullpipe.analysis.metrics.throughput import jain_of_some, starved_flows
from fullpipe.lazy import pl

_ONE_SPAN = "from the end of the warm-up, or the first start if that is later, to the last end"
_ALL_ACTIVE = "over the time in which all bulk flows are active; none if there is no such time"
_CONNECTIONS = "; of its connections alone, if it has any"
_DATAGRAMS = "; of its datagrams alone, if it has any"


def _of(metric: Callable[[pl.DataFrame], float | None]) -> Value:
    """Return a function that applies `metric` to a group's rows in the table of flows."""
    return lambda group: metric(group.flows)


def _of_bulk(metric: Callable[[pl.DataFrame], float | None]) -> Value:
    """Return a function that applies `metric` to the rows of a group's bulk flows; it gives None without bulk
    flows."""
    return lambda group: None if group.bulk.is_empty() else metric(group.bulk)


def _of_bulk_group(metric: Value) -> Value:
    """Return a function that applies `metric` to a group; it gives None without bulk flows."""
    return lambda group: None if group.bulk.is_empty() else metric(group)


def _summed(
    name: str,
    unit: str,
    better: Better,
    margin: Margin,
    meaning: str,
    column: str,
    label: str = "",
    *,
    is_of_one_way: bool = False,
) -> Measure:
    return Measure(
        name,
        unit,
        better,
        margin,
        meaning,
        lambda group: _sum(group.flows[column]),
        f"flows.{column}",
        is_of_one_way=is_of_one_way,
        label=label,
        combined="sum",
    )


def _averaged(name: str, margin: Margin, meaning: str, column: str, label: str) -> Measure:
    """Return a measure of a time: the mean over flows; lower is better."""
    return Measure(
        name,
        "s",
        "lower",
        margin,
        f"mean over its flows of {meaning}",
        lambda group: mean(group.flows[column].to_list()),
        f"flows.{column}",
        label=label,
        combined="mean",
    )


def _rtt(name: str, meaning: str, column: str, label: str) -> Measure:
    """Return a measure of an RTT. Datagrams have RTTs, too, so a group of connections and datagrams uses only
    its connections."""
    made = _averaged(name, DELAY, f"{meaning}{_CONNECTIONS}", column, label)
    return replace(made, is_of_connections=True)


def _delay(name: str, meaning: str, column: str, label: str) -> Measure:
    """Return a measure of a one-way delay. A mixed group uses its datagrams, whose delay users notice."""
    made = _averaged(name, DELAY, f"{meaning}{_DATAGRAMS}", f"owd_{column}", label)
    return replace(made, is_of_datagrams=True)


def _queueing(name: str, meaning: str, column: str, label: str) -> Measure:
    """Return a measure of the queueing delay: one-way delay less the one-way delay of the empty path."""
    base = "that of its empty path (in imported runs: less the smallest one-way delay of the flow)"
    made = _delay(name, f"{meaning} one-way delay less {base}; none if the path varies", column, label)

    def value(group: Group) -> float | None:
        delays_s = group.flows[f"owd_{column}"].to_list()
        each = [*zip(delays_s, map(group.whole.one_way_base_s, group.names), strict=True)]
        known = [delay_s for delay_s, _ in each if delay_s is not None]
        waits_s = [
            max(0.0, delay_s - base_s)
            for delay_s, base_s in each
            if delay_s is not None and base_s is not None
        ]
        return mean(waits_s) if len(waits_s) == len(known) else None

    return replace(made, value=value)


def _in_order(name: str, which: str, column: str, label: str) -> Measure:
    meaning = f"{which} time from the first transmission of a data packet until TCP delivered it in order"
    return _averaged(name, DELAY, f"{meaning}, measured with record.in_order = true", column, label)


def _sum(values: pl.Series) -> float | None:
    return real(values.sum()) if len(values) and not values.null_count() else None


def _rate(name: str, meaning: str, column: str, better: Better, label: str = "") -> Measure:
    """Return a measure of the rate of several flows together."""
    return Measure(
        name,
        "bit/s",
        better,
        RATE,
        f"{meaning} by its flows together, {_ONE_SPAN}",
        lambda group: group.whole.together_bps(group.names, column),
        f"flows.{column}",
        is_of_one_way=True,
        is_of_echoes=False,
        label=label,
        combined="sum",
    )


def _jain(group: Group) -> float | None:
    return jain_of_some(group.rivals.delivered, frozenset(group.bulk["flow"].to_list()))


def _power(group: Group) -> float | None:
    rtt_s = mean(group.flows["rtt_mean_s"].to_list())
    rate_bps = group.whole.together_bps(group.names, "goodput_bps")
    return power(rate_bps, rtt_s) if rtt_s and rate_bps is not None else None


def _srtt(group: Group) -> float | None:
    return mean(real(samples_s.mean()) for samples_s in group.smoothed_s)


def _srtt_p95(group: Group) -> float | None:
    return mean(real(samples_s.quantile(0.95, "linear")) for samples_s in group.smoothed_s)


def _convergence(group: Group) -> float | None:
    rivals, own = group.rivals, group.bulk
    if group.whole.series.is_empty() or rivals.bulk.height < 2 or own.is_empty():
        return None
    times = [rivals.convergence_time_s(flow) for flow in own["flow"].to_list()]
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(times) else None


def _responsiveness(group: Group) -> float | None:
    return responsiveness(group.rtts_under_load_s.to_list())


def _latency_increase(group: Group) -> float | None:
    found = [*group.increases_s()]
    return None if None in found else mean(found)


MEASURES = (
    _rate("goodput", "payload delivered", "goodput_bps", "higher")
    .leads(EVERYWHERE, rank=5)
    .also("throughput", "bandwidth", "bitrate", "speed", "rate"),
    _rate("wire", "bytes sent, with headers and retransmissions,", "wire_bps", "", "rate on the wire").also(
        "sending_rate", "wire_rate"
    ),
    Measure(
        "share",
        "1",
        "",
        SHARE,
        f"its share of the goodput of all flows in the same direction, {_ALL_ACTIVE}",
        Group.share,
        "flows.goodput_bps",
        is_of_one_way=True,
        is_of_echoes=False,
        label="goodput share",
        combined="sum",
        bounds=PART,
        is_percent=True,
        neutral="equal_share",
    )
    .leads(View.TABLE | View.REPORT)
    .also("fairness", "bandwidth_share"),
    Measure(
        "equal_share",
        "1",
        "",
        SHARE,
        "fair share: its share if all flows in the same direction had the same goodput; none unless all but"
        " pings and probes are bulk flows",
        Group.equal_share,
        "flows.goodput_bps",
        label="equal share",
        is_of_one_way=True,
        is_of_echoes=False,
        bounds=PART,
        is_percent=True,
    ),
    Measure(
        "share_ratio",
        "1",
        "",
        Margin(0.03),
        "its share over its fair share: 1 is fair; none unless all flows in the same direction but pings and"
        " probes are bulk flows with the same slowest link",
        Group.share_ratio,
        "flows.goodput_bps",
        is_of_one_way=True,
        is_of_echoes=False,
        label="share over fair share",
        neutral=1.0,
    ).also("fairness", "fair_share"),
    Measure(
        "bulk",
        "flows",
        "",
        FLOWS,
        "number of bulk flows, over which jain, starved and convergence are computed",
        lambda group: float(group.bulk.height),
        "flows.goodput_bps",
        is_of_one_way=True,
        label="bulk flows",
    ),
    Measure(
        "jain",
        "1",
        "higher",
        SHARE,
        f"Jain's index of the goodputs x of n bulk flows, (sum x)² / (n sum x²), {_ALL_ACTIVE}, or for n < 2",
        _of_bulk_group(_jain),
        "flows.goodput_bps",
        is_of_one_way=True,
        label="Jain's index",
        bounds=PART,
        digits=3,
    )
    .leads(EVERYWHERE, aspect="fairness")
    .also("fairness", "fairness_index", "jfi"),
    Measure(
        "starved",
        "flows",
        "lower",
        FLOWS,
        "number of bulk flows below 1 Mbit/s; none if it has no bulk flows",
        _of_bulk(starved_flows),
        "flows.goodput_bps",
        label="starved flows",
    ).leads(View.REPORT),
    _rtt("rtt_min", "the smallest RTT", "rtt_min_s", "smallest RTT").also("base_rtt", "min_rtt"),
    _rtt("rtt_mean", "the mean of RTT samples", "rtt_mean_s", "mean RTT")
    .leads(EVERYWHERE, rank=6, aspect="delay")
    .also("rtt", "latency", "delay", "round_trip_time", "ping"),
    Measure(
        "srtt_mean",
        "s",
        "lower",
        DELAY,
        f"mean over its flows of the mean over time of the smoothed RTT{_CONNECTIONS}",
        _srtt,
        "series.srtt_s",
        is_of_connections=True,
        label="mean smoothed RTT",
        combined="mean",
    ).leads(View.COMPARISON),
    _rtt("rtt_p95", "the 95th percentile (within 0.8 %) of RTT samples", "rtt_p95_s", "p95 RTT")
    .leads(View.COMPARISON | View.REPORT, aspect="delay")
    .also("rtt", "latency", "tail_latency"),
    Measure(
        "srtt_p95",
        "s",
        "lower",
        DELAY,
        f"mean over its flows of the 95th percentile over time of the smoothed RTT{_CONNECTIONS}",
        _srtt_p95,
        "series.srtt_s",
        is_of_connections=True,
        label="p95 smoothed RTT",
        combined="mean",
    ).leads(View.COMPARISON),
    Measure(
        "rtt_inflation",
        "1",
        "lower",
        DELAY,
        f"95th percentile (within 0.8 %) of the RTT over the smallest RTT{_CONNECTIONS}",
        _of(rtt_inflation),
        "flows.rtt_p95_s",
        is_of_connections=True,
        label="p95 RTT over smallest RTT",
        neutral=1.0,
    ),
    Measure(
        "responsiveness",
        "1/min",
        "higher",
        Margin(0.10),
        "round trips per minute (RPM) of its pings and probes while bulk flows ran: 60 s over the mean of the"
        " shortest 95 % of RTTs, after draft-ietf-ippm-responsiveness",
        _responsiveness,
        "probes.rtt_s",
        label="responsiveness",
    ).also("rpm"),
    Measure(
        "latency_increase",
        "s",
        "lower",
        Margin(0.10, 0.005),
        "mean RTT of its pings and probes while bulk flows ran, less the RTT of the idle path; bufferbloat"
        " grades are based on it. The idle RTT is the mean of pings that met no other flows, or else computed"
        " from the scenario; none if the path changes or its RTT is unknown. With several flows of pings or"
        " probes it is the mean over flows",
        _latency_increase,
        "probes.rtt_s",
        label="latency increase under load",
        combined="mean",
    ).also("bufferbloat", "latency", "latency_under_load"),
    _delay("owd_mean", "the mean one-way delay", "mean_s", "mean one-way delay")
    .leads(View.COMPARISON | View.REPORT, rank=7, aspect="delay")
    .also("owd", "delay", "one_way_delay"),
    _delay("owd_p95", "the 95th percentile (within 0.8 %) of the one-way delay", "p95_s", "p95 one-way delay")
    .leads(View.TABLE | View.REPORT | View.FIGURE, rank=8, aspect="delay")
    .also("owd", "one_way_delay"),
    _queueing("queueing_mean", "the mean", "mean_s", "mean queueing delay").also(
        "queue", "queue_delay", "queueing", "queueing_delay"
    ),
    _queueing(
        "queueing_p95", "the 95th percentile (within 0.8 %) of the", "p95_s", "p95 queueing delay"
    ).also("queueing", "queueing_delay"),
    _in_order("in_order_mean", "the mean", "in_order_mean_s", "mean delay in order"),
    _in_order(
        "in_order_p95", "the 95th percentile (within 0.8 %) of the", "in_order_p95_s", "p95 delay in order"
    ),
    _averaged(
        "jitter",
        Margin(0.20, 0.0005),
        "the interarrival jitter of datagrams",
        "jitter_s",
        "interarrival jitter",
    )
    .leads(View.COMPARISON | View.REPORT)
    .also("delay_variation", "ipdv", "pdv"),
    *OF_CALLS,
    _summed(
        "dropped_packets",
        "packets",
        "lower",
        PACKETS,
        "data packets that the network dropped; for links see `dropped`",
        "dropped_packets",
        "data packets dropped",
    ).also("drops"),
    Measure(
        "dropped_share",
        "1",
        "lower",
        SHARE_OF_PACKETS,
        f"share of sent data packets that the network dropped{_CONNECTIONS}",
        _of(dropped_share),
        "flows.dropped_packets",
        is_of_connections=True,
        label="dropped data packet share",
        bounds=PART,
        is_percent=True,
        digits=2,
    )
    .leads(EVERYWHERE, aspect="loss")
    .also("drops", "loss", "losses", "packet_loss"),
    _summed(
        "retransmitted",
        "packets",
        "lower",
        PACKETS,
        "retransmissions of data packets, for any reason, summed over its flows",
        "retransmitted_packets",
        "packets retransmitted",
    )
    .leads(View.COMPARISON)
    .also("retrans", "retransmissions", "retransmits", "retx"),
    Measure(
        "retransmission_rate",
        "1",
        "lower",
        SHARE_OF_PACKETS,
        f"retransmissions as a share of all data packets sent{_CONNECTIONS}",
        _of(retransmission_rate),
        "flows.retransmitted_packets",
        is_of_connections=True,
        label="retransmitted packet share",
        bounds=PART,
        is_percent=True,
        digits=2,
    )
    .leads(View.TABLE | View.REPORT | View.FIGURE | View.SENTENCE, instead_of="dropped_share")
    .also("retransmissions", "retransmits"),
    Measure(
        "loss_rate",
        "1",
        "lower",
        SHARE_OF_PACKETS,
        "share of data packets that the sender marked lost, including those marked in error; for datagrams,"
        f" the share that did not arrive though a later one did{_CONNECTIONS}",
        _of(loss_rate),
        "flows.lost_packets",
        is_of_connections=True,
        label="marked lost packet share",
        bounds=PART,
        is_percent=True,
        digits=2,
    )
    .leads(View.COMPARISON | View.REPORT, aspect="loss")
    .also("loss", "losses", "packet_loss"),
    Measure(
        "marking_rate",
        "1",
        "",
        SHARE_OF_PACKETS,
        f"share of data packets with a congestion mark{_CONNECTIONS}",
        _of(marking_rate),
        "flows.marked_packets",
        is_of_connections=True,
        label="marked packet share",
        bounds=PART,
        is_percent=True,
        digits=2,
    ).also("ce_marks", "ecn", "marks"),
    Measure(
        "power",
        "bit/s²",
        "higher",
        Margin(0.10),
        f"goodput over mean RTT{_CONNECTIONS}",
        _power,
        "flows.rtt_mean_s",
        is_of_connections=True,
        is_of_one_way=True,
        is_of_echoes=False,
        label="goodput over RTT",
    ),
    Measure(
        "convergence",
        "s",
        "lower",
        Margin(0.20, 1.0),
        "time from the start of its slowest bulk flow, also within the warm-up, until the goodput of that"
        " flow stays within 25 % of its fair share for 5 s; none if a bulk flow never converges",
        _convergence,
        "series.goodput_bps",
        event="all its bulk flows converge",
        is_of_one_way=True,
        label="convergence time",
        is_in_seconds=True,
    )
    .leads(View.COMPARISON)
    .also("convergence_time"),
    *OF_APPLICATIONS,
)
"""Measures per group of flows. All measures except `convergence` and the measures of videos leave out the
warm-up."""
