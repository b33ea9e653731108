"""Cases of TCP Prague, for a kernel that has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullpipe.validation.agree.case import STARTS, Case, case, drop_tail, dumbbell, managed
from fullpipe.validation.agree.errors import LOSSES_AND_MARKS, ErrorTarget

_CCA = "prague"
QUANTITIES = (
    ErrorTarget("goodput", "goodput", 0.0, 0.01, 0.03),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.02, 0.05),
    *LOSSES_AND_MARKS,
)
KERNEL = """\
The reference is Linux 7.2 with version 0.6 of L4STeam's TCP Prague, which the native algorithm is
written after. To build it: take the source of the kernel (Debian's `linux-source-7.2`), and add
`tcp_prague.c` of the repository L4STeam/linux (version 0.6: commit 02573a215581; 0.7 is the newest
there). 7.2 has AccECN and DualPI2; what it lacks of the core are a flag by which an algorithm sends
ECT(1) once it is initialised, the count of marks of an ACK in its rate sample (`ece_delta`), and the
hook `tso_segs` beside `min_tso_segs`; for 0.7 also that the algorithm may choose the MSS. Leave out
`get_info`, and of 0.6 the detection of classic queues, which is off by default. Then, in a cache of its
own:

```text
XDG_CACHE_HOME=DIR fullpipe engines install linux --source TREE
XDG_CACHE_HOME=DIR fullpipe agree --suite prague --jobs 2 -o docs/explanation/agreement-prague.md
```

The kernel is an oracle; none of its code is in this project."""
KNOWN = """\
Version 0.6 leaves slow start after some round trips, whatever the link: its fractional window, by which
it paces, stays at the initial one. Natively too, since a single flow follows the kernel packet by packet
for its first tenths of a second: behind CoDel at 50 Mbit/s, 40 ms a run of either has 791 marks.

Which of two packets waits for the next ACK decides for many round trips whether there are marks: with
two packets a burst, a queue of four at the step of 1 ms. So a flow follows the kernel only as long as it
is the same to the packet, and it is so for 6 s at 10 Mbit/s, 20 ms, the longest that was looked at. That
took three things which hold for every algorithm: the receive window opens by segments without the AccECN
option, the send buffer holds two windows where an algorithm does not ask for three, and a timer runs
before a packet that arrives at the very same time."""
_QUEUES: Mapping[str, Mapping[str, Any]] = {
    "dualpi2": {"kind": "dualpi2"},
    "step": {"kind": "step", "mark_ms": 1},
    "codel": {"kind": "codel", "ecn": True},
}


def prague_cases() -> list[Case]:
    """Every case, in the order of the page."""
    families = (_single, _steps_of_marks, _codel, _together, _beside, _changes)
    return [replace(made, seeds=STARTS) for family in families for made in family()]


def _single() -> Iterator[Case]:
    slow = ((1, 10), (1, 40), (2, 20), (5, 10), (5, 40), (10, 20))
    for rate_mbps, rtt_ms in (*slow, (20, 5), (20, 10), (20, 40), (50, 10), (50, 40), (100, 5), (100, 20)):
        yield managed("DualPI2", "dualpi2", {_CCA: 1}, rate_mbps, rtt_ms, ecn=True)


def _steps_of_marks() -> Iterator[Case]:
    """A step of 1 ms."""
    for rate_mbps, rtt_ms in ((5, 20), (20, 20), (50, 10), (50, 40)):
        yield _alone("step", rate_mbps, rtt_ms)


def _codel() -> Iterator[Case]:
    for rate_mbps, rtt_ms in ((20, 20), (50, 10), (50, 40)):
        yield _alone("codel", rate_mbps, rtt_ms)


def _alone(queue: str, rate_mbps: float, rtt_ms: float) -> Case:
    return _marked(f"1x{_CCA}", queue, [{"cca": _CCA}], rate_mbps, rtt_ms, family=queue)


def _together() -> Iterator[Case]:
    longer = {"cca": _CCA, "access": {"delay": "15 ms"}}
    yield managed("several", "dualpi2", {_CCA: 2}, 50, 10, ecn=True)
    yield managed("several", "dualpi2", {_CCA: 4}, 50, 20, ecn=True)
    for queue in ("dualpi2", "step"):
        yield _marked(f"2x{_CCA}-10ms+70ms", queue, [{"cca": _CCA}, longer], 50, 10, family="several")


def _beside() -> Iterator[Case]:
    yield managed("beside CUBIC", "dualpi2", {_CCA: 1, "cubic": 1}, 20, 20, ecn=True)
    yield managed("beside CUBIC", "dualpi2", {_CCA: 1, "cubic": 1}, 50, 10, ecn=True)
    yield managed("beside CUBIC", "dualpi2", {_CCA: 1, "cubic": 1}, 50, 40, ecn=True)
    yield managed("beside CUBIC", "dualpi2", {_CCA: 2, "cubic": 2}, 100, 20, ecn=True)
    without: list[dict[str, Any]] = [{"cca": _CCA}, {"cca": "cubic", "tcp": {"ecn": False}}]
    yield _marked(f"1x{_CCA}+1xcubic-no-ecn", "dualpi2", without, 50, 10, family="beside CUBIC")


def _changes() -> Iterator[Case]:
    """The path changes at 12 s; and a queue that never marks."""
    for word, change in (("rate-down", {"rate": "10 Mbit/s"}), ("delay-up", {"delay": "20 ms"})):
        changes = [{"at": "12 s", **change}]
        yield _marked(word, "dualpi2", [{"cca": _CCA}], 40, 20, family="other paths", changes=changes)
    topology = dumbbell(20, 40, drop_tail(1))
    yield case(f"{_CCA}-20m-40ms-1bdp", "other paths", topology, [{"cca": _CCA}], tcp={"ecn": True})


def _marked(
    words: str,
    queue: str,
    flows: Sequence[Mapping[str, Any]],
    rate_mbps: float,
    rtt_ms: float,
    *,
    family: str,
    **more: Any,
) -> Case:
    """Flows behind a queue that marks; `more` is of the bottleneck."""
    topology = dumbbell(rate_mbps, rtt_ms, _QUEUES[queue], **more)
    name = f"{queue}-{words}-{rate_mbps:g}m-{rtt_ms:g}ms-ecn"
    return case(name, family, topology, flows, tcp={"ecn": True})
