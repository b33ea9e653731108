"""Pauses of flows, in which the rate of the path cannot be observed."""

import math

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.connections import Floats


def is_running(arrived: Floats, step_s: float, longest_rtt_s: float) -> npt.NDArray[np.bool_]:
    """Whether flows were running in each of consecutive steps, shape (n,).

    A sender with data in flight gets an ACK within an RTT, and the data that this ACK releases arrive within
    the next. So a time without arrivals counts as running for its first RTT only.

    Args:
        arrived: Amount that arrived in each step, shape (n,).
        step_s: Length of a step.
        longest_rtt_s: The longest RTT of the flows.
    """
    place = np.arange(arrived.size, dtype=np.int32)
    last = np.maximum.accumulate(np.where(arrived > 0, place, 0))
    return np.asarray(place - last <= math.ceil(longest_rtt_s / step_s))
