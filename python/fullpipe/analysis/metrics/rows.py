"""The rows of a run that measures are taken of: those that groups have in common, and those of a group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fullpipe.analysis.metrics.connections import bulk_flows, bulk_names, connections
from fullpipe.analysis.metrics.delay import smoothed_s
from fullpipe.analysis.metrics.groups import flow_directions
from fullpipe.analysis.metrics.responsiveness import latency_increase_s, under_load
from fullpipe.analysis.metrics.samples import real, rows_where
from fullpipe.analysis.metrics.spans import compared, span_of, together_bps
from fullpipe.analysis.metrics.transfers import begun_pages_s, measured_transfers
from fullpipe.analysis.metrics.voice import call_scores
from fullpipe.lazy import pl
from fullpipe.runs import Run


@dataclass(frozen=True)
class Whole:
    """What the groups of a run have in common. Transfers are to be had without those of the warm-up only."""

    run: Run

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self.run.flows

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
        rows = [self._rows[name] for name in flows]
        return together_bps([row[column] for row in rows], [span_of(row, self.warmup_s) for row in rows])

    def compared(self, flows: Sequence[str]) -> Mapping[str, float]:
        """What each of several flows delivered over the same time: see `spans.compared`."""
        rows, bulk = [self._rows[name] for name in flows], bulk_names(self.run)
        return compared(rows, bulk, lambda: self.series, self.warmup_s)

    @cached_property
    def smoothed_s(self) -> Mapping[str, pl.Series]:
        """The samples of every flow's smoothed RTT after the warm-up and until it ended."""
        return smoothed_s(self.series, self.flows, self.warmup_s)

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """Those that began after the warm-up."""
        return measured_transfers(self.run)

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """The rows of bulk flows."""
        return bulk_flows(self.run)

    @cached_property
    def directions(self) -> Mapping[str, list[str]]:
        """The flows by direction, if their data go both ways."""
        return flow_directions(self.run)

    @cached_property
    def under_load(self) -> pl.DataFrame:
        """The pings and probes with a reply that were sent while bulk flows ran."""
        probes = self.run.probes
        if probes.is_empty():
            return probes
        return under_load(probes.filter(pl.col("rtt_s").is_not_null()), self.bulk, self.warmup_s)

    @cached_property
    def scores(self) -> Mapping[str, float | None]:
        """The opinion scores of calls, by the name of the flow."""
        return call_scores(self.run)

    @cached_property
    def wideband_scores(self) -> Mapping[str, float | None]:
        """The same for wideband speech."""
        return call_scores(self.run, wideband=True)


@dataclass(frozen=True)
class Group:
    """The rows of some flows of a run."""

    flows: pl.DataFrame
    whole: Whole

    @cached_property
    def names(self) -> list[str]:
        """Of its flows."""
        return [str(name) for name in self.flows["flow"]]

    @cached_property
    def bulk(self) -> pl.DataFrame:
        """The rows of its bulk flows."""
        return self._own(self.whole.bulk)

    @cached_property
    def connected(self) -> Group:
        """Its connections alone; all of it if it has none, or nothing else."""
        flows = connections(self.flows)
        return self if flows.height in (0, self.flows.height) else Group(flows, self.whole)

    @cached_property
    def goes_both_ways(self) -> bool:
        """Whether some of its flows download and others upload."""
        return len(self._ways) > 1

    @cached_property
    def rivals(self) -> list[str]:
        """The flows of the run whose data go the same way, itself among them."""
        return [flow for way in self._ways for flow in way]

    @cached_property
    def _ways(self) -> list[list[str]]:
        """The flows of every direction in which some of its own go."""
        ways = self.whole.directions.values() or [self.whole.flows["flow"].to_list()]
        return [flows for flows in ways if not set(self.names).isdisjoint(flows)]

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """The rows of its transfers that began after the warm-up."""
        return self._own(self.whole.transfers)

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
        return self._own(self.whole.run.videos)

    @property
    def rtts_under_load_s(self) -> pl.Series:
        """Of its pings and probes while bulk flows ran."""
        return self._own(self.whole.under_load)["rtt_s"]

    def increases_s(self) -> Iterator[float | None]:
        """Yield the latency increase of each of its flows of pings or probes, which may have unlike paths."""
        loaded, every = self._own(self.whole.under_load), self._own(self.whole.run.probes)
        for name in loaded["flow"].unique(maintain_order=True):
            least_s = real(every.filter(pl.col("flow") == name)["rtt_s"].min())
            rtts_s = loaded.filter(pl.col("flow") == name)["rtt_s"].to_list()
            yield None if least_s is None else latency_increase_s(rtts_s, least_s)

    def _own(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of its flows. Most runs have no transfers, and bulk flows only."""
        if rows.is_empty() or self.flows.height == self.whole.flows.height:
            return rows
        names = frozenset(self.names)
        return rows_where(rows, [flow in names for flow in rows["flow"].to_list()])
