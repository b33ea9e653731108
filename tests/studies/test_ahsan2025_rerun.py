"""The experiments of ahsan2025 run again: paths, what is measured of a run, and what is printed as claims."""

from __future__ import annotations

import polars as pl
import pytest

import fullpipe
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve
from fullpipe.studies.ahsan2025 import printed, rerun, rerun_measures
from fullpipe.studies.ahsan2025.rerun_measures import DIRECT, ENDED, SERVERS_ALIKE
from fullpipe.studies.experiments import Experiment, Measurements
from fullpipe.sweeps import Job

PACKAGE = "fullpipe.studies.ahsan2025"


def experiment(name: str, **where: str) -> Experiment:
    """The first of a name that has all of these conditions."""
    for one, _ in rerun.plan(quick=True):
        if one.name == name and all(value in one.variants[key] for key, value in where.items()):
            return one
    raise AssertionError(name)


def scenario_at(name: str, algorithm: str = "vegas", **where: str) -> Scenario:
    """A short one of an experiment."""
    jobs = experiment(name, **where).jobs({"one": algorithm}, [1])
    (found,) = (job.scenario for job in jobs if where.items() <= dict(job.point).items())
    return found


def test_means_and_variances_of_all_tables_are_claims() -> None:
    claims = [claim for claim in rerun.claims(PACKAGE) if claim.id.startswith("Again, Table")]
    counted = [claim for claim in claims if not claim.uncounted]
    assert len(counted) == 6 * 9 * 2
    assert len(claims) - len(counted) == 2 * 2 * 2
    table = printed.results().tables[0]
    (found,) = (claim for claim in claims if claim.id == "Again, Table 2: BBR-n+, average")
    assert found.entries == (table.first_entry + 4 + 2,)
    assert found.between is not None
    assert float(table.groups["BBR-n+"]["average"]) in found.between


def test_exchanged_rows_have_the_other_ones_numbers() -> None:
    claims = {claim.id: claim for claim in rerun.claims(PACKAGE)}
    for table in rerun.SWAPPED:
        own = claims[f"Again, {table}: BBRv3, average"]
        other = claims[f"Again, {table}: BBR-n+, average, rows exchanged"]
        assert (own.says, own.between, own.entries) == (other.says, other.between, other.entries)
        assert other.where == {"algorithm": "BBR-n+"}


def test_a_printed_number_stands_for_what_rounds_to_it() -> None:
    found = rerun.rounding("97.00")
    assert (found.low, found.high) == (96.995, 97.005)


def test_of_tables_only_what_ended_connections_turn_has_a_cause() -> None:
    """No other difference was turned by an experiment that changed nothing else."""
    named = [claim for claim in rerun.claims(PACKAGE) if claim.id.startswith("Again,") and claim.why]
    assert {claim.id.partition(":")[0] for claim in named} == {"Again, Table 2"}
    assert len(named) == 9
    assert all(claim.setting and claim.setting.reading in rerun.READINGS for claim in named)


def test_servers_are_as_far_as_the_pings_of_the_published_files() -> None:
    network = resolve(rerun_measures.scenario("rtt_fair", length_s=1.0))
    pings = [routed for routed in network.flows if routed.name.startswith("Ping")]
    rtts = [network.base_rtt_s(routed) * 1e3 for routed in pings]
    assert rtts == pytest.approx([1.5, 1.5, 161.5, 261.5])


def test_only_uploads_take_the_algorithm_unless_servers_are_alike() -> None:
    def ccas(path: str) -> dict[str, set[str]]:
        flows = scenario_at(rerun.BEST_EFFORT, path=path).flows
        named = [(str(flow.name), flow.cca.kind) for flow in flows if flow.cca]
        return {way: {cca for name, cca in named if way in name} for way in ("upload", "download")}

    assert ccas(DIRECT) == {"upload": {"vegas"}, "download": {"cubic"}}
    assert ccas(DIRECT + SERVERS_ALIKE) == {"upload": {"vegas"}, "download": {"vegas"}}


def test_where_the_host_ends_tcp_every_stream_is_two_connections() -> None:
    network = resolve(scenario_at(rerun.BEST_EFFORT, path=ENDED))
    relayed = [routed for routed in network.flows if routed.relayed]
    assert len(relayed) == 8
    assert {routed.flow.cca.kind for routed in relayed if routed.flow.cca} == {"cubic"}
    assert all(routed.tcp.mss_bytes == 1460 and not routed.tcp.timestamps for routed in relayed)


@pytest.fixture(scope="module")
def ended() -> Run:
    """A run with connections that the host ends."""
    return fullpipe.run(scenario_at(rerun.BEST_EFFORT, path=ENDED), seed=1)


