"""Devices of every link in the guest, and changes of their queue disciplines."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullpipe.engines.linux.layout.network import Change, Device, LinkLayout, Stage
from fullpipe.engines.linux.layout.sizes import frame_bytes, overhead_bytes
from fullpipe.engines.linux.tc.link import LinkState, arrival_filter, differing, link_states, qdisc_trees
from fullpipe.scenario import Link, RoutedFlow


def stage_count(link: Link) -> int:
    """Return the number of a link's devices that have an effect."""
    [(_, first), *_] = link_states(link)
    return len(qdisc_trees(link, first, frame_bytes(()), seed=0))


def lay_link(link: Link, devices: Sequence[Device], arrival: Device, crossed_by: Sequence[RoutedFlow],
             seed: int) -> LinkLayout:  # fmt: skip
    """Lay out a link on its devices. A link without any effect has one device."""
    states, frame = link_states(link), frame_bytes(crossed_by)
    [(_, first), *_] = states
    return LinkLayout(
        link.name,
        tuple(map(Stage, devices, qdisc_trees(link, first, frame, seed))),
        arrival,
        arrival_filter(link),
        overhead_bytes(crossed_by),
        tuple(_changes(link, states, devices, frame, seed)),
        _rates_bps(link, states),
        is_used=bool(crossed_by),
    )


def _changes(
    link: Link, states: Sequence[tuple[int, LinkState]], devices: Sequence[Device], frame: int, seed: int
) -> Iterator[Change]:
    """Return the changes from each state to the next. A changed qdisc draws new random numbers."""
    for turn, ((_, before), (at_ns, after)) in enumerate(pairwise(states), start=1):
        old, new = (qdisc_trees(link, state, frame, seed=0) for state in (before, after))
        drawn = qdisc_trees(link, after, frame, seed, turn)
        for stage, place in differing(old, new):
            yield Change(at_ns, devices[stage], drawn[stage].objects[place])


def _rates_bps(link: Link, states: Sequence[tuple[int, LinkState]]) -> tuple[tuple[int, int], ...]:
    if link.rate_bps is None:
        return ()
    return tuple((at_ns, state.rate_bps or 0) for at_ns, state in states)
