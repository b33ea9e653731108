"""Finished runs in the order of their points, with the table of their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import polars as pl

from fullpipe.analysis.length import Doubts, doubts_of
from fullpipe.analysis.limits import with_counts
from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.metrics.groups import ALL, TOTALS, algorithms_of, flow_groups, groups_in
from fullpipe.analysis.metrics.measure import Combined, View
from fullpipe.analysis.metrics.table import headlines, leading, names_in
from fullpipe.analysis.outcome import NEEDED, called, labelled, with_groups
from fullpipe.analysis.over_seeds import over_seeds, paths_of, without_stand_ins
from fullpipe.analysis.points import Subject, are_both, flows_of, groups_asked, points_of, with_flows
from fullpipe.analysis.shown import number_shown
from fullpipe.analysis.values import value_text, values_of
from fullpipe.errors import FullpipeError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, scenario_names
from fullpipe.scenario.labels import SIDE, Labels
from fullpipe.scenario.quantities import as_numbers
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE, shares

# A scenario with a sweep whose points are the given scenarios.


_POINT = "point"
_MISSING = object()


def scenario_of(
    name: str, scenarios: Iterable[Scenario], named: Mapping[str, Mapping[str, Any]] | None = None
) -> Scenario | None:
    """Return a scenario whose points are these scenarios; None if no sweep has exactly these points.

    Every point is a named variant with the values of all paths that differ between the scenarios.

    Args:
        name: Name of the scenario.
        scenarios: The scenarios.
        named: The point of each scenario by its digest. If the points form one axis of named variants, the
            scenario has this axis.
    """
    distinct = {one.digest: one for one in scenarios}
    trees = {digest: dict(one.to_dict()) for digest, one in distinct.items()}
    first = next(iter(trees.values()))
    base = {key: value for key, value in first.items() if key not in ("name", "sweep")}
    changed = dict.fromkeys(path for tree in trees.values() for path, _ in _changes(base, tree, ()))
    paths = [path for path in changed if not any(path.startswith(f"{other}.") for other in changed)]
    variants = {str(n + 1): {p: _at(tree, p) for p in paths} for n, tree in enumerate(trees.values())}
    if any(value is _MISSING for values in variants.values() for value in values.values()):
        return None
    sweep = {} if len(trees) == 1 else {_POINT: variants}
    sweeps = [_plain(sweep, variants, len(trees))]
    axes = {tuple(point) for point in (named or {}).values()}
    if len(axes) == 1 and len(axis := axes.pop()) == 1 and "." not in axis[0]:
        names = [str((named or {})[digest][axis[0]]) for digest in trees]
        sweeps.insert(0, {axis[0]: dict(zip(names, variants.values(), strict=True))})
    for each, labels in product(sweeps, (base.get("labels"), None)):
        content = {**base, "labels": labels} if labels else {k: v for k, v in base.items() if k != "labels"}
        with suppress(FullpipeError):
            made = Scenario(**content, name=name, sweep=each)
            if {one.digest for one in made.expand()} == set(distinct):
                return made
    return None


def _plain(sweep: dict[str, Any], variants: Mapping[str, Mapping[str, Any]], count: int) -> dict[str, Any]:
    """The sweep as one axis per path, if the points are all combinations of the values of every path."""
    paths = list(next(iter(variants.values()))) if count > 1 else []
    axes: dict[str, list[Any]] = {path: [] for path in paths}
    for values in variants.values():
        for path, value in values.items():
            if value not in axes[path]:
                axes[path].append(value)
    size = 1
    for axis in axes.values():
        size *= len(axis)
    return dict(axes) if paths and size == count else sweep


def _changes(base: Any, tree: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the deepest paths at which a scenario differs from the first one, with their values. A table with
    another `kind` or other keys counts as one path."""
    for key in dict.fromkeys([*base, *tree]) if isinstance(base, Mapping) else range(len(base)):
        if key in ("name", "sweep", "labels") and not path:
            continue
        one = base.get(key, _MISSING) if isinstance(base, Mapping) else base[key]
        other = tree.get(key, _MISSING) if isinstance(tree, Mapping) else tree[key]
        here = (*path, str(key))
        if _goes_on(one, other, is_top=not path):
            yield from _changes(one, other, here)
        elif one != other:
            yield ".".join(here), other


def _goes_on(one: Any, other: Any, *, is_top: bool) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return is_top or (one.get("kind") == other.get("kind") and one.keys() == other.keys())
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other)


