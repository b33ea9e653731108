"""How many runs a chunk has: enough that claiming it costs little, so few that all finish together."""

from math import ceil

SHORTEST_S = 1.0
"""A chunk takes so long at least, or is one run."""
LONGEST_S = 10.0
"""And at most, or is one run."""
SHARE_S = 0.01
"""And so long per worker: one scheduler, or one server of files, serves the chunks of all of them."""
FIRST_CHUNKS = 128
"""So many chunks a sweep begins with, so that many processes find one of their own at once."""


def chunk_runs(run_s: float | None, left: int, workers: int) -> int:
    """Runs of the next chunk, by guided self-scheduling (Polychronopoulos and Kuck 1987).

    Half of a worker's share of what is left, so that chunks become short towards the end, within the bounds
    above.

    >>> [chunk_runs(None, 1000, 2), chunk_runs(0.01, 1000, 2), chunk_runs(0.01, 100_000, 2)]
    [1, 250, 1000]
    >>> chunk_runs(0.01, 1000, 1000)
    1000

    Args:
        run_s: Time that a run takes, in seconds; None if it is not known yet, which it is after one run.
        left: Runs that are not held by any worker, this chunk included.
        workers: How many work, this one included.
    """
    if run_s is None:
        return 1
    shortest_s = max(SHORTEST_S, SHARE_S * workers)
    least, most = (max(1, ceil(s / max(run_s, 1e-6))) for s in (shortest_s, max(shortest_s, LONGEST_S)))
    return min(max(left // (2 * max(1, workers)), least), most)
