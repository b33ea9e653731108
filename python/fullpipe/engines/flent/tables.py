"""Tables of a run from the measurements of a test. Values that were not measured are null."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
import polars as pl

from fullpipe.engines.flent.described import Names, Totals, links, mss_of, totals_of
from fullpipe.engines.flent.series import ECHOES, RATES, Floats, Series, Timing, latest, means, rates_bps
from fullpipe.engines.imported.measurement import Columns, spread, table_of
from fullpipe.runs import TABLES
from fullpipe.runs.encoding import empty

_PROTOCOLS = {"tcp": "tcp", "http": "tcp", "udp": "udp", "probe": "udp", "call": "udp", "ping": "icmp"}
_MS = 1e-3
_MBPS = 1e6
_OF_BBR = {"tcp_bbr_mrtt": ("min_rtt", "s", _MS)} | {
    f"tcp_bbr_{gain}": (gain, "", 1.0) for gain in ("pacing_gain", "cwnd_gain")
}
"""BBR's values in `ss`, with the names of Fullpipe's variables, their units and conversion factors."""


def tables_of(series: Sequence[Series], timing: Timing, names: Names) -> Mapping[str, pl.DataFrame]:
    """Return all tables of a run."""
    flows = [one for one in series if one.kind != "qdisc"]
    totals = {one.flow: totals_of(one, timing) for one in flows}
    made = {
        "flows": table_of("flows", [_flow(one, totals[one.flow], timing, names) for one in flows]),
        "series": table_of("series", [_samples(one, timing) for one in flows]),
        "probes": table_of(
            "probes", [_probes(one, timing) for one in flows if one.kind in (*ECHOES, "call")]
        ),
        "transfers": table_of("transfers", [_fetches(one, timing) for one in flows if one.kind == "http"]),
        "variables": table_of("variables", [part for one in flows for part in _variables(one, timing)]),
        **links([one for one in series if one.kind == "qdisc"], timing),
    }
    return {name: made[name] if name in made else empty(name) for name in TABLES}


def _flow(one: Series, total: Totals, timing: Timing, names: Names) -> Columns:
    algorithm = names.algorithm(one) if one.kind == "tcp" else None
    rtts = _after(timing, *_rtts_s(one, timing))
    owds = _after(timing, *_owds_s(one, timing))
    jitter_s = _jitter_s(*_owds_s(one, timing), timing.delay_s) if one.kind == "call" else None
    return {
        "flow": [one.flow],
        "cca": [algorithm],
        "protocol": [_PROTOCOLS[one.kind]],
        "start_s": [total.start_s],
        "end_s": [total.end_s],
        "delivered_bytes": [total.delivered_bytes],
        "goodput_bps": [total.goodput_bps],
        "sent_packets": [total.sent_packets],
        "retransmitted_packets": [total.retransmitted_packets],
        "lost_packets": [total.lost_packets],
        "dropped_packets": [total.lost_packets],
        **spread("rtt", rtts),
        **spread("owd", owds),
        "jitter_s": [jitter_s],
    }


def _after(timing: Timing, times_s: Floats, values: Floats) -> Floats:
    """Return the values after the warm-up, without missing values."""
    return values[(times_s >= timing.delay_s) & ~np.isnan(values)]


def _rtts_s(one: Series, timing: Timing) -> tuple[Floats, Floats]:
    """Return times and RTTs. The RTTs of a stream are the smoothed RTTs of its socket."""
    if one.kind == "tcp":
        return timing.since(one.column("t", one.sockets)), one.column("tcp_rtt", one.sockets) * _MS
    if one.kind in ECHOES:
        return _sent_s(one, timing), one.column("val", one.values) * _MS
    return np.array([]), np.array([])


def _owds_s(one: Series, timing: Timing) -> tuple[Floats, Floats]:
    if one.kind == "call":
        return timing.since(one.column("t", one.values)), one.column("val", one.values) * _MS
    points = [point for point in one.points if point.get("owd_up") is not None]
    return timing.since(one.column("t", points)), one.column("owd_up", points) * _MS


def _sent_s(one: Series, timing: Timing) -> Floats:
    """Return the send times of packets with a reply. The file has only the arrival times of the replies, from
    which the RTTs are subtracted."""
    return timing.since(one.column("t", one.values)) - one.column("val", one.values) * _MS


def _samples(one: Series, timing: Timing) -> Columns:
    grid_s = timing.grid_s
    if one.kind in RATES:
        ends_s = timing.since(one.column("t", one.values))
        lasts_s = np.nan_to_num(one.column("dur", one.values), nan=timing.step_s)
        goodput = rates_bps(ends_s, lasts_s, one.column("val", one.values), grid_s)
        columns: Columns = {"goodput_bps": goodput, **_socket(one, timing)}
    elif one.kind in ECHOES:
        columns = {"srtt_s": means(*_rtts_s(one, timing), grid_s)}
    else:
        columns = {}
    return {"time_s": grid_s, "flow": [one.flow] * grid_s.size, **columns}


def _socket(one: Series, timing: Timing) -> Columns:
    """Return the values of a stream's socket at every step."""
    if not one.sockets:
        return {}
    times_s, grid_s = timing.since(one.column("t", one.sockets)), timing.grid_s

    def at_steps(key: str, factor: float) -> Floats:
        return latest(times_s, one.column(key, one.sockets) * factor, grid_s)

    cwnd = at_steps("tcp_cwnd", float(mss_of(one) or math.nan))
    whole = [None if math.isnan(value) else round(value) for value in cwnd.tolist()]
    return {
        "cwnd_bytes": whole,
        "srtt_s": at_steps("tcp_rtt", _MS),
        "pacing_bps": at_steps("tcp_pacing_rate", _MBPS),
        "delivery_bps": at_steps("tcp_delivery_rate", _MBPS),
    }


