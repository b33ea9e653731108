"""Transfers that the end of a run cut off: counted, told beside their times, and no reason for a verdict."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, metrics, run, sweeps
from fullpipe.analysis.limits import Counts, counted, with_counts
from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.values import values_of
from fullpipe.cli import app
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Store
from fullpipe.validation.compare import Finding
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import LeftOut
from fullpipe.validation.compare.rules import one_sided, paired
from fullpipe.validation.over import compare_over
from tests.report.pages import sentences

QUEUE = "topology.bottleneck.queue"
FAST, SLOW = [1.0, 1.1, 0.9, 1.0], [2.0, 2.1, 1.9, 2.1]


def home(**values: Any) -> Scenario:
    """A download and two readers of web pages, of which a second of buffer leaves many pages unfinished."""
    made = Scenario(
        name="home",
        duration="10 s",
        warmup="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        flows=[
            {"cca": "reno", "name": "download", "start_jitter": "100 ms"},
            {
                "cca": "reno",
                "name": "readers",
                "count": 2,
                "workload": {"kind": "web", "think": {"kind": "exponential", "mean": "1 s"}},
            },
        ],
        record={"interval": "off"},
        sweep={
            "queue": {"deep": {QUEUE: {"size": "1 s"}}, "fair": {QUEUE: {"kind": "fq_codel"}}},
        },
    )
    return made.with_values(values)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("unfinished") / "runs"
    sweeps.run(sweeps.jobs(home(), [1, 2, 3]), store=Store(root), workers=2)
    return root


@pytest.fixture(scope="module")
def counts(store: Path) -> dict[str, Counts]:
    """What every variant left unfinished, counted by hand from the table of transfers."""
    found: dict[str, list[int]] = {}
    for one in Store(store):
        pages = one.transfers.filter(pl.col("start_s") >= 1).group_by("flow", "page")
        is_whole = pages.agg(whole=pl.col("fct_s").is_not_null().all())["whole"]
        left = found.setdefault(one.meta.point["queue"], [0, 0])
        left[0] += (~is_whole).sum()
        left[1] += len(is_whole)
    return {name: Counts(*left) for name, left in found.items()}


def test_the_case_has_what_it_takes(counts: dict[str, Counts]) -> None:
    assert counts["deep"].share > 0.2
    assert counts["fair"].share < counts["deep"].share / 3


def test_metrics_count_what_began_and_did_not_finish() -> None:
    found = run(home(queue="deep"))
    values = metrics.measured(found, metrics=["page_began", "page_unfinished", "fct_began", "fct_unfinished"])
    known = {row["metric"]: row["value"] for row in values.filter(of="readers").iter_rows(named=True)}
    transfers = found.transfers.filter(pl.col("start_s") >= 1)
    assert known["fct_began"] == transfers.height
    assert known["fct_unfinished"] == pytest.approx(transfers["fct_s"].null_count() / transfers.height)
    assert 0 < known["page_unfinished"] < 1
    none = metrics.measured(found, metrics=["page_began", "page_unfinished"]).filter(of="download")
    assert none["value"].to_list() == [None, None]


def test_means_over_seeds_have_the_counts_of_all(store: Path, counts: dict[str, Counts]) -> None:
    points = [(one.meta.point, one) for one in Store(store)]
    values = values_of(points, with_counts(["page_p50", "goodput"]))
    rows = over_seeds(values).filter(of="readers")
    for row in rows.filter(metric="page_p50").iter_rows(named=True):
        assert Counts(row["unfinished"], row["began"]) == counts[row["queue"]]
    assert rows.filter(metric="goodput")["began"].null_count() == 2
    alone = counted(values_of(points, ["page_p50"]))
    assert alone["began"].null_count() == alone.height


def test_every_table_and_page_says_how_many(store: Path, counts: dict[str, Counts], tmp_path: Path) -> None:
    (tmp_path / "home.toml").write_text(home().to_toml(), encoding="utf-8")
    command = [
        "run",
        str(tmp_path / "home.toml"),
        "--seeds",
        "3",
        "--out",
        str(store),
        "--metric",
        "page_p50",
    ]
    shown = CliRunner().invoke(app, command, env={"COLUMNS": "150"}).output
    written = CliRunner().invoke(app, [*command, "--format", "csv"]).output
    answer = "\n".join(sentences(page_of(Store(store), metrics=["page_p50"])))
    for count in counts.values():
        assert f"({count})" in shown
        assert f",{count.began},{count.unfinished}" in written
    assert str(counts["deep"]) in answer
    folder = next(iter(Store(store))).folder
    assert "unfinished)" in CliRunner().invoke(app, ["metrics", str(folder)], env={"COLUMNS": "150"}).output


def test_a_figure_says_what_it_leaves_out(store: Path, counts: dict[str, Counts]) -> None:
    runs = list(Store(store))
    figure, _ = figure_of(runs, Chosen(Kind.LINES, ["page_p50 of readers"], x="queue"))
    told = figure._supxlabel.get_text()
    both = Counts(*map(sum, zip(*counts.values(), strict=True)))
    assert f"leaves out {both}; most at queue deep: {counts['deep']}" in told.replace("\n", " ")
    figure, _ = figure_of(runs, Chosen(Kind.LINES, ["slowdown of readers"], x="queue"))
    assert figure._supxlabel.get_text().splitlines()[1].startswith("median slowdown of readers leaves out")
    figure, _ = figure_of(runs, Chosen(Kind.LINES, ["goodput of download"], x="queue"))
    assert "leaves out" not in figure._supxlabel.get_text()


def test_a_comparison_has_both_sides(counts: dict[str, Counts]) -> None:
    axis = {"queue": {"deep": {QUEUE: {"size": "1 s"}}, "fair": {QUEUE: {"kind": "fq_codel"}}}}
    (found,) = compare_over(home(queue="deep"), axis, range(1, 4), metrics=["page_p50", "goodput"], workers=2)
    row = next(
        row for row in found.to_dict()["rows"] if (row["of"], row["metric"]) == ("readers", "page_p50")
    )
    assert row["unfinished"] == {
        "reference": counts["deep"]._asdict(),
        "variant": counts["fair"]._asdict(),
    }
    assert json.dumps(row)
    assert {each["unfinished"] for each in found.to_dict()["rows"] if each["metric"] == "goodput"} == {None}


def judged(reference: list[float], other: list[float], lost: tuple[int, int] | None) -> Finding:
    left_out = lost and LeftOut(Counts(lost[0], 100), Counts(lost[1], 100), 0.03)
    return paired([Contrast(reference, other, 0.1, "lower", False, left_out or None)])[0]


@pytest.mark.parametrize(
    ("reference", "other", "lost", "verdict"),
    [
        (SLOW, FAST, None, "better"),
        (SLOW, FAST, (0, 0), "better"),
        (SLOW, FAST, (20, 20), "better"),
        (SLOW, FAST, (20, 23), "better"),
        (SLOW, FAST, (20, 24), "undecided"),
        (SLOW, FAST, (40, 2), "better"),
        (FAST, SLOW, (2, 40), "worse"),
        (FAST, SLOW, (40, 2), "undecided"),
        (FAST, FAST, (2, 2), "equivalent"),
        (FAST, FAST, (2, 40), "undecided"),
        (FAST, FAST, (40, 2), "undecided"),
    ],
)
def test_nothing_is_better_for_having_lost_its_slow_ones(
    reference: list[float], other: list[float], lost: tuple[int, int] | None, verdict: str
) -> None:
    said = judged(reference, other, lost)
    assert said.verdict == verdict
    if verdict == "undecided" and lost:
        assert f"{lost[1]} of 100 unfinished against {lost[0]} of 100 unfinished" in said.reason
        assert said.seeds is None


@pytest.mark.parametrize(
    ("reference", "other", "lost", "verdict"),
    [
        (SLOW, FAST, (2, 2), "not worse"),
        (SLOW, FAST, (2, 40), "undecided"),
        (SLOW, FAST, (40, 2), "not worse"),
        (FAST, SLOW, (2, 40), "regressed"),
        (FAST, SLOW, (40, 2), "undecided"),
    ],
)
def test_no_change_is_passed_or_blamed_for_slow_transfers_that_one_side_lacks(
    reference: list[float], other: list[float], lost: tuple[int, int], verdict: str
) -> None:
    left_out = LeftOut(Counts(lost[0], 100), Counts(lost[1], 100), 0.03)
    contrast = Contrast(reference, other, 0.1, "lower", False, left_out)
    assert one_sided([contrast], 1)[0].decision == verdict
