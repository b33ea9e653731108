"""`fullpipe import`: files of Flent's as runs."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import Run
from fullpipe.engines.flent import read_run
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.imported.measurement import save
from fullpipe.runs import TABLES, Store
from tests.flent import made

Cli = Callable[..., Any]
SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "flent" / "samples"


def read(tmp_path: Path, tree: made.Tree) -> Run:
    return read_run(made.write(tree, tmp_path / "a.flent.gz"))


def row(run: Run, flow: str) -> dict[str, Any]:
    return run.flows.row(by_predicate=pl.col("flow") == flow, named=True)


def test_a_stream_has_its_bytes_over_its_time(tmp_path: Path) -> None:
    found = row(read(tmp_path, made.upload()), "TCP upload")
    assert found["goodput_bps"] == pytest.approx(made.RATE_MBPS * 1e6, rel=1e-9)
    assert (found["cca"], found["protocol"], found["retransmitted_packets"]) == ("cubic", "tcp", 7)
    assert found["start_s"] == pytest.approx(5.0, abs=0.001)
    assert found["rtt_p50_s"] == pytest.approx(made.LOADED_MS / 1e3)


def test_samples_on_the_grid_keep_every_bit(tmp_path: Path) -> None:
    tree = made.upload()
    series = read(tmp_path, tree).series.filter(pl.col("flow") == "TCP upload")
    delivered = sum(p["val"] * p["dur"] for p in tree["raw_values"]["TCP upload"] if "val" in p)
    assert series["goodput_bps"].sum() * made.STEP_S == pytest.approx(delivered * 1e6, rel=1e-9)
    assert series["cwnd_bytes"].drop_nulls().unique().to_list() == [50 * made.MSS]
    assert series["time_s"].diff().drop_nulls().to_list() == pytest.approx([made.STEP_S] * 349)


def test_pings_are_probes_sent_before_their_replies_and_numbers_left_out_are_lost(tmp_path: Path) -> None:
    tree = made.upload()
    tree["raw_values"]["Ping (ms) ICMP"] = made.pings(lost=(100, 101))
    run = read(tmp_path, tree)
    probes = run.probes
    assert probes["time_s"].to_list() == pytest.approx([n * made.STEP_S for n in range(350)], abs=1e-6)
    assert probes["rtt_s"].null_count() == 2
    assert probes["rtt_s"][100] is None
    found = row(run, "Ping ICMP")
    assert (found["lost_packets"], found["sent_packets"], found["protocol"]) == (2, 350, "icmp")


def test_a_packet_that_the_file_calls_lost_is_one(tmp_path: Path) -> None:
    tree = made.upload()
    sent = [{"t": made.T0 + n, "val": 10.0, "owd_up": 4.0, "seq": n} for n in range(9)]
    tree["raw_values"]["Ping (ms) UDP EF"] = [*sent, {"t": made.T0 + 9, "seq": 9, "lost": True}]
    tree["results"]["Ping (ms) UDP EF"] = [None] * 350
    run = read(tmp_path, tree)
    probes = run.probes.filter(pl.col("flow") == "Ping UDP EF")
    assert probes["rtt_s"].to_list() == [*[0.01] * 9, None]
    assert probes["owd_s"].to_list() == [*[0.004] * 9, None]
    assert run.scenario.flows[-1].dscp == 46


def netperf(version: int, *samples: tuple[float, float]) -> made.Tree:
    """Samples of netperf's UDP_RR: their duration in s, and transactions per second, since version 4 ms."""
    tree, time_s = made.upload(), 0.0
    points = []
    for lasts_s, value in samples:
        time_s += lasts_s
        points.append({"t": made.T0 + time_s, "dur": lasts_s, "val": value})
    tree["raw_values"]["Ping (ms) UDP BE1"] = points
    tree["version"] = version
    return tree


@pytest.mark.parametrize(("version", "usual", "stalled"), [(3, 50.0, 0.07), (4, 20.0, 14_286.0)])
def test_a_test_that_stalls_after_a_loss_has_no_rtt_of_that_time(
    tmp_path: Path, version: int, usual: float, stalled: float
) -> None:
    run = read(tmp_path, netperf(version, *[(0.2, usual)] * 50, (15.0, stalled)))
    assert run.probes.filter(flow="Ping UDP BE1")["rtt_s"].to_list() == pytest.approx([0.02] * 50)
    assert row(run, "Ping UDP BE1")["rtt_p99_s"] == pytest.approx(0.02)


