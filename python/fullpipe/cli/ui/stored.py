"""The list of stored runs for the page, read from the index, and data of single stored runs."""

from __future__ import annotations

import os
import re
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import busy_links, summary
from fullpipe.analysis.metrics.groups import are_datagrams
from fullpipe.analysis.metrics.samples import together_of_rows
from fullpipe.analysis.metrics.table import headlines
from fullpipe.analysis.points import CONTENT
from fullpipe.analysis.stored import StoredRuns
from fullpipe.analysis.values import value_text
from fullpipe.cli.ui.compare import names_of, taken_along, told
from fullpipe.cli.ui.export import verdicts_page
from fullpipe.cli.ui.guard import MOST_POINTS
from fullpipe.cli.ui.live import wide
from fullpipe.cli.ui.scores import SCORES, ReadScores, with_scores
from fullpipe.cli.ui.understood import MOST_LINKS, packed, packets_of, understood
from fullpipe.engines.imported import FILE
from fullpipe.errors import FullpipeError, NoRunError, ScenarioError
from fullpipe.report.html import html
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run, Store
from fullpipe.runs.encoding import own_file
from fullpipe.runs.meta import DIGEST, ENGINE, READERS
from fullpipe.runs.population import ALL
from fullpipe.validation.compare.comparison import compare_variants
from fullpipe.validation.compare.side import Side
from fullpipe.validation.over import HEADLINES

_SETTLED_NS = 2_000_000_000
"""Age in ns from which the modification time of a folder is reliable. A younger folder may change again
without a new modification time, as file systems round it."""
_MOST_ROWS = 200
"""Maximum number of rows of a response."""
_MOST_VALUES = 40
"""Maximum number of values that a filter offers."""
_MOST_SAMPLES = 4_000_000
"""Maximum number of sample values that are sent. With more, groups of rows are reduced to their extremes."""
_MOST_PACKETS_BYTES = 500_000_000
"""Maximum size of a file of captured packets that is read."""
_TOO_MANY_POINTS = (
    f"packets were captured at more than {MOST_POINTS} points, the most that the page draws; "
    "write the packets with fullpipe export"
)
_TOO_MANY_PACKETS = (
    "more packets were captured than the page can read; write the packets with fullpipe export"
)
_TOO_FEW = (
    "a verdict needs at least two seeds that both scenarios have; run more seeds of both scenarios: "
    "fullpipe run FILE --seeds 20"
)
_ONE_SCENARIO = (
    "both runs have the same scenario, so there is no difference to judge; choose runs of two scenarios"
)
_ITS_SEEDS = ", or measure how much the seeds of the scenario differ: fullpipe run FILE --seeds 20"
_TOO_FEW_READ = "a verdict needs at least two runs of each scenario, and an imported file is one run"
_READ_ID = re.compile(rf"/({'|'.join(READERS)})$", re.MULTILINE)
_MOST_SEEDS = 200
"""Maximum number of runs per side of a comparison, and of runs in a report."""
_SUMMED = {
    "goodput_bps": together_of_rows(),
    "rtt_mean_s": pl.col("rtt_mean_s").filter(~are_datagrams() | are_datagrams().all()).mean(),
    "retransmitted_packets": pl.col("retransmitted_packets").sum(),
}
"""Columns of the list that summarise all flows of a run. The RTT is a mean over connections, if any."""
_NAMED = ("scenario", "engine", "seed")
_HIDDEN = ("digest", "folder")
_NEWEST_FIRST = "-started"
_FILTERED = ("scenario", "engine")
"""Columns with a filter, in addition to the columns of swept paths."""


