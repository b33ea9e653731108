"""Tables of a run prepared for figures: flows labelled with their presets, windows in packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from fullpipe.analysis.events import events_of
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import flow_names

EVENTS = "events"
"""The table of `fullpipe.analysis.events`, besides those of the run."""
_IN_BYTES = {"cwnd_bytes": "cwnd_packets", "in_flight_bytes": "in_flight_packets"}


def flow_labels(run: Run) -> dict[str, str]:
    """The name of each flow in figures: "bbr3-1 (draft)" if its algorithm has a preset, else its name."""
    flows = run.scenario.flows
    presets = [flow.cca.params.get("preset") if flow.cca and flow.name is None else None for flow in flows]
    return {
        name: f"{name} ({preset})" if preset else name
        for names, preset in zip(flow_names(flows), presets, strict=True)
        for name in names
    }


def presented(run: Run) -> Mapping[str, pl.DataFrame]:
    """The tables of a run for the drawing functions: flows have the names of `flow_labels`, and `series` has
    windows in packets, too, as `variables` has them. `events` is what changes in the course of the run."""
    return _Presented(run)


class _Presented(Mapping[str, pl.DataFrame]):
    """Tables that are changed when they are asked for, because they are read then."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._labels = flow_labels(run)

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name == EVENTS:
            return events_of(self._run)
        table = self._run.tables[name]
        if name == "series":
            table = table.with_columns(
                (pl.col(size) / pl.col("flow").replace_strict(self._mss(), default=None)).alias(packets)
                for size, packets in _IN_BYTES.items()
            )
        if name in ("series", "variables"):
            table = table.with_columns(pl.col("flow").replace(self._labels))
        return table

    def _mss(self) -> dict[str, int]:
        scenario = self._run.scenario
        sizes = [scenario.tcp_of(flow).mss_bytes for flow in scenario.flows]
        names = flow_names(scenario.flows)
        return {name: mss for group, mss in zip(names, sizes, strict=True) for name in group}

    def __iter__(self) -> Iterator[str]:
        yield from self._run.tables
        yield EVENTS

    def __len__(self) -> int:
        return len(self._run.tables) + 1
