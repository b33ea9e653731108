"""Text of the report on socket buffers."""

from __future__ import annotations

from fullpipe.studies.experiments import Measurements
from fullpipe.studies.kato2025.table import ALGORITHM, EXPERIMENT

MIB = 1 << 20
RTT_S = 0.12

LARGE, BOTH, RECEIVE = "large", "1 MiB both", "1 MiB receive"
"""Settings of the socket buffers: no limit; limits for sending and receiving; a limit for receiving."""
NS3_340, PORTED, LINUX = "ns-3 3.40", "ported", "Linux"
"""Settings with sockets of 1 MiB: all four behaviours of ns-3 3.40's transport; those in files that were not
ported; none of them."""


def cap_text(found: Measurements, socket_bytes: int, buffer: int) -> str:
    """Return a paragraph on the effect of a socket buffer on the table, with our numbers at one buffer."""
    cap = 8e-6 * socket_bytes / RTT_S
    low, high = (f"{count * cap:.0f}" for count in (9, 10))

    def mean(sockets: str, quantity: str) -> str:
        values = found.at(EXPERIMENT, quantity, ALGORITHM, {"buffer": buffer, "sockets": sockets})
        return f"{sum(values) / len(values):.0f}" if values else "?"

    return (
        f"A socket buffer of {socket_bytes / MIB:g} MiB lets a flow have that much in flight, so over "
        f"{RTT_S * 1e3:g} ms none can exceed {cap:.1f} Mbit/s, and BBR's upper pacing level is 1.25 "
        f"times that, {1.25 * cap:.0f} Mbit/s: the ceiling of Fig. 4. Nine or ten flows that live under that "
        f"cap move at most {low} to {high} Mbit/s, which is the printed 60 %: the cap and the number of "
        f"starved flows bound those totals, not BBR, which at {buffer} packets moves "
        f"{mean(LARGE, 'total_mbps')} Mbit/s here with large sockets and {mean(RECEIVE, 'total_mbps')} with "
        f"a receive buffer of 1 MiB. A send buffer of 1 MiB does more: the sender looks idle, so "
        f"BBR ignores low samples, as Linux has it, keeps pacing bursts at a stale rate (a median of "
        f"{mean(BOTH, 'pacing_cruise')} Mbit/s) and moves {mean(BOTH, 'total_mbps')} Mbit/s."
    )