def _probes(one: Series, timing: Timing) -> Columns:
    if one.kind == "call":
        return _packets(one, timing)
    lost_s = _lost_s(one, timing)
    times_s, rtts_s = _rtts_s(one, timing)
    owds = one.column("owd_up", one.values) * _MS
    order = np.argsort(np.concatenate([times_s, lost_s]), kind="stable")
    missing = np.full(lost_s.size, math.nan)
    return {
        "time_s": np.maximum(np.concatenate([times_s, lost_s])[order], 0.0),
        "flow": [one.flow] * order.size,
        "owd_s": np.concatenate([owds, missing])[order],
        "rtt_s": np.concatenate([rtts_s, missing])[order],
    }


def _packets(one: Series, timing: Timing) -> Columns:
    """Return the packets of a call, in the order of sending."""
    times_s, owds_s = _owds_s(one, timing)
    lost_s = timing.since(one.column("t", [point for point in one.points if point.get("lost")]))
    sent_s = np.concatenate([times_s - owds_s, lost_s])
    order = np.argsort(sent_s, kind="stable")
    owds_s = np.concatenate([owds_s, np.full(lost_s.size, math.nan)])[order]
    return {"time_s": np.maximum(sent_s[order], 0.0), "flow": [one.flow] * order.size, "owd_s": owds_s}


def _jitter_s(times_s: Floats, owds_s: Floats, begin_s: float) -> float | None:
    """Return the mean interarrival jitter (RFC 3550, section 6.4.1) of arrivals at or after `begin_s`."""
    steps = np.abs(np.diff(owds_s))
    smoothed = np.array([*accumulate(steps, lambda known, step: known + (step - known) / 16, initial=0.0)])[
        1:
    ]
    known = smoothed[times_s[1:] >= begin_s]
    return float(known.mean()) if known.size else None


def _lost_s(one: Series, timing: Timing) -> Floats:
    """Return the send times of packets without a reply: packets marked lost in the file, or sequence numbers
    missing between packets with a reply."""
    said = [point for point in one.points if point.get("lost")]
    numbers = one.column("seq", one.values)
    if said or np.isnan(numbers).any() or numbers.size < 2:
        return timing.since(one.column("t", said))
    order = np.argsort(numbers)
    numbers, sent_s = numbers[order], _sent_s(one, timing)[order]
    if numbers[-1] - numbers[0] > 100 * numbers.size:  # the values are not sequence numbers
        return np.array([])
    every = np.arange(numbers[0], numbers[-1] + 1)
    gaps = np.setdiff1d(every, numbers)
    return np.asarray(np.interp(gaps, numbers, sent_s))


def _fetches(one: Series, timing: Timing) -> Columns:
    ends_s, took_s = timing.since(one.column("t", one.values)), one.column("val", one.values) * _MS
    count = ends_s.size
    return {
        "flow": [one.flow] * count,
        "number": list(range(1, count + 1)),
        "connection": list(range(1, count + 1)),
        "start_s": np.maximum(ends_s - took_s, 0.0),
        "end_s": ends_s,
        "fct_s": took_s,
    }


def _variables(one: Series, timing: Timing) -> list[Columns]:
    points = [point for point in one.points if any(key.startswith("tcp_bbr_") for key in point)]
    if not points:
        return []
    times_s, mss = timing.since(one.column("t", points)), mss_of(one)
    of_bw = {"tcp_bbr_bw": ("bw", "packets/s", _MBPS / (8 * mss))} if mss else {}
    found = []
    for key, (name, unit, factor) in (of_bw | _OF_BBR).items():
        values = one.column(key, points) * factor
        known = ~np.isnan(values)
        count = int(known.sum())
        found.append(
            {
                "time_s": times_s[known],
                "flow": [one.flow] * count,
                "connection": [1] * count,
                "name": [name] * count,
                "value": values[known],
                "unit": [unit] * count,
                "state": [""] * count,
            }
        )
    return found
