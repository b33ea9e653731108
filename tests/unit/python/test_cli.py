"""The command line: its contract with scripts, and its messages."""

import csv
import io
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
SLOW_DOWN = "topology.bottleneck.rate=1 Mbit/s"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "tcp.mss"],
        ["--set", "tcp.mss=1"],
        ["--set", "tcp.nothing=1"],
        ["--set", "flows.7.cca=cubic"],
        ["--set", "flows.0.cca=cubik"],
        ["--set", "flows.0.cca.hystart=sometimes"],
        ["--interval", "fast"],
        ["--engine", "nativ"],
        ["--seed", "1", "--seeds", "2"],
        ["--seed", "-1"],
        ["--seeds", "0"],
        ["--jobs", "0"],
        ["--nonsense"],
    ],
)
def test_wrong_arguments_are_refused_with_a_message(fullpipe: Cli, arguments: list[str]) -> None:
    result = fullpipe("run", "single-cubic", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


def test_json_is_one_object_per_run_and_line(fullpipe: Cli, small_file: Path) -> None:
    result = fullpipe("run", small_file, "--seeds", 3, "--json")
    assert [json.loads(line)["seed"] for line in result.stdout.splitlines()] == [1, 2, 3]


def test_json_is_the_summary_of_the_run(fullpipe: Cli, small_file: Path) -> None:
    import fullpipe as library

    found = json.loads(fullpipe("run", small_file, "--json").stdout)
    run = library.load(Path("runs") / found["digest"] / "native-1")
    assert found == {**run.summary(), "folder": str(run.folder)}


def test_json_has_the_score_of_every_call_as_the_table_has(fullpipe: Cli, small_file: Path) -> None:
    call = '\n[[flows]]\nname = "call"\nworkload = { kind = "voip" }\n'
    small_file.write_text(small_file.read_text(encoding="utf-8") + call, encoding="utf-8")
    flows = json.loads(fullpipe("run", small_file, "--json").stdout)["flows"]
    assert flows[0]["call_score"] is None
    assert f"{flows[1]['call_score']:.1f}" in fullpipe("run", small_file).stdout


def test_json_has_the_completion_time_of_every_flow_with_a_size(fullpipe: Cli, small_file: Path) -> None:
    sized = '\n[[flows]]\nname = "sized"\ncca = "cubic"\nsize = "100 kB"\n'
    small_file.write_text(small_file.read_text(encoding="utf-8") + sized, encoding="utf-8")
    found = json.loads(fullpipe("run", small_file, "--set", "warmup=0 s", "--json").stdout)
    assert [flow["fct_s"] for flow in found["flows"]] == [None, found["transfers"]["mean_s"]]


def test_json_says_where_the_run_is_kept(fullpipe: Cli, small_file: Path, tmp_path: Path) -> None:
    found = json.loads(fullpipe("run", small_file, "--json").stdout)
    assert (tmp_path / found["folder"] / "meta.json").exists()


def test_a_change_after_the_end_is_noted(fullpipe: Cli, small_file: Path) -> None:
    late = '[{ at = "20 s", rate = "1 Mbit/s" }]'
    result = fullpipe("run", small_file, "--set", f"topology.bottleneck.changes={late}")
    note = "topology.bottleneck.changes[0].at: 20 s is not before the end"
    assert note in result.stderr


def test_json_has_no_colours_and_no_progress(fullpipe: Cli, small_file: Path) -> None:
    result = fullpipe("run", small_file, "--json")
    assert ("\x1b" in result.stdout, result.stderr) == (False, "")


def test_json_in_a_sweep_says_which_point_it_is(fullpipe: Cli) -> None:
    result = fullpipe("run", "kato2025", "--set", "duration=100 ms", "--set", "flows.0.count=1", "--json")
    points = [json.loads(line)["point"] for line in result.stdout.splitlines()]
    assert points == [
        {"topology.bottleneck.queue.packets": packets} for packets in (100, 500, 1000, 2000, 5000)
    ]


def test_set_pins_what_is_swept(fullpipe: Cli) -> None:
    pinned = (
        "--set",
        "topology.bottleneck.queue.packets=7",
        "--set",
        "duration=100 ms",
        "--set",
        "flows.0.count=1",
    )
    result = fullpipe("run", "kato2025", *pinned, "--json")
    assert len(result.stdout.splitlines()) == 1


def test_set_needs_no_quotes_around_text(fullpipe: Cli, small_file: Path) -> None:
    plain, quoted = (
        fullpipe("run", small_file, "--set", f"topology.bottleneck.rate={rate}", "--json").stdout
        for rate in ("1 Mbit/s", '"1 Mbit/s"')
    )
    assert json.loads(plain)["digest"] == json.loads(quoted)["digest"]


def test_set_changes_what_is_run(fullpipe: Cli, small_file: Path) -> None:
    fast, slow = (
        json.loads(fullpipe("run", small_file, *arguments, "--json").stdout)
        for arguments in ([], ["--set", SLOW_DOWN])
    )
    assert slow["digest"] != fast["digest"]


def test_interval_off_keeps_summaries_only(fullpipe: Cli, small_file: Path) -> None:
    import fullpipe as library

    found = json.loads(fullpipe("run", small_file, "--interval", "off", "--json").stdout)
    assert library.load(Path("runs") / found["digest"] / "native-1").series.is_empty()


def test_out_is_where_runs_are_kept(fullpipe: Cli, small_file: Path) -> None:
    fullpipe("run", small_file, "--out", "elsewhere")
    assert len(list(Path("elsewhere").glob("*/native-1/meta.json"))) == 1


def test_no_store_keeps_nothing(fullpipe: Cli, small_file: Path) -> None:
    assert fullpipe("run", small_file, "--no-store", "--json").exit_code == 0
    assert not Path("runs").exists()


def test_jobs_change_nothing(fullpipe: Cli, small_file: Path) -> None:
    for jobs in (1, 2):
        fullpipe("run", small_file, "--seeds", 4, "--jobs", jobs, "--out", f"runs-{jobs}")
    tables = [
        {path.relative_to(root): path.read_bytes() for path in Path(root).rglob("tables.arrow")}
        for root in ("runs-1", "runs-2")
    ]
    assert len(tables[0]) == 4
    assert tables[0] == tables[1]


def test_a_table_for_people_names_flows_links_and_the_folder(fullpipe: Cli, small_file: Path) -> None:
    result = fullpipe("run", small_file)
    assert result.exit_code == 0
    assert all(text in result.stdout for text in ("cubic-1", "bottleneck", "total", "stored in runs/"))


def test_a_sweep_is_shown_with_a_row_per_point(fullpipe: Cli) -> None:
    result = fullpipe("run", "kato2025", "--set", "duration=100 ms", "--set", "flows.0.count=1")
    table = result.stdout.partition("\n\n")[2].splitlines()
    shown = [line.split()[0] for line in table if "bbr1-1" in line]
    assert shown[:5] == ["100", "500", "1000", "2000", "5000"]


def test_a_metric_of_a_table_may_say_of_what_it_is(fullpipe: Cli) -> None:
    words = (
        "run",
        "cubic-vs-bbr1",
        "--set",
        "duration=4 s",
        "--set",
        "warmup=1 s",
        "--seeds",
        2,
        "--no-store",
    )
    made = fullpipe(*words, "--metric", "rtt_mean of bbr1-1", "--metric", "goodput", "--format", "csv")
    rows = {row["of"]: row for row in csv.DictReader(io.StringIO(made.stdout))}
    assert [name for name, row in rows.items() if row["rtt_mean_mean"]] == ["bbr1-1"]
    assert all(row["goodput_mean"] for row in rows.values())
    wrong = fullpipe(*words, "--metric", "rtt_mean of fridge")
    assert wrong.exit_code == 2
    assert 'unknown group of flows or link "fridge"' in wrong.stderr


SHARES = ("run", "cubic-vs-bbr1", "--set", "duration=12 s", "--seeds", 3, "--metric", "share")


def test_what_is_the_same_at_every_point_is_said_once(fullpipe: Cli) -> None:
    words = ("--set", "duration=10 s", "--set", "warmup=6 s", "--seeds", 2)
    shown = fullpipe("run", "rrul", *words).stdout
    lines = shown.splitlines()
    assert not [line for line in lines if re.match(r"fq_codel +call +0\.0", line)]
    (same,) = [line for line in lines if line.startswith("the same at every point, as shown: ")]
    assert "goodput of call 0.07 Mbit/s" in same
    assert any("jain is over 4 bulk flows" in line for line in lines)
    every = fullpipe("run", "rrul", *words, "--metric", "goodput", "--all").stdout
    assert [line for line in every.splitlines() if line.startswith("fq_codel") and " call " in line]


def test_bbr_without_a_version_is_noted(fullpipe: Cli) -> None:
    for words in (("run", "--set"), ("compare", "--seeds", "2", "--over")):
        option = (*words[1:], f"flows.0.cca={'cubic,' * (words[0] == 'compare')}bbr")
        told = fullpipe(
            words[0], "single-cubic", "--set", "duration=2 s", "--set", "warmup=1 s", *option
        ).stderr
        assert "note: flows.0.cca: bbr is BBRv1" in told
    assert "BBRv1" not in fullpipe("run", "single-cubic", "--set", "flows.0.cca=bbr1").stderr


def test_a_range_of_seeds_is_a_second_set(fullpipe: Cli) -> None:
    """A range runs exactly its seeds, and a report repeats them by one command."""
    short = ("--set", "duration=2 s", "--set", "warmup=500 ms")
    assert fullpipe("run", "cubic-vs-bbr1", *short, "--seeds", "6-8").exit_code == 0
    assert {path.name for path in Path("runs").glob("*/native-*")} == {"native-6", "native-7", "native-8"}
    over = ("--over", "flows.0.cca=cubic,reno", "--seeds", "11-12", "--out", "over")
    fullpipe("compare", "cubic-vs-bbr1", *short, *over)
    assert {path.name for path in Path("over").glob("*/native-*")} == {"native-11", "native-12"}
    fullpipe("report", "runs", "-o", "page.md")
    assert "--seeds 6-8" in Path("page.md").read_text()


def test_a_sweep_over_two_paths_ends_with_the_command_of_its_pivoted_table(fullpipe: Cli) -> None:
    Path("two.toml").write_text(
        'name = "two"\nduration = "2 s"\nwarmup = "500 ms"\n[topology]\nkind = "dumbbell"\n'
        'bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { size = "1 bdp" } }\n'
        '[[flows]]\nname = "old"\ncca = "cubic"\n[[flows]]\nname = "new"\ncca = "cubic"\n'
        '[sweep]\n"flows.1.cca" = ["cubic", "reno"]\n"topology.bottleneck.rate" = ["5 Mbit/s", "8 Mbit/s"]\n'
    )
    shown = fullpipe("run", "two.toml", "--out", "two").stdout.splitlines()
    (command,) = (line for line in shown if line.startswith("fullpipe table"))
    assert command == "fullpipe table two --rows rate --columns cca --metric 'goodput of old'"
    pivoted = fullpipe(*shlex.split(command)[1:])
    assert pivoted.exit_code == 0
    assert "8 Mbit/s" in pivoted.stdout
    one = ("run", "two.toml", "--set", "flows.1.cca=reno", "--out", "two")
    assert "fullpipe table" not in fullpipe(*one).stdout


def test_the_command_of_a_pivoted_table_has_a_metric_with_values(fullpipe: Cli) -> None:
    Path("two.toml").write_text(
        'name = "two"\nduration = "8 s"\n[topology]\nkind = "dumbbell"\n'
        'bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { size = "1 bdp" } }\n'
        '[[flows]]\nname = "viewer"\ncca = "cubic"\nworkload = "video"\n'
        '[[flows]]\nname = "new"\ncca = "cubic"\n'
        '[sweep]\n"flows.1.cca" = ["cubic", "reno"]\n"topology.bottleneck.rate" = ["5 Mbit/s", "8 Mbit/s"]\n'
    )
    shown = fullpipe("run", "two.toml", "--out", "two").stdout.splitlines()
    (command,) = (line for line in shown if line.startswith("fullpipe table"))
    assert fullpipe(*shlex.split(command)[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--seed", "1-5", "expected a whole number"),
        ("--seeds", "0", "must be at least 1"),
        ("--seeds", "ten", 'expected a number of seeds or a range such as 6-10, got "ten"'),
        ("--seeds", "10-6", "the range 10-6 is empty; write 6-10"),
        ("--seeds", "1-100001", "must be at most 100,000 seeds"),
        ("--jobs", "x", "expected a whole number"),
    ],
)
def test_a_wrong_number_says_what_is_expected(fullpipe: Cli, option: str, value: str, told: str) -> None:
    wrong = fullpipe("run", "single-reno", option, value)
    assert (wrong.exit_code, f"invalid value for '{option}': {told}" in wrong.stderr) == (2, True)


@pytest.mark.parametrize("words", [("show", "kato2025"), ("list", "ccas"), ("--help",), ("run", "--help")])
def test_a_reader_that_leaves_ends_the_command_as_it_ends_others(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "fullpipe", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE


def test_runs_of_a_value_that_is_not_there_are_hinted_at(fullpipe: Cli) -> None:
    fullpipe("run", "cubic-vs-bbr1", "--set", "duration=2 s", "--set", "warmup=0 s", "--out", "kept")
    done = fullpipe("runs", "kept", "--where", "size=9 bdp")
    assert "0 runs" in done.stdout
    assert "size=9 bdp: no run has this value; " in done.stderr


def test_a_question_without_an_answer_says_so(fullpipe: Cli, small_file: Path) -> None:
    pytest.importorskip("duckdb")
    fullpipe("run", small_file, "--out", "kept")
    done = fullpipe("query", "select flow from flows where 1 = 0", "--out", "kept")
    assert (done.exit_code, "no row" in done.stderr) == (0, True)


def test_metrics_are_of_all_runs_of_a_store(fullpipe: Cli, small_file: Path) -> None:
    fullpipe("run", small_file, "--seeds", 2, "--out", "kept")
    lines = fullpipe("metrics", "--out", "kept", "--json").stdout.splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [1, 2]
    assert fullpipe("metrics", "kept", "--json").stdout.splitlines() == lines


def test_several_seeds_are_a_mean_with_an_interval(fullpipe: Cli) -> None:
    result = fullpipe(*SHARES, "--set", "topology.bottleneck.queue.size=1 bdp")
    assert re.search(r"cubic-1 +\d\d\.\d \[-?\d+\.\d, \d+\.\d\]", result.stdout)


def test_a_summary_as_csv_is_in_base_units(fullpipe: Cli) -> None:
    lines = fullpipe(*SHARES, "--format", "csv").stdout.splitlines()
    assert lines[0] == "topology.bottleneck.queue.size,of,share_n,share_mean,share_low,share_high"
    assert len(lines) == 1 + 5 * 3


def test_seeds_that_change_nothing_are_told(fullpipe: Cli) -> None:
    result = fullpipe("run", "single-cubic", "--set", "duration=1 s", "--seeds", 2)
    assert "all seeds gave the same run" in result.stderr


def test_an_unknown_metric_is_refused_before_anything_runs(fullpipe: Cli, small_file: Path) -> None:
    result = fullpipe("run", small_file, "--metric", "goodputt")
    assert (result.exit_code, "goodput" in result.stderr, Path("runs").exists()) == (2, True, False)


def test_help_teaches_with_examples(fullpipe: Cli) -> None:
    assert "fullpipe run single-bbr1" in fullpipe("--help").stdout


def test_a_run_says_what_a_shaper_leaves_of_its_link(fullpipe: Cli) -> None:
    shaped = ("--set", 'topology.bottleneck.queue={kind="cake", bandwidth_bps=2000000}')
    shown = fullpipe("run", "single-cubic", "--set", "duration=4 s", *shaped).stdout
    [line] = [line for line in shown.splitlines() if "its queue shapes to" in line]
    assert re.fullmatch(r"bottleneck: its queue shapes to 2.00 Mbit/s, utilisation \d\d.\d %", line)


def test_plot_writes_png_svg_and_csv(fullpipe: Cli, small_file: Path) -> None:
    fullpipe("run", small_file)
    result = fullpipe("plot", *Path("runs").glob("*/native-1"))
    assert result.exit_code == 0
    assert {path.suffix for path in Path("figures").iterdir()} == {".png", ".svg", ".csv", ".pdf"}


def test_plot_refuses_a_folder_that_is_no_run(fullpipe: Cli, tmp_path: Path) -> None:
    result = fullpipe("plot", tmp_path)
    assert result.exit_code == 2
    assert "no finished run" in result.stderr


def test_an_unknown_study_is_refused(fullpipe: Cli) -> None:
    assert fullpipe("paper", "kato2024").exit_code == 2


@pytest.mark.parametrize("command", [("run", "single-cubic", "--seeds", 3), ("paper", "kato2025", "--quick")])
def test_a_file_for_a_folder_is_refused_before_anything_runs(
    fullpipe: Cli, command: tuple[object, ...]
) -> None:
    Path("file").touch()
    result = fullpipe(*command, "--out", "file")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert result.stderr.startswith("fullpipe: file: cannot be written")


def test_a_metric_without_a_value_is_a_column_of_dashes(fullpipe: Cli, small_file: Path) -> None:
    """Jain's index takes two flows."""
    asked = ("--metric", "goodput", "--metric", "jain")
    result = fullpipe("run", small_file, "--seeds", 2, *asked, "--no-store")
    assert result.exit_code == 0, result.output
    assert "jain" in result.stdout
    assert "-" in result.stdout.splitlines()[-1].split()
    assert "note: no run has a value of jain (Jain's index of the goodputs" in result.stderr


def test_a_metric_without_a_value_says_nothing_of_seeds(fullpipe: Cli, small_file: Path) -> None:
    """Runs of these seeds differ, and have no value of the metric alike."""
    result = fullpipe("run", small_file, "--seeds", 2, "--metric", "jain", "--no-store")
    assert "cubic-1" in result.stdout or "cubic" in result.stdout
    assert "all seeds gave the same run" not in result.stderr


def test_equal_values_of_unlike_runs_are_no_equal_runs(fullpipe: Cli, small_file: Path) -> None:
    """No packet is marked in any run, and the runs differ."""
    result = fullpipe("run", small_file, "--seeds", 2, "--metric", "marking_rate", "--no-store")
    assert re.search(r"\s0\.00\b", result.stdout)
    assert "all seeds gave the same run" not in result.stderr


def test_the_version_is_shown(fullpipe: Cli) -> None:
    import fullpipe as library

    assert fullpipe("--version").stdout.startswith(f"fullpipe {library.__version__}")


def test_a_refused_parameter_is_named_by_its_place_in_the_file(fullpipe: Cli) -> None:
    values = ("--set", "flows.0.cca.hystart=sometimes", "--set", "flows.0.count=3")
    assert fullpipe("run", "single-cubic", *values).stderr.startswith("fullpipe: flows[0].cca.hystart: ")


def test_import_tc_prints_the_queue_of_a_scenario(fullpipe: Cli) -> None:
    done = fullpipe("import-tc", "tc qdisc add dev eth0 root codel limit 5")
    assert done.stdout == '[topology.bottleneck.queue]\nkind = "codel"\nlimit = 5\n'


def test_import_tc_refuses_an_unknown_option(fullpipe: Cli) -> None:
    done = fullpipe("import-tc", "tc qdisc add dev eth0 root codel limt 5")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == 'fullpipe: tc codel: unknown option "limt" of codel; did you mean "limit"?\n'


@pytest.mark.parametrize("limit", ["0 s", "10", "soon"])
def test_a_limit_that_is_none_is_refused(fullpipe: Cli, limit: str) -> None:
    done = fullpipe("run", "single-cubic", "--cca-timeout", limit)
    assert done.exit_code == 2
    assert "--cca-timeout" in done.stderr


@pytest.mark.parametrize("command", ["plot", "report", "metrics", "show"])
def test_a_name_too_long_for_a_file_is_one_line(fullpipe: Cli, command: str) -> None:
    found = fullpipe(command, "k" * 5_000)
    assert found.exit_code == 2
    assert found.stderr.endswith(": the name is too long for a file or folder\n")
    assert found.stderr.count("\n") == 1
