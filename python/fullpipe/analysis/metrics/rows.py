"""Tables of a run from which measures are computed, for the whole run and for one group of flows.

Each table is indexed by flow, so that the rows of every group are found without a scan of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fullpipe.analysis.metrics.applications import begun_pages_s, call_scores, measured_transfers
from fullpipe.analysis.metrics.delay import (
    idle_times,
    latency_increase_s,
    of_idle_path,
    smoothed_s,
    under_load,
)
from fullpipe.analysis.metrics.dynamics import Windows
from fullpipe.analysis.metrics.groups import bulk_flows, bulk_names, connections, datagrams, flow_directions
from fullpipe.analysis.metrics.paths import (
    changing_echoes,
    echo_names,
    echo_rtts_s,
    narrowest_hops,
    one_way_s,
)
from fullpipe.analysis.metrics.samples import RowsByFlow, compared, real, rows_where
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.runs.spans import Span, rows_together_bps


@dataclass(frozen=True)
class Whole:
    """Tables and values of a run from which the measures of all its groups are computed. Transfers that began
    within the warm-up are left out."""

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
        """Length of the warm-up, s, which measures leave out."""
        return self.run.scenario.warmup_s

    @cached_property
    def _rows(self) -> Mapping[str, dict[str, Any]]:
        return {row["flow"]: row for row in self.run.rows("flows")}

    def together_bps(self, flows: Sequence[str], column: str) -> float | None:
        """Joint rate of several flows over one span: see `spans.together_bps`."""
        return rows_together_bps([self._rows[name] for name in flows], column, self.warmup_s)

    def compared(self, flows: Sequence[str]) -> Mapping[str, float]:
        """Return the amounts that flows delivered in the same time span: see `samples.compared`."""
        rows = [self._rows[name] for name in flows]
        return compared(rows, self._bulk_names, lambda: self.series, self.warmup_s)

    @cached_property
    def _bulk_names(self) -> frozenset[str]:
        return frozenset(bulk_names(self.run))

    @cached_property
    def smoothed_s(self) -> Mapping[str, pl.Series]:
        """Samples of the smoothed RTT of every flow, after the warm-up and until the flow ended."""
        return smoothed_s(self.series, self.flows.table, self.warmup_s)

    @cached_property
    def transfers(self) -> RowsByFlow:
        """Transfers that began after the warm-up."""
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
        """Pings and probes with a reply, including pings and probes sent within the warm-up."""
        probes = self.run.probes
        return RowsByFlow(probes if probes.is_empty() else probes.filter(pl.col("rtt_s").is_not_null()))

    @cached_property
    def under_load(self) -> RowsByFlow:
        """Answered pings and probes that were sent after the warm-up while a bulk flow ran."""
        answered = self.answered.table
        if answered.is_empty():
            return self.answered
        return RowsByFlow(under_load(answered, self.bulk.table, self.warmup_s))

    @cached_property
    def _idle_times(self) -> list[Span]:
        """Spans in which no flow except pings and probes was active."""
        echoes = echo_names(self.run.scenario)
        table = self.flows.table
        return idle_times(rows_where(table, [flow not in echoes for flow in table["flow"].to_list()]))

    def idle_rtt_s(self, flow: str) -> float | None:
        """Return the RTT of the idle path of a flow of pings or probes, s; None if it is unknown.

        The idle RTT is the mean RTT of the pings that met no other traffic. If all pings met traffic, the
        idle RTT is computed from the scenario by `paths.echo_rtts_s`, but not for imported runs. A path that
        changes during the run has no idle RTT.
        """
        is_of_file = self.run.meta.engine.is_of_a_file
        if not is_of_file and flow in changing_echoes(self.run.scenario):
            return None
        idle = of_idle_path(self.answered.rows_of([flow]), self._idle_times)
        if idle.height:
            return real(idle["rtt_s"].mean())
        return None if is_of_file else echo_rtts_s(self.run.scenario).get(flow)

    def one_way_base_s(self, flow: str) -> float | None:
        """Return the one-way delay of a flow on its empty path, s; None if it is unknown or varies.

        For an imported run, the result is the smallest delay of the flow.
        """
        if self.run.meta.engine.is_of_a_file:
            return real(self._rows[flow]["owd_min_s"])
        return one_way_s(self.run.scenario).get(flow)

    def without_idle_rtt(self) -> list[str]:
        """Return the names of ping and probe flows that met load on a path whose idle RTT is unknown."""
        met = self.under_load.table["flow"].unique(maintain_order=True).to_list()
        return [flow for flow in met if self.idle_rtt_s(flow) is None]

    @cached_property
    def ways(self) -> list[list[str]]:
        """Flows per direction, if some download and others upload; otherwise one list of all flows."""
        return [*flow_directions(self.run).values()] or [self.flows.table["flow"].to_list()]

    @cached_property
    def _way_of(self) -> Mapping[str, int]:
        return {flow: way for way, flows in enumerate(self.ways) for flow in flows}

    def rivals(self, flows: Iterable[str]) -> Rivals:
        """Return all flows in the same direction or directions as the given flows, including the given
        flows."""
        ways = tuple(sorted({self._way_of[flow] for flow in flows if flow in self._way_of}))
        if ways not in self._rivals:
            self._rivals[ways] = Rivals(self, ways)
        return self._rivals[ways]

    @cached_property
    def scores(self) -> Mapping[str, float | None]:
        """Mean opinion scores of calls, by the name of the flow."""
        return call_scores(self.run)

    @cached_property
    def wideband_scores(self) -> Mapping[str, float | None]:
        """Mean opinion scores for wideband speech, by the name of the flow."""
        return call_scores(self.run, wideband=True)


@dataclass(frozen=True)
class Rivals:
    """All flows of a run in one direction, or in both directions."""

    whole: Whole
    ways: tuple[int, ...]
    """Indices into `Whole.ways`."""
    _converged_s: dict[str, float | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def names(self) -> list[str]:
        """Names of the flows."""
        return [flow for way in self.ways for flow in self.whole.ways[way]]

    @cached_property
    def delivered(self) -> Mapping[str, float]:
        """Amount that each flow delivered in the same time span: see `samples.compared`."""
        return self.whole.compared(self.names)

    @cached_property
    def total(self) -> float:
        """Sum of `delivered` over all flows."""
        return sum(self.delivered.values())

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """Rows of the bulk flows."""
        return self.whole.bulk.rows_of(self.names)

    @cached_property
    def competing(self) -> list[str]:
        """Names of the flows without pings and probes, whose low rate the scenario sets."""
        echoes = echo_names(self.whole.run.scenario)
        return [name for name in self.names if name not in echoes]

    @cached_property
    def are_bulk(self) -> bool:
        """Whether there is at least one competing flow, and every competing flow is a bulk flow."""
        return bool(self.competing) and set(self.competing) <= set(self.bulk["flow"].to_list())

    @cached_property
    def share_one_link(self) -> bool:
        """Whether all competing flows have the same slowest link; assumed for imported runs."""
        if self.whole.run.meta.engine.is_of_a_file:
            return True
        hops = narrowest_hops(self.whole.run.scenario)
        return (
            len({hops.get(name, name) for name in self.competing}) == 1 and set(self.competing) <= hops.keys()
        )

    @cached_property
    def _windows(self) -> Windows:
        return Windows(self.whole.series, self.bulk)

    def convergence_time_s(self, flow: str) -> float | None:
        """Return the convergence time of a bulk flow: see `fullpipe.metrics.convergence_time_s`."""
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
        """Names of the group's flows."""
        return [str(name) for name in self.flows["flow"].to_list()]

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """Rows of the group's bulk flows."""
        return self.whole.bulk.rows_of(self.names)

    @cached_property
    def connected(self) -> Group:
        """The connections of the group; the whole group if it has no connections."""
        flows = connections(self.flows)
        return self if flows.height in (0, self.flows.height) else Group(flows, self.whole)

    @cached_property
    def datagrams(self) -> Group:
        """The datagram flows of the group; the whole group if it has no datagram flows."""
        flows = datagrams(self.flows)
        return self if flows.height in (0, self.flows.height) else Group(flows, self.whole)

    @property
    def goes_both_ways(self) -> bool:
        """Whether some flows of the group download and others upload."""
        return len(self.rivals.ways) > 1

    @cached_property
    def rivals(self) -> Rivals:
        """All flows of the run in the group's direction, including the group's flows."""
        return self.whole.rivals(self.names)

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """Rows of the group's transfers that began after the warm-up."""
        return self.whole.transfers.rows_of(self.names)

    @property
    def smoothed_s(self) -> list[pl.Series]:
        """Samples of the smoothed RTT, one series per flow with samples."""
        found = self.whole.smoothed_s
        return [found[flow] for flow in self.names if flow in found]

    @property
    def transfers_s(self) -> pl.Series:
        """Completion times of the group's transfers; null if a transfer did not finish."""
        return self.transfers["fct_s"]

    @cached_property
    def pages_s(self) -> pl.Series:
        """Load times of the group's web pages; null if a page did not finish."""
        return begun_pages_s(self.transfers)

    @cached_property
    def videos(self) -> pl.DataFrame:
        """Rows of the group's videos."""
        return self.whole.videos.rows_of(self.names)

    @cached_property
    def rtts_under_load_s(self) -> pl.Series:
        """RTTs of the group's pings and probes that were sent while a bulk flow ran."""
        return self.whole.under_load.rows_of(self.names)["rtt_s"]

    def share(self) -> float | None:
        """Share of the group in the bytes delivered to all flows; `None` if nothing was delivered."""
        delivered, total = self.rivals.delivered, self.rivals.total
        return sum(delivered.get(name, 0.0) for name in self.names) / total if total else None

    def equal_share(self) -> float | None:
        """Share of the group if all have equal shares; `None` if not all competing flows are bulk flows."""
        own = {*self.names}.intersection(self.rivals.competing)
        return len(own) / len(self.rivals.competing) if own and self.rivals.are_bulk else None

    def share_ratio(self) -> float | None:
        """Ratio of `share` to `equal_share`; `None` if the flows do not share one link."""
        share, equal = self.share(), self.equal_share()
        return share / equal if share is not None and equal and self.rivals.share_one_link else None

    def increases_s(self) -> Iterator[float | None]:
        """Yield the latency increase, s, of every ping or probe flow of the group that met load.

        There is one value per flow because paths may differ. None means that the RTT of the idle path is
        unknown.
        """
        for name in self.names:
            loaded_s = self.whole.under_load.rows_of([name])["rtt_s"].to_list()
            if loaded_s:
                base_s = self.whole.idle_rtt_s(name)
                yield None if base_s is None else latency_increase_s(loaded_s, base_s)