def test_an_rtt_that_grows_lasts_as_long_as_its_samples(tmp_path: Path) -> None:
    samples = [(0.2, 50.0), (0.5, 2.0), (1.2, 1 / 1.2), (2.5, 0.4)]
    run = read(tmp_path, netperf(3, *samples))
    rtts_s = run.probes.filter(flow="Ping UDP BE1")["rtt_s"].to_list()
    assert rtts_s == pytest.approx([0.02, 0.5, 1.2, 2.5])


def test_a_sample_without_a_transaction_has_no_rtt(tmp_path: Path) -> None:
    run = read(tmp_path, netperf(3, (0.2, 50.0), (0.2, 0.0), (0.2, 50.0)))
    assert run.probes.filter(flow="Ping UDP BE1")["rtt_s"].to_list() == pytest.approx([0.02, 0.02])


def hosts(tmp_path: Path, tree: made.Tree) -> dict[str, str]:
    return {one.name: one.host for one in read_test(made.write(tree, tmp_path / "a.flent.gz")).series}


def test_the_host_of_a_series_is_that_of_its_name_else_of_its_command(tmp_path: Path) -> None:
    tree = made.upload()
    meta = tree["metadata"]["SERIES_META"]
    meta["TCP upload"]["COMMAND"] = "netperf -H control.example -t TCP_STREAM -l 60 -- -H 192.0.2.7 -k A,B"
    assert hosts(tmp_path, tree) == {"TCP upload": "192.0.2.7", "Ping (ms) ICMP": "192.0.2.1"}
    for table in (tree["raw_values"], tree["results"], meta):
        table["TCP upload BE1 host-a"] = table.pop("TCP upload")
        table["Ping (ms) ICMP1 host-ab"] = table.pop("Ping (ms) ICMP")
    tree["metadata"]["HOSTS"] = ["host-a", "host-ab"]
    assert hosts(tmp_path, tree) == {"TCP upload BE1 host-a": "host-a", "Ping (ms) ICMP1 host-ab": "host-ab"}


def test_the_only_server_of_a_test_is_that_of_every_series(tmp_path: Path) -> None:
    tree = made.upload()
    for one in tree["metadata"]["SERIES_META"].values():
        del one["COMMAND"]
    assert set(hosts(tmp_path, tree).values()) == {"192.0.2.1"}


def test_the_scenario_has_flows_and_host_and_no_path(tmp_path: Path) -> None:
    scenario = read(tmp_path, made.upload()).scenario
    upload, ping = scenario.flows
    assert (scenario.name, scenario.duration_s, scenario.warmup_s) == ("tcp_1up", 70, 5)
    assert upload.cca is not None
    assert ping.workload is not None
    assert (upload.cca.kind, upload.is_upload, upload.start_s, upload.stop_s) == ("cubic", True, 5, 65)
    assert (ping.workload.kind, ping.is_upload) == ("ping", True)
    assert scenario.hosts is not None
    assert scenario.hosts[0].nic is not None
    assert scenario.hosts[0].nic.queue is not None
    assert scenario.hosts[0].nic.queue.kind == "fq"


def test_what_was_not_measured_is_null_and_said(tmp_path: Path) -> None:
    run = read(tmp_path, made.upload())
    assert set(run.tables) == set(TABLES)
    assert {"links", "packets", "flows.wire_bps", "series.in_flight_bytes"} <= set(run.meta.not_measured)
    assert run.flows["wire_bps"].null_count() == run.flows.height
    assert run.summary()["totals"]["dropped_packets"] is None


def test_the_file_is_told_in_the_record(tmp_path: Path) -> None:
    meta = read(tmp_path, made.upload()).meta
    assert meta.host["name"] == "bench"
    assert meta.host["system"] == "Linux 6.8.0"
    assert meta.host["qdisc"] == "fq"
    assert meta.versions == {"flent": "2.3.0"}
    assert meta.engine.name == "flent"