@dataclass
class KeptRuns:
    """The runs of a store, as data for the page."""

    root: Path
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels in addition to those of the scenarios."""
    _runs: pl.DataFrame | None = None
    _damaged: list[str] = field(default_factory=list)
    _dates: Mapping[str, int] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _scores: ReadScores = field(init=False)

    def __post_init__(self) -> None:
        self._scores = ReadScores(self._load)

    def prepare(self) -> None:
        """Read the index of the store. Errors are suppressed, as the next request for runs reports them."""
        with suppress(FullpipeError, OSError):
            self._table()

    def listed(self, asked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """A part of the table of runs, with the filters by which runs can be selected.

        Args:
            asked: `where`: texts "COLUMN=VALUE"; `name`: a part of the name of the scenario; `sort`: a
                column, descending if it begins with a minus; `from`: the index of the first row.

        Raises:
            ScenarioError: If a column is unknown, `from` is not a number, or too many runs must be read to
                sort.
        """
        runs, damaged = self._table()
        paths = runs.columns[: runs.columns.index("scenario")]
        chosen = _chosen(runs, asked.get("where", ()), _one(asked, "name"))
        by = _one(asked, "sort") or _NEWEST_FIRST
        ordered = _sorted(self._scores.to_sort(chosen, by.removeprefix("-")), by)
        shown, scores = self._scores.shown(ordered.slice(_number(_one(asked, "from")), _MOST_ROWS), chosen)
        contents = [CONTENT] if _has_contents(runs, paths) else []
        columns = [*paths, *_NAMED, *contents, *_SUMMED, *scores, "started"]
        return {
            "total": runs.height,
            "matching": chosen.height,
            "columns": columns,
            "rows": [
                [_id(row), *(_plain(row[name]) for name in columns)] for row in shown.iter_rows(named=True)
            ],
            "filters": [_filter(chosen, name) for name in [*_FILTERED, *contents, *paths]],
            "damaged": damaged[:20],
        }

    def run(self, digest: str, seed: str, engine: str) -> dict[str, Any]:
        """One run: the properties of its scenario, and its results.

        Raises:
            NoRunError: If the store has no such run.
        """
        run = self._load(digest, seed, engine)
        told = {
            "engine": run.meta.engine.name,
            "version": run.meta.engine.version,
            "started": run.meta.started,
            "file": run.meta.host.get(FILE) if _is_read(run) else None,
            "remarks": [*run.meta.remarks, *_otherwise(run)],
        }
        return {"begin": _begin(run), "end": summary(run), "meta": told}

    def samples(self, digest: str, seed: str, engine: str) -> bytes:
        """The samples of a run, in the format of `packed`.

        Raises:
            NoRunError: If the store has no such run.
        """
        run = self._load(digest, seed, engine)
        begin = _begin(run)
        columns = wide(run.tables, [flow["name"] for flow in begin["flows"]], begin["links"])
        return packed(extremes(columns, _MOST_SAMPLES // max(len(columns), 1)))

    def packets(self, digest: str, seed: str, engine: str, since_s: float) -> bytes:
        """The packets of a run that were captured from `since_s` on, in the format of `packets_of`.

        Raises:
            NoRunError: If the store has no such run.
            ScenarioError: If the run has too many packets or capture points for the page.
        """
        run = self._load(digest, seed, engine)
        if len(run.scenario.record.packets or ()) > MOST_POINTS:
            raise ScenarioError([_TOO_MANY_POINTS])
        file = run.folder and run.folder / own_file("packets")
        if file and file.exists() and file.stat().st_size > _MOST_PACKETS_BYTES:
            raise ScenarioError([_TOO_MANY_PACKETS])
        names = [flow["name"] for flow in _begin(run)["flows"]]
        return packets_of(run.scenario, run.packets, names, since_s)

    def compared(self, ids: object) -> dict[str, Any]:
        """A verdict for every metric of two scenarios, over the seeds that both scenarios have.

        The result has the command that makes the same comparison, or "" if no command does.

        Raises:
            NoRunError: If the store lacks one of the runs.
            ScenarioError: If the scenarios cannot be compared.
        """
        return self._verdicts(self._pairs(ids))

    def _verdicts(self, chosen: Sequence[Sequence[Run]]) -> dict[str, Any]:
        links = dict.fromkeys(link for runs in chosen for run in runs for link in busy_links(run))
        engines = [runs[0].meta.engine.name for runs in chosen]
        names = names_of(*(runs[0].scenario for runs in chosen))
        if len({runs[0].meta.digest for runs in chosen}) == 1 and len(set(engines)) > 1:
            names = (engines[0], engines[1])
        shown = headlines(HEADLINES, (run.scenario for runs in chosen for run in runs))
        variants = [Side.of_runs(name, runs, shown, links) for name, runs in zip(names, chosen, strict=True)]
        try:
            made = compare_variants(variants[0], variants[1], shown)
        except ValueError as error:
            raise ScenarioError([f"the scenarios cannot be compared: {error}"]) from None
        found = told(made, [run for runs in chosen for run in runs])
        along = taken_along(names, found["seeds"], self.root, engines[0])
        has_command = engines[0] == engines[1] and engines[0] not in READERS
        return {**found, **along, **({} if has_command else {"command": ""})}

    def report_of_verdicts(self, ids: object, question: str = "") -> str:
        """The HTML page of a report that compares two scenarios, with all their runs.

        Raises:
            NoRunError: If the store lacks one of the runs.
            ScenarioError: If the scenarios cannot be compared.
        """
        chosen = self._pairs(ids)
        return verdicts_page(self._verdicts(chosen), [run for runs in chosen for run in runs], question)

    def _pairs(self, ids: object) -> list[list[Run]]:
        """The runs of two scenarios with the seeds that both scenarios have."""
        if not isinstance(ids, list) or len(ids) != 2 or not all(isinstance(each, str) for each in ids):
            raise ScenarioError(["runs: expected the IDs of two runs"])
        is_read = _READ_ID.search("\n".join(ids))
        if len({(digest, engine) for digest, _, engine in map(_parts, ids)}) == 1:
            raise ScenarioError([_ONE_SCENARIO if is_read else _ONE_SCENARIO + _ITS_SEEDS])
        sides = [self._seeds(*_parts(each)) for each in ids]
        both = sorted(set(sides[0]) & set(sides[1]))[:_MOST_SEEDS]
        if len(both) < 2:
            raise ScenarioError([_TOO_FEW_READ if is_read else _TOO_FEW])
        return [[side[seed] for seed in both] for side in sides]

    def report(self, ids: Any, question: str = "") -> str:
        """The HTML page of a report about runs.

        Raises:
            NoRunError: If the store lacks one of the runs.
            ScenarioError: If `ids` has no run, or more than `_MOST_SEEDS` runs.
        """
        if (
            not isinstance(ids, list)
            or not 1 <= len(ids) <= _MOST_SEEDS
            or not all(isinstance(e, str) for e in ids)
        ):
            raise ScenarioError([f"runs: expected the IDs of 1 to {_MOST_SEEDS} runs"])
        runs = [self._load(*_parts(each)) for each in ids]
        return html(page_of(runs, question=question, is_one=True), Budget().samples)

    def _seeds(self, digest: str, seed: str, engine: str) -> dict[int, Run]:
        """The runs of a scenario and engine, by seed. These runs have the same content and model as the run
        of `seed`."""
        runs, _ = self._table()
        rows = runs.filter(pl.col("digest") == digest, pl.col("engine") == engine)
        alike = ["content", "model_version"]
        rows = rows.join(
            rows.filter(pl.col("seed").cast(pl.String) == seed).select(alike), on=alike, how="semi"
        )
        return {seed: self._load(digest, str(seed), engine) for seed in rows["seed"]}

    def _load(self, digest: str, seed: str, engine: str) -> Run:
        is_name = (
            re.fullmatch(DIGEST, digest) and re.fullmatch(ENGINE, engine) and re.fullmatch(r"\d{1,20}", seed)
        )
        if not is_name:
            raise NoRunError("no such run")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # older runs have no checksums, and the page cannot change that
            found = Run.load(Store(self.root).folder(digest, engine, int(seed)))
        return found.with_labels(self.labels)

    def _table(self) -> tuple[pl.DataFrame, list[str]]:
        """The table of runs from the index. The index is read again if the date of a folder changes."""
        with self._lock:
            dates, now_ns = _dates(self.root), time.time_ns()
            if self._runs is None or dates != self._dates:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    self._runs = _of_store(self.root)
                self._damaged = [str(each.message) for each in caught]
                is_settled = now_ns - max(dates.values(), default=0) > _SETTLED_NS
                self._dates = dates if is_settled else None
            return self._runs.clone(), self._damaged


def _is_read(run: Run) -> bool:
    """Whether a run was imported from a file. The network path of its scenario is then only a placeholder."""
    return run.meta.engine.name in READERS


def _otherwise(run: Run) -> list[str]:
    """Notes on columns that the engine measures in another way than usual, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for name, what in run.meta.otherwise.items():
        reasons.setdefault(what, []).append(name)
    return [f"{', '.join(names)}: {what}" for what, names in reasons.items()]


