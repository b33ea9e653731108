"""Lines drawn at random, and the logs that tools would write of them, with noise on every sample."""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.analysis.export import flent
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of

NOISE = 0.05
"""Standard deviation of the noise, relative to every sample."""
CLOCK_S = 1_700_000_000.0
IDLE_S, LOAD_S, GAP_S = 15.0, 60.0, 10.0
HEADERS = (1448 + 66) / 1448


@dataclass(frozen=True)
class Line:
    """A line, and how it is measured."""

    kind: str
    """wired, small (wired, with few packets of buffer), cross, wifi or flent."""
    down_bps: float
    up_bps: float
    rtt_s: float
    down_buffer_s: float
    up_buffer_s: float
    cca: str
    ways: tuple[str, ...]
    rates_as: str
    """csv, iperf3, or iperf3-1s."""
    pings_as: str
    """iputils or macos."""
    ping_s: float
    cross_share: float
    seed: int


@dataclass(frozen=True)
class Truth:
    """What is to be found again."""

    rates_bps: dict[str, float]
    rtt_s: float
    buffers_s: dict[str, float]


def draw(chance: random.Random, kind: str) -> Line:
    """A line of a kind."""
    down_bps = 8e6 * 8 ** chance.random()
    up_bps = down_bps / chance.choice([1, 2, 4])
    rtt_s = 0.01 * 10 ** chance.random()
    pings_as = chance.choice(["iputils", "macos"])
    ways = chance.choice([("down",), ("up",), *([("down", "up")] if pings_as == "iputils" else [])])
    return Line(
        kind=kind,
        down_bps=down_bps,
        up_bps=up_bps,
        rtt_s=rtt_s,
        down_buffer_s=_buffer_s(chance, kind, rtt_s, down_bps),
        up_buffer_s=_buffer_s(chance, kind, rtt_s, up_bps),
        cca="cubic" if kind == "wifi" else chance.choice(["cubic", "cubic", "reno"]),
        ways=ways,
        rates_as=chance.choice(["csv", "iperf3", "iperf3-1s"]),
        pings_as=pings_as,
        ping_s=chance.choice([0.2, 0.5]),
        cross_share=chance.uniform(0.1, 0.4),
        seed=chance.randrange(10**6),
    )


def _buffer_s(chance: random.Random, kind: str, rtt_s: float, rate_bps: float) -> float:
    """0.6 to 3.6 RTTs and 20 packets at the least; of Wi-Fi 100 to 400 ms, as drivers have; small ones are of
    2 to 20 packets, whatever the RTT."""
    packet_s = 1514 * 8 / rate_bps
    if kind == "wifi":
        return 0.1 * 4 ** chance.random()
    if kind == "small":
        return 2 * 10 ** chance.random() * packet_s
    return max(rtt_s * 0.6 * 6 ** chance.random(), 20 * packet_s)


def write(line: Line, folder: Path) -> tuple[list[Path], Truth]:
    """The log files of a line, and the truth, which they do not say."""
    return {"wifi": _wifi, "flent": _flent}.get(line.kind, _wired)(line, folder)


def flows_of(line: Line, **ends: Any) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = []
    start_s = IDLE_S
    for way in line.ways:
        span = {"start": f"{start_s} s", "stop": f"{start_s + LOAD_S} s"}
        direction = {"direction": "reverse"} if way == "up" else {}
        flows.append(
            {
                "name": way,
                "cca": line.cca,
                **span,
                **(direction if not ends else {"upload": way == "up"}),
                **ends,
            }
        )
        start_s += LOAD_S + GAP_S
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": f"{line.ping_s} s"}}
    return [*flows, ping | (ends or {"direction": "reverse"})]


def _duration_s(line: Line) -> float:
    return IDLE_S + len(line.ways) * (LOAD_S + GAP_S)


def _interval_s(line: Line) -> float:
    return {"csv": 0.1, "iperf3": 0.1, "iperf3-1s": 1.0}[line.rates_as]


