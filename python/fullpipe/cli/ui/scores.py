"""Scores of calls, pages and videos of stored runs, for the list of runs.

Scores of calls are computed from the index of the store. The index has neither transfers nor videos, so
scores of pages and videos are computed from the tables of the runs in the visible part of the list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import polars as pl
from pydantic import TypeAdapter, ValidationError

from fullpipe.analysis.metrics.applications import OF_CALL, call_frames_s, call_score
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.rows import Group, Whole
from fullpipe.analysis.stored import StoredRuns
from fullpipe.errors import ResultError, ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import Flow

OF_CALLS = "call_score"
READ: Mapping[str, str] = {"page_p50": "web", "stall_ratio": "video"}
"""Metrics that are computed from the tables of a run, each with the workload that it needs."""
_KEY = ("digest", "engine", "seed")
_HAS = {name: f"has {kind}" for name, kind in READ.items()}
"""Columns, by metric, that say whether a run has the workload of the metric."""
SCORES = {OF_CALLS: pl.Float64, **dict.fromkeys(_HAS.values(), pl.Boolean)}
"""Columns that `with_scores` adds."""
_MOST_READ = 2_000
"""Maximum number of runs that are read to sort by a metric of `READ`. Each run takes about 1 ms."""
_Flows = TypeAdapter(list[Flow])
_MEASURE = {measure.name: measure for measure in MEASURES}
_Scores = Mapping[str, float | None]


def with_scores(runs: pl.DataFrame, stored: StoredRuns) -> pl.DataFrame:
    """The table of runs with columns for the score of calls, and for whether runs have pages and videos."""
    specs = stored.specs
    calls = _with_workload(specs, "voip")
    there = {
        column: pl.col("digest").is_in(_with_workload(specs, READ[name])["digest"].implode())
        for name, column in _HAS.items()
    }
    of_calls = _scores_of_calls(stored.rows("flows", ["flow", *OF_CALL], calls["digest"]), calls)
    return runs.join(of_calls, on=_KEY, how="left", maintain_order="left").with_columns(**there)


def _with_workload(specs: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The scenarios that have a flow with a workload of this kind."""
    return specs.filter(pl.col("spec").str.contains(f'"kind": "{kind}"', literal=True))


def _scores_of_calls(flows: pl.DataFrame, specs: pl.DataFrame) -> pl.DataFrame:
    """The mean score of the calls of each run.

    Args:
        flows: Rows of the table `flows`, of all runs with calls.
        specs: The scenarios of these runs.
    """
    frames = [
        (digest, name, frame_s)
        for digest, spec in specs.iter_rows()
        for name, frame_s in _frames_s(json.dumps(json.loads(spec)["flows"])).items()
    ]
    schema = {"digest": pl.String, "flow": pl.String, "frame_s": pl.Float64}
    known = pl.DataFrame(frames, schema, orient="row")
    calls = flows.join(known, on=["digest", "flow"], how="inner")
    return calls.group_by(_KEY).agg(call_score().mean().alias(OF_CALLS))


@lru_cache(256)
def _frames_s(text: str) -> Mapping[str, float]:
    """The result of `call_frames_s` for flows as JSON text; empty if the flows are not valid."""
    try:
        return call_frames_s(_Flows.validate_json(text))
    except ValidationError:
        return {}


class ReadScores:
    """Scores of pages and videos. The tables of each run are read once.

    Args:
        load: Function that reads the run with a digest, a seed and an engine.
    """

    def __init__(self, load: Callable[[str, str, str], Run]) -> None:
        self._load = load
        self._known: dict[tuple[str, ...], _Scores] = {}

    def to_sort(self, runs: pl.DataFrame, by: str) -> pl.DataFrame:
        """The runs with the column `by`, for sorting.

        Raises:
            ScenarioError: If more than `_MOST_READ` runs would have to be read for the column.
        """
        if by not in self._there(runs):
            return runs
        unread = sum(key not in self._known for key in self._keys(runs, by))
        if unread > _MOST_READ:
            told = f"sort: {by} must be read from {unread:,} runs, at most {_MOST_READ:,} are allowed"
            raise ScenarioError([f"{told}; select fewer runs with the filters"])
        return self._with(runs, [by])

    def shown(self, rows: pl.DataFrame, runs: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
        """The shown rows with their scores, and the columns of scores that at least one of the runs has."""
        of_calls = [OF_CALLS] if runs[OF_CALLS].count() else []
        read = self._with(rows, self._there(runs))
        return read, [*of_calls, *self._there(runs)]

    def _there(self, runs: pl.DataFrame) -> list[str]:
        """The metrics that at least one run has, or may have because it has not been read yet."""
        return [name for name in READ if any(self._may_have(key, name) for key in self._keys(runs, name))]

    def _with(self, runs: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """The runs with columns for the metrics `names`. Runs that have not been read yet are read."""
        wanted = dict.fromkeys(key for name in names for key in self._keys(runs, name))
        self._known |= {key: self._scores(key) for key in wanted if key not in self._known}
        rows = [self._known.get(key, {}) for key in _keys(runs)]
        return runs.with_columns(
            pl.Series(name, [row.get(name) for row in rows], pl.Float64) for name in names
        )

    def _may_have(self, key: tuple[str, ...], name: str) -> bool:
        return key not in self._known or self._known[key][name] is not None

    def _keys(self, runs: pl.DataFrame, name: str) -> Iterator[tuple[str, ...]]:
        return _keys(runs.filter(_HAS[name]))

    def _scores(self, key: tuple[str, ...]) -> _Scores:
        digest, engine, seed, _ = key
        with suppress(ResultError):  # the run is damaged or was deleted
            run = self._load(digest, seed, engine)
            group = Group(run.flows, Whole(run))
            return {name: _MEASURE[name].value(group) for name in READ}
        return dict.fromkeys(READ)


def _keys(runs: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """Keys of runs: digest, engine, seed and start time. A later run may replace a run in the store."""
    return (tuple(map(str, row)) for row in runs.select(*_KEY, "started").iter_rows())
