"""`fullpipe report`."""

from __future__ import annotations

import json
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from fullpipe import Scenario, sweeps
from fullpipe.analysis.metrics.groups import flow_groups
from fullpipe.analysis.shown import axis_shown
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.runs import Store
from fullpipe.sweeps import jobs
from tests.report.pages import scenario

FullPipe = Callable[..., Any]


@pytest.fixture
def store(fullpipe: FullPipe, tmp_path: Path) -> Path:
    """A folder of three runs."""
    (tmp_path / "line.toml").write_text(scenario().to_toml(), encoding="utf-8")
    assert fullpipe("run", "line.toml", "--seeds", 3, "--out", "kept").exit_code == 0
    return tmp_path / "kept"


def test_a_store_gives_a_page(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    done = fullpipe("report", store, "-o", "r.html", "--question", "Is it fair?")
    assert (done.exit_code, done.stdout) == (0, "r.html\n")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Is it fair?" in text
    assert "3 runs of 1 point, seeds 1 to 3" in text


def test_the_page_repeats_its_runs_and_itself(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    words = ("report", "kept", "-o", "r.md", "--metric", "goodput", "--of", "all flows")
    assert fullpipe(*words).exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "fullpipe run line.toml --seeds 3 --out kept\n" in text
    assert "fullpipe report kept -o r.md --metric goodput --of 'all flows'\n" in text


def test_a_markdown_report_has_its_figures_beside_it(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    assert fullpipe("report", "kept", "-o", "my report.md").exit_code == 0
    text = (tmp_path / "my report.md").read_text(encoding="utf-8")
    names = [unquote(name) for name in re.findall(r"!\[[^\n]*\]\(([^)]*)\)", text)]
    assert sorted(names) == sorted(f"my report-figures/{n}.svg" for n in range(1, len(names) + 1))
    assert "in the HTML form" not in text.partition("## Data")[0]
    for name in names:
        drawn = (tmp_path / name).read_text(encoding="utf-8")
        assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in drawn, "few programs except browsers know variables"
        assert "text-anchor:middle" in drawn
    assert any(".c0.line{stroke:#0072B2" in (tmp_path / name).read_text(encoding="utf-8") for name in names)


AXIS = "topology.bottleneck.rate"
QUEUES = {
    "deep": {"topology.bottleneck.queue": {"kind": "drop_tail", "packets": 100}},
    "fair": {"topology.bottleneck.queue": {"kind": "fq_codel", "target": "5 ms"}},
}


@pytest.mark.parametrize(
    ("sweep", "made", "commands"),
    [
        ({AXIS: ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]}, {0: (1, 2, 3), 1: (1, 2, 3), 2: (1,)}, 3),
        ({AXIS: ["5 Mbit/s", "20 Mbit/s"]}, {0: (2, 5), 1: (2, 4)}, 3),
        ({"queue": QUEUES, AXIS: ["5 Mbit/s", "20 Mbit/s"]}, {0: (1,), 1: (1,), 2: (1,), 3: (1, 2)}, 2),
    ],
)
def test_the_commands_of_unequal_points_make_exactly_the_runs(
    fullpipe: FullPipe, tmp_path: Path, sweep: Any, made: dict[int, tuple[int, ...]], commands: int
) -> None:
    store = Store(tmp_path / "kept")
    swept = Scenario(**{**scenario(duration="1 s").to_dict(), "sweep": sweep})
    todo = [job for seed in range(1, 6) for n, job in enumerate(jobs(swept, [seed])) if seed in made[n]]
    assert len(sweeps.run(todo, store=store)) == len(todo)
    assert fullpipe("report", "kept", "-o", "r.md").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    least, most = (choose(map(len, made.values())) for choose in (min, max))
    assert (f"{least} to {most} seeds per point" in text) is (least < most)
    told = [line for line in text.splitlines() if line.startswith("fullpipe run ")]
    assert len(dict.fromkeys(told)) == commands
    (tmp_path / "line.toml").write_text(
        re.findall(r"```\w*\n(name = .*?)```", text, re.S)[0], encoding="utf-8"
    )

    def stored() -> set[str]:
        return {folder.parent.as_posix() for folder in tmp_path.glob("kept/*/*/meta.json")}

    before = stored()
    (tmp_path / "kept").rename(tmp_path / "old")
    for line in dict.fromkeys(told):
        assert fullpipe(*shlex.split(line)[1:]).exit_code == 0
    assert stored() == before


@pytest.mark.parametrize(("of", "named"), [("", "kept"), ("*/native-2", "kept/*/native-2")])
def test_the_page_of_a_store_in_another_folder_names_it_as_its_runs_do(
    fullpipe: FullPipe, store: Path, tmp_path: Path, of: str, named: str
) -> None:
    (tmp_path / "deeper").mkdir()
    store.rename(tmp_path / "deeper/kept")
    folder = next((tmp_path / "deeper/kept").glob(of)) if of else tmp_path / "deeper/kept"
    word = f"./{folder.relative_to(tmp_path)}/"
    assert fullpipe("report", word, "-o", "r.md", "--question", "deeper/kept").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "--out kept\n" in text
    digest = next((tmp_path / "deeper/kept").glob("*/native-2")).parent.name
    command = f"fullpipe report {named.replace('*', digest)} -o r.md --question deeper/kept"
    assert f"{command}\n" in text


def test_a_run_gives_markdown(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    folder = next(store.glob("*/native-2"))
    assert fullpipe("report", folder, "-o", "r.md").exit_code == 0
    assert "1 run of 1 point, seed 2" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_what_compare_keeps_is_read(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    arguments = ("compare", "line.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", 3, "-o", "c.json")
    assert fullpipe(*arguments).exit_code in (0, 1)
    kept = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert kept["kind"] == "compare"
    assert kept["command"] == "fullpipe compare line.toml --over flows.0.cca=cubic,reno --seeds 3 -o c.json"
    assert fullpipe("report", "c.json", "-o", "c.html").exit_code == 0
    assert "Is reno better or worse than cubic in line?" in (tmp_path / "c.html").read_text(encoding="utf-8")


@pytest.fixture
def swept(fullpipe: FullPipe, tmp_path: Path) -> Path:
    """A folder of runs with two algorithms at two rates."""
    sweep = {"flows.0.cca": ["cubic", "bbr3"], "topology.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]}
    made = Scenario(**scenario().to_dict() | {"sweep": sweep})
    (tmp_path / "swept.toml").write_text(made.to_toml(), encoding="utf-8")
    assert fullpipe("run", "swept.toml", "--seeds", 2, "--out", "swept").exit_code == 0
    return tmp_path / "swept"


def test_labels_of_the_command_are_in_all_parts(fullpipe: FullPipe, swept: Path, tmp_path: Path) -> None:
    labels = ("--label", "flows.0.cca.bbr3=Third", "--label", "topology.bottleneck.rate=speed")
    assert fullpipe("report", "swept", "-o", "r.md", *labels).exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    conclusion = text.partition("## Conclusion")[2].partition("\n## ")[0]
    assert "- Third instead of cubic: " in conclusion
    assert "4 points over speed and algorithm" in conclusion
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert any(" speed | " in line for line in tables)
    assert any("| Third | " in line for line in tables)
    assert '"flows.0.cca.bbr3" = "Third"' in text.partition("The scenario as TOML")[2]
    assert "fullpipe report swept -o r.md --label flows.0.cca.bbr3=Third " in text


def test_labels_of_groups_are_in_all_parts(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    names = {of for run in Store(store) for of in flow_groups(run)}
    labels = [word for n, of in enumerate(names) for word in ("--label", f"flows.{of}=LABEL{n}")]
    asked = ("--metric", f"goodput of {min(names)}")
    assert fullpipe("report", store, "-o", "r.md", *labels).exit_code == 0
    assert fullpipe("report", store, "-o", "r.html", *labels, *asked).exit_code == 0
    for file in ("r.md", "r.html"):
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert "LABEL0" in text
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        assert names.isdisjoint(cell.strip() for row in rows for cell in row.split("|"))
        assert names.isdisjoint(re.findall(r">([^<>]+)<", text))


def test_labels_of_nothing_and_of_a_file_are_refused(fullpipe: FullPipe, swept: Path, tmp_path: Path) -> None:
    done = fullpipe("report", "swept", "--label", "flows.0.cca.bbr4=Fourth")
    assert done.exit_code == 2
    assert "flows.0.cca.bbr4: no run has this path or value" in " ".join(done.stderr.split())
    (tmp_path / "c.json").write_text('{"rows": []}', encoding="utf-8")
    done = fullpipe("report", "swept", "c.json", "--label", "flows.0.cca.bbr3=Third")
    assert done.exit_code == 2
    assert "for c.json, give --label to the command that writes" in " ".join(done.stderr.split())
    assert not list(tmp_path.glob("report.*"))


def test_more_metrics_can_be_asked_for(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    assert fullpipe("report", store, "-o", "r.md", "--metric", "power").exit_code == 0
    assert f"{axis_shown('power')[1]} |" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_what_cannot_be_shown_is_one_line(
    fullpipe: FullPipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr("fullpipe.cli.report.page_of_file", fail)
    (tmp_path / "odd.json").write_text('{"rows": []}', encoding="utf-8")
    done = fullpipe("report", "odd.json")
    assert done.exit_code == 2
    assert "has content that cannot be shown: too large" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing",), "nothing: no such folder"),
        (("empty",), "empty: has no finished run"),
        (("line.toml",), "is a scenario; run it with `fullpipe run line.toml --out FOLDER`"),
        (("kept", "-o", "r.pdf"), "does not end in .html or .md"),
        (("kept", "--metric", "speed"), 'unknown metric "speed"'),
    ],
)
def test_misuse_is_one_clean_line(
    fullpipe: FullPipe, store: Path, arguments: tuple[str, ...], told: str
) -> None:
    (store.parent / "empty").mkdir()
    done = fullpipe("report", *arguments)
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


def test_two_folders_give_one_page_and_runs_in_both_count_once(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "two.toml").write_text(scenario("other", duration="1 s").to_toml(), encoding="utf-8")
    assert fullpipe("run", "two.toml", "--seeds", 2, "--out", "more").exit_code == 0
    assert fullpipe("run", "line.toml", "--seeds", 1, "--out", "more").exit_code == 0
    done = fullpipe("report", store, "more", "-o", "r.md")
    assert (done.exit_code, done.stderr) == (
        0,
        "fullpipe: note: runs in several folders are counted once; 1 left out\n",
    )
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    line, other = text.split("\n## other\n")
    assert "3 runs of 1 point, seeds 1 to 3" in line
    assert "2 runs of 1 point, seeds 1 to 2" in other


def test_files_and_folders_are_parts_of_one_page(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    for cca in ("reno", "vegas"):
        over = f"flows.0.cca=cubic,{cca}"
        fullpipe("compare", "line.toml", "--over", over, "--seeds", 3, "-o", f"{cca}.json")
    assert fullpipe("report", "reno.json", "vegas.json", store, "-o", "r.md").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith(("# ", "## ", "### "))]
    assert headings[0] == "# line: reno against cubic and line: vegas against cubic and line"
    parts = ["## line: reno against cubic", "## line: vegas against cubic", "## line"]
    assert [each for each in headings if each.startswith("## ")] == [*parts, "## Provenance", "## Data"]
    assert headings.count("### Conclusion") == headings.count("### Results") == 3
    assert text.count("\n- fullpipe: ") == 1


@pytest.mark.parametrize(
    ("sweep", "leading"),
    [
        ({"topology.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]}, "Goodput of cubic-1 "),
        ({"flows.1.count": [1, 4]}, "Share over fair share of cubic-1 is "),
    ],
)
def test_a_report_of_a_store_concludes_as_run_does(
    fullpipe: FullPipe, tmp_path: Path, sweep: dict[str, Any], leading: str
) -> None:
    made = Scenario(**scenario().to_dict() | {"sweep": sweep})
    (tmp_path / "line.toml").write_text(made.to_toml(), encoding="utf-8")
    conclusion, _, _ = fullpipe("run", "line.toml", "--seeds", 2, "--out", "st").stdout.partition("\n\n")
    assert conclusion.startswith(leading)
    fullpipe("report", "st", "-o", "r.md", "--question", "?")
    text = (tmp_path / "r.md").read_text(encoding="utf-8").replace("\\", "")
    told = text.partition("## Conclusion\n\n")[2].partition("\n\n")[0]
    sentences = [line.removeprefix("- ") for line in told.splitlines()]
    assert sum("undecided at " in each for each in sentences) == 1
    shown = " ".join(sentences)
    assert shown.startswith(leading)
    assert " ".join(conclusion.split()).startswith(shown)


def test_a_report_has_only_the_runs_that_are_asked_for(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    over = ("--over", "flows.0.cca=cubic,reno", "--seeds", 2, "--out", "both")
    fullpipe("compare", "line.toml", *over, "-o", "c.json")
    assert fullpipe("report", "both", "--where", "cca=reno", "-o", "r.md").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "reno" in text
    assert "instead of" not in text
    assert "fullpipe report both --where cca=reno -o r.md" in text
    assert fullpipe("report", "both", "--where", "cca=vegas", "-o", "r.md").exit_code == 2
    refused = fullpipe("report", "c.json", "--where", "cca=reno", "-o", "r.md")
    assert "--where: applies only to folders of runs; c.json is a file" in " ".join(refused.stderr.split())


def test_a_report_of_several_parts_has_one_recipe(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    over = ("--over", "flows.0.cca=cubic,reno", "--seeds", 3, "--out", "kept")
    fullpipe("compare", "line.toml", *over, "-o", "c.json")
    fullpipe("test", "kept", "--factor", "flows.0.cca", "--metric", "goodput", "-o", "t.json")
    assert fullpipe("report", "t.json", "c.json", "kept", "-o", "r.md").exit_code == 0
    provenance = (tmp_path / "r.md").read_text(encoding="utf-8").partition("## Provenance")[2]
    commands = [line.split() for line in provenance.splitlines() if line.startswith("fullpipe ")]
    assert [words[1] for words in commands] == ["run", "compare", "test", "report"]
    assert [words[-1] for words in commands] == ["kept", "c.json", "t.json", "r.md"]


def test_runs_of_a_file_are_found_beside_it_and_give_their_series(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    words = ("compare", "line.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", 2, "--out", "kept")
    fullpipe(*words, "-o", "c.json")
    assert fullpipe("report", "c.json", "-o", "with.md").exit_code == 0
    with_runs = (tmp_path / "with.md").read_text(encoding="utf-8")
    assert "All 4 runs are in the folder kept, which is not part of this page." in with_runs.replace("\\", "")
    assert "- Algorithm reno: Reno (AIMD, NewReno with SACK); source: " in with_runs
    assert {"### Over time", "### Every run"} <= set(with_runs.splitlines())
    (tmp_path / "kept").rename(tmp_path / "away")
    assert fullpipe("report", "c.json", "-o", "alone.md").exit_code == 0
    alone = (tmp_path / "alone.md").read_text(encoding="utf-8")
    assert "Its runs are not in a folder kept here, so the report has no time series." in alone
    assert "### Over time" not in alone.splitlines()
    assert "- Algorithm reno: " in alone
    assert {"### Means", "### Figures", "### All verdicts"} <= set(alone.splitlines())
    assert "bottleneck: 10 Mbit/s, 10 ms delay, queue drop\\_tail 30 packets" in alone


def test_runs_that_were_made_again_since_are_not_those_of_a_file(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    fullpipe(
        "compare",
        "line.toml",
        "--over",
        "flows.0.cca=cubic,reno",
        "--seeds",
        2,
        "--out",
        "kept",
        "-o",
        "c.json",
    )
    found = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    runs = [[place, "2020-01-01T00:00:00+00:00"] for place, _ in found["basis"]["runs"]]
    for basis in ({"store": "kept", "runs": runs}, {"store": "..", "runs": found["basis"]["runs"]}):
        (tmp_path / "c.json").write_text(json.dumps({**found, "basis": basis}), encoding="utf-8")
        assert fullpipe("report", "c.json", "-o", "c.md").exit_code == 0
        assert "### Over time" not in (tmp_path / "c.md").read_text(encoding="utf-8").splitlines()


def test_a_file_gives_what_its_store_gives(fullpipe: FullPipe, store: Path, tmp_path: Path) -> None:
    over = ("--over", "flows.0.cca=cubic,reno", "--seeds", 3, "--out", "both")
    fullpipe("compare", "line.toml", *over, "-o", "c.json")
    fullpipe("report", "both", "-o", "store.md")
    fullpipe("report", "c.json", "-o", "file.md")
    of_store, of_file = ((tmp_path / f"{name}.md").read_text(encoding="utf-8") for name in ("store", "file"))
    headings = [{line for line in text.splitlines() if line.startswith("#")} for text in (of_store, of_file)]
    assert headings[0] - {"# line", "### More findings"} <= headings[1]
    rows = [{line for line in text.splitlines() if line.startswith("| ")} for text in (of_store, of_file)]
    assert rows[0] <= rows[1]
    told = [text.partition("## Conclusion\n\n")[2].partition("\n\n")[0] for text in (of_store, of_file)]
    assert told[1].startswith(told[0])  # the file also has the test of shares against fair shares
    path = [line for line in of_store.splitlines() if " bottleneck: 10 Mbit" in line and line[0] != "!"]
    assert path
    assert set(path) <= set(of_file.splitlines())


def test_short_runs_are_warned_of_below_every_conclusion(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    over = ("--over", "flows.0.cca=cubic,reno", "--seeds", 3, "--out", "both")
    fullpipe("compare", "line.toml", *over, "-o", "c.json")
    fullpipe("test", "both", "--factor", "flows.0.cca", "--metric", "goodput", "-o", "t.json")
    told = []
    for name in ("c.json", "t.json", "both"):
        assert fullpipe("report", name, "-o", "r.md").exit_code == 0
        told.append(_warning((tmp_path / "r.md").read_text(encoding="utf-8")))
    (tmp_path / "both").rename(tmp_path / "away")
    for name in ("c.json", "t.json"):
        fullpipe("report", name, "-o", "r.md")
        told.append(_warning((tmp_path / "r.md").read_text(encoding="utf-8")))
    assert set(told) == {told[0]}
    assert told[0].startswith("> Warning: 2 of 2 points are too short for means: the cycle of ")


def _warning(text: str) -> str:
    """The block behind the sentences of the conclusion."""
    blocks = text.partition("## Conclusion\n\n")[2].split("\n\n")
    return blocks[1]


def test_scenarios_of_one_name_with_other_flows_are_apart(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    three = scenario().to_dict() | {"flows": [{"cca": "cubic"}, {"cca": "reno"}, {"cca": "bbr3"}]}
    (tmp_path / "three.toml").write_text(Scenario(**three).to_toml(), encoding="utf-8")
    assert fullpipe("run", "three.toml", "--seeds", 2, "--out", "kept").exit_code == 0
    assert fullpipe("report", "kept", "-o", "r.md").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    two, three = text.split("\n## line (cubic, reno and bbr3)\n")
    assert "\n## line (cubic and bbr3)\n" in two
    assert "3 runs of 1 point" in two
    assert "2 runs of 1 point" in three
    done = fullpipe("plot", "kept", "--metric", "goodput")
    assert done.exit_code == 2
    assert "all have the name line, so name the folders of one scenario" in " ".join(
        done.stderr.replace("│", "").split()
    )


def test_a_figure_is_of_one_scenario_or_of_those_that_are_alike(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    one = scenario("alone").to_dict() | {"flows": [{"cca": "cubic"}]}
    (tmp_path / "alone.toml").write_text(Scenario(**one).to_toml(), encoding="utf-8")
    assert fullpipe("run", "alone.toml", "--seeds", 2, "--out", "kept").exit_code == 0
    done = fullpipe("plot", "kept", "--metric", "goodput", "--kind", "box")
    assert done.exit_code == 2
    assert "2 scenarios with different flows or topologies" in " ".join(done.stderr.replace("│", "").split())
    chosen = ("--where", "scenario=alone")
    assert fullpipe("plot", "kept", "--metric", "goodput", "--kind", "box", *chosen).exit_code == 0
    assert fullpipe("plot", "kept", "--metric", "goodput", "--where", "scenario=x").exit_code == 2


def test_commands_name_files_without_the_folders_of_the_machine(
    fullpipe: FullPipe, store: Path, tmp_path: Path
) -> None:
    scenario, kept, file = (tmp_path / name for name in ("line.toml", "my runs", "c.json"))
    fullpipe("compare", scenario, "--over", "flows.0.cca=cubic,reno", "--seeds", 2, "--out", kept, "-o", file)
    assert fullpipe("report", file, "-o", tmp_path / "r.md").exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    over = "--over flows.0.cca=cubic,reno --seeds 2"
    assert (
        f"fullpipe compare line.toml {over} --out 'my runs' -o c.json\nfullpipe report c.json -o r.md" in text
    )
    assert "Save the scenario of cubic as line.toml. This makes all values of this" in text
    assert f"- c.json: SHA-256 {sha256(file.read_bytes()).hexdigest()}" in text
    assert "line.toml, line-reno.toml" in text.partition("## Data")[2]


def test_the_commands_of_a_comparison_make_it_again_in_an_empty_folder(
    fullpipe: FullPipe, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("compare", "line.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", 2, "--metric", "goodput")
    fullpipe(*words, "-o", "c.json")
    (data,) = (page.data for page in [page_of_file(read(tmp_path / "c.json"))])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    base = next(each for each in data if each.name == "line.toml")
    Path(base.name).write_text(base.content, encoding="utf-8")
    fullpipe(*words, "-o", "c.json")
    again, first = (json.loads((folder / "c.json").read_text())["findings"] for folder in (Path(), tmp_path))
    assert again == first
