"""Files as Flent writes them, with numbers made here."""

import gzip
import json
from pathlib import Path
from typing import Any

T0 = 1_700_000_000.0
STEP_S = 0.2
PING_MS, LOADED_MS = 20.0, 60.0
RATE_MBPS = 9.6
"""Of every stream."""
MSS = 1448
WORDS = {"FLENT_VERSION": "2.3.0", "KERNEL_NAME": "Linux", "KERNEL_RELEASE": "6.8.0", "LOCAL_HOST": "bench"}
Tree = dict[str, Any]


def stream(rate_mbps: float = RATE_MBPS, begin_s: float = 5.0, end_s: float = 65.0) -> list[Tree]:
    """Samples of netperf, of uneven length, and points of ss between them."""
    points: list[Tree] = []
    time_s, n = begin_s, 0
    while time_s < end_s - 0.3:
        lasts_s = (0.2, 0.25, 0.21)[n % 3]
        time_s, n = time_s + lasts_s, n + 1
        points += [
            {"t": T0 + time_s, "val": rate_mbps, "dur": lasts_s},
            {"t": T0 + time_s + 0.01, "tcp_cwnd": 50.0, "tcp_rtt": LOADED_MS, "tcp_pacing_rate": 11.0},
        ]
    return points


def pings(
    loaded_ms: float = LOADED_MS, lost: tuple[int, ...] = (), *, idle_ms: float = PING_MS, end_s: float = 70.0
) -> list[Tree]:
    """Replies every 200 ms, as fping has them: the time is that of the reply. 5 s at either end are idle."""
    found: list[Tree] = []
    for n in range(round(end_s / STEP_S)):
        sent_s = n * STEP_S
        value = loaded_ms if 5 <= sent_s < end_s - 5 else idle_ms
        if n not in lost:
            found.append({"t": T0 + sent_s + value / 1e3, "val": value, "seq": float(n)})
    return found


def meta(algorithm: str = "cubic", *, upload: bool = True, **more: Any) -> Tree:
    """What Flent notes of a stream."""
    bytes_ = round(RATE_MBPS * 1e6 / 8 * 60)
    test = "TCP_STREAM" if upload else "TCP_MAERTS"
    return {
        "RUNNER": "NetperfDemoRunner",
        "UNITS": "Mbits/s",
        "COMMAND": f"/usr/bin/netperf -H 192.0.2.1 -t {test} -l 60",
        "CONG_CONTROL": algorithm,
        "TCP_MSS": MSS,
        "BYTES_SENT": bytes_,
        "BYTES_RECVD": bytes_,
        "ELAPSED_TIME": 60.0,
        "TCP_RETRANSMIT": "7",
        "MEAN_VALUE": RATE_MBPS,
        **more,
    }


def whole(name: str, raw: dict[str, list[Tree]], series_meta: dict[str, Tree], **metadata: Any) -> Tree:
    """A whole file; Flent's own grid has the latest value at every step."""
    x_values = [n * STEP_S for n in range(350)]
    return {
        "version": 4,
        "metadata": {
            "NAME": name,
            "TITLE": "made here",
            "HOST": "192.0.2.1",
            "HOSTS": ["192.0.2.1"],
            "LENGTH": 60,
            "TOTAL_LENGTH": 70,
            "STEP_SIZE": STEP_S,
            "TIME": "2023-11-14T22:13:20.000000Z",
            "T0": "2023-11-14T22:13:20.000000Z",
            "SERIES_META": series_meta,
            "EGRESS_INFO": {
                "iface": "eth0",
                "driver": "e1000",
                "link_params": {"speed": "1000Mb/s"},
                "qdiscs": [{"name": "fq", "id": "0:", "parent": "root", "params": {}}],
            },
            "SYSCTLS": {"net.ipv4.tcp_timestamps": 1, "net.ipv4.tcp_congestion_control": "cubic"},
            **WORDS,
            **metadata,
        },
        "x_values": x_values,
        "results": {series: _grid(points, x_values) for series, points in raw.items()},
        "raw_values": raw,
    }


def _grid(points: list[Tree], x_values: list[float]) -> list[float | None]:
    values = [(point["t"] - T0, point["val"]) for point in points if "val" in point]
    recent = [[v for t, v in values if x - 1 <= t <= x] for x in x_values]
    return [found[-1] if found else None for found in recent]


def upload(algorithm: str = "cubic", **metadata: Any) -> Tree:
    """tcp_1up."""
    ping = {"RUNNER": "PingRunner", "UNITS": "ms", "COMMAND": "/usr/bin/fping -D -p 200 192.0.2.1"}
    return whole(
        "tcp_1up",
        {"TCP upload": stream(), "Ping (ms) ICMP": pings()},
        {"TCP upload": {**meta(algorithm), "IDX": 0}, "Ping (ms) ICMP": {**ping, "IDX": 1}},
        **metadata,
    )


def write(tree: Tree, path: str | Path) -> Path:
    """A packed file."""
    made = Path(path)
    made.write_bytes(gzip.compress(json.dumps(tree, indent=2, sort_keys=True).encode(), mtime=0))
    return made
