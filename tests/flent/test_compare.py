"""`fullpipe compare FOLDER`: what was measured beside what was simulated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flent import made

Cli = Callable[..., Any]


@pytest.fixture
def lab(fullpipe: Cli) -> Cli:
    """The command line in a folder with runs of a test, and the same as Flent would have measured them."""
    for seed in ("1", "2"):
        file = f"{seed}.flent.gz"
        arguments = ("--path", "dsl", "--seed", seed, "--length", "20 s", "--out", "lab", "-o", file)
        assert fullpipe("flent", "tcp_2up", *arguments).exit_code == 0
    assert fullpipe("import", "1.flent.gz", "2.flent.gz", "--out", "lab").exit_code == 0
    return fullpipe


def test_what_is_the_same_is_not_different(lab: Cli) -> None:
    done = lab("compare", "lab", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["reference"] == "flent"
    rows = {(row["of"], row["metric"]): row for row in found["rows"]}
    for of in ("TCP upload 1", "TCP upload 2"):
        values = rows[of, "goodput"]["values"]
        assert values["native"] == pytest.approx(values["flent"], rel=1e-3)
        # smoothed over steps that begin with the run on one side and with the first reply on the other
        assert rows[of, "srtt_mean"]["against_reference"]["native"]["verdict"] != "different"
    assert rows["Ping ICMP", "rtt_mean"]["against_reference"]["native"]["verdict"] != "different"


def test_it_is_shown_and_drawn(lab: Cli) -> None:
    done = lab("compare", "lab", "--reference", "native", "--plot", "figures")
    assert done.exit_code == 0, done.output
    assert "reference native" in done.stdout
    assert any(Path("figures").glob("*.png"))


def test_a_report_has_them_side_by_side(lab: Cli) -> None:
    assert lab("report", "lab", "-o", "lab.md").exit_code == 0
    page = Path("lab.md").read_text(encoding="utf-8")
    table = page.partition("Engines side by side")[2].partition("\n## ")[0]
    assert "| TCP upload 1 | goodput (Mbit/s) |" in table
    assert "equivalent" in table
    assert "no verdict" not in table


def test_a_single_run_of_a_side_decides_nothing(fullpipe: Cli) -> None:
    arguments = ("--path", "dsl", "--length", "5 s", "--out", "lab", "-o", "1.flent.gz")
    assert fullpipe("flent", "tcp_2up", *arguments).exit_code == 0
    assert fullpipe("import", "1.flent.gz", "--out", "lab").exit_code == 0
    shown = " ".join(fullpipe("compare", "lab").stdout.split())
    assert "one run of native and of flent: no interval, so no verdict" in shown


def test_a_folder_of_runs_is_not_shown_but_listed(fullpipe: Cli) -> None:
    made.write(made.upload(), "a.flent.gz")
    assert fullpipe("import", "a.flent.gz", "--out", "lab").exit_code == 0
    done = fullpipe("show", "lab")
    assert "`fullpipe runs --out lab`" in done.stderr
    assert fullpipe("runs", "--out", "lab").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--reference", "ns3"), 'unknown reference "ns3"'),
        (("--over", "flows.0.cca=reno,cubic"), "are compared as they are"),
        (("--set", "duration=1 s"), "are compared as they are"),
    ],
)
def test_mistakes_end_with_two(lab: Cli, arguments: tuple[str, ...], message: str) -> None:
    done = lab("compare", "lab", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())


def test_runs_of_one_engine_have_nothing_beside_them(fullpipe: Cli) -> None:
    made.write(made.upload(), "a.flent.gz")
    assert fullpipe("import", "a.flent.gz", "--out", "lab").exit_code == 0
    done = fullpipe("compare", "lab")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "lab: all runs are of the engine flent" in done.stderr


def test_other_tests_are_told_apart(lab: Cli) -> None:
    made.write(made.upload(), "a.flent.gz")
    assert lab("import", "a.flent.gz", "--out", "lab").exit_code == 0
    done = lab("compare", "lab")
    assert done.exit_code == 2
    assert "they have 2 scenarios" in done.stderr
