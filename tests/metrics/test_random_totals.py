"""Totals, shares and indices of random scenarios: never above what the links carry."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.analysis.metrics import summary
from fullpipe.analysis.metrics.groups import ALL, bulk_names, flow_directions
from fullpipe.analysis.metrics.samples import compared, spacing_s
from fullpipe.analysis.metrics.table import measured_rows
from fullpipe.runs.spans import span_of, together_bps
from fullpipe.scenario import resolve

Tree = dict[str, Any]
Rows = Sequence[dict[str, Any]]
Shape = tuple[Tree, Callable[[], Tree]]
"""What surrounds the flows of a scenario, and the path of one more flow."""
PAYLOAD = 1448 / 1514
"""Most of what a link carries that is payload: 66 B of headers around 1448 B."""
ROUNDING = 1e-9
NANOSECONDS_S = 16e-9
"""Rounding of whole nanoseconds at each of at most 16 hops there and back."""


def test_totals_never_exceed_the_links(cases: Callable[[int], int]) -> None:
    """Dumbbells, parking lots and cells, with random starts, stops, warm-ups, directions and samples."""
    for number in range(cases(10_000)):
        scenario = drawn(random.Random(number))
        run = fullpipe.run(scenario)
        for problem in problems(scenario, run):
            pytest.fail(f"{number}: {problem}\n{scenario.to_toml()}")


def drawn(rng: random.Random) -> Scenario:
    """Most are dumbbells, a fifth are parking lots, and a tenth have a cell."""
    duration, (shape, *_) = rng.uniform(0.5, 1.5), rng.choices([_dumbbell, _parking_lot, _cell], [7, 2, 1])
    around, path = shape(rng)
    if has_warmup := rng.random() < 0.5:
        around["warmup"] = f"{rng.uniform(0, 0.8 * duration):.4f} s"
    flows = [_flow(rng, f"f{number}", duration, has_warmup) | path() for number in range(rng.randint(1, 4))]
    if rng.random() < 0.1:
        flows.append(_ping(rng, duration) | path())
    record = {"interval": "off" if rng.random() < 0.8 else "50 ms"}
    return Scenario(name="random", duration=f"{duration:.4f} s", **around, flows=flows, record=record)


def _dumbbell(rng: random.Random) -> Shape:
    return {"topology": {"kind": "dumbbell", "bottleneck": _link(rng)}}, lambda: {"upload": _is_upload(rng)}


def _parking_lot(rng: random.Random) -> Shape:
    """Two or three links in a row, and a path over some of them, one way or the other."""
    nodes = list("abcd")[: rng.randint(3, 4)]
    links = [{"from": a, "to": b, "duplex": True, **_link(rng)} for a, b in pairwise(nodes)]
    topology = {"kind": "graph", "nodes": nodes, "links": links}
    return {"topology": topology}, lambda: dict(zip(("from", "to"), rng.sample(nodes, 2), strict=True))


def _cell(rng: random.Random) -> Shape:
    """A slow cell of Wi-Fi or LTE with one station."""
    wifi = {"kind": "wifi", "stations": [{"node": "phone", "rate": {"mcs": 0}}]}
    lte = {
        "kind": "lte",
        "width": "1.4 MHz",
        "users": [{"node": "phone", "rate": {"mcs": rng.randint(0, 20)}}],
    }
    topology = {"kind": "dumbbell", "bottleneck": {"cell": "cell"}, "access": {"delay": "5 ms"}}
    around = {"topology": topology, "cells": [{"name": "cell", **rng.choice([wifi, lte])}]}
    return around, lambda: {"station": "phone", "upload": _is_upload(rng)}


def _is_upload(rng: random.Random) -> bool:
    return rng.random() < 0.3


def _link(rng: random.Random) -> Tree:
    return {
        "rate": f"{rng.uniform(1, 10):.3f} Mbit/s",
        "delay": f"{rng.uniform(0.5, 20):.3f} ms",
        "queue": {"kind": "drop_tail", "packets": rng.randint(3, 60)},
    }


def _flow(rng: random.Random, name: str, duration: float, has_warmup: bool) -> Tree:
    made: Tree = {"name": name, "cca": rng.choice(["cubic", "reno", "bbr1", "vegas"])}
    start = round(rng.uniform(0, 0.8 * duration), 4) if rng.random() < 0.6 else 0.0
    made["start"] = f"{start} s"
    if rng.random() < 0.4:
        made["stop"] = f"{rng.uniform(start + 1e-3, 1.1 * duration + 2e-3):.4f} s"
    elif rng.random() < 0.2:
        made["size"] = f"{rng.randint(1, 300)} kB"
    if "stop" not in made and not has_warmup and rng.random() < 0.3:
        made["start_jitter"] = f"{rng.uniform(0.001, 0.1 * duration):.4f} s"
    return made


def _ping(rng: random.Random, duration: float) -> Tree:
    start = f"{rng.uniform(0, 0.5 * duration):.4f} s"
    return {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}, "start": start}


def problems(scenario: Scenario, run: Run) -> Iterator[str]:
    """Yield what is impossible in the values of a run."""
    rows = run.rows("flows")
    yield from _beyond_links(scenario, rows)
    yield from _beyond_bounds(run)
    for row in rows:
        is_counted = row["goodput_bps"] is not None and row["shared_bytes"] is not None
        if is_counted and row["shared_bytes"] > row["delivered_bytes"]:
            yield f"{row['flow']} shared {row['shared_bytes']} of {row['delivered_bytes']} bytes"
    if not run.is_empty("series"):
        yield from _beyond_counts(run, rows)


def _beyond_links(scenario: Scenario, rows: Rows) -> Iterator[str]:
    """What flows deliver in a span was carried in it by every link on their way, or waited at its start."""
    network = resolve(scenario)
    links = [(hop.name, hop.rate_bps, {number}) for number, hop in enumerate(network.hops)]
    ports = len(network.links)
    for medium in network.media:
        own = set(range(ports, ports := ports + len(medium.ports)))
        if medium.kind == "wifi":  # one port at a time, where carriers of LTE send both ways at once
            links.append((medium.name, max(port.rate_bps or 0 for port in medium.ports), own))
    for name, rate_bps, hops in links:
        crossing = [
            row for row, routed in zip(rows, network.flows, strict=True) if hops.intersection(routed.forward)
        ]
        spans = [span_of(row, scenario.warmup_s) for row in crossing]
        total = together_bps([row["goodput_bps"] for row in crossing], spans)
        if total is None or not rate_bps:
            continue
        known = [span for span in spans if span]
        length_s = max(end for _, end in known) - min(start for start, _ in known)
        beyond = total * length_s - rate_bps * length_s * PAYLOAD - 8 * 1514
        if beyond > 0 and beyond > 8 * held_bytes(scenario):
            yield f"{name}: {beyond:.0f} bits of {total:.0f} bit/s over {length_s} s are beyond its rate"


def _beyond_bounds(run: Run) -> Iterator[str]:
    """Shares and indices are parts, add up in each direction, and are the same in `metrics` and JSON."""
    bulk, pings = len(bulk_names(run)), [] if run.is_empty("probes") else ["latency_increase"]
    found = {
        (of, metric): number for _, of, metric, number, _ in measured_rows(run, (), ["share", "jain", *pings])
    }
    for (of, metric), number in found.items():
        if number is None:
            continue
        if metric in ("share", "jain") and not 0 <= number <= 1 + ROUNDING:
            yield f"{metric} of {of} is {number}"
        if metric == "jain" and number < 1 / bulk - ROUNDING:
            yield f"jain of {of} is {number}, of {bulk} flows at most"
        if metric == "latency_increase" and number < -NANOSECONDS_S:
            yield f"pings of {of} are {number} s faster under load"
    told = summary(run)
    whole = ALL if (ALL, "jain") in found else told["flows"][0]["flow"]
    if told["totals"]["jain"] != found[whole, "jain"]:
        yield f"jain is {told['totals']['jain']} in JSON and {found[whole, 'jain']} in metrics"
    shares = {flow["flow"]: flow["share"] for flow in told["flows"]}
    for way in flow_directions(run).values() or [shares]:
        own = [share for flow in way if (share := shares[flow]) is not None]
        if own and abs(sum(own) - 1) > ROUNDING:
            yield f"shares add up to {sum(own)}"


def _beyond_counts(run: Run, rows: Rows) -> Iterator[str]:
    """Samples within the time that flows share have no more than was counted in it."""
    bulk, interval_s = bulk_names(run), spacing_s(run.series)
    for way in flow_directions(run).values() or [[row["flow"] for row in rows]]:
        own = [row for row in rows if row["flow"] in way and row["goodput_bps"] is not None]
        is_counted = all(row["shared_bytes"] is not None for row in own)
        unlike = len({span_of(row, run.scenario.warmup_s) for row in own}) > 1
        if not (is_counted and unlike and any(row["flow"] in bulk for row in own)) or interval_s is None:
            continue
        uncounted = [row | {"shared_bytes": None} for row in own]
        sampled = compared(uncounted, bulk, lambda: run.series, run.scenario.warmup_s)
        for row in own:
            most = row["shared_bytes"] * (1 + ROUNDING)
            if sampled.get(row["flow"], 0.0) * interval_s / 8 > most:
                yield f"{row['flow']}: samples have more than the {row['shared_bytes']} bytes that it shared"


def held_bytes(scenario: Scenario) -> float:
    """What queues and reassembly hold at most at the end of the warm-up: sent before, and not delivered."""
    if not scenario.warmup_s:
        return 0.0
    tree, flows = scenario.to_dict(), list[Tree]()
    for number, (flow, read) in enumerate(zip(tree["flows"], scenario.flows, strict=True)):
        if read.start_s < scenario.warmup_s:
            is_later = read.stop_s is not None and read.stop_s >= scenario.warmup_s
            flows.append({"stream": str(number), **flow} | ({"stop": None} if is_later else {}))
    if not flows:
        return 0.0
    shorter = {"duration": f"{scenario.warmup_s} s", "warmup": "0 s", "flows": flows}
    before = fullpipe.run(Scenario(**{**tree, **shorter, "record": {"interval": "off"}}))
    rows = before.rows("flows")
    return float(sum(1514 * row["sent_packets"] - row["delivered_bytes"] for row in rows))
