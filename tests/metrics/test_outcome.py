"""The sentences with which `run` over seeds begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import ttest_rel

from fullpipe.analysis.outcome import MOST, labelled, outcome
from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.statistics import holm
from fullpipe.scenario.labels import Labels

SIZE = "topology.bottleneck.queue.size"
Value = tuple[str, str, int | None, str, float]


def means(values: Iterable[Value], spread: float = 0.01) -> pl.DataFrame:
    """Means over four seeds: of every point, group, entry and metric a value, which seeds change a little."""
    units = {"goodput": "bit/s", "rtt_mean": "s", "call_score": "1", "jain": "1", "bulk": "flows"}
    rows = [
        (point, seed, "native", "flows", entry, of, metric, value * (1 + spread * step), units[metric])
        for point, of, entry, metric, value in values
        for seed, step in enumerate((-1, 1, -0.5, 0.5), 1)
    ]
    columns = [SIZE, "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return over_seeds(pl.DataFrame(rows, schema=columns, orient="row"))


def point(name: str, goodput: float, rtt_s: float) -> list[Value]:
    """A bulk flow, a call beside it, and both together."""
    return [
        (name, "mine", 0, "goodput", goodput),
        (name, "mine", 0, "bulk", 1.0),
        (name, "mine", 0, "rtt_mean", rtt_s),
        (name, "call", 1, "goodput", 8e4),
        (name, "call", 1, "bulk", 0.0),
        (name, "call", 1, "call_score", 4.2),
        (name, "all flows", None, "goodput", goodput + 8e4),
    ]


def test_of_one_point_every_group_has_its_leading_metric() -> None:
    told = outcome(means(point("1 bdp", 5e6, 0.04)))
    assert [line.partition(" is ")[0] for line in told] == ["Goodput", "Opinion score (MOS)", "Mean RTT"]
    assert told[0] == "Goodput is 5.00 [4.93, 5.07] Mbit/s for mine."


def test_a_sweep_says_where_a_metric_is_highest_and_lowest() -> None:
    values = [*point("1 bdp", 5e6, 0.04), *point("2 bdp", 7e6, 0.06), *point("4 bdp", 7.01e6, 0.09)]
    told = outcome(means(values))
    assert told[0] == (
        "Goodput of mine is highest at buffer 4 BDP (not distinguishable from 1 other point): "
        "7.01 [6.91, 7.11] Mbit/s; "
        "lowest at buffer 1 BDP: 5.00 [4.93, 5.07] Mbit/s."
    )
    assert told[1] == "Opinion score (MOS) of call is 4.2 [4.1, 4.3] at all 3 points."
    assert len(told) <= MOST


def test_points_have_the_labels_of_the_scenario() -> None:
    values = [*point("1 bdp", 5e6, 0.04), *point("4 bdp", 7e6, 0.09)]
    told = outcome(means(values), ["goodput"], Labels({SIZE: "queue limit", f"{SIZE}.4 bdp": "deep"}))
    assert told[0].startswith("Goodput of mine is highest at deep: ")
    assert "lowest at queue limit 1 BDP: " in told[0]


def test_a_metric_within_its_margin_is_about_the_same() -> None:
    """All intervals are within the margin of 3 % together, and both means have the same decimals."""
    told = outcome(means([*point("1 bdp", 5e6, 0.04), *point("2 bdp", 5.1e6, 0.06)], spread=0.001))
    assert told[0].startswith("Goodput of mine is about the same at all 2 points: 5.00 [")
    assert told[0].endswith("; the differences are within the margin.")


def test_paths_that_are_set_together_are_named_once() -> None:
    found = means([*point("1 bdp", 5e6, 0.04), *point("4 bdp", 7e6, 0.09)])
    twice = found.with_columns(found[SIZE].alias(SIZE.replace("bottleneck", "reverse")))
    columns = [twice.columns[-1], *found.columns]
    assert outcome(twice.select(columns))[0].count("4 BDP") == 1


def test_extremes_whose_intervals_overlap_are_no_extremes() -> None:
    told = outcome(means([*point("1 bdp", 5e6, 0.04), *point("2 bdp", 5.1e6, 0.06)], spread=0.2))
    assert told[0].endswith(" over 2 points, and these intervals overlap.")


def overlapping(of: str) -> str:
    """The sentence on three points, two of which surely differ beside a wide one."""
    sure = means([("1 bdp", of, 0, "goodput", 5.0e6), ("2 bdp", of, 0, "goodput", 5.4e6)])
    wide = means([("4 bdp", of, 0, "goodput", 5.41e6)], spread=0.2)
    (told,) = outcome(pl.concat([sure, wide]), ["goodput"])
    return told


def test_points_that_differ_are_named_although_those_of_the_extreme_means_may_be_equal() -> None:
    told = overlapping("mine")
    assert "overlap" not in told
    assert told.partition("; ")[2] == (
        "it is higher at buffer 2 BDP (5.40 [5.32, 5.48] Mbit/s) than at buffer 1 BDP "
        "(5.00 [4.93, 5.07] Mbit/s)."
    )


def test_a_sentence_of_more_than_35_words_besides_intervals_is_two() -> None:
    for extra in range(12):
        told = overlapping(" ".join(["mine", *["too"] * extra]))
        words = [word for word in re.sub(r"\[.*?\]", "", told).split() if re.search(r"\w", word)]
        assert (". It is higher at buffer 2 BDP" in told) == (len(words) > 35)


def test_a_metric_that_is_asked_for_is_told_of_every_group() -> None:
    told = outcome(means(point("1 bdp", 5e6, 0.04)), ["goodput"])
    assert told == ["Goodput is 5.00 [4.93, 5.07] Mbit/s for mine and 0.08 [0.08, 0.08] Mbit/s for call."]


def test_an_entry_whose_flows_have_several_names_is_one_group() -> None:
    of_points = (("1 bdp", "cubic-1", 5e6), ("1 bdp", "bbr3-1", 6e6), ("2 bdp", "cubic-1", 9e6))
    (told, *_) = outcome(means([(size, name, 0, "goodput", goodput) for size, name, goodput in of_points]))
    assert told.startswith("Goodput of cubic-1 or bbr3-1 is highest at buffer 2 BDP: ")


@pytest.mark.parametrize(("words", "rows"), [((), 12), (("--all",), 24)])
def test_a_sweep_begins_with_its_conclusion_and_shows_a_dozen_rows(
    fullpipe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], rows: int
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    sizes = [f"{n} ms" for n in range(10, 90, 10)]
    Path("duel.toml").write_text(
        f"""
