"""Tables of a run prepared for figures: flows labelled with their presets, windows in packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from fullpipe.analysis.events import events_of
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import flow_names

EVENTS = "events"
"""Name of the table of `fullpipe.analysis.events`."""
_IN_BYTES = {"cwnd_bytes": "cwnd_packets", "in_flight_bytes": "in_flight_packets"}


def flow_labels(run: Run) -> dict[str, str]:
    """Return the label of each flow in figures: its name, with the algorithm's preset: "bbr3-1 (draft)"."""
    flows = run.scenario.flows
    presets = [flow.cca.params.get("preset") if flow.cca and flow.name is None else None for flow in flows]
    return {
        name: f"{name} ({preset})" if preset else name
        for names, preset in zip(flow_names(flows), presets, strict=True)
        for name in names
    }


def presented(run: Run) -> Mapping[str, pl.DataFrame]:
    """Return the tables of a run for the drawing functions.

    Flows have the labels of `flow_labels`. `series` also has windows in packets, like `variables`. `events`
    has the changes during the run.
    """
    return _Presented(run)


class _Presented(Mapping[str, pl.DataFrame]):
    """Tables that are prepared on access, because they are read then."""

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