def test_uploads_count_where_they_leave_and_downloads_where_they_come(ended: Run) -> None:
    found = rerun_measures.of_test(ended)
    series = ended.series.filter(
        (pl.col("time_s") > 5.1) & (pl.col("time_s") < 5.1 + rerun_measures.QUICK_LENGTH_S)
    )

    def mbps(*names: str) -> float:
        chosen = series.filter(pl.col("flow").is_in(names))
        return (
            float(chosen.group_by("time_s").agg(pl.col("goodput_bps").sum())["goodput_bps"].to_numpy().mean())
            / 1e6
        )

    words = ("BE", "BE2", "BE3", "BE4")
    assert found["download"] == pytest.approx(mbps(*(f"TCP download {word}-nat" for word in words)))
    series = series.filter(pl.col("time_s") > 5.3)  # the host is full after 4 MiB at 900 Mbit/s, a sample
    assert found["upload"] == pytest.approx(mbps(*(f"TCP upload {word}" for word in words)))
    assert 80 < found["upload"] < 100


def test_a_short_run_leaves_out_what_fills_the_host_that_ends_connections() -> None:
    """Four buffers of 16 MiB at 900 Mbit/s: 0.597 s, three samples; the rest is what 100 Mbit/s carry."""
    scenario = scenario_at(rerun.FAIR, path="ended, 16 MiB")
    assert rerun_measures.filling_s(scenario, 4) == pytest.approx(0.6)
    assert rerun_measures.filling_s(scenario_at(rerun.FAIR, path=DIRECT), 4) == 0
    full = scenario.with_values({"duration": f"{2 * 5 + rerun_measures.LENGTH_S:g} s"})
    assert rerun_measures.filling_s(full, 4) == 0
    assert 80 < rerun_measures.of_test(fullpipe.run(scenario, seed=1))["upload"] < 100


def test_ended_connections_hide_the_algorithm() -> None:
    """Vegas gets little beside downloads whose queue delays its ACKs; behind a host it never sees them."""
    direct = rerun_measures.of_test(fullpipe.run(scenario_at(rerun.BEST_EFFORT, path=DIRECT), seed=1))
    behind = rerun_measures.of_test(fullpipe.run(scenario_at(rerun.BEST_EFFORT, path=ENDED), seed=1))
    assert behind["upload"] > 2 * direct["upload"]


def test_pings_are_averaged_over_hosts_and_told_by_host() -> None:
    run = fullpipe.run(scenario_at(rerun.FAIR, path="direct, fq_codel"), seed=1)
    found = rerun_measures.of_test(run)
    hosts = [found[f"host {n}"] for n in range(1, 5)]
    assert hosts[2] == pytest.approx(hosts[0] + 160, abs=10)
    assert found["ping"] == pytest.approx(sum(hosts) / 4, rel=0.1)


def test_a_pair_has_shares_and_classes_have_rates() -> None:
    pair = experiment(rerun.PAIRS)
    job: Job = pair.jobs({"both": None}, [1])[0]
    run = fullpipe.run(job.scenario, seed=1)
    sent = run.series.filter(
        (pl.col("time_s") > 5.1) & (pl.col("time_s") < 5.1 + rerun_measures.QUICK_LENGTH_S)
    )
    bytes_of = dict(sent.group_by("flow").agg(pl.col("goodput_bps").sum()).iter_rows())
    first, second = (bytes_of[name] for name in dict.fromkeys(run.flows["flow"]) if name.startswith("TCP"))
    assert pair.measure(run)["share"] == pytest.approx(first / (first + second))
    found = rerun_measures.of_classes(fullpipe.run(scenario_at(rerun.CLASSES, bottleneck="FIFO"), seed=1))
    rates = [found[f"upload_{name}"] for name in ("BE", "BK", "CS5", "EF")]
    assert sum(rates) == pytest.approx(found["upload"])


def test_marks_are_counted_where_they_are_made() -> None:
    def share(feedback: str) -> float:
        scenario = scenario_at(rerun.MARKS, "prague", feedback=feedback)
        return rerun_measures.of_marks(fullpipe.run(scenario, seed=1))["marked"]

    assert share("FIFO") == share("DualPI2") == 0
    assert share("DualPI2 and AccECN") > 0


def test_runs_are_the_replicates_of_the_tests() -> None:
    found = Measurements()
    for n, name in enumerate(rerun.ALGORITHMS):
        for seed in range(3):
            point = {"experiment": rerun.FAIR, "algorithm": name, rerun.KEY: DIRECT}
            values = {"upload": 90.0 + n + 0.1 * seed}
            found.add(Job(rerun_measures.scenario("tcp_1up", length_s=1.0), seed, point=point), values)
    (_, table, *_) = rerun.sections(found)
    row = next(line for line in str(table).splitlines() if line.startswith("Table 2"))
    assert " 36 " in row, "means 1 apart with a deviation of 0.1 differ all"


def test_a_quick_form_is_shorter_and_has_the_same_conditions() -> None:
    def points(*, quick: bool) -> list[dict[str, object]]:
        plan = rerun.plan(quick=quick)
        return [dict(job.point) for one, algorithms in plan for job in one.jobs(algorithms, [1])]

    assert points(quick=True) == points(quick=False)