def test_bbr_of_a_socket_is_in_the_variables(tmp_path: Path) -> None:
    tree = made.upload("bbr", KERNEL_RELEASE="6.13.7+v3+9021")
    for point in tree["raw_values"]["TCP upload"]:
        if "tcp_cwnd" in point:
            point |= {"tcp_bbr_bw": 11.584, "tcp_bbr_mrtt": 20.0, "tcp_bbr_pacing_gain": 1.25}
    run = read(tmp_path, tree)
    values = {name: of["value"][0] for (name,), of in run.variables.group_by("name")}
    assert values == pytest.approx({"bw": 1000.0, "min_rtt": 0.02, "pacing_gain": 1.25})
    assert row(run, "TCP upload")["cca"] == "bbr3"


def test_statistics_of_tc_are_a_link(tmp_path: Path) -> None:
    tree = made.upload()
    tree["raw_values"]["qdisc_stats_eth0"] = [
        {
            "t": made.T0 + n / 5,
            "dropped": 1.0 if n == 50 else 0.0,
            "backlog_bytes": 10.0 * n,
            "backlog_pkts": n,
            "sent_pkts": 3 * n,
            "sent_bytes": 300 * n,
        }
        for n in range(350)
    ]
    run = read(tmp_path, tree)
    assert run.links["dropped_packets"].sum() == 1
    assert run.links_summary.row(0, named=True)["backlog_max_packets"] == 349
    assert run.links_summary.row(0, named=True)["forwarded_packets"] == 3 * (349 - 25)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_formats_have_other_units_and_places(tmp_path: Path, version: int) -> None:
    tree = made.upload()
    udp = [{"t": made.T0 + n, "dur": 0.2, "val": 50.0} for n in range(1, 60)]
    tree["raw_values"]["Ping (ms) UDP BE"] = udp
    tree["version"] = version
    if version == 1:
        del tree["version"]
        raw = tree.pop("raw_values")
        for name, points in raw.items():
            tree["metadata"]["SERIES_META"].setdefault(name, {})["RAW_VALUES"] = points
    run = read(tmp_path, tree)
    probes = run.probes.filter(pl.col("flow") == "Ping UDP BE")
    assert probes["rtt_s"].to_list() == pytest.approx([0.02] * 59)  # 50 transactions in a second
    assert row(run, "TCP upload")["goodput_bps"] == pytest.approx(made.RATE_MBPS * 1e6)


def test_without_raw_values_the_grid_stands_in_their_place(tmp_path: Path) -> None:
    tree = made.upload()
    del tree["version"], tree["raw_values"]
    tree["metadata"]["SERIES_META"] = {}
    run = read(tmp_path, tree)
    assert row(run, "TCP upload")["goodput_bps"] == pytest.approx(made.RATE_MBPS * 1e6)
    assert any("no raw values" in line for line in run.meta.remarks)


def test_repetitions_of_a_test_are_seeds_and_a_file_counts_once(fullpipe: Cli) -> None:
    for n in (1, 2):
        made.write(made.upload(TIME=f"2023-11-14T22:1{n}:00.000000Z"), f"{n}.flent.gz")
    assert fullpipe("import", "2.flent.gz", "1.flent.gz").exit_code == 0
    done = fullpipe("import", "1.flent.gz", "2.flent.gz", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["file"], one["seed"]) for one in told] == [("1.flent.gz", 1), ("2.flent.gz", 2)]
    assert len(list(Path("runs").glob("*/flent-*"))) == 2


def test_every_command_takes_what_was_imported(fullpipe: Cli) -> None:
    for n, (algorithm, rate) in enumerate([("cubic", 9.0), ("cubic", 9.1), ("reno", 8.0), ("reno", 8.2)]):
        tree = made.upload(algorithm)
        del tree["metadata"]["SERIES_META"]["TCP upload"]["BYTES_RECVD"]
        tree["raw_values"]["TCP upload"] = made.stream(rate)
        made.write(tree, f"{n}.flent.gz")
    assert fullpipe("import", *(f"{n}.flent.gz" for n in range(4)), "--out", "lab").exit_code == 0
    run = next(Path("lab").glob("*/flent-1"))
    assert "TCP upload" in fullpipe("metrics", run).stdout
    shown = fullpipe("show", run).stdout
    assert "# qdisc: fq" in shown
    assert 'kind = "fq"' in shown
    assert json.loads(fullpipe("show", run, "--json").stdout)["host"]["name"] == "bench"
    for command in (
        ("plot", run, "--out", "figures"),
        ("plot", "lab", "--kind", "box", "--metric", "goodput", "--out", "figures"),
        ("report", "lab", "-o", "report.html"),
        ("export", run, "-o", "run.qlog"),
        ("runs", "lab"),
    ):
        assert fullpipe(*command).exit_code == 0, command
    tested = fullpipe("test", "lab", "--metric", "goodput", "--factor", "cca", "--of", "TCP upload", "--json")
    assert tested.exit_code == 0, tested.output
    (compared,) = json.loads(tested.stdout)["rows"]
    assert compared["levels"] == ["cubic", "reno"]
    assert compared["means"] == pytest.approx([9.05e6, 8.1e6])


