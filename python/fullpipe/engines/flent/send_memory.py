"""Detection of streams that the memory of their sockets limited, not the path."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.document import text
from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.series import Series
from fullpipe.engines.flent.totals import retransmissions, totals_of

FILLING = frozenset(
    {"reno", "cubic", "bic", "highspeed", "htcp", "hybla", "illinois"}
    | {"scalable", "westwood", "veno", "yeah", "compound"}
)
"""Loss-based algorithms, which increase their window until a packet is lost and so fill a buffer."""
FEW_EVENTS = 10
"""Smallest number of losses for an estimate of their probability. The relative error of a count is
1 / sqrt(n), a third for 10."""
_FLAT_SHARE = 0.5
"""Share of samples with the largest window from which a window counts as flat. Linux does not increase a
window that is not used up (tcp_is_cwnd_limited)."""
_LARGEST_MSS = 9_000
_LEAST_PAYLOAD = 0.5
"""Smallest share of payload in the memory of a full buffer: the overhead of a full segment is below its
payload."""


def may_fill(test: Test, one: Series) -> bool:
    """Whether a stream can fill a buffer: its algorithm is loss-based, or unknown."""
    return test.names.known(one.algorithm) in {*FILLING, None}


@dataclass(frozen=True)
class SendMemory:
    """The sizes in net.ipv4.tcp_wmem of the test host, in bytes."""

    first: int
    most: int

    def keys(self) -> Mapping[str, str]:
        """Return the keys of `tcp` in a scenario."""
        return {"send_memory": f"{self.first} B", "send_memory_most": f"{self.most} B"}


def send_memory_of(test: Test) -> SendMemory | None:
    """Return the memory of a sending socket on the test host, or None if the file does not contain it."""
    words = text(test.document.table("SYSCTLS"), "net.ipv4.tcp_wmem").split()
    if len(words) != 3 or not all(word.isascii() and word.isdecimal() and len(word) < 11 for word in words):
        return None
    _, first, most = map(int, words)
    return SendMemory(first, most) if _LARGEST_MSS <= first <= most < 2**31 else None


def is_held_back(test: Test, one: Series, memory: SendMemory) -> bool:
    """Whether the memory of its socket limited an upload.

    The upload uses a loss-based algorithm, yet lost hardly a packet, had a flat window, and had about as much
    data in flight as its memory holds.
    """
    events, goodput_bps = retransmissions(one), totals_of(one, test.timing).goodput_bps
    windows, rtts_ms = (one.column(key, one.sockets) for key in ("tcp_cwnd", "tcp_rtt"))
    windows, rtts_ms = windows[~np.isnan(windows)], rtts_ms[~np.isnan(rtts_ms)]
    if test.names.algorithm(one) not in FILLING or not one.is_upload or not windows.size or not rtts_ms.size:
        return False
    if events is None or events >= FEW_EVENTS or goodput_bps is None:
        return False
    is_flat = float((windows == windows.max()).mean()) >= _FLAT_SHARE
    under_way = goodput_bps / 8 * float(np.median(rtts_ms)) * 1e-3
    return is_flat and under_way >= _LEAST_PAYLOAD * memory.most