name = "duel"
duration = "2 s"
topology = {{ kind = "dumbbell", bottleneck = {{ rate = "10 Mbit/s", delay = "10 ms" }} }}
flows = [{{ name = "a", cca = "cubic" }}, {{ name = "b", cca = "reno" }}]
[sweep]
"{SIZE}" = {sizes}
""",
        encoding="utf-8",
    )
    shown = fullpipe("run", "duel.toml", "--seeds", 2, "--jobs", 1, "--metric", "goodput", *words).stdout
    first, _, table = shown.partition("\n\n")
    assert " ".join(first.split()).startswith("Goodput of a is highest at buffer ")
    assert sum(line.split()[2:3] in (["a"], ["b"], ["all"]) for line in table.splitlines()) == rows
    assert ("more rows: --all prints them" in table) == (not words)


def test_groups_have_labels_unless_two_entries_share_one() -> None:
    rows = {
        "kind": ["flows", "flows", "flows", "flows", "link"],
        "of": ["cubic-1", "bbr3-1", "other", "all flows", "other"],
        "entry": [0, 0, 1, None, None],
    }
    given = {"flows.cubic-1": "mine", "flows.bbr3-1": "mine", "flows.other": "theirs", "flows.all flows": "x"}
    named = labelled(pl.DataFrame(rows), Labels(given))
    assert named["of"].to_list() == ["mine", "mine", "theirs", "all flows", "other"]
    shared = labelled(pl.DataFrame(rows), Labels(given | {"flows.other": "mine"}))
    assert shared["of"].to_list() == rows["of"]
    total = labelled(pl.DataFrame(rows), Labels({"flows.other": "all flows"}))
    assert total["of"].to_list() == rows["of"]


def by_seed(points: Mapping[str, Sequence[float]]) -> str:
    """The sentence on goodputs of one group, a list of values over seeds per point."""
    columns = [SIZE, "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    rows = [
        (size, seed, "native", "flows", 0, "mine", "goodput", value * 1e6, "bit/s")
        for size, of_point in points.items()
        for seed, value in enumerate(of_point)
    ]
    values = pl.DataFrame(rows, schema=columns, orient="row")
    (told,) = outcome(over_seeds(values), values=values)
    return told


def test_pairs_of_seeds_tell_points_apart_whose_intervals_overlap() -> None:
    one = [4.0, 5.0, 6.0, 7.0]
    other = [5.5, 6.4, 7.6, 8.5]
    told = by_seed({"1 bdp": one, "2 bdp": other})
    assert told.startswith("Goodput of mine rises from 5.50 [3.45, 7.55] Mbit/s at buffer 1 BDP to 7.00 [")
    assert told.endswith("; tests are paired by seed.")
    assert ttest_rel(one, other).pvalue < 0.05
    told = by_seed({"1 bdp": other, "2 bdp": one})
    assert " falls from 7.00 [" in told
    told = by_seed({"1 bdp": one, "2 bdp": other[::-1]})
    assert told.endswith(" over 2 points, and the difference is not significant; tests are paired by seed.")
    assert ttest_rel(one, other[::-1]).pvalue > 0.05


def test_pairs_of_points_are_corrected_together() -> None:
    points = {"1 bdp": [5.0, 5.4, 5.9, 6.2], "2 bdp": [5.2, 5.5, 6.3, 6.4], "4 bdp": [5.3, 5.3, 6.2, 6.6]}
    pairs = [ttest_rel(*pair).pvalue for pair in combinations(points.values(), 2)]
    assert min(pairs) < 0.05 < min(holm(pairs))
    told = by_seed(points)
    assert "] Mbit/s (buffer 1 BDP) to " in told
    assert "] Mbit/s (buffer 4 BDP) over 3 points, " in told
    assert told.endswith(
        " over 3 points, and no difference is significant;"
        " tests are paired by seed, with Holm's correction for 3 pairs."
    )


def test_a_mean_that_changes_at_every_point_rises_along_the_axis() -> None:
    noise = [0.0, 0.01, -0.01, 0.02]
    points = {
        f"{size} bdp": [size + each for each in noise[n:] + noise[:n]] for n, size in enumerate((1, 2, 4))
    }
    assert " rises from each point to the next, from 1.00 [" in by_seed(points)
    swapped = {size: points[size] for size in ("1 bdp", "4 bdp", "2 bdp")}
    assert " is highest at buffer 4 BDP: " in by_seed(swapped)
    del points["2 bdp"][:]
    points["2 bdp"] = [2.0, 2.1]  # other seeds: intervals are compared
    assert "paired" not in by_seed(points)
