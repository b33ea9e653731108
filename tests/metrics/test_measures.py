"""What is measured per group: groups, sums and means, and that every metric says what it is."""

import doctest
import importlib
import inspect
import pkgutil

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, metrics, statistics
from fullpipe.analysis.metrics.groups import ALL, DOWNLOADS, UPLOADS
from fullpipe.analysis.metrics.table import metric_suggestion

DUMBBELL = {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}}


def made(*flows: dict[str, object]) -> Run:
    return fullpipe.run(Scenario(name="made", duration="3 s", topology=DUMBBELL, flows=list(flows)))


def value(run: Run, of: str, metric: str) -> float | None:
    found = {(row["of"], row["metric"]): row["value"] for row in metrics.measured(run).to_dicts()}
    return found[of, metric]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("loss_rate", "marked lost"),
        ("retransmitted", "retransmitted"),
        ("retransmission_rate", "retransmitted"),
        ("drop_rate", "dropped"),
    ],
)
def test_labels_say_who_found_a_packet_lost(metric: str, words: str) -> None:
    assert words in metrics.BY_NAME[metric].label


def test_no_label_says_lost_alone() -> None:
    for measure in metrics.BY_NAME.values():
        assert "lost" not in measure.label.replace("marked lost", "")


def test_labels_can_be_followed_by_the_name_of_a_group() -> None:
    """As in "goodput share of mine": a label with "of" would have it twice."""
    assert [measure.label for measure in metrics.BY_NAME.values() if " of " in measure.label] == []


def test_groups_are_the_entries_of_the_scenario() -> None:
    run = made({"cca": "cubic", "count": 2}, {"cca": "bbr1"}, {"cca": "reno", "name": "mine"})
    assert metrics.flow_groups(run) == {
        "cubic": ["cubic-1", "cubic-2"],
        "bbr1-1": ["bbr1-1"],
        "mine": ["mine"],
    }


def test_groups_of_the_same_algorithm_are_told_apart() -> None:
    run = made({"cca": "cubic", "count": 2}, {"cca": "cubic", "count": 2, "start": "1 s"})
    assert list(metrics.flow_groups(run)) == ["cubic-1..2", "cubic-3..4"]


def test_goodput_of_a_group_is_that_of_its_flows() -> None:
    run = made({"cca": "cubic", "count": 2}, {"cca": "bbr1"})
    assert value(run, "cubic", "goodput") == pytest.approx(sum(run.flows["goodput_bps"][:2]))
    assert value(run, ALL, "goodput") == pytest.approx(sum(run.flows["goodput_bps"]))
    assert value(run, "cubic", "rtt_mean") == pytest.approx(sum(run.flows["rtt_mean_s"][:2]) / 2)


def test_shares_add_up() -> None:
    run = made({"cca": "cubic", "count": 2}, {"cca": "bbr1"})
    shares = [value(run, of, "share") for of in ("cubic", "bbr1-1")]
    assert sum(share or 0 for share in shares) == pytest.approx(1)


def test_links_that_do_nothing_are_left_out() -> None:
    links = metrics.measured(made({"cca": "cubic"})).filter(kind="link")["of"].unique().to_list()
    assert links == ["bottleneck"]


def test_what_a_shaper_leaves_and_what_is_used_of_it() -> None:
    def shaped(queue: object) -> Run:
        bottleneck = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": queue}
        base = made({"cca": "cubic"}).scenario
        values = {"topology.bottleneck": bottleneck, "duration": "8 s", "warmup": "3 s"}
        return fullpipe.run(base.with_values(values))

    run = shaped({"kind": "cake", "bandwidth_bps": 12_000_000})
    assert value(run, "bottleneck", "shaper_rate") == 12e6
    sent = run.links_summary.filter(link="bottleneck")["forwarded_bytes"][0]
    used = value(run, "bottleneck", "shaper_utilisation")
    assert used == pytest.approx(8 * sent / (5 * 12e6))
    assert 0.95 < used <= 1.001
    assert value(run, "bottleneck", "utilisation") == pytest.approx(used * 12 / 20, abs=0.01)
    plain = shaped("cake")
    assert value(plain, "bottleneck", "shaper_rate") is None
    assert value(plain, "bottleneck", "shaper_utilisation") is None


def test_a_lone_flow_has_no_fairness_and_no_convergence() -> None:
    run = made({"cca": "cubic"})
    assert value(run, "cubic-1", "jain") is None
    assert value(run, "cubic-1", "convergence") is None


def functions() -> list[str]:
    return [name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))]


ARRANGE = [
    "arrivals",
    "between",
    "bulk_flows",
    "busy_links",
    "connections",
    "datagrams",
    "flow_groups",
    "jain_of",
    "measured",
    "measured_transfers",
    "numbers",
    "spacing_s",
    "states",
    "summary",
]
"""What is no metric but looks up or arranges."""


@pytest.mark.parametrize("name", sorted(set(functions()) - set(ARRANGE)))
def test_every_metric_has_its_formula_and_its_source(name: str) -> None:
    text = inspect.getdoc(getattr(metrics, name)) or ""
    assert "\nFormula: " in text
    assert "\nSource: " in text


MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (metrics, statistics)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_datagrams_have_delays_and_no_part_in_fairness() -> None:
    run = made(
        {"cca": "cubic", "count": 2}, {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}}
    )
    (probe,) = [name for name in metrics.flow_groups(run) if name != "cubic"]
    assert value(run, probe, "owd_mean") is not None
    assert value(run, probe, "jain") is None
    assert value(run, probe, "starved") is None
    assert value(run, ALL, "jain") == pytest.approx(value(run, "cubic", "jain"))


