"""A change against its base: verdicts, sides, suites, and the forms that others read."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from fullpipe import Run, api
from fullpipe.errors import FullpipeError
from fullpipe.sweeps import Job
from fullpipe.validation.check import Checked, check, forms
from fullpipe.validation.check import suite as suites
from fullpipe.validation.check.measured import Here, measure, stored
from fullpipe.validation.check.suite import Demand, Suite
from fullpipe.validation.compare import Subject
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import demanded, one_sided

Cli = Callable[..., Any]
SUITE = """
scenarios = ["small.toml"]
seeds = 4
most_seeds = 8
[metrics]
goodput = "2 %"
rtt_mean = "2 %"
"""
SMALL = """
name = "small"
duration = "4 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 40 }
[[flows]]
cca = "cubic"
start_jitter = "100 ms"
[record]
interval = "off"
"""
WORSE = ("--set", 'flows.0.cca={kind="cubic", beta=0.1}')
MINE = """
from fullpipe.algorithms import Controller
class Mine(Controller):
    slow_start = 1.0
    increase = 1.0
    def on_congestion(self, episode, path):
        if episode.first:
            self.ssthresh = self.cwnd * BETA
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of one small scenario."""
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "suite.toml"


def found(fullpipe: Cli, *arguments: object) -> dict[str, Any]:
    """What a check says as JSON, with its exit status."""
    result = fullpipe("check", *arguments, "--json")
    assert result.stdout, result.output
    return {"status": result.exit_code, **json.loads(result.stdout)}


class TestCheck:
    def test_an_equal_copy_is_identical_to_the_bit(self, fullpipe: Cli, suite: Path) -> None:
        said = found(fullpipe, suite, "--against", "flows.0.cca=cubic")
        assert (said["status"], said["verdict"], said["identical"], said["runs"]) == (0, "not worse", True, 4)

    def test_a_worse_change_has_regressed(self, fullpipe: Cli, suite: Path) -> None:
        said = found(
            fullpipe, suite, "--set", 'flows.0.cca={kind="cubic", beta=0.1}', "--against", "flows.0.cca=cubic"
        )
        assert (said["status"], said["verdict"]) == (1, "regressed")
        assert {row["metric"] for row in said["rows"] if row["verdict"] == "regressed"} == {"goodput"}

    def test_a_regression_ends_the_check_and_the_conclusion_says_so(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE.replace('goodput = "2 %"', 'goodput = "0.1 %"').replace("= 8", "= 16"))
        beside = '[[flows]]\ncca = "reno"\nstart_jitter = "1 s"\n[record]'
        (suite.parent / "small.toml").write_text(SMALL.replace("[record]", beside))
        change = (*WORSE, "--against", "flows.0.cca=cubic")
        said = found(fullpipe, suite, *change)
        assert (said["looks"], said["level"]) == ([4, 8, 16], pytest.approx(0.05 / 3))
        assert said["counts"]["regressed"] >= 1
        assert said["counts"]["undecided"] >= 1
        told = r": the check stopped at the regression, after (4|8) of at most 16 seeds\.$"
        assert re.search(told, said["conclusion"][0]), said["conclusion"]
        on_terminal = fullpipe("check", suite, *change, "-o", "k.json").stdout
        level = "each test is at 1.67 %: 5 % shared by 3 looks (4, 8 and 16 seeds)"
        assert f"{level}; regressed needs p (corrected) < 0.0167" in " ".join(on_terminal.split())
        fullpipe("report", "k.json", "-o", "k.md")
        page = (suite.parent / "k.md").read_text(encoding="utf-8")
        assert page.count("ach test is at 1.67 %: 5 % shared by 3 looks") == 2
        assert "- Base and change: different runs" in page
        assert "identical: no" not in page

    def test_what_few_seeds_leave_open_is_undecided(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE.replace('"2 %"', '"0 %"'))
        (suite.parent / "small.toml").write_text(SMALL.replace('"100 ms"', '"2 s"'))
        said = found(fullpipe, suite, "--against", "flows.0.stream=other", "--seeds", "2")
        assert (said["status"], said["verdict"]) == (2, "undecided")

    def test_a_bound_holds_for_every_run(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE.replace('"2 %"', "{ most = 1.0 }", 1))
        said = found(fullpipe, suite, "--against", "flows.0.cca=cubic")
        assert said["verdict"] == "regressed"
        assert re.fullmatch(
            r"up to 9\.\d+ Mbit/s in 4 of 4 runs, above the 1e-06 Mbit/s demanded", said["rows"][0]["reason"]
        )
        assert said["conclusion"][0] == "Regressed: 1 of 2 values breaks a demand of the suite."
        assert said["conclusion"][1] == f"small: goodput of cubic-1 regressed: {said['rows'][0]['reason']}."
        shown = fullpipe("check", suite, "--against", "flows.0.cca=cubic", "--markdown", "m.md").stdout
        assert f"regressed: {said['rows'][0]['reason']}" in " ".join(shown.split())
        assert said["rows"][0]["reason"] in Path("m.md").read_text()

    @pytest.mark.parametrize(
        ("demand", "reason"),
        [
            (Demand(least=4e6), "3.17 Mbit/s in one run, below the 4 Mbit/s demanded"),
            (Demand(least=3.1701e6), "3.17 Mbit/s in one run, below the 3.1701 Mbit/s demanded"),
            (Demand(most=3.1e6), "up to 5.5 Mbit/s in 3 of 3 runs, above the 3.1 Mbit/s demanded"),
        ],
    )
    def test_a_broken_demand_is_said_in_the_unit_of_its_metric(self, demand: Demand, reason: str) -> None:
        subject = Subject("flows", 0, "mine", "goodput", "bit/s")
        values = [5e6, 5.1e6, 5.2e6], [5.5e6, 3.17e6, 5.4e6]
        (judged,) = one_sided([Contrast(*values, 1e6, "higher", subject=subject)], 1)
        found = demanded(judged, demand.least, demand.most)
        assert (found.rule, found.decision, found.reason) == ("demanded", "regressed", reason)

    def test_json_has_the_sides_of_its_findings_and_the_flows_that_differ(
        self, fullpipe: Cli, suite: Path
    ) -> None:
        said = found(fullpipe, suite, *WORSE, "--against", "flows.0.cca=cubic")
        sides = {side for finding in said["findings"] for side in finding["sides"]}
        assert set(said["sides"]) == sides == {each["side"] for each in said["scenarios"]}
        assert set(said["versions"]) == sides
        assert said["versions"]["base"].startswith("flows.0.cca=cubic (fullpipe ")
        assert said["versions"]["change"].startswith(f"{WORSE[1]} (fullpipe ")
        assert (said["changed"], said["bulk"]) == ([0], [0])

    def test_the_flows_that_differ_are_those_of_each_case(self, fullpipe: Cli, suite: Path) -> None:
        call = '[[flows]]\nname = "call"\nworkload = { kind = "voip" }\n[[flows]]\ncca'
        late = SMALL.replace('"small"', '"late"', 1).replace("[[flows]]\ncca", call)
        (suite.parent / "late.toml").write_text(late)
        suite.write_text(SUITE.replace('"small.toml"', '"small.toml", "late.toml"'))
        said = found(fullpipe, suite, "--against", "topology.bottleneck.delay=11 ms")
        of_cases = {each["case"]: (each["changed"], each["bulk"]) for each in said["entries"]}
        assert of_cases == {"small": ([], [0]), "late": ([], [1])}
        assert said["bulk"] == [0, 1]

    def test_a_note_says_where_numbers_of_flows_differ(self, fullpipe: Cli, suite: Path) -> None:
        said = found(fullpipe, suite, "--against", "flows.0.count=2")
        counts = "1 flow against 2 of the reference"
        assert f"small: cubic -> cubic-1: {counts}; sums such as goodput are of all of them" in said["notes"]


class TestLacking:
    PAGES = SMALL.replace('cca = "cubic"', 'cca = "cubic"\nworkload = { kind = "web" }').replace(
        "4 s", "20 s"
    )

    def suite_of_pages(self, suite: Path) -> Path:
        (suite.parent / "small.toml").write_text(self.PAGES)
        suite.write_text(
            'scenarios = ["small.toml"]\nseeds = 3\nmost_seeds = 3\n[metrics]\npage_p50 = "5 %"\n'
        )
        return suite

    def test_a_metric_that_the_change_has_lost_is_a_regression(self, fullpipe: Cli, suite: Path) -> None:
        slow = "topology.bottleneck.rate=20 kbit/s"
        fast = "topology.bottleneck.rate=10 Mbit/s"
        said = found(fullpipe, self.suite_of_pages(suite), "--set", slow, "--against", fast)
        assert (said["status"], said["verdict"]) == (1, "regressed")
        assert {row["reason"] for row in said["rows"]} == {"no run of the change has it"}

    def test_a_suite_that_measures_nothing_is_wrong_use(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text('scenarios = ["small.toml"]\n[metrics]\nfct_p50 = "5 %"\n')
        result = fullpipe("check", suite, "--against", "flows.0.cca=cubic")
        assert result.exit_code == 2
        assert "no run has any of its metrics: fct_p50" in result.stderr


class TestSides:
    def test_a_later_look_runs_its_new_seeds_only_and_measures_the_same(self, suite: Path) -> None:
        made: list[int] = []

        def runner(todo: Sequence[Job]) -> list[Run]:
            made.extend(job.seed for job in todo)
            return api.run_all(todo)

        read = suites.read(suite)
        here = Here(read, "native", runner)
        looks = [here.measured(["small"], seeds) for seeds in (2, 4, 4, 3)]
        assert made == [1, 2, 3, 4]
        assert looks == [measure(read, seeds, "native", api.run_all) for seeds in (2, 4, 4, 3)]

    def test_a_file_that_was_kept(self, fullpipe: Cli, suite: Path) -> None:
        assert fullpipe("check", suite, "--keep", "base.json").exit_code == 0
        assert found(fullpipe, suite, "--against", "base.json")["identical"]

    def test_a_file_without_warnings_can_be_read_by_older_versions(self, fullpipe: Cli, suite: Path) -> None:
        (suite.parent / "small.toml").write_text(SMALL.replace('warmup = "1 s"', 'warmup = "3 s"'))
        assert fullpipe("check", suite, "--keep", "base.json").exit_code == 0
        kept = json.loads(Path("base.json").read_text())
        assert set(kept) == {"format", "suite", "fullpipe", "engine", "version", "points"}
        assert set(kept["points"][0]) == {"point", "scenario", "rows", "case", "sums"}
        assert kept["format"] == 1

    def test_findings_are_marked_if_the_base_is_in_doubt(self, fullpipe: Cli, suite: Path) -> None:
        (suite.parent / "small.toml").write_text(SMALL.replace('warmup = "1 s"', 'warmup = "3 s"'))
        assert fullpipe("check", suite, "--keep", "base.json").exit_code == 0
        kept = json.loads(Path("base.json").read_text())
        kept |= {"format": 2, "warnings": {"small": ["RTT of cubic has not settled"]}}
        kept["points"][0]["doubts"] = [["RTT", "cubic-1"]]
        Path("base.json").write_text(json.dumps(kept))
        said = found(fullpipe, suite, *WORSE, "--against", "base.json")
        doubts = {each["metric"]: each["doubts"] for each in said["findings"] if each["of"] == "cubic-1"}
        assert doubts == {"goodput": [], "rtt_mean": ["means not settled"]}
        shown = fullpipe("check", suite, *WORSE, "--against", "base.json", "--all")
        assert "RTT of cubic has not settled" in " ".join(shown.stderr.split())
        assert "† means not settled: see the warnings" in shown.stdout

    def test_a_file_of_another_suite_is_refused(self, fullpipe: Cli, suite: Path) -> None:
        fullpipe("check", suite, "--keep", "base.json")
        suite.write_text(SUITE.replace('"small.toml"', '"small.toml", "single-reno"'))
        result = fullpipe("check", suite, "--against", "base.json")
        assert result.exit_code == 2
        assert "has no case single-reno" in result.stderr

    def test_a_file_of_another_scenario_is_refused(self, fullpipe: Cli, suite: Path) -> None:
        fullpipe("check", suite, "--keep", "base.json")
        (suite.parent / "small.toml").write_text(SMALL.replace("10 Mbit/s", "50 Mbit/s"))
        result = fullpipe("check", suite, "--against", "base.json")
        assert result.exit_code == 2
        assert "different scenario, in topology.bottleneck.rate" in result.stderr

    def test_a_file_has_as_many_seeds_as_may_be_spent(self, fullpipe: Cli, suite: Path) -> None:
        fullpipe("check", suite, "--keep", "base.json")
        assert len(json.loads(Path("base.json").read_text())["points"][0]["sums"]) == 8

    def test_a_file_that_is_none_is_refused(self, fullpipe: Cli, suite: Path) -> None:
        Path("base.json").write_text('{"format": 1}')
        result = fullpipe("check", suite, "--against", "base.json")
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)

    def test_a_folder_with_another_version_of_a_class(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE + '[set]\n"flows.0.cca" = "python:mine_of_a_gate:Mine"\n')
        for folder, beta in (("base", "0.5"), (suite.parent, "0.1")):
            Path(folder).mkdir(exist_ok=True)
            (Path(folder) / "mine_of_a_gate.py").write_text(MINE.replace("BETA", beta))
        said = found(fullpipe, suite, "--against", "base", "--allow-code")
        assert (said["status"], said["verdict"]) == (1, "regressed")

    def test_a_folder_without_the_code_is_refused(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE + '[set]\n"flows.0.cca" = "python:mine_of_here:Mine"\n')
        (suite.parent / "mine_of_here.py").write_text(MINE.replace("BETA", "0.5"))
        Path("empty").mkdir()
        result = fullpipe("check", suite, "--against", "empty", "--allow-code", "--junit", "j.xml")
        assert result.exit_code == 2
        assert "<error" in Path("j.xml").read_text()
        assert "mine_of_here" in result.stderr

    def test_code_needs_permission(self, fullpipe: Cli, suite: Path) -> None:
        suite.write_text(SUITE + '[set]\n"flows.0.cca" = "python:mine_of_nobody:Mine"\n')
        result = fullpipe("check", suite, "--against", "flows.0.cca=cubic")
        assert result.exit_code == 2
        assert "--allow-python" in result.stderr

    def test_another_program(self, fullpipe: Cli, suite: Path) -> None:
        program = shutil.which("fullpipe") or pytest.skip("fullpipe is not on the path")
        assert found(fullpipe, suite, "--against", program)["identical"]

    def test_a_program_that_fails_is_quoted(self, fullpipe: Cli, suite: Path) -> None:
        Path("program").write_text("#!/bin/sh\necho no such command: check >&2; exit 2\n")
        Path("program").chmod(0o755)
        result = fullpipe("check", suite, "--against", "./program")
        assert result.exit_code == 2
        assert "no such command: check" in result.stderr

    def test_no_base_is_wrong_use(self, fullpipe: Cli, suite: Path) -> None:
        assert fullpipe("check", suite).exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenarios = []", "scenarios"),
        ('scenarios = ["no-such"]', "no-such"),
        ('scenarios = ["single-reno", "single-reno"]', "twice"),
        ('scenarios = ["single-reno"]\n[metrics]\ngodput = "2 %"', "goodput"),
        ('scenarios = ["single-reno"]\n[metrics]\ngoodput = "two"', r"metrics\.goodput"),
        ('scenarios = ["single-reno"]\n[metrics]\ngoodput = { margim = "2 %" }', "margim"),
        (
            'scenarios = ["single-reno"]\n[metrics]\ngoodput = { least = 2.0, most = 1.0 }',
            r"suite\.toml: metrics\.goodput: no value is at least 2 \(least\) and at most 1 \(most\)",
        ),
        ('scenarios = ["single-reno"]\n[metrics]\njain = { least = 1.5 }', r"metrics\.jain: .* at most 1"),
        (
            'scenarios = ["single-reno"]\n[metrics]\ngoodput = { most = -1.0 }',
            r"metrics\.goodput: .* at least 0",
        ),
        ('scenarios = ["single-reno"]\nseeds = 1', "seeds"),
        ('scenarios = ["single-reno"]\nunknown = 1', "unknown"),
    ],
)
def test_a_suite_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "suite.toml").write_text(text)
    with pytest.raises(FullpipeError, match=message):
        suites.read(tmp_path / "suite.toml")


class TestForms:
    @pytest.fixture
    def files(self, fullpipe: Cli, suite: Path) -> dict[str, str]:
        """The files of a check that has regressed, of a case with a hostile name."""
        (suite.parent / "<b>|&.toml").write_text(SMALL)
        suite.write_text(SUITE.replace("small", "<b>|&"))
        Path("summary.md").write_text("before\n")
        options = ("--junit", "j.xml", "--markdown", "summary.md", "-o", "check.json")
        fullpipe("check", suite, *WORSE, "--against", "flows.0.cca=cubic", *options)
        return {name: Path(name).read_text() for name in ("j.xml", "summary.md", "check.json")}

    def test_junit_counts_what_failed(self, files: dict[str, str]) -> None:
        suite = Xml.fromstring(files["j.xml"])[0]
        failures = suite.findall("testcase/failure")
        assert suite.get("failures") == str(len(failures)) == "1"

    def test_junit_has_a_name_as_it_is(self, files: dict[str, str]) -> None:
        assert {case.get("classname") for case in Xml.fromstring(files["j.xml"])[0]} == {"<b>|&"}

    def test_markdown_is_appended_and_escaped(self, files: dict[str, str]) -> None:
        assert files["summary.md"].startswith(
            "before\n## suite: regressed\n\nRegressed: 1 of 2 values is worse"
        )
        assert "&lt;b&gt;\\|&amp;" in files["summary.md"]

    def test_json_can_be_reported(self, files: dict[str, str]) -> None:
        said = json.loads(files["check.json"])
        assert (said["kind"], said["title"], said["verdict"]) == ("check", "suite", "regressed")


def test_what_no_xml_may_hold_is_replaced() -> None:
    checked = Checked(
        scenario="a\x00b\x1b", sides={"base": [], "change": []}, findings=[], runs=0, is_identical=False
    )
    assert Xml.fromstring(forms.junit(checked))[0].get("name") == "a?b?"


HOSTILE: list[Any] = [
    *(2**70, -(2**70), 2**63, 10**400, -1, 3_000, 1.5, 1e308, -1e308, 5e-324, float("nan"), float("inf")),
    *(True, None, "", "text", "x" * 2_000, [], {}, [[1]], {"1": "a"}),
]
"""Numbers and types that a damaged or made-up file may have anywhere."""
KEPT = [
    *("format", "suite", "fullpipe", "engine", "version", "points", "points.0", "warnings", "warnings.small"),
    *(f"points.0.{key}" for key in ("point", "scenario", "case", "sums", "sums.1", "rows", "rows.1")),
    *("points.0.doubts", "points.0.doubts.0", "points.0.doubts.0.1"),
    *("points.0.scenario.duration", "points.0.scenario.topology"),
    *(f"points.0.rows.1.{column}" for column in range(8)),
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Here, dict[str, Any]]:
    """A suite, the side that runs it here, and what `--keep` writes of it."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "small.toml").write_text(SMALL)
    (folder / "suite.toml").write_text(SUITE.replace("most_seeds = 8", "most_seeds = 4"))
    read = suites.read(folder / "suite.toml")
    here = Here(read, "native", api.run_all)
    tree = here.measured(["small"], 4).model_dump(mode="json")
    tree |= {"format": 2, "warnings": {"small": ["the runs are too short"]}}
    tree["points"][0]["doubts"] = [["", ""], ["RTT", "cubic"]]
    return read, here, tree


