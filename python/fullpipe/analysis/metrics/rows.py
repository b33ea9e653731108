"""The rows of a run that measures are taken of: those that groups have in common, and those of a group.

What a group needs of a table is found by the names of its flows, so many groups take no longer than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fullpipe.analysis.metrics.connections import bulk_flows, bulk_names, connections, datagrams
from fullpipe.analysis.metrics.delay import smoothed_s
from fullpipe.analysis.metrics.dynamics import Windows
from fullpipe.analysis.metrics.groups import flow_directions
from fullpipe.analysis.metrics.paths import (
    changing_echoes,
    echo_names,
    echo_rtts_s,
    narrowest_hops,
    one_way_s,
)
from fullpipe.analysis.metrics.responsiveness import (
    idle_times,
    latency_increase_s,
    of_idle_path,
    under_load,
)
from fullpipe.analysis.metrics.samples import RowsByFlow, real, rows_where
from fullpipe.analysis.metrics.spans import compared
from fullpipe.analysis.metrics.transfers import begun_pages_s, measured_transfers
from fullpipe.analysis.metrics.voice import call_scores
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.runs.spans import Span, rows_together_bps


@dataclass(frozen=True)
class Whole:
    """What the groups of a run have in common. Transfers are to be had without those of the warm-up only."""

    run: Run
    _rivals: dict[tuple[int, ...], Rivals] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def flows(self) -> RowsByFlow:
        """One row per flow."""
        return RowsByFlow(self.run.flows)

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and flow."""
        return self.run.series

    @cached_property
    def warmup_s(self) -> float:
        """The time that is left out."""
        return self.run.scenario.warmup_s

    @cached_property
    def _rows(self) -> Mapping[str, dict[str, Any]]:
        return {row["flow"]: row for row in self.run.rows("flows")}

    def together_bps(self, flows: Sequence[str], column: str) -> float | None:
        """The rate of several flows together over one span: see `spans.together_bps`."""
        return rows_together_bps([self._rows[name] for name in flows], column, self.warmup_s)

    def compared(self, flows: Sequence[str]) -> Mapping[str, float]:
        """Return the bytes of each of several flows over the same time: see `spans.compared`."""
        rows = [self._rows[name] for name in flows]
        return compared(rows, self._bulk_names, lambda: self.series, self.warmup_s)

    @cached_property
    def _bulk_names(self) -> frozenset[str]:
        return frozenset(bulk_names(self.run))

    @cached_property
    def smoothed_s(self) -> Mapping[str, pl.Series]:
        """The samples of every flow's smoothed RTT after the warm-up and until it ended."""
        return smoothed_s(self.series, self.flows.table, self.warmup_s)

    @cached_property
    def transfers(self) -> RowsByFlow:
        """Those that began after the warm-up."""
        return RowsByFlow(measured_transfers(self.run))

    @cached_property
    def bulk(self) -> RowsByFlow:
        """The rows of bulk flows."""
        return RowsByFlow(bulk_flows(self.run))

    @cached_property
    def videos(self) -> RowsByFlow:
        """One row per video."""
        return RowsByFlow(self.run.videos)

    @cached_property
    def answered(self) -> RowsByFlow:
        """The pings and probes with a reply, whenever they were sent."""
        probes = self.run.probes
        return RowsByFlow(probes if probes.is_empty() else probes.filter(pl.col("rtt_s").is_not_null()))

    @cached_property
    def under_load(self) -> RowsByFlow:
        """Those of them that were sent while bulk flows ran."""
        answered = self.answered.table
        if answered.is_empty():
            return self.answered
        return RowsByFlow(under_load(answered, self.bulk.table, self.warmup_s))

    @cached_property
    def _idle_times(self) -> list[Span]:
        """The times at which no flow but pings and probes was active."""
        echoes = echo_names(self.run.scenario)
        table = self.flows.table
        return idle_times(rows_where(table, [flow not in echoes for flow in table["flow"].to_list()]))

    def idle_rtt_s(self, flow: str) -> float | None:
        """Return the RTT of the idle path of a flow of pings or probes, s; None if it is not known.

        It is the mean of its pings that met the path without other traffic. If none did, it is that of the
        scenario, unless the run was measured elsewhere: see `paths.echo_rtts_s`. A path that changes in the
        course of the run has none.
        """
        is_of_file = self.run.meta.engine.is_of_a_file
        if not is_of_file and flow in changing_echoes(self.run.scenario):
            return None
        idle = of_idle_path(self.answered.rows_of([flow]), self._idle_times)
        if idle.height:
            return real(idle["rtt_s"].mean())
        return None if is_of_file else echo_rtts_s(self.run.scenario).get(flow)

    def one_way_base_s(self, flow: str) -> float | None:
        """Return the one-way delay of a flow on its empty path, s; None if it is not known or varies.

        Of a run that was measured elsewhere it is the smallest delay of the flow.
        """
        if self.run.meta.engine.is_of_a_file:
            return real(self._rows[flow]["owd_min_s"])
        return one_way_s(self.run.scenario).get(flow)

    def without_idle_rtt(self) -> list[str]:
        """Return the pings and probes that met load, and the RTT of whose idle path is not known."""
        met = self.under_load.table["flow"].unique(maintain_order=True).to_list()
        return [flow for flow in met if self.idle_rtt_s(flow) is None]

    @cached_property
    def ways(self) -> list[list[str]]:
        """The flows of every direction, if their data go both ways; otherwise all flows."""
        return [*flow_directions(self.run).values()] or [self.flows.table["flow"].to_list()]

    @cached_property
    def _way_of(self) -> Mapping[str, int]:
        return {flow: way for way, flows in enumerate(self.ways) for flow in flows}

    def rivals(self, flows: Iterable[str]) -> Rivals:
        """The flows whose data go where that of some flows does, and these themselves."""
        ways = tuple(sorted({self._way_of[flow] for flow in flows if flow in self._way_of}))
        if ways not in self._rivals:
            self._rivals[ways] = Rivals(self, ways)
        return self._rivals[ways]

    @cached_property
    def scores(self) -> Mapping[str, float | None]:
        """The opinion scores of calls, by the name of the flow."""
        return call_scores(self.run)

    @cached_property
    def wideband_scores(self) -> Mapping[str, float | None]:
        """The same for wideband speech."""
        return call_scores(self.run, wideband=True)