def _wired(line: Line, folder: Path) -> tuple[list[Path], Truth]:
    links = [
        {"rate": f"{rate:.0f} bit/s", "delay": f"{line.rtt_s / 2} s", "queue": {"size": f"{buffer_s:.6f} s"}}
        for rate, buffer_s in ((line.down_bps, line.down_buffer_s), (line.up_bps, line.up_buffer_s))
    ]
    flows = flows_of(line)
    if line.kind == "cross":
        rate = f"{line.cross_share * line.down_bps:.0f} bit/s"
        workload = {"kind": "udp", "rate": rate, "on": "2 s", "off": "3 s", "periods": "exponential"}
        flows.append({"name": "cross", "workload": workload})
    scenario = Scenario(
        name="line",
        duration=f"{_duration_s(line)} s",
        topology={"kind": "dumbbell", "bottleneck": links[0], "reverse": links[1]},
        flows=flows,
        record={"interval": f"{_interval_s(line)} s"},
    )
    run = fullpipe.run(scenario, seed=line.seed)
    rates = {"down": line.down_bps, "up": line.up_bps}
    buffers = {"down": line.down_buffer_s, "up": line.up_buffer_s}
    truth = Truth(
        {way: rates[way] for way in line.ways}, line.rtt_s, {way: buffers[way] for way in line.ways}
    )
    return logs_of(line, run, folder), truth


def _wifi(line: Line, folder: Path) -> tuple[list[Path], Truth]:
    """A station behind a queue first in, first out, of bytes. What such a cell delivers is no key of it: the
    rate is what the stream gets on average, without noise."""
    size = round(line.down_buffer_s * 60e6 / 8)
    cell = {
        "name": "home",
        "kind": "wifi",
        "preset": "home-ax",
        "streams": 1,
        "queue": {"kind": "drop_tail", "bytes": f"{size} B"},
        "stations": [{"node": "laptop", "rate": {"mcs": 1}}],
    }
    scenario = Scenario(
        name="line",
        duration=f"{_duration_s(line)} s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"cell": "home"},
            "access": {"rate": "1 Gbit/s", "delay": f"{line.rtt_s / 2} s"},
        },
        cells=[cell],
        flows=flows_of(line, station="laptop"),
        record={"interval": f"{_interval_s(line)} s"},
    )
    run = fullpipe.run(scenario, seed=line.seed)
    time = pl.col("time_s")
    idle_s = float(np.median(run.probes.filter(time < IDLE_S - 1)["rtt_s"].to_numpy()))
    rates: dict[str, float] = {}
    for number, way in enumerate(line.ways):
        begin_s = IDLE_S + number * (LOAD_S + GAP_S) + 5
        busy = run.series.filter(pl.col("flow") == way, time > begin_s, time <= begin_s + LOAD_S - 6)
        rates[way] = float(np.mean(busy["goodput_bps"].to_numpy())) * HEADERS
    buffers = {way: size * 8 / rates[way] for way in line.ways}
    return logs_of(line, run, folder), Truth(rates, idle_s, buffers)


def _flent(line: Line, folder: Path) -> tuple[list[Path], Truth]:
    chance = random.Random(line.seed)
    way = line.ways[0]
    link = {
        "rate": f"{line.down_bps:.0f} bit/s",
        "delay": f"{line.rtt_s / 2} s",
        "queue": {"size": f"{line.down_buffer_s:.6f} s"},
    }
    topology = {"kind": "dumbbell", "bottleneck": link}
    path = Scenario(name="path", duration="1 s", topology=topology, flows=[{"cca": "cubic"}])
    test = declared(f"tcp_{chance.choice([1, 4])}{way}")
    run = fullpipe.run(
        scenario_of(test, path_of(path), Choices((line.cca,), length_s=LOAD_S)), seed=line.seed
    )
    tree = json.loads(gzip.decompress(flent(run)))
    for points in tree["raw_values"].values():
        for point in points:
            if point.get("val") is not None:
                point["val"] = point["val"] * _factor(chance)
    file = folder / "line.flent.gz"
    file.write_bytes(gzip.compress(json.dumps(tree).encode()))
    return [file], Truth({way: line.down_bps}, line.rtt_s, {way: line.down_buffer_s})


