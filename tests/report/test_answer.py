"""What reports of runs answer: verdicts of every axis, and metrics that are asked for."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from fullpipe import Scenario, run, sweeps
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import metric_shown
from fullpipe.errors import NoRunError, UnknownNameError
from fullpipe.report.runs.answer import _changes, _where
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run
from tests.report.pages import figures_of, scenario, section, sentences, tables


def test_verdicts_are_of_every_axis_of_names(house: list[Run]) -> None:
    page = page_of(house)
    named = {line.partition(":")[0] for line in page.parts[0].conclusion}
    assert {"bbr1 instead of cubic", "fair instead of deep"} <= named
    (verdicts,) = tables(section(page, "All verdicts"))
    columns = [column.name for column in verdicts.columns]
    assert columns[:3] == ["variant", "queue", "algorithm"]
    at = {tuple(row[:3]) for row in verdicts.rows}
    assert ("fair against deep", "-", "cubic") in at
    assert ("bbr1 against cubic", "deep", "-") in at
    assert len(at) == 4


@pytest.fixture(scope="module")
def home() -> list[Run]:
    """A backup with two algorithms and two queues, beside a call and a ping that suffer from the queue."""
    flows = [
        {"name": "backup", "cca": "cubic", "start_jitter": "100 ms"},
        {"name": "call", "workload": "voip"},
        {"name": "ping", "workload": "ping"},
    ]
    queues = {
        "deep": {"topology.bottleneck.queue": {"kind": "drop_tail", "size": "500 ms"}},
        "fair": {"topology.bottleneck.queue": "fq_codel"},
    }
    base = scenario("home", duration="12 s", warmup="4 s", record={"interval": "off"}).to_dict()
    varied = Scenario(
        **{**base, "flows": flows, "sweep": {"flows.0.cca": ["cubic", "bbr3"], "queue": queues}}
    )
    return sweeps.run(sweeps.jobs(varied, range(1, 6)))


def test_every_axis_names_the_effects_on_flows_beside_the_changed_ones(home: list[Run]) -> None:
    """The conclusion names calls and pings, and the first figure shows the largest effect."""
    page = page_of(home)
    told = page.parts[0].conclusion
    assert told[0].startswith("bbr3 instead of cubic: goodput of backup ")
    assert told[1].startswith("Also with bbr3 instead of cubic: ")
    assert "ean RTT of ping is better at queue deep (-" in told[1]
    queues = [line for line in told if "fair instead of deep" in line]
    assert "ean RTT of ping is better at " in " ".join(queues)
    assert all(" it falls by " in line for line in queues if line.startswith("fair instead of deep"))
    assert figures_of(page)[0].caption.startswith("mean RTT of ping")
    assert page.parts[0].table
    assert {"backup", "ping"} <= {row[3] for row in page.parts[0].table.rows}


def test_durations_that_no_sweep_sets_are_warned_of(home: list[Run]) -> None:
    longer = home[0].scenario.with_values({"duration": "14 s"})
    mixed = page_of([*home[:2], *(run(longer, seed) for seed in (1, 2))])
    assert any(line.startswith("Runs differ in duration without") for line in mixed.parts[0].warnings)
    assert not any(line.startswith("Runs differ in") for line in page_of(home).parts[0].warnings)


def test_every_metric_that_is_asked_for_has_a_sentence_and_rows_for_every_axis(house: list[Run]) -> None:
    asked = {"owd_p95 of call": "call", "page_p50 of reader": "reader", "goodput of download": "download"}
    page = page_of(house, metrics=list(asked))
    for group in asked.values():
        told = [line for line in page.parts[0].conclusion if f" of {group} is " in line]
        assert {line.partition(":")[0] for line in told} == {"bbr1 instead of cubic", "fair instead of deep"}
        assert page.parts[0].table
        assert sum(row[3] == group for row in page.parts[0].table.rows) >= 2


def test_what_tells_most_of_every_group_is_one_table(house: list[Run]) -> None:
    (groups,) = tables(section(page_of(house), "By group of flows"))
    assert [column.name for column in groups.columns] == [
        "algorithm",
        "queue",
        "download: goodput (Mbit/s)",
        "upload: goodput (Mbit/s)",
        "reader: median page load time (ms)",
        "call: opinion score (MOS)",
    ]
    assert len(groups.rows) == 4
    assert all("[" in row[4] for row in groups.rows)


def test_what_is_asked_for_is_answered_first(house: list[Run]) -> None:
    page = page_of(house, metrics=["owd_p95"], of="call")
    assert "call" in page.parts[0].conclusion[0]
    told = [line for line in sentences(page) if "p95 one-way delay of call is " in line]
    assert [line.partition(": ")[0] for line in told] == ["bbr1 instead of cubic", "fair instead of deep"]
    verdicts = [line.rpartition("p95 one-way delay of call is ")[2].partition(" ")[0] for line in told]
    assert {*verdicts} <= {"better", "worse", "equivalent", "undecided"}


def test_a_verdict_in_short_says_by_how_much() -> None:
    def row(verdict: str, reference: float, other: float, metric: str = "goodput", queue: str = "") -> Any:
        made = SimpleNamespace(
            verdict=verdict,
            difference=other - reference,
            margin=BY_NAME[metric].margin,
            reference=reference,
            other=other,
            metric=metric,
            unit=BY_NAME[metric].unit,
        )
        return {"queue": queue}, made

    better = [row("better", 9.0, 0.3), row("better", 0.6, 0.45), row("equivalent", 1.0, 1.0)]
    assert _changes(better) == " (-25 to -97 %)"
    assert _changes(better[1:]) == " (-25 %)"
    assert _changes(better[2:]) == _changes([row("worse", 0.0, 1.0)]) == ""
    called = "call_score"
    scores = [row("better", 3.2, 4.4, called, "deep"), row("equivalent", 4.4, 4.4, called, "codel")]
    assert _where(scores) == "better at deep (+1.2), equivalent at codel"


def test_points_whose_intervals_overlap_are_compared_by_seed(house: list[Run]) -> None:
    (told,) = (line for line in sentences(page_of(house)) if line.startswith("Goodput of all downloads is "))
    high, low = ([float(end) for end in found] for found in re.findall(r"\[([\d.]+), ([\d.]+)\]", told))
    assert low[1] > high[0]
    assert told.count("(not distinguishable from 2 other points)") == 2
    assert told.endswith(". Tests are paired by seed, with Holm's correction for 6 pairs.")


def test_a_figure_that_is_asked_for_stands_once(house: list[Run]) -> None:
    page = page_of(house, metrics=["share"], of="download")
    captions = [figure.caption for figure in figures_of(page)]
    shares_of = [caption for caption in captions if caption.startswith("goodput share of ")]
    assert shares_of == captions[:1] == ["goodput share of download: means."]


def test_an_unknown_group_is_refused(house: list[Run]) -> None:
    with pytest.raises(UnknownNameError, match="fridge"):
        page_of(house, metrics=["goodput"], of="fridge")
    with pytest.raises(UnknownNameError, match="fridge"):
        page_of(house, metrics=["goodput of fridge"])


def test_a_metric_that_only_other_groups_have_is_refused(house: list[Run]) -> None:
    with pytest.raises(NoRunError, match="no run has a value of page_p50 of download; choose reader"):
        page_of(house, metrics=["page_p50 of download", "goodput"])


def test_a_metric_may_say_of_what_it_is(house: list[Run]) -> None:
    both = page_of(house, metrics=["owd_p95 of call", "goodput of download"])
    (asked,) = tables(section(both, "Metrics asked for"))
    heads = [column.name for column in asked.columns]
    assert any(head.startswith("call: p95 one-way delay") for head in heads)
    assert any(head.startswith("download: goodput") for head in heads)
    for metric, of in (("owd_p95", "call"), ("goodput", "download")):
        alone = page_of(house, metrics=[metric], of=of)
        for page in (alone, both):
            name = f"{metric_shown(metric, of)} is "
            named = [line for line in sentences(page) if name in f"{line[0].lower()}{line[1:]}"]
            assert len(named) == len(set(named)) >= (1 if page is both else 2)


def test_no_sentence_adds_downloads_and_uploads(house: list[Run]) -> None:
    answer = sentences(page_of(house))
    assert not any(line.startswith("Goodput of all flows") for line in answer)
    assert any(line.startswith("Goodput of all uploads is ") for line in answer)
