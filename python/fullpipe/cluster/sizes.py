"""Sizes of chunks: large enough that claims cost little, small enough that all workers finish together."""

from math import ceil

SHORTEST_S = 1.0
"""Minimum duration of a chunk, unless it is a single run."""
LONGEST_S = 10.0
"""Maximum duration of a chunk, unless it is a single run."""
SHARE_S = 0.01
"""Minimum duration per worker, since one scheduler or file server serves the chunks of all workers."""
FIRST_CHUNKS = 128
"""Number of chunks at the start of a sweep, so that many processes can claim one at once."""


def chunk_runs(run_s: float | None, left: int, workers: int) -> int:
    """Return the size of the next chunk, by guided self-scheduling (Polychronopoulos and Kuck 1987).

    It is half of a worker's share of the remaining runs, within the bounds above, so that chunks become short
    towards the end.

    >>> [chunk_runs(None, 1000, 2), chunk_runs(0.01, 1000, 2), chunk_runs(0.01, 100_000, 2)]
    [1, 250, 1000]
    >>> chunk_runs(0.01, 1000, 1000)
    1000

    Args:
        run_s: Duration of a run in seconds. None before the first run.
        left: Number of runs that no worker holds, including this chunk.
        workers: Number of workers, including this one.
    """
    if run_s is None:
        return 1
    shortest_s = max(SHORTEST_S, SHARE_S * workers)
    least, most = (max(1, ceil(s / max(run_s, 1e-6))) for s in (shortest_s, max(shortest_s, LONGEST_S)))
    return min(max(left // (2 * max(1, workers)), least), most)