def _factor(chance: random.Random) -> float:
    return max(0.5, chance.gauss(1, NOISE))


def logs_of(line: Line, run: Run, folder: Path) -> list[Path]:
    chance = random.Random(line.seed)
    pings = folder / "ping.txt"
    pings.write_text(PINGS[line.pings_as](run, chance))
    found = [pings]
    for way in line.ways:
        rows = run.series.filter(pl.col("flow") == way)
        busy = rows.filter(pl.col("goodput_bps") > 0)["time_s"]
        rows = rows.filter(pl.col("time_s").is_between(busy.min(), busy.max()))
        samples = [
            (float(t), float(bps) * _factor(chance))
            for t, bps in rows.select("time_s", "goodput_bps").iter_rows()
        ]
        file = folder / (f"{way}.csv" if line.rates_as == "csv" else f"{way}.json")
        text = (
            _csv(samples, way)
            if line.rates_as == "csv"
            else _iperf3(samples, _interval_s(line), way, line.cca)
        )
        file.write_text(text)
        found.append(file)
    return found


def _csv(samples: Sequence[tuple[float, float]], way: str) -> str:
    lines = [f"{CLOCK_S + t:.3f},{bps:.0f}" for t, bps in samples]
    return "\n".join([f"t,{way}", *lines, ""])


def _iperf3(samples: Sequence[tuple[float, float]], step_s: float, way: str, cca: str) -> str:
    begin_s = samples[0][0] - step_s
    intervals = [
        {
            "sum": {
                "start": t - step_s - begin_s,
                "end": t - begin_s,
                "seconds": step_s,
                "bits_per_second": bps,
            }
        }
        for t, bps in samples
    ]
    start = {
        "timestamp": {"timesecs": int(CLOCK_S + begin_s), "timemillisecs": round((CLOCK_S + begin_s) * 1e3)},
        "tcp_mss_default": 1448,
        "test_start": {"protocol": "TCP", "reverse": int(way == "down"), "num_streams": 1},
    }
    end = {"sender_tcp_congestion": cca}
    return json.dumps({"start": start, "intervals": intervals, "end": end})


def _echoes(run: Run, chance: random.Random) -> list[tuple[float, float | None]]:
    rows = run.probes.filter(flow="ping").select("time_s", "rtt_s").iter_rows()
    return [(float(t), None if rtt is None else float(rtt) * _factor(chance)) for t, rtt in rows]


def _iputils(run: Run, chance: random.Random) -> str:
    lines = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    for number, (t, rtt_s) in enumerate(_echoes(run, chance), 1):
        if rtt_s is not None:
            stamp = f"[{CLOCK_S + t + rtt_s:.6f}] 64 bytes from 192.0.2.1"
            lines.append(f"{stamp}: icmp_seq={number} ttl=57 time={rtt_s * 1e3:.3g} ms")
    return "\n".join([*lines, "", "--- 192.0.2.1 ping statistics ---", ""])


def _macos(run: Run, chance: random.Random) -> str:
    """Without times of day: it counts from the first, which is sent when the test begins."""
    lines = ["PING example.net (192.0.2.1): 56 data bytes"]
    for number, (_, rtt_s) in enumerate(_echoes(run, chance)):
        if rtt_s is None:
            lines.append(f"Request timeout for icmp_seq {number}")
        else:
            lines.append(f"64 bytes from 192.0.2.1: icmp_seq={number} ttl=57 time={rtt_s * 1e3:.3f} ms")
    return "\n".join([*lines, "", "--- example.net ping statistics ---", ""])


PINGS: dict[str, Callable[[Run, random.Random], str]] = {"iputils": _iputils, "macos": _macos}
