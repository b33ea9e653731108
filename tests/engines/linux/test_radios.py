"""Radios below the wireless stack of a real kernel, in virtual time, beside theory and the native cell.

They need a kernel that `fullpipe engines install linux --radios` has built.
"""

from __future__ import annotations

import numpy as np
import pytest

from fullpipe import Scenario, run
from fullpipe.engines.linux.boot import Guest, boot
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.install import installed
from fullpipe.engines.linux.install.installed import compile_program

SECOND = 1_000_000_000
PAYLOAD_BYTES = 1_472
BEGIN_S, END_S = 1.5, 8.0
BITS_OF_SYMBOL = (26, 52, 78, 104, 156, 208, 234, 260)
"""HT20, one stream (IEEE 802.11-2020, Table 19-27)."""


def answer_us(size_bytes: int, mcs: int) -> float:
    """SIFS, and an answer at the highest of 6, 12 and 24 Mbit/s not above the MCS's own (10.6.11, 17.4.3)."""
    bits_of_symbol = 24 if mcs < 1 else 48 if mcs < 3 else 96
    return 16 + 20 + 4 * -(-(16 + 8 * size_bytes + 6) // bits_of_symbol)


def ppdu_us(frames: int, mcs: int) -> float:
    """A frame or an aggregate (19.4.3)."""
    frame = 26 + 8 + 28 + PAYLOAD_BYTES + 4
    size = frames * (4 + -(-frame // 4) * 4) if frames > 1 else frame
    return 36 + 4 * -(-(16 + 8 * size + 6) // BITS_OF_SYMBOL[mcs])


def closed_form_mbps(frames: int, mcs: int) -> float:
    """One sender that always has something: AIFS, the mean backoff, frame or aggregate, answer."""
    exchange_us = 43 + 7.5 * 9 + ppdu_us(frames, mcs) + answer_us(32 if frames > 1 else 14, mcs)
    return frames * 8 * PAYLOAD_BYTES / exchange_us


def two_senders_mbps(frames: int, mcs: int, exchanges: int = 200_000) -> float:
    """Both together: EDCA access by access, with slots counted as 10.23.2.4 says, and EIFS."""
    draw = np.random.default_rng(1)
    windows, slots, time_us, delivered = [15, 15], [3, 7], 0.0, 0
    for _ in range(exchanges):
        first = min(slots)
        winners = [i for i in (0, 1) if slots[i] == first]
        answered = answer_us(32 if frames > 1 else 14, mcs) if len(winners) == 1 else answer_us(14, 0)
        time_us += 43 + 9 * first + ppdu_us(frames, mcs) + answered
        delivered += frames if len(winners) == 1 else 0
        slots = [left - first - 1 for left in slots]
        for i in winners:
            windows[i] = 15 if len(winners) == 1 else min(2 * windows[i] + 1, 1_023)
            slots[i] = int(draw.integers(windows[i] + 1))
    return delivered * 8 * PAYLOAD_BYTES / time_us


@pytest.fixture(scope="session")
def kernel(linux: LinuxEngine) -> installed.Installed:
    found = installed.find()
    if found is None or not found.radios:
        pytest.skip(f"the kernel has no radios; {installed.INSTALL} --radios builds one that has")
    return found


def arrivals(
    kernel: installed.Installed,
    mcs: list[int],
    ampdu: int = 64,
    longest_us: int = 5_484,
    seed: int = 1,
    *,
    back: bool = False,
) -> np.ndarray:
    """Datagrams from radio 0, as fast as it can, to all others: for which one, and when they arrived, in ns.

    `mcs` is that of what each radio exchanges with radio 0, -1 for Minstrel's. With `back` radio 1 sends to
    radio 0 as well.
    """
    others = range(1, len(mcs))
    script = "".join(f"namespace n{i}\n" for i in range(len(mcs)))
    script += "".join(f"radio n{i} w{i} {i}\naddress n{i} w{i} 10.0.0.{i + 1}\n" for i in range(len(mcs)))
    for i in others:
        script += f"route n0 10.0.0.{i + 1} w0 10.0.0.1\nroute n{i} 10.0.0.1 w{i} 10.0.0.{i + 1}\n"
        script += f"datagrams {i} n0 n{i} 10.0.0.{i + 1} udp {PAYLOAD_BYTES} 0 0 /times{i}\n"
    if back:
        script += f"datagrams 0 n1 n0 10.0.0.1 udp {PAYLOAD_BYTES} 0 0 /times0\n"
    script += f"end {int(END_S * SECOND)}\nsample {SECOND} {SECOND} {SECOND}\n"
    times = np.arange(SECOND // 2, int(END_S * SECOND), 147_200, dtype=np.int64)
    files = {f"times{i}": (times + i * 1_137_000).tobytes() for i in range(len(mcs))}
    parameters = {
        "radios": len(mcs),
        "ampdu": ampdu,
        "ppdu_us": longest_us,
        "beacons": 8,
        "mcs": ",".join(map(str, mcs)),
    }
    given = tuple(f"fullpipe_wifi.{key}={value}" for key, value in parameters.items())
    guest = Guest(kernel.kernel, compile_program(), given)
    with boot(guest, script, files, memory_mb=256, seed=seed) as finished:
        table = np.loadtxt(finished.folder / "datagrams", delimiter=",", dtype=np.int64)
    return table[:, (0, 2)]


def goodput_mbps(table: np.ndarray, radio: int) -> float:
    within = (table[:, 0] == radio) & (table[:, 1] >= BEGIN_S * SECOND) & (table[:, 1] < END_S * SECOND)
    return float(within.sum() * 8 * PAYLOAD_BYTES / (END_S - BEGIN_S) / 1e6)


@pytest.mark.parametrize("mcs", [0, 7])
def test_two_radios_without_aggregates_reach_the_closed_form(kernel: installed.Installed, mcs: int) -> None:
    """The tolerance is three standard deviations of so many backoffs' mean (0.09 % at MCS 7)."""
    table = arrivals(kernel, [mcs, mcs], ampdu=1)
    assert goodput_mbps(table, 1) == pytest.approx(closed_form_mbps(1, mcs), rel=0.003)


def test_aggregates_reach_the_closed_form(kernel: installed.Installed) -> None:
    """28 frames are what 5.484 ms hold."""
    table = arrivals(kernel, [7, 7])
    at = np.sort(table[table[:, 1] > BEGIN_S * SECOND][:, 1])
    sizes = np.diff(np.flatnonzero(np.diff(at, prepend=0) > 100_000))
    assert set(sizes) == {28}
    assert goodput_mbps(table, 1) == pytest.approx(closed_form_mbps(28, 7), rel=0.002)


@pytest.mark.parametrize(("ampdu", "frames"), [(1, 1), (64, 28)])
def test_two_senders_share_the_channel_as_edca_says(
    kernel: installed.Installed, ampdu: int, frames: int
) -> None:
    table = arrivals(kernel, [7, 7], ampdu=ampdu, back=True)
    both = goodput_mbps(table, 0) + goodput_mbps(table, 1)
    assert both == pytest.approx(two_senders_mbps(frames, 7), rel=0.01)


def test_the_kernels_minstrel_finds_the_highest_rate(kernel: installed.Installed) -> None:
    assert goodput_mbps(arrivals(kernel, [-1, -1]), 1) == pytest.approx(closed_form_mbps(28, 7), rel=0.01)


def test_airtime_fairness_of_the_kernel_and_of_the_native_queue(kernel: installed.Installed) -> None:
    """Each of two stations, at MCS 7 and 0, gets half of what it would have alone, behind Linux's own queues.

    So it does behind ours, with aggregates of 4 ms as those of ath9k."""
    table = arrivals(kernel, [7, 7, 0], longest_us=4_000)
    fast, slow = goodput_mbps(table, 1), goodput_mbps(table, 2)
    assert fast == pytest.approx(closed_form_mbps(20, 7) / 2, rel=0.01)
    assert slow == pytest.approx(closed_form_mbps(2, 0) / 2, rel=0.01)
    ours = run(Scenario.named("wifi-anomaly").with_values({"cells.0.queue": "mac80211"})).flows["goodput_bps"]
    assert ours[0] / 1e6 == pytest.approx(fast, rel=0.01)
    assert ours[1] / 1e6 == pytest.approx(slow, rel=0.01)


def test_the_same_seed_gives_the_same_bytes(kernel: installed.Installed) -> None:
    first, second = (arrivals(kernel, [7, 7, 7], seed=3) for _ in range(2))
    assert (first == second).all()
    assert (arrivals(kernel, [7, 7, 7], seed=4) != first).any()