def _begin(run: Run) -> dict[str, Any]:
    """Properties of a run that need no results, for the flows and links in its tables.

    With engines other than native, these flows and links may differ from those of the scenario.
    """
    begin = understood(run.scenario, run.meta.seed, run.flows.select("flow", "cca").rows())
    if _is_read(run):
        begin |= {"path": {"shape": "unknown", "links": []}, "expected": [], "marks": {}, "command": ""}
    elif run.meta.engine.name != "native" and begin["command"]:
        begin["command"] += f" --engine {run.meta.engine.name}"
    there = set(run.links_summary["link"])
    links = [name for name in begin["links"] if name in there]
    if not links:
        begin["marks"].pop("backlog_packets", None)
    return begin | {"links": links or busy_links(run)[:MOST_LINKS]}


def extremes(columns: Mapping[str, pl.Series], most: int) -> Mapping[str, pl.Series]:
    """Columns reduced to about `most` rows: two rows per group of consecutive rows.

    The first row has the minima of the group, at its first time. The second row has the maxima, at the
    middle of the group's time span.
    """
    rows = max((len(column) for column in columns.values()), default=0)
    if rows <= most:
        return columns
    size = -(-2 * rows // most)
    group = pl.int_range(rows, eager=True) // size
    frame = pl.DataFrame(dict(columns)).with_columns(group.alias("group"))
    values = [name for name in columns if name != "time_s"]
    low = frame.group_by("group", maintain_order=True).agg(pl.col("time_s").first(), pl.col(values).min())
    high = frame.group_by("group", maintain_order=True).agg(
        (pl.col("time_s").first() + pl.col("time_s").last()) / 2, pl.col(values).max()
    )
    both = pl.concat([low, high]).sort("group", "time_s", maintain_order=True)
    return {name: both[name] for name in columns}


def _dates(root: Path) -> Mapping[str, int]:
    """Time of the last change of each folder of the store, in ns."""
    if not root.is_dir():
        return {}
    with os.scandir(root) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
        return {entry.name: entry.stat(follow_symlinks=False).st_mtime_ns for entry in shown}


def _of_store(root: Path) -> pl.DataFrame:
    """A row per run, with the columns `_SUMMED` over its flows; empty if the store does not exist yet."""
    if not root.is_dir():
        schema = dict.fromkeys(("scenario", "engine", "started", *_HIDDEN), pl.String)
        of_none = {"seed": pl.Int64, **dict.fromkeys(_SUMMED, pl.Float64), **SCORES}
        return pl.DataFrame(schema={**schema, **of_none})
    stored = StoredRuns(root, content=ALL)
    return with_scores(stored.per_run("flows", _SUMMED), stored)


def _has_contents(runs: pl.DataFrame, paths: Sequence[str]) -> bool:
    """Whether runs of one point and engine have different contents, as after a change of an algorithm."""
    if CONTENT not in runs.columns:
        return False
    of_point = runs.group_by("scenario", "engine", *paths).agg(pl.col(CONTENT).n_unique())
    return bool((of_point[CONTENT] > 1).any())


def _chosen(runs: pl.DataFrame, where: Sequence[str], name: str) -> pl.DataFrame:
    wanted: dict[str, set[str]] = {}
    for text in where:
        column, _, value = text.partition("=")
        if column not in runs.columns:
            raise ScenarioError([f"where: no run has the column {column}"])
        wanted.setdefault(column, set()).add(value)
    for column, texts in wanted.items():
        right = [value for value in runs[column].unique() if value_text(value) in texts]
        runs = runs.filter(pl.col(column).is_in(pl.Series(right, dtype=runs.schema[column]).implode()))
    return runs.filter(pl.col("scenario").str.contains(name, literal=True)) if name else runs


def _sorted(runs: pl.DataFrame, by: str) -> pl.DataFrame:
    column = by.removeprefix("-")
    if not column:
        return runs
    if column not in runs.columns:
        raise ScenarioError([f"sort: no run has the column {column}"])
    down = [by.startswith("-"), False]
    return runs.sort([column, "seed"], descending=down, nulls_last=True, maintain_order=True)


def _filter(runs: pl.DataFrame, column: str) -> dict[str, Any]:
    """The most frequent values of a column with their numbers of runs, and the number of other values."""
    counts = runs[column].drop_nulls().value_counts(sort=True)
    values = [[value_text(value), count] for value, count in counts.head(_MOST_VALUES).iter_rows()]
    return {"column": column, "values": values, "others": max(0, counts.height - _MOST_VALUES)}


def _one(asked: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(asked.get(name, ())), "")


def _number(text: str) -> int:
    if text and not re.fullmatch(r"\d{1,9}", text):
        raise ScenarioError(["from: expected the index of a row"])
    return int(text or 0)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else value_text(value)


def _id(row: Mapping[str, Any]) -> str:
    """ID of a run on the page."""
    return f"{row['digest']}/{row['seed']}/{row['engine']}"


def _parts(text: str) -> tuple[str, str, str]:
    digest, _, rest = text.partition("/")
    seed, _, engine = rest.partition("/")
    return digest, seed, engine