def _at(tree: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(tree, Mapping):
            tree = tree.get(key, _MISSING)
        elif isinstance(tree, list) and key.isdigit() and int(key) < len(tree):
            tree = tree[int(key)]
        else:
            return _MISSING
    return tree


_SHOWN = names_in(View.REPORT)
"""Metrics of flows and links in a report, if runs have them."""
_LED = names_in(View.TABLE)
"""Metrics that may lead a conclusion."""
COMPARED = names_in(View.COMPARISON)
"""Metrics that `fullpipe compare` judges."""
BULK, SHARE_RATIO = "bulk", "share_ratio"
"""Metrics of how groups share a path. The group of all flows has no such metrics."""
VARIANT = SIDE
"""Key of a point for the name of a side of a comparison."""


@dataclass(frozen=True)
class Points:
    """Runs of scenarios of one name."""

    name: str
    runs: Sequence[Run]
    """Runs in the order of point, engine and seed."""
    points: Sequence[dict[str, Any]]
    """Point of every run."""
    asked: Mapping[str, Sequence[str] | None]
    """The metrics that the user names, each with its groups of flows or links; None: all groups."""
    of: str = ""
    """Group of flows or link for metrics that name no group."""

    @classmethod
    def of_runs(cls, runs: Sequence[Run], metrics: Sequence[str] = (), of: str = "") -> Points:
        """Runs of one name, ordered by the values of their points, then by engine and seed.

        Quantities are ordered by size, other values by appearance, so the first variant is the reference.
        """
        labels = Labels(scenarios={run.meta.digest: run.meta.scenario for run in runs}.values())
        known = [groups_in(run.scenario) for run in {run.meta.digest: run for run in runs}.values()]

        def shown(word: str) -> str:
            """The name of a group in the report: its label, unless groups share the label."""
            label = labels.group(labels.groups_called(word, known)[0])
            owners = {n for names in known for n, name in enumerate(names) if labels.group(name) == label}
            return label if len(owners) < 2 else word

        subjects = (Subject.read(text, of or None) for text in metrics)
        asked = groups_asked(each._replace(of=each.of and shown(each.of)) for each in subjects)
        found = points_of(runs)
        paths = list(found[0]) if found else []
        ranks = [_ranks([point[path] for point in found]) for path in paths]
        key = {
            n: (*(rank[n] for rank in ranks), run.meta.engine.name, run.meta.engine.version, run.meta.seed)
            for n, run in enumerate(runs)
        }
        order = sorted(key, key=lambda n: key[n])
        return cls(_name(runs), [runs[n] for n in order], [found[n] for n in order], asked, of and shown(of))

    @property
    def metrics(self) -> list[str]:
        """The metrics that the user names."""
        return [*self.asked]

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @cached_property
    def values(self) -> pl.DataFrame:
        """Values that a report shows, as `values_of` gives them."""
        wanted = {*self._wanted(_SHOWN)} - ({SHARE_RATIO, BULK} - {self.sharing, *self.metrics})
        shown = self.every_value.filter(pl.col("metric").is_in(wanted))
        return without_stand_ins(shown, "value", self.metrics)

    @cached_property
    def sharing(self) -> str:
        """Metric for shares of groups: `share_ratio` if fair shares differ between points, else `share`."""
        even = self.every_value.filter(pl.col("metric") == EQUAL_SHARE).drop_nulls(["entry", "value"])
        fair = even.group_by("entry").agg(pl.col("value").n_unique())["value"]
        has_ratio = not self.every_value.filter(metric=SHARE_RATIO).drop_nulls("value").is_empty()
        return SHARE_RATIO if has_ratio and (fair > 1).any() else SHARE

    @cached_property
    def every_value(self) -> pl.DataFrame:
        """Values of the shown metrics and of all metrics that `fullpipe compare` judges."""
        links = dict.fromkeys(link for run in self.runs for link in busy_links(run))
        wanted = self._wanted((*_SHOWN, *COMPARED))
        return labelled(values_of(zip(self.points, self.runs, strict=True), wanted, links), self.labels)

    def _wanted(self, names: Sequence[str]) -> list[str]:
        """The metrics, the metrics that the user names, and the counts that these metrics need."""
        known = headlines(dict.fromkeys(names), (run.scenario for run in self.runs))
        return with_counts((*NEEDED, *known, *self.metrics))

    @cached_property
    def means(self) -> pl.DataFrame:
        """Means over seeds with their intervals."""
        return over_seeds(self.values)

    @cached_property
    def leading(self) -> pl.DataFrame:
        """Means of the metrics that `fullpipe run` shows. The leading metric is chosen from these metrics."""
        names = pl.col("metric").is_in([*NEEDED, *_LED])
        shown = without_stand_ins(self.every_value.filter(names), "value", self.metrics)
        return with_groups(over_seeds(shown).drop_nulls("mean"))

    @cached_property
    def paths(self) -> list[str]:
        """Paths whose values differ between runs; the path that changes slowest comes first."""
        return [path for path in paths_of(self.values) if self.values[path].n_unique() > 1]

    @cached_property
    def scenario(self) -> Scenario | None:
        """One scenario with all these points; None if no sweep has exactly these points."""
        named = {run.meta.digest: point for run, point in zip(self.runs, self.points, strict=True)}
        return scenario_of(self.name, (run.scenario for run in self.runs), named)

    @cached_property
    def bundled(self) -> str:
        """The name of the bundled scenario with exactly these points; empty if there is no such scenario."""
        if self.scenario is None or self.name not in scenario_names():
            return ""
        there: Sequence[Scenario] = Scenario.named(self.name).expand()
        return (
            self.name
            if {one.digest for one in there} == {one.digest for one in self.scenario.expand()}
            else ""
        )

    @cached_property
    def algorithms(self) -> dict[str, str]:
        """The algorithm of each flow or group that has the same algorithm in all runs."""
        return {self.labels.group(of): kind for of, kind in algorithms_of(self.runs).items()}

    @cached_property
    def words(self) -> dict[str, str]:
        """Names of the paths in words."""
        return self.labels.names(self.paths)

    @cached_property
    def labels(self) -> Labels:
        """The words for paths and values, including the labels of the scenarios."""
        return Labels(scenarios={run.meta.digest: run.meta.scenario for run in self.runs}.values())

    @cached_property
    def drawn(self) -> Labels:
        """The words of figures: see `Labels.in_print`."""
        return self.labels.in_print()

    @cached_property
    def doubts(self) -> Doubts:
        """The reasons to doubt the means of the runs."""
        return doubts_of(self.runs)

    @property
    def known(self) -> list[str]:
        """The names of groups of flows and links, as scenarios have them and as shown."""
        own = (of for run in self.runs for of in flow_groups(run) if self.labels.group(of) != of)
        return [*dict.fromkeys(own), *self.values["of"].unique(maintain_order=True)]

    def algorithm_of(self, row: Mapping[str, Any]) -> str:
        """Return the algorithm of the group of a row; for all flows together, the only swept algorithm. Empty
        if unknown."""
        swept = [path for path in self.paths if path.endswith(".cca")]
        own = swept if row["entry"] is None else [f"flows.{row['entry']}.cca"]
        is_swept = len(own) == 1 and own[0] in swept
        return value_text(row[own[0]]) if is_swept else self.algorithms.get(row["of"], "")

    def has(self, point: Mapping[str, Any], at: Mapping[str, Any]) -> bool:
        """Whether a point has these values, or values with these words."""
        return all(
            path in point and of in (point[path], self.said(path, point[path])) for path, of in at.items()
        )

    def said(self, path: str, value: Any) -> str:
        """A value of a path in words."""
        return self.labels.value(path, value)

    def at(self, path: str, value: Any) -> str:
        """A value with its path in words."""
        return self.labels.at(path, value, self.words[path])

    def told(self, row: Mapping[str, Any]) -> str:
        """The point of a row in words, for the paths that the row has."""
        return ", ".join(self.at(path, row[path]) for path in self.paths if path in row)

    @cached_property
    def whole(self) -> int | str:
        """Name of the total of all flows; if runs have one group of flows, the entry of this group."""
        groups = self.groups
        return ALL if ALL in groups else self.entries.get(groups[0], groups[0])

    @cached_property
    def entries(self) -> dict[str, int]:
        """The groups of flows that are an entry of the scenario's `flows`, with the index of the entry."""
        return dict(self.values.drop_nulls("entry").select("of", "entry").unique(maintain_order=True).rows())

    @cached_property
    def _names(self) -> Mapping[int, list[str]]:
        names: dict[int, list[str]] = {}
        for name, entry in self.entries.items():
            names.setdefault(entry, []).append(name)
        return names

    def called(self, entry: int) -> str:
        """The names of an entry of `flows`. An entry without a name has a name per algorithm."""
        return called(self._names.get(entry, []), entry)

    @cached_property
    def has_both(self) -> bool:
        """Whether the scenarios have both connections and datagrams."""
        return are_both({run.meta.digest: run.scenario for run in self.runs}.values())

    def flows_of(self, metric: str, of: int | str) -> str:
        """Return the flows that a metric of an entry of `flows`, a total or a link covers, in words."""
        name = self.called(of) if isinstance(of, int) else of
        return flows_of(metric, name, has_both=self.has_both)

    def group_of(self, metric: str, of: int | str) -> str:
        """Return `flows_of`. For a group of several flows, the text also has their number, and says whether
        the value is their sum or mean: see `with_flows`."""
        return self.with_flows(self.flows_of(metric, of), of, BY_NAME[metric].combined)

    def with_algorithm(self, metric: str, of: str) -> str:
        """Return `group_of`, with the algorithm of the group if it is the same in all runs, and not in the
        name."""
        named, algorithm = self.group_of(metric, of), self.algorithms.get(of, "")
        if not algorithm or algorithm in named:
            return named
        is_several = named != (one := self.flows_of(metric, of)) and named.startswith(one)
        return named.replace(" flows", f" {algorithm} flows") if is_several else f"{named} ({algorithm})"

    def named(self, of: str) -> str:
        """The name of a group with its algorithm, if the same in all runs and not in the name."""
        algorithm = self.algorithms.get(of, "")
        return f"{of} ({algorithm})" if algorithm and algorithm not in of else of

    def with_flows(self, name: str, of: int | str, combined: Combined = "") -> str:
        """Return the name of an entry of `flows`, a total or a link with its number of flows if this number
        is the same in all runs and above 1: see `with_flows`."""
        entry = of if isinstance(of, int) else self.entries.get(of)
        counts = () if entry is None else self.counts.get(entry, ())
        return with_flows(name, counts if len(counts) == 1 else (), combined)

    @cached_property
    def counts(self) -> Mapping[int, set[int]]:
        """Numbers of flows of every entry of `flows`, in all runs."""
        found: dict[int, set[int]] = {}
        for scenario in {run.meta.digest: run.scenario for run in self.runs}.values():
            for entry, flow in enumerate(scenario.flows):
                found.setdefault(entry, set()).add(flow.count)
        return found

    def means_of(self, metric: str, of: int | str) -> Sequence[dict[str, Any]]:
        """The rows of `means` for a metric and an entry of `flows`, a total or a link; rows without a known
        mean are left out."""
        return self._means_of.get((metric, of), ())

    @cached_property
    def _means_of(self) -> Mapping[tuple[str, int | str], list[dict[str, Any]]]:
        found: dict[tuple[str, int | str], list[dict[str, Any]]] = {}
        for row in self.means.drop_nulls("mean").iter_rows(named=True):
            for of in (row["of"], row["entry"]):
                if of is not None:
                    found.setdefault((row["metric"], of), []).append(row)
        return found

    def having(self, metric: str) -> list[str]:
        """The groups of flows and links that have a value of a metric."""
        known = self.values.filter(pl.col("metric") == metric).drop_nulls("value")
        return known["of"].unique(maintain_order=True).to_list()

    def totals_of(self, metric: str) -> list[str]:
        """Return the totals that have the metric (all flows, downloads, uploads), or the only group that has
        the metric."""
        known = self.having(metric)
        return known if len(known) == 1 else [name for name in TOTALS if name in known]

    def asked_of(self, metric: str) -> list[str]:
        """Groups of flows or links for which the user names a metric."""
        known = self.having(metric)
        own = [name for name in known if name not in TOTALS]
        asked = self.asked.get(metric)
        if asked is not None:
            return [name for name in asked if name in known]
        return own if len(own) == 1 or metric in (SHARE, SHARE_RATIO) else self.totals_of(metric) or own

    def is_asked(self) -> pl.Expr:
        """Filter for the rows of values whose group the user names for the metric of the row."""
        found = pl.lit(value=True)
        groups = {metric: asked for metric, asked in self.asked.items() if asked is not None}
        if self.of:
            found = pl.col("metric").is_in([*groups]) | self._is_of([self.of])
        for metric, asked in groups.items():
            found &= (pl.col("metric") != metric) | self._is_of(asked)
        return found

    def _is_of(self, groups: Sequence[str]) -> pl.Expr:
        entries = [self.entries[of] for of in groups if of in self.entries]
        return pl.col("of").is_in(groups) | pl.col("entry").is_in(entries).fill_null(value=False)

    def fair_at(self, metric: str, entry: int, along: str) -> tuple[dict[Any, float], str]:
        """The fair share of a group at every value of a path, in bit/s or as a share of all goodput, and this
        share in words if it is the same in all runs. Empty for other metrics, and without competitors."""
        column = {"goodput": "fair", SHARE: EQUAL_SHARE}.get(metric, "")
        rows = self.fair_goodput(entry) if column else pl.DataFrame()
        if rows.is_empty():
            return {}, ""
        means, even = rows.group_by(along).agg(pl.col(column).mean()), rows[EQUAL_SHARE].unique().to_list()
        part = f" ({number_shown(even[0], '1', EQUAL_SHARE)} % of the goodput)" if len(even) == 1 else ""
        return dict(means.iter_rows()), part

    def fair_goodput(self, entry: int) -> pl.DataFrame:
        """The equal share of a group in every run, and `fair`, this share of the goodput in bit/s."""
        own = shares(self.every_value)
        if own.is_empty():
            return own
        own = own.filter(pl.col("entry") == entry, pl.col(SHARE) > 0)
        keys = [*self.paths, *(["engine"] if "engine" not in self.paths else []), "seed"]
        values = self.every_value.filter(pl.col("metric") == "goodput", pl.col("entry") == entry)
        rows = own.join(values.select(*keys, "value"), on=keys, nulls_equal=True)
        return rows.with_columns(fair=pl.col("value") / pl.col(SHARE) * pl.col(EQUAL_SHARE))

    def equal_share(self, row: Mapping[str, Any]) -> float | None:
        """The equal share of a row's group among all flows of its direction.

        None unless all these flows are bulk flows.
        """
        rows = self.means_of(EQUAL_SHARE, row["of"])
        at_point = (one["mean"] for one in rows if all(one[path] == row[path] for path in self.paths))
        return next(at_point, None)

    @cached_property
    def bulk(self) -> frozenset[int]:
        """Entries of `flows` that are bulk flows. Only bulk flows can starve."""
        return frozenset(self.values.filter(metric="starved").drop_nulls(["entry", "value"])["entry"])

    @cached_property
    def telling(self) -> dict[int, str]:
        """The most important metric of every entry of `flows`, by entry."""
        told = self.values.drop_nulls(["entry", "value"])
        known = dict(told.group_by("entry", maintain_order=True).agg(pl.col("metric").unique()).rows())
        ranked = {entry: leading(of, is_bulk=entry in self.bulk) for entry, of in known.items()}
        return {entry: metrics[0] for entry, metrics in ranked.items() if metrics}

    @cached_property
    def groups(self) -> list[str]:
        """The groups of flows."""
        return self.values.filter(pl.col("kind") == "flows")["of"].unique(maintain_order=True).to_list()

    def measured(self, kind: str) -> list[str]:
        """The metrics of flows or links that have at least one value."""
        known = self.values.filter((pl.col("kind") == kind) & pl.col("value").is_not_null())
        return known["metric"].unique(maintain_order=True).to_list()

    @cached_property
    def seeds(self) -> list[int]:
        """Distinct seeds in ascending order."""
        return sorted({run.meta.seed for run in self.runs})


def ordered(values: Sequence[Any]) -> list[Any]:
    """Distinct values of a path: quantities by size, other values by first appearance."""
    distinct = list(dict.fromkeys(values))
    found = as_numbers(distinct)
    if found:
        return [value for _, value in sorted(zip(found[0], distinct, strict=True), key=lambda pair: pair[0])]
    return distinct


def _name(runs: Sequence[Run]) -> str:
    """Return a name for several scenarios: the words that all names share, or all names if no word is
    shared."""
    names = list(dict.fromkeys(run.name for run in runs))
    shared = [word for word in names[0].split() if all(word in name.split() for name in names)]
    return names[0] if len(names) == 1 else " ".join(shared) or " and ".join(names)


def _ranks(values: Sequence[Any]) -> list[int]:
    keys = [value if isinstance(value, int | float | str) else value_text(value) for value in values]
    places = {value: place for place, value in enumerate(ordered(keys))}
    return [places[key] for key in keys]
