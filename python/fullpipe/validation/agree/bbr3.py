"""Cases of BBRv3, for a kernel that has Google's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullpipe.validation.agree.case import (
    STARTS,
    Case,
    case,
    drop_tail,
    dumbbell,
    lossy,
    managed,
    mix,
    single,
    step,
    transfer,
)
from fullpipe.validation.agree.errors import LOSSES_AND_MARKS, ErrorTarget

_CCA = "bbr3"
QUANTITIES = (
    ErrorTarget("goodput", "goodput", 0.0, 0.0025, 0.01),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.005, 0.02),
    *LOSSES_AND_MARKS,
)
KERNEL = """\
The reference is Linux 7.2 with BBRv3 as Google has published it, beside BBRv1. To build it: take the
source of the kernel (Debian's `linux-source-7.2`), and add what the branch `v3` of the repository
google/bbr has over the kernel that it begins with, or the same as a distribution carries it for a newer
kernel. That is `tcp_bbr.c` and changes to TCP's core: rate samples that know what was in flight and
lost when a packet left, a call for every loss, bursts that the algorithm chooses, a flag of routes for
low-latency marks. For 7.2 it takes two adaptions: the event of a transmission that starts after
idleness has become a function of its own (`cwnd_event_tx_start`), and the branch's `tso_segs` takes the
place of `min_tso_segs` in BBRv1, too. Call the new file `tcp_bbr3.c` and the algorithm `bbr3`, with a
`config TCP_CONG_BBR3`. Then, in a cache of its own:

```text
XDG_CACHE_HOME=DIR fullpipe engines install linux --source TREE
XDG_CACHE_HOME=DIR fullpipe agree --suite bbr3 --jobs 2 -o docs/explanation/agreement-bbr3.md
```

The kernel is an oracle; none of its code is in this project."""
KNOWN = """\
**`tcp_shifted_skb`.** Retransmissions of short queues differ by a peculiarity of that kernel: what is
selectively acknowledged at the head of a burst is moved into the burst before and taken from
`tx.in_flight` of the rest, so that `inflight_hi` lands one to three packets lower and the next probe
loses more. `tcp.lost_in_flight = "shifted"` does the same natively, and is off by default: it is no part
of the law. With it 100 Mbit/s, 5 ms has 529 retransmissions for the kernel's 577, where it has 286 (means
of 20 starts), and 50 Mbit/s, 20 ms, half a BDP 79 for 76, where it has 61 (3 starts; from 5 s to 25 s). On
100 Mbit/s, 20 ms, a fifth of a BDP it changes little (103 for 134), and on 500 Mbit/s nothing.

**More than chance**, in the tables, is said of one value in a hundred that chance alone brings there, and
there are some two hundred. After Holm's correction over all of them two of those listed are left: the
retransmissions of 100 Mbit/s, 5 ms, and the mean RTT of 500 Mbit/s, 10 ms, for which no cause is known.
A run of the kernel draws the same random numbers whenever it begins: its waits between probes are one
draw, however many starts there are. So the intervals are too narrow, not too wide."""


def bbr3_cases() -> list[Case]:
    """Every case, in the order of the page, with few starts: BBRv3 leaves less to chance than its rivals."""
    families = (_single, _together, _round_trips, _beside, _loss, _queues, _marks, _steps, _limited)
    return [replace(made, seeds=STARTS) for family in families for made in family()]


def _single() -> Iterator[Case]:
    paths = ((2, 40, 1), (10, 100, 1), (20, 40, 1), (50, 20, 0.5), (100, 5, 1), (100, 20, 0.2), (100, 20, 1))
    for rate_mbps, rtt_ms, bdp in (*paths, (200, 50, 1), (500, 10, 1)):
        yield single("single flows", _CCA, rate_mbps, rtt_ms, bdp)
    for bdp in (0.25, 0.5, 2, 8):
        yield single("single flows", _CCA, 20, 40, bdp)
    yield transfer("single flows", _CCA, "1 MB", 20, 40, 1)
    yield transfer("single flows", _CCA, "10 MB", 100, 20, 1)


def _together() -> Iterator[Case]:
    for rate_mbps, rtt_ms, bdp in ((20, 40, 0.5), (20, 40, 1), (20, 40, 4), (100, 20, 1)):
        yield mix("two flows", [(_CCA, 2, rtt_ms)], rate_mbps, bdp)
    for rate_mbps, bdp in ((50, 0.5), (50, 1), (20, 4)):
        yield mix("four flows", [(_CCA, 4, 40)], rate_mbps, bdp)


def _round_trips() -> Iterator[Case]:
    for rate_mbps, shorter_ms, longer_ms, bdp in ((20, 20, 80, 1), (20, 20, 80, 4), (50, 10, 50, 2)):
        yield mix("RTT mixes", [(_CCA, 1, shorter_ms), (_CCA, 1, longer_ms)], rate_mbps, bdp)


def _beside() -> Iterator[Case]:
    for rival, bdps in (("cubic", (0.5, 1, 4)), ("reno", (1, 4)), ("bbr1", (1,))):
        for bdp in bdps:
            yield mix("beside others", [(rival, 1, 40), (_CCA, 1, 40)], 20, bdp)
    yield mix("beside others", [("cubic", 2, 20), (_CCA, 2, 20)], 50, 1)
    yield mix("beside others", [("reno", 2, 20), (_CCA, 2, 20)], 50, 1)


def _loss() -> Iterator[Case]:
    for percent in (0.1, 1, 2, 4):
        yield lossy("loss", _CCA, 20, 40, percent)


def _queues() -> Iterator[Case]:
    for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake"):
        yield managed("queues", kind, {_CCA: 1}, 20, 40)
    yield managed("queues", "codel", {_CCA: 4}, 50, 40)
    yield managed("queues", "fq_codel", {"cubic": 1, _CCA: 1}, 20, 40)


def _marks() -> Iterator[Case]:
    for kind in ("codel", "fq_codel", "pie"):
        yield managed("marks", kind, {_CCA: 1}, 20, 40, ecn=True)
    yield managed("marks", "dualpi2", {_CCA: 1, "cubic": 1}, 50, 20, ecn=True)


def _steps() -> Iterator[Case]:
    yield step("steps", _CCA, "rate-down", 20, 40, 1, rate="5 Mbit/s")
    yield step("steps", _CCA, "rate-up", 5, 40, 2, rate="20 Mbit/s")
    yield step("steps", _CCA, "delay-up", 20, 40, 1, delay="40 ms")
    yield step("steps", _CCA, "delay-down", 20, 80, 1, delay="10 ms")


def _limited() -> Iterator[Case]:
    """The application hands out a constant rate, with pauses, and after being slower than the path."""
    paces = {
        "constant": [{"at": "0 s", "rate": "5 Mbit/s"}],
        "pauses": [{"at": f"{at} s", **({"rate": "0 bit/s"} if at % 4 else {})} for at in range(0, 25, 2)],
        "late": [{"at": "0 s", "rate": "2 Mbit/s"}, {"at": "12 s"}],
    }
    for word, application in paces.items():
        topology = dumbbell(20, 40, drop_tail(1))
        flow = {"cca": _CCA, "application": application}
        yield case(f"{_CCA}-20m-40ms-1bdp-{word}", "application-limited", topology, [flow])
