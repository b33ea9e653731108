"""Hosts with other settings: segments, bursts, pacing, windows."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.regimes import host


def segments() -> Iterator[Case]:
    """Smaller and larger than those of Ethernet."""
    for cca, mss_bytes in (("cubic", 536), ("reno", 256), ("bbr1", 536), ("cubic", 8948)):
        yield host("segments", f"mss-{mss_bytes}", cca, 30, 40, mss=f"{mss_bytes} B")


def offloads() -> Iterator[Case]:
    """Single packets, larger bursts, pacing by the host's queue, an ACK for every packet."""
    family = "offloads"
    for cca in ("cubic", "bbr1"):
        yield host(family, "single-packets", cca, 30, 40, max_burst="off")
        yield host(family, "fq", cca, 30, 40, pacing="fq")
    yield host(family, "bursts-of-8", "cubic", 30, 40, min_burst=8)
    yield host(family, "no-sack-compression", "cubic", 30, 40, sack_compression=False)
    yield host(family, "ack-every-packet", "bbr1", 30, 40, ack_every=1)


def windows() -> Iterator[Case]:
    """Limited by what the receiver advertises, or opened by an initial window of one."""
    family = "windows"
    for cca in ("cubic", "bbr1"):
        yield host(family, "window-64KiB", cca, 30, 40, receive_buffer="64 KiB")
    yield host(family, "initial-window-1", "cubic", 30, 40, initial_window=1)


def stock_buffers() -> Iterator[Case]:
    """Buffers as Linux ships them, which tune themselves on both sides and limit long fat paths."""
    for cca, rate_mbps, rtt_ms in (
        ("cubic", 100, 100),
        ("cubic", 200, 50),
        ("bbr1", 100, 50),
        ("reno", 50, 80),
        ("hybla", 20, 200),
    ):
        yield host("stock buffers", "stock-buffers", cca, rate_mbps, rtt_ms, host="linux-defaults")


FAMILIES = (segments, offloads, windows, stock_buffers)
