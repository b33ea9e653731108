"""Applications that do not always have more to send, and short flows beside long ones."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree import regimes
from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.regimes import bursts, paced, working


def applications() -> Iterator[Case]:
    """At a constant rate, in bursts, at a rate that changes, and sparsely."""
    family = "applications"
    for label, ccas, paces in (
        ("cbr-5m", ("cubic", "bbr1"), [(0, "5 Mbit/s")]),
        ("cbr-18m", ("reno",), [(0, "18 Mbit/s")]),
        ("cbr-100k", ("cubic",), [(0, "100 kbit/s")]),
        ("cbr-4m-then-bulk", ("cubic", "bbr1"), [(0, "4 Mbit/s"), (12, None)]),
        ("bulk-cbr-3m-bulk", ("cubic",), [(0, None), (10, "3 Mbit/s"), (17, None)]),
        ("100kB-each-s", ("cubic", "bbr1"), bursts(count=22, every_s=1, size_bytes=100_000)),
        ("1MB-each-4s", ("reno", "bbr1"), bursts(count=6, every_s=4, size_bytes=1_000_000)),
    ):
        for cca in ccas:
            yield paced(family, label, cca, 20, 40, paces)
    yield paced(family, "400kB-each-2s", "bbr1", 29, 42, bursts(count=11, every_s=2, size_bytes=400_000))
    on_off = {"kind": "on_off", "rate": "15 Mbit/s", "on": "1.5 s", "off": "1 s"}
    for cca in ("cubic", "bbr1"):
        yield working(family, "on-off-15m", cca, 20, 40, on_off)


def short_flows() -> Iterator[Case]:
    """Beside one flow that lasts, or by themselves: their completion times count."""
    family = "short flows"
    yield regimes.short_flows(family, "15 kB", "cubic", 20, 40)
    yield regimes.short_flows(family, "100 kB", "cubic", 50, 40)
    yield regimes.short_flows(family, "100 kB", "bbr1", 20, 40)
    yield regimes.short_flows(family, "300 kB", None, 20, 40)


FAMILIES = (applications, short_flows)