def test_a_report_says_the_import_that_reads_the_files_again(fullpipe: Cli) -> None:
    made.write(made.upload("bbr"), "a.flent.gz")
    made.write(made.upload(), "of mine.flent.gz")
    assert fullpipe("import", "a.flent.gz", "--cca", "bbr=bbr3", "--out", "lab").exit_code == 0
    assert fullpipe("import", "of mine.flent.gz", "--out", "lab").exit_code == 0
    assert fullpipe("report", "lab", "-o", "report.md").exit_code == 0
    page = Path("report.md").read_text()
    assert "--engine flent" not in page
    assert "Save the scenario" not in page
    lines = dict.fromkeys(line for line in page.splitlines() if line.startswith("fullpipe import"))
    commands = [shlex.split(line)[1:] for line in lines]
    assert "Base RTT" not in page  # nothing is known of the path of what was measured
    assert commands == [
        ["import", "a.flent.gz", "--cca", "bbr=bbr3", "--out", "lab"],
        ["import", "of mine.flent.gz", "--out", "lab"],
    ]
    for command in commands:
        assert fullpipe(*command).exit_code == 0
    assert len(list(Path("lab").glob("*/flent-*"))) == 2


def test_the_import_in_a_report_has_names_with_spaces_and_any_length(fullpipe: Cli) -> None:
    made.write(made.upload("bbr"), "a.flent.gz")
    names = ["TCP upload=bbr3", *(f"another name {number}=cubic" for number in range(9))]
    given = [word for name in names for word in ("--cca", name)]
    assert fullpipe("import", "a.flent.gz", *given, "--out", "lab").exit_code == 0
    assert command_of(fullpipe) == ["import", "a.flent.gz", *given, "--out", "lab"]


@pytest.mark.parametrize(
    ("host", "command"),
    [
        (
            {"names": "bbr=bbr3 reno=cubic"},
            ["import", "a.flent.gz", "--cca", "bbr=bbr3", "--cca", "reno=cubic", "--out", "lab"],
        ),
        ({"names": "bbr=bbr3 re ... =cubic"}, []),
        ({"names": "[" * 200_000 + " ... "}, []),
        ({"file": "a ... flent.gz"}, []),
    ],
)
def test_the_import_of_earlier_versions_is_told_if_whole(
    fullpipe: Cli, host: dict[str, str], command: list[str]
) -> None:
    made.write(made.upload("bbr"), "a.flent.gz")
    read = read_run(Path("a.flent.gz"))
    save(
        Run(read.meta.model_copy(update={"host": {**read.meta.host, **host}}), read.tables),
        Store(Path("lab")),
    )
    assert command_of(fullpipe) == command


def command_of(fullpipe: Cli) -> list[str]:
    """The words of the only `fullpipe import` of a report on the store `lab`; empty without one."""
    assert fullpipe("report", "lab", "-o", "report.md").exit_code == 0
    lines = Path("report.md").read_text().splitlines()
    found = dict.fromkeys(line for line in lines if line.startswith("fullpipe import"))
    return shlex.split("\n".join(found))[1:]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no measurements of others beside this folder")
def test_measured_files_import(fullpipe: Cli) -> None:
    files = sorted(SAMPLES.glob("*.flent.gz"))
    done = fullpipe("import", *files, "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.exit_code, len(told), len(files)) == (0, 15, 15)
    for one in told:
        run = Run.load(one["folder"])
        assert run.flows["goodput_bps"].sum() > 0
        assert not run.probes.is_empty()
    remarks = {one["file"]: " ".join(one["remarks"]) for one in told}
    assert all("ran as Reno" in text for name, text in remarks.items() if "DCTCP" in name)
    split = "splits these connections into two"
    assert all(split in text for name, text in remarks.items() if "rrul" in name)
    assert not any(split in text for name, text in remarks.items() if "tcp_1up" in name)