def test_only_a_group_with_calls_has_a_call_score() -> None:
    run = made({"cca": "cubic"}, {"workload": {"kind": "voip"}, "count": 2})
    assert value(run, "cubic-1", "call_score") is None
    assert 1 < (value(run, "voip", "call_score") or 0) < 4.5
    assert value(run, "cubic-1", "call_score_wideband") is None
    wideband = metrics.call_scores(run, wideband=True).values()
    assert value(run, "voip", "call_score_wideband") == pytest.approx(sum(map(float, wideband)) / 2)


def test_responsiveness_is_of_probes_under_load() -> None:
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}}
    run = made({"cca": "cubic", "start": "1 s", "stop": "2 s"}, ping)
    rows = run.probes.drop_nulls("rtt_s")
    start_s, end_s = run.flows.filter(cca="cubic").select("start_s", "end_s").row(0)
    loaded = rows.filter((pl.col("time_s") >= start_s) & (pl.col("time_s") < end_s))["rtt_s"].sort()
    assert 10 < len(loaded) < len(rows)
    kept = loaded.head(int(0.95 * len(loaded)))
    assert value(run, "ping", "responsiveness") == pytest.approx(60 / kept.mean())
    assert value(run, ALL, "responsiveness") == pytest.approx(60 / kept.mean())
    assert value(run, "cubic-1", "responsiveness") is None
    assert value(made(ping), "ping", "responsiveness") is None
    assert value(run, "ping", "latency_increase") == pytest.approx(loaded.mean() - rows["rtt_s"].min())
    assert value(run, "cubic-1", "latency_increase") is None
    assert value(made(ping), "ping", "latency_increase") is None


def test_videos_have_stalls_and_a_rate() -> None:
    video = {"name": "film", "cca": "cubic", "workload": {"kind": "video", "bitrates": ["8 Mbit/s"]}}
    run = made(video, {"name": "other", "cca": "cubic"})
    (row,) = run.videos.to_dicts()
    assert value(run, "film", "video_rate") == row["bitrate_bps"]
    assert value(run, "film", "stalls") == row["stalls"]
    total_s = row["stalled_s"] + row["played_s"]
    assert value(run, "film", "stall_ratio") == (row["stalled_s"] / total_s if total_s else None)
    assert value(run, "other", "stalls") is None


def test_downloads_and_uploads_are_measured_apart() -> None:
    run = made(
        {"name": "down", "cca": "cubic", "count": 2},
        {"name": "up", "cca": "cubic", "direction": "reverse"},
        {"name": "ping", "workload": "ping"},
    )
    mixed = [
        value(run, ALL, metric) for metric in ("goodput", "wire", "share", "jain", "power", "convergence")
    ]
    assert mixed == [None] * 6
    assert value(run, UPLOADS, "goodput") == value(run, "up", "goodput")
    assert value(run, DOWNLOADS, "jain") == value(run, "down", "jain")
    assert value(run, DOWNLOADS, "jain") == pytest.approx(metrics.jain_among(metrics.bulk_flows(run)[:2]))
    assert value(run, "up", "share") == 1.0
    assert (value(run, "down", "share") or 0) + (value(run, "ping", "share") or 0) == pytest.approx(1.0)
    assert value(run, ALL, "rtt_mean") is not None


def test_flows_of_one_direction_have_no_totals_of_directions() -> None:
    run = made({"cca": "cubic"}, {"cca": "reno"})
    assert {UPLOADS, DOWNLOADS}.isdisjoint(metrics.measured(run)["of"])


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("mos", '"call_score"'),
        ("MOS", '"call_score"'),
        ("fct", '"fct_p50" or "fct_p95"'),
        ("rtt", '"rtt_mean" or "rtt_p95"'),
        ("throughput", '"goodput"'),
        ("troughput", '"goodput"'),
        ("Jain's index", '"jain"'),
        ("queue delay", '"queueing_mean" or "sojourn_mean"'),
        ("goodputt", '"goodput"'),
    ],
)
def test_words_of_the_field_lead_to_the_metric(word: str, names: str) -> None:
    assert metric_suggestion(word) == f"; did you mean {names}?"


def test_synonyms_are_other_words_than_names() -> None:
    for measure in metrics.BY_NAME.values():
        assert not metrics.BY_NAME.keys() & {*measure.synonyms}
        assert [*measure.synonyms] == [word.lower().replace(" ", "_") for word in measure.synonyms]


def test_percentiles_from_histograms_name_their_resolution() -> None:
    """The simulator's histograms have steps of up to 1/64, so several seeds may give the same percentile."""
    run = fullpipe.run(Scenario.named("single-cubic").with_values({"duration": "4 s", "warmup": "1 s"}), 1)
    of_flow = run.flows.row(0, named=True)
    for metric, column in (("rtt_p95", "rtt_p95_s"), ("owd_p95", "owd_p95_s")):
        assert "95th percentile (within 0.8 %)" in metrics.BY_NAME[metric].meaning
        nanos = round(of_flow[column] * 1e9)
        step = 1 << max(nanos.bit_length() - 7, 0)
        assert nanos % step in {step // 2 - 1, step // 2}  # the middle of a bucket
