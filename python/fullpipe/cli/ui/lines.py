"""The lines of the page's figures: one per flow or, of many flows, one per algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from fullpipe.report.looks import of_flows
from fullpipe.scenario import Network, RoutedFlow

MOST = 12
"""Flows that have a line each."""
_MSS_BYTES = 1_448
"""Entry of a flow that the scenario does not name."""


class Drawn(NamedTuple):
    """A flow, and what it has in common with those that share its line."""

    name: str
    cca: str | None
    kind: str
    """Its algorithm and its workload, as far as there are both."""
    is_upload: bool
    mss_bytes: int


def drawn(network: Network, flows: Iterable[tuple[str, str | None]] | None = None) -> list[Drawn]:
    """Every flow.

    Args:
        network: What the scenario says of them.
        flows: Names and algorithms of the flows that were measured. Left out: those of the scenario.
    """
    known = {routed.name: routed for routed in network.flows}
    if flows is None:
        flows = [(name, routed.flow.cca.kind if routed.flow.cca else None) for name, routed in known.items()]
    return [_drawn(name, cca, known.get(name)) for name, cca in flows]


def _drawn(name: str, cca: str | None, routed: RoutedFlow | None) -> Drawn:
    workload = routed.flow.workload if routed else None
    words = [cca or "", workload.kind if workload and workload.kind != "bulk" else ""]
    kind = " ".join(filter(None, words)) or "unknown algorithm"
    if routed is None:
        return Drawn(name, cca, kind, False, _MSS_BYTES)
    return Drawn(name, cca, kind, routed.flow.is_upload, routed.tcp.mss_bytes)


def lines_of(flows: Sequence[Drawn]) -> tuple[list[dict[str, Any]], list[int]]:
    """The lines with their looks, and the number of the line of each flow.

    Up to `MOST` flows have a line each. More flows share the line of their algorithm and workload. Uploads
    and downloads have lines of their own, as have flows with different segment sizes.
    """
    keys: list[tuple[Any, ...]] = [
        (number,) if len(flows) <= MOST else (flow.kind, flow.is_upload, flow.mss_bytes)
        for number, flow in enumerate(flows)
    ]
    groups: dict[tuple[Any, ...], list[Drawn]] = {}
    for key, flow in zip(keys, flows, strict=True):
        groups.setdefault(key, []).append(flow)
    labels = [_label(key, group, groups) for key, group in groups.items()]
    firsts = [group[0] for group in groups.values()]
    looks = of_flows([first.cca for first in firsts])
    lines = [
        {"label": label, "cca": first.cca, "flows": len(group), "mss_bytes": first.mss_bytes, **asdict(look)}
        for label, first, group, look in zip(labels, firsts, groups.values(), looks, strict=True)
    ]
    numbers = {key: number for number, key in enumerate(groups)}
    return lines, [numbers[key] for key in keys]


def _label(key: tuple[Any, ...], group: Sequence[Drawn], keys: Iterable[tuple[Any, ...]]) -> str:
    """The name of a single flow; of several their kind, what differs from other lines of it, and a count."""
    if len(group) == 1:
        return group[0].name
    kind, is_upload, mss_bytes = key
    beside = [other for other in keys if other[0] == kind]
    words = [kind]
    if len({other[1] for other in beside}) > 1:
        words.append("uploads" if is_upload else "downloads")
    if len({other[2] for other in beside}) > 1:
        words.append(f"{mss_bytes} B")
    return f"{', '.join(words)} ×{len(group)}"