@dataclass(frozen=True)
class Rivals:
    """Flows whose data go the same way, or ways."""

    whole: Whole
    ways: tuple[int, ...]
    """Places among `Whole.ways`."""
    _converged_s: dict[str, float | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def names(self) -> list[str]:
        """All of them."""
        return [flow for way in self.ways for flow in self.whole.ways[way]]

    @cached_property
    def delivered(self) -> Mapping[str, float]:
        """Bytes of each of them over the same time: see `spans.compared`."""
        return self.whole.compared(self.names)

    @cached_property
    def total(self) -> float:
        """Bytes of all of them in that time."""
        return sum(self.delivered.values())

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """The rows of the bulk flows among them."""
        return self.whole.bulk.rows_of(self.names)

    @cached_property
    def are_bulk(self) -> bool:
        """Whether there are any, and all are bulk flows."""
        return bool(self.names) and set(self.names) <= set(self.bulk["flow"].to_list())

    @cached_property
    def share_one_link(self) -> bool:
        """Whether the slowest link is the same for all; measurements from elsewhere are taken to have one."""
        if self.whole.run.meta.engine.is_of_a_file:
            return True
        hops = narrowest_hops(self.whole.run.scenario)
        return all(name in hops for name in self.names) and len({hops[name] for name in self.names}) == 1

    @cached_property
    def _windows(self) -> Windows:
        return Windows(self.whole.series, self.bulk)

    def convergence_time_s(self, flow: str) -> float | None:
        """The convergence time of a bulk flow among them: see `fullpipe.metrics.convergence_time_s`."""
        if flow not in self._converged_s:
            self._converged_s[flow] = self._windows.convergence_time_s(flow)
        return self._converged_s[flow]


@dataclass(frozen=True)
class Group:
    """The rows of some flows of a run."""

    flows: pl.DataFrame
    whole: Whole

    @cached_property
    def names(self) -> list[str]:
        """Of its flows."""
        return [str(name) for name in self.flows["flow"].to_list()]

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """The rows of its bulk flows."""
        return self.whole.bulk.rows_of(self.names)

    @cached_property
    def connected(self) -> Group:
        """Its connections alone; all of it if it has none, or nothing else."""
        flows = connections(self.flows)
        return self if flows.height in (0, self.flows.height) else Group(flows, self.whole)

    @cached_property
    def datagrams(self) -> Group:
        """Its datagrams alone; all of it if it has none, or nothing else."""
        flows = datagrams(self.flows)
        return self if flows.height in (0, self.flows.height) else Group(flows, self.whole)

    @property
    def goes_both_ways(self) -> bool:
        """Whether some of its flows download and others upload."""
        return len(self.rivals.ways) > 1

    @cached_property
    def rivals(self) -> Rivals:
        """The flows of the run whose data go the same way, itself among them."""
        return self.whole.rivals(self.names)

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """The rows of its transfers that began after the warm-up."""
        return self.whole.transfers.rows_of(self.names)

    @property
    def smoothed_s(self) -> list[pl.Series]:
        """The samples of the smoothed RTT of each of its flows that has any."""
        found = self.whole.smoothed_s
        return [found[flow] for flow in self.names if flow in found]

    @property
    def transfers_s(self) -> pl.Series:
        """How long its transfers took; null of those that did not finish."""
        return self.transfers["fct_s"]

    @cached_property
    def pages_s(self) -> pl.Series:
        """How long its web pages took to load; null of those that did not finish."""
        return begun_pages_s(self.transfers)

    @cached_property
    def videos(self) -> pl.DataFrame:
        """The rows of its videos."""
        return self.whole.videos.rows_of(self.names)

    @cached_property
    def rtts_under_load_s(self) -> pl.Series:
        """Of its pings and probes while bulk flows ran."""
        return self.whole.under_load.rows_of(self.names)["rtt_s"]

    def increases_s(self) -> Iterator[float | None]:
        """Yield the latency increase of each of its flows of pings or probes that met load, s.

        Their paths may be unlike. None: the RTT of the idle path is not known.
        """
        for name in self.names:
            loaded_s = self.whole.under_load.rows_of([name])["rtt_s"].to_list()
            if loaded_s:
                base_s = self.whole.idle_rtt_s(name)
                yield None if base_s is None else latency_increase_s(loaded_s, base_s)