def lines_that_refuse(base: Path, suite: Suite, here: Here) -> int:
    """In how many lines a file is refused; 0 if it can be checked and told in every form."""
    try:
        said = check(suite, stored(base, suite), here)
    except FullpipeError as error:
        return len(str(error).splitlines())
    json.dumps(forms.as_json(said, ""), allow_nan=False)
    assert forms.junit(said)
    assert forms.markdown(said)
    return 0


@pytest.mark.parametrize("place", KEPT)
def test_any_value_anywhere_is_checked_or_refused_in_one_line(
    measured: tuple[Suite, Here, dict[str, Any]], tmp_path: Path, place: str
) -> None:
    suite, here, tree = measured
    for value in HOSTILE:
        (tmp_path / "base.json").write_text(json.dumps(with_value(tree, place, value)))
        assert lines_that_refuse(tmp_path / "base.json", suite, here) <= 1, value


FLOW = """
[[flows]]
cca = "reno"
start_jitter = "100 ms"
"""


def test_a_base_from_elsewhere_brings_its_own_warnings(fullpipe: Cli, suite: Path) -> None:
    (suite.parent / "small.toml").write_text(SMALL.replace("[record]", f"{FLOW}[record]"))
    suite.write_text(SUITE + '[set]\n"flows.0.cca" = "bbr3"\n')
    assert fullpipe("check", suite, "--keep", "base.json").exit_code == 0
    suite.write_text(SUITE)
    base = json.loads(Path("base.json").read_text())
    assert [line.partition(": the cycle")[0] for line in base["warnings"]["small"]] == [
        "the run is too short for means"
    ]
    assert (base["format"], base["points"][0]["doubts"]) == (2, [["", ""]])
    of_base = f"Warning of the base: {base['warnings']['small'][0]}."
    assert "the cycle of bbr3 is 5 s" in of_base
    said = found(fullpipe, suite, "--against", "base.json")
    assert said["warnings"][-1] == of_base
    assert all("bbr3" not in told for told in said["warnings"][:-1])
    base["warnings"] = {}
    base["points"][0]["doubts"] = []
    Path("base.json").write_text(json.dumps(base))
    assert found(fullpipe, suite, "--against", "base.json")["warnings"] == said["warnings"][:-1]
    Path("base").mkdir()
    program = Path("base/program")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m fullpipe "$@" --set flows.0.cca=bbr3\n')
    program.chmod(0o755)
    assert of_base in found(fullpipe, suite, "--against", program)["warnings"]


def with_value(tree: Any, place: str, value: object) -> Any:
    """A copy of a tree with another value at a place."""
    made = json.loads(json.dumps(tree))
    node, *keys = made, *(int(part) if part.isdecimal() else part for part in place.split("."))
    for key in keys[:-1]:
        node = node[str(key) if isinstance(node, dict) else key]
    node[str(keys[-1]) if isinstance(node, dict) else keys[-1]] = value
    return made


def test_a_file_with_a_number_beyond_64_bits_is_refused_in_one_line(fullpipe: Cli, suite: Path) -> None:
    fullpipe("check", suite, "--keep", "base.json", "--seeds", "2")
    tree = json.loads(Path("base.json").read_text())
    Path("base.json").write_text(json.dumps(with_value(tree, "points.0.rows.1.3", 2**70)))
    result = fullpipe("check", suite, "--against", "base.json")
    assert (result.exit_code, result.stdout) == (2, "")
    where = "base.json: not what --keep writes: points.0.rows.1.3: input should be less than 10000"
    assert result.stderr.splitlines() == [f"fullpipe: {where}"]
