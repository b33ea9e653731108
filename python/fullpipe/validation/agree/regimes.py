"""Cases of special regimes: what makes each of them, for the catalogue and for what is held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullpipe.validation.agree.case import CHANCE_STARTS, Case, case, drop_tail, dumbbell, single

Queue = Mapping[str, Any]
Paces = Sequence[tuple[float, str | None]]
"""From a time in seconds on, a rate; None is without limit."""


def starting(family: str, cca: str, count: int, rate_mbps: float, rtt_ms: float, queue: Queue) -> Case:
    """So many flows, and most of the run is slow start and what it does."""
    limit = f"{queue['packets']}p" if "packets" in queue else queue["size"].replace(" ", "")
    name = f"start-{count}x{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{limit}"
    flows = [{"cca": cca, "count": count}]
    return case(name, family, dumbbell(rate_mbps, rtt_ms, queue), flows, duration="6 s", warmup="0 s")


def lasting(family: str, cca: str, rate_mbps: float, rtt_ms: float, queue: Queue, lasts_s: int) -> Case:
    """One flow for another time than most: a shorter one on a short path, a longer one on a slow link."""
    limit = f"{queue['packets']}p" if "packets" in queue else queue["size"].replace(" ", "")
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{limit}-{lasts_s}s"
    return case(name, family, dumbbell(rate_mbps, rtt_ms, queue), [{"cca": cca}], duration=f"{lasts_s} s")


def slow_acks(family: str, cca: str, rate_mbps: float, rtt_ms: float, up_kbps: int) -> Case:
    """ACKs wait in a queue of 50 packets of their own."""
    queue = {"kind": "drop_tail", "packets": 50}
    back = {"rate": f"{up_kbps} kbit/s", "delay": f"{rtt_ms / 2:g} ms", "queue": queue}
    topology = {**dumbbell(rate_mbps, rtt_ms, drop_tail(1)), "reverse": back}
    return case(f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-acks-{up_kbps}k", family, topology, [{"cca": cca}])


def lost_acks(family: str, cca: str, rate_mbps: float, rtt_ms: float, percent: float) -> Case:
    """So many ACKs in a hundred are lost."""
    loss = {"kind": "bernoulli", "probability": percent / 100}
    topology = {
        **dumbbell(rate_mbps, rtt_ms, drop_tail(1)),
        "reverse": {"delay": f"{rtt_ms / 2:g} ms", "loss": loss},
    }
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-ack-loss-{percent:g}pc"
    return case(name, family, topology, [{"cca": cca}], seeds=CHANCE_STARTS)


def opposed(family: str, there: str, back: str, rate_mbps: float, rtt_ms: float) -> Case:
    """Two flows, and the data of each meets the ACKs of the other."""
    flows = [{"cca": there}, {"name": f"{back}-back", "cca": back, "direction": "reverse"}]
    name = f"{there}-against-{back}-{rate_mbps:g}m-{rtt_ms:g}ms"
    return case(name, family, dumbbell(rate_mbps, rtt_ms, drop_tail(1)), flows, seeds=CHANCE_STARTS)


def paced(family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, paces: Paces) -> Case:
    """One flow whose application hands data out at these paces."""
    told = [{"at": f"{at_s:g} s"} | ({} if rate is None else {"rate": rate}) for at_s, rate in paces]
    flow = {"cca": cca, "application": told}
    name = f"{cca}-{label}-{rate_mbps:g}m-{rtt_ms:g}ms"
    return case(name, family, dumbbell(rate_mbps, rtt_ms, drop_tail(1)), [flow])


def working(
    family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, workload: Mapping[str, Any]
) -> Case:
    """One flow whose application is a workload."""
    name = f"{cca}-{label}-{rate_mbps:g}m-{rtt_ms:g}ms"
    flow = {"cca": cca, "workload": dict(workload)}
    return case(name, family, dumbbell(rate_mbps, rtt_ms, drop_tail(1)), [flow])


def bursts(*, count: int, every_s: float, size_bytes: int) -> Paces:
    """So many bytes at 1 Gbit/s from time to time, from the third second on, and silence between."""
    lasts_s, starts = size_bytes * 8 / 1e9, [2 + every_s * n for n in range(count)]
    around = [pace for at_s in starts for pace in ((at_s, "1 Gbit/s"), (at_s + lasts_s, "0 bit/s"))]
    return [(0, "0 bit/s"), *around]


def short_flows(
    family: str, size: str, beside: str | None, rate_mbps: float, rtt_ms: float, *, cca: str = "cubic"
) -> Case:
    """A dozen short flows at different times, beside one that lasts or by themselves."""
    several = {"name": "short", "cca": cca, "size": size, "count": 12, "start": "6 s", "start_jitter": "14 s"}
    long = [{"name": "long", "cca": beside}] if beside else []
    name = f"12x{cca}-{size.replace(' ', '')}-beside-{beside or 'none'}-{rate_mbps:g}m-{rtt_ms:g}ms"
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(1))
    return case(name, family, topology, [*long, several], seeds=CHANCE_STARTS)


def shaped(
    family: str, cca: str, kind: str, rate_mbps: int, burst_kb: int, rtt_ms: float, **more: int
) -> Case:
    """A policer or a token bucket, behind lines of 100 Mbit/s, so that no two packets come at one moment."""
    queue = {"kind": kind, "rate_bps": rate_mbps * 1_000_000, "burst_bytes": burst_kb * 1000, **more}
    topology = {
        "kind": "dumbbell",
        "bottleneck": {"delay": f"{rtt_ms / 2:g} ms", "queue": queue},
        "reverse": {"delay": f"{rtt_ms / 2:g} ms"},
        "access": {"rate": "100 Mbit/s"},
    }
    return case(f"{cca}-{kind}-{rate_mbps}m-{burst_kb}kB-{rtt_ms:g}ms", family, topology, [{"cca": cca}])


def outage(family: str, cca: str, rate_mbps: float, rtt_ms: float, lasts_s: float) -> Case:
    """Nothing that is sent arrives for a while from 12 s on."""
    changes = [
        {"at": f"{at_s:g} s", "loss": {"kind": "bernoulli", "probability": share}}
        for at_s, share in ((12, 1.0), (12 + lasts_s, 0.0))
    ]
    return single(family, cca, rate_mbps, rtt_ms, 1, label=f"out-{lasts_s:g}s", changes=changes)


def lost_in_bursts(family: str, cca: str, rate_mbps: float, rtt_ms: float, worsens: float) -> Case:
    """Bad times of five packets, of which half are lost."""
    loss = {"kind": "gilbert_elliott", "worsens": worsens, "improves": 0.2, "bad": 0.5}
    label = f"bad-times-{100 * worsens:g}pc"
    return single(family, cca, rate_mbps, rtt_ms, 1, seeds=CHANCE_STARTS, label=label, loss=loss)


def reordered(family: str, cca: str, rate_mbps: float, rtt_ms: float, spread_ms: float) -> Case:
    """Packets overtake each other by up to the spread."""
    jitter = {"spread": f"{spread_ms:g} ms", "reorder": True}
    label = f"reordered-{spread_ms:g}ms"
    return single(family, cca, rate_mbps, rtt_ms, 1, seeds=CHANCE_STARTS, label=label, jitter=jitter)


def host(family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, **tcp: object) -> Case:
    """One flow between hosts with other settings."""
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(1))
    name = f"{cca}-{label}-{rate_mbps:g}m-{rtt_ms:g}ms"
    return case(name, family, topology, [{"cca": cca}], tcp=tcp)
