"""Fair queues with many flows, CAKE on slow links, policers and token buckets."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case, managed
from fullpipe.validation.agree.regimes import shaped


def fair_queues() -> Iterator[Case]:
    """CAKE where a packet takes long, and more flows than a fair queue needs to tell them apart."""
    family = "fair queues"
    for cca, rate_mbps in (("cubic", 2), ("cubic", 5), ("reno", 10), ("bbr1", 5)):
        yield managed(family, "cake", {cca: 1}, rate_mbps, 40)
    yield managed(family, "cake", {"cubic": 16}, 50, 40)
    yield managed(family, "cake", {"reno": 8}, 30, 40)
    yield managed(family, "cake", {"bbr1": 8}, 50, 40)
    yield managed(family, "fq_codel", {"cubic": 16}, 50, 40)
    yield managed(family, "fq_codel", {"cubic": 6, "bbr1": 6}, 50, 40)
    yield managed(family, "fq_pie", {"reno": 12}, 50, 40)


def policers() -> Iterator[Case]:
    """They drop what comes too fast and let nothing wait."""
    for cca, burst_kb in (("cubic", 60), ("reno", 25), ("bbr1", 60)):
        yield shaped("policers", cca, "police", 20, burst_kb, 40)


def token_buckets() -> Iterator[Case]:
    """What has been saved up leaves at once."""
    for cca, burst_kb in (("cubic", 16), ("cubic", 128), ("bbr1", 128)):
        yield shaped("token buckets", cca, "tbf", 20, burst_kb, 40, packets=66)


FAMILIES = (fair_queues, policers, token_buckets)
