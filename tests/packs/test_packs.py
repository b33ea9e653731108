"""`fullpipe pack` and `fullpipe rerun`: a study in one file, its runs made again, and what is refused."""

import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import fullpipe as package
from fullpipe import Scenario, sweeps
from fullpipe.report.packs import archive
from fullpipe.report.packs.archive import LIST, Manifest, PackError
from fullpipe.report.packs.study import Study, read_me
from fullpipe.runs import Store
from fullpipe.runs.executor import jobs
from tests.own import brake, forget

Cli = Callable[..., Any]
SCENARIO = """
name = "study"
duration = "1 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
trace = "lte.down"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
name = "mine"
cca = "python:brake:Brake"
start_jitter = "10 ms"

[sweep]
"topology.bottleneck.queue.packets" = [10, 40]
"""
PLAIN = SCENARIO.replace('trace = "lte.down"', 'rate = "10 Mbit/s"').replace("python:brake:Brake", "cubic")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    forget("brake")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario, an algorithm and a recording, and their four runs in `runs`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "lte.down").write_text("".join(f"{ms}\n" for ms in range(1, 1001)), encoding="ascii")
    brake(tmp_path, 1.0)
    sweeps.run(jobs(Scenario.from_file("study.toml"), range(1, 3)), store=Store(tmp_path / "runs"))
    forget("brake")
    return tmp_path


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs of a scenario that rests on no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.toml").write_text(PLAIN, encoding="utf-8")
    sweeps.run(jobs(Scenario.from_file("plain.toml")), store=Store(tmp_path / "runs"))
    return tmp_path


def line(result: Any, status: int = 2) -> str:
    """The one line of an error."""
    assert result.exit_code == status, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    return str(result.stderr)


def elsewhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Go to an empty folder beside a study, in which nothing is found but the pack."""
    empty = folder.parent / f"{folder.name}-empty"
    empty.mkdir()
    (folder / "study.zip").rename(empty / "study.zip")
    monkeypatch.chdir(empty)
    return empty


def test_runs_with_an_algorithm_and_a_recording_are_equal_in_an_empty_folder(
    fullpipe: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fullpipe("pack", "runs").stdout == "study.zip: 4 runs, 2 files beside them\n"
    empty = elsewhere(monkeypatch, study)
    for file in ("brake.py", "lte.down", "study.toml"):
        (study / file).unlink()
    result = fullpipe("rerun", "study.zip", "--compare", "--allow-python", "--out", "again")
    assert result.exit_code == 0, result.output
    assert result.stdout == "4 of 4 runs are equal to those of study.zip, byte for byte\n"
    assert (empty / "again/files/brake.py").is_file()
    assert fullpipe("rerun", "study.zip", "--compare", "--allow-python", "--out", "again").exit_code == 0


def test_a_pack_without_tables_is_compared_by_checksums(
    fullpipe: Cli, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fullpipe("pack", "runs", "--no-runs")
    with archive.opened(Path("study.zip")) as pack:
        assert not pack.has("runs")
    elsewhere(monkeypatch, study)
    result = fullpipe("rerun", "study.zip", "--compare", "--allow-python")
    assert (result.exit_code, result.stdout.split()[:3]) == (0, ["4", "of", "4"])


def test_code_of_a_pack_needs_to_be_allowed(fullpipe: Cli, study: Path) -> None:
    fullpipe("pack", "runs")
    told = line(fullpipe("rerun", "study.zip", "--out", "again"))
    assert "python:brake:Brake" in told
    assert "--allow-python" in told
    assert not Path("again").exists()


def test_equal_studies_are_equal_files(fullpipe: Cli, study: Path) -> None:
    fullpipe("pack", "runs", "-o", "one.zip")
    fullpipe("pack", "runs", "-o", "other.zip")
    assert Path("one.zip").read_bytes() == Path("other.zip").read_bytes()


def test_a_run_is_packed_once(fullpipe: Cli, study: Path) -> None:
    fullpipe("report", "runs", "--out", "r.md")
    assert fullpipe("pack", "runs", "r.md").stdout == "study.zip: 4 runs, 2 files beside them\n"


def test_runs_that_are_not_made_are_not_compared(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs", "plain.toml", "--seeds", 2)
    result = fullpipe("rerun", "study.zip", "--compare", "--out", "again")
    assert result.exit_code == 0, result.output
    assert result.stdout == "2 of 2 runs are equal to those of study.zip, byte for byte\n"
    assert "no results of 4 other runs" in result.stderr


def test_two_stores_with_unlike_algorithms_of_one_name_are_refused(fullpipe: Cli, study: Path) -> None:
    (study / "old").mkdir()
    (study / "brake.py").rename(study / "old/brake.py")
    brake(study, 3.0)
    sweeps.run(jobs(Scenario.from_file("study.toml"), range(1, 3)), store=Store(study / "runs2"))
    forget("brake")
    told = line(fullpipe("pack", "runs", "runs2", "--look-in", "old"))
    assert "brake.py: the runs used different contents of this file" in told


def test_recordings_of_one_name_get_names_of_their_own(fullpipe: Cli, study: Path) -> None:
    """One is beside the study, the other in the folder above."""
    inner = study / "inner"
    inner.mkdir()
    (inner / "lte.down").write_text("".join(f"{ms}\n" for ms in range(2, 1001, 2)), encoding="ascii")
    text = PLAIN.replace('rate = "10 Mbit/s"', 'trace = "inner/lte.down"').replace("study", "inner")
    (study / "inner.toml").write_text(
        text.replace("inner/lte.down", str(inner / "lte.down")), encoding="utf-8"
    )
    sweeps.run(jobs(Scenario.from_file("inner.toml")), store=Store(study / "runs"))
    assert fullpipe("pack", "runs").stdout == "study.zip: 6 runs, 3 files beside them\n"
    result = fullpipe("rerun", "study.zip", "--compare", "--out", "again", "--allow-python")
    assert (result.exit_code, result.stdout.split()[:3]) == (0, ["6", "of", "6"])


def test_files_that_were_changed_after_unpacking_are_told(fullpipe: Cli, study: Path) -> None:
    fullpipe("pack", "runs")
    again = ("rerun", "study.zip", "--compare", "--out", "again", "--allow-python")
    assert fullpipe(*again).exit_code == 0
    (study / "again/files/lte.down").write_text("5\n", encoding="ascii")
    assert "has changed since it was unpacked" in line(fullpipe(*again))


def test_other_engines_run_if_they_are_named(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    listed(lambda tree: [run["engine"].update(name="linux") for run in tree["runs"]] and None)
    changed(lambda members: _renamed(members, "native-1", "linux-1"))
    assert "has runs of linux; add --engine linux" in line(fullpipe("rerun", "study.zip", "--out", "again"))


def _renamed(members: dict[str, bytes], old: str, new: str) -> None:
    for name in [name for name in members if f"/{old}/" in name]:
        members[name.replace(old, new)] = members.pop(name)
    members[LIST] = members[LIST].replace(f"/{old}/".encode(), f"/{new}/".encode())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_a_bound_is_refused(fullpipe: Cli, plain: Path, method: int) -> None:
    fullpipe("pack", "runs")
    with zipfile.ZipFile("study.zip") as before:
        members = {name: before.read(name) for name in before.namelist()}
    with zipfile.ZipFile("study.zip", "w", method) as after:
        for name, content in members.items():
            after.writestr(name, content)
    assert "has a compression that no pack has" in line(fullpipe("rerun", "study.zip"))


def test_a_pack_with_any_byte_changed_ends_in_one_line(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    whole = Path("study.zip").read_bytes()
    places = [
        *range(60),
        *range(len(whole) - 90, len(whole)),
        *range(60, len(whole) - 90, len(whole) // 60),
    ]
    for place in places:
        Path("bad.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with suppress(PackError), archive.opened(Path("bad.zip")) as pack:
            pack.extract("runs", plain / f"out{place}")


def test_a_file_that_changed_since_is_refused(fullpipe: Cli, study: Path) -> None:
    with (study / "lte.down").open("a", encoding="ascii") as file:
        file.write("1001\n")
    assert "lte.down: has changed since the runs were made" in line(fullpipe("pack", "runs"))
    assert not Path("study.zip").exists()


def test_a_file_that_is_not_there_is_named(fullpipe: Cli, study: Path) -> None:
    (study / "brake.py").rename(study / "away.py")
    assert "brake.py: the runs need this file" in line(fullpipe("pack", "runs"))


def test_a_file_is_looked_for_where_it_is_said(fullpipe: Cli, study: Path) -> None:
    (study / "there").mkdir()
    (study / "brake.py").rename(study / "there/brake.py")
    assert fullpipe("pack", "runs", "--look-in", "there").exit_code == 0


@pytest.mark.parametrize("ending", ["html", "md"])
def test_the_runs_of_a_report_are_packed(fullpipe: Cli, study: Path, ending: str) -> None:
    assert fullpipe("report", "runs", "--out", f"r.{ending}").exit_code == 0
    assert fullpipe("pack", f"r.{ending}").stdout == "study.zip: 4 runs, 2 files beside them\n"


COMPARE = ("compare", "plain.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", 2, "-o", "c.json")
TEST = ("test", "plain.toml", "--metric", "goodput", "--factor", "packets", "--seeds", 2, "-o", "c.json")


@pytest.mark.parametrize(("command", "runs"), [(COMPARE, 8), (TEST, 4)])
def test_the_runs_of_a_comparison_or_a_test_are_packed(
    fullpipe: Cli, plain: Path, command: tuple[object, ...], runs: int
) -> None:
    assert fullpipe(*command).exit_code in (0, 1)
    assert fullpipe("pack", "c.json").stdout == f"study.zip: {runs} runs, 0 files beside them\n"
    assert fullpipe("report", "c.json", "--out", "c.html").exit_code == 0
    assert fullpipe("pack", "c.html").stdout == f"study.zip: {runs} runs, 0 files beside them\n"


def test_a_report_that_names_no_runs_is_refused(fullpipe: Cli, plain: Path) -> None:
    Path("r.md").write_text("# Nothing\n", encoding="utf-8")
    assert "names no runs" in line(fullpipe("pack", "r.md"))


def test_a_scenario_is_packed_before_it_is_run(fullpipe: Cli, plain: Path) -> None:
    assert fullpipe("pack", "plain.toml", "--seeds", 2).stdout.startswith("study.zip: 4 runs, 0 files")
    assert "has no runs to compare with" in line(fullpipe("rerun", "study.zip", "--compare"))
    result = fullpipe("rerun", "study.zip", "--out", "again")
    assert (result.exit_code, result.stdout) == (0, "again: 4 runs made of study.zip\n")


def test_a_folder_with_something_else_is_not_written_to(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    assert "again: is not empty" in line(fullpipe("rerun", "study.zip", "--out", "runs")).replace(
        "runs", "again"
    )


def test_the_first_row_that_differs_is_named(fullpipe: Cli, plain: Path) -> None:
    """The pack has the tables of seed 1 under the name of seed 2."""
    made = Study()
    for run in Store(plain / "runs"):
        made.add_run(run, [plain], with_tables=True)
    made.runs[0] = made.runs[0].model_copy(update={"seed": 2})
    made._tables = {
        member.replace(f"{made.runs[0].digest}/native-1", f"{made.runs[0].digest}/native-2"): path
        for member, path in made._tables.items()
    }
    made.write(Path("study.zip"), read_me(made))
    result = fullpipe("rerun", "study.zip", "--compare", "--out", "again")
    assert result.exit_code == 1
    assert result.stdout.startswith("1 of 2 runs differ from those of study.zip\n")
    assert "table flows, column " in result.stdout
    assert ", row 1: " in result.stdout


def test_another_version_is_told(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs", "--no-runs")
    listed(lambda tree: tree.__setitem__("fullpipe", "0.0.1"))
    result = fullpipe("rerun", "study.zip", "--compare", "--out", "again")
    assert result.exit_code == 0
    assert "packed by fullpipe 0.0.1" in result.stderr


def changed(edit: Callable[[dict[str, bytes]], None]) -> None:
    """Change members of study.zip, with a list that names what is there."""
    with zipfile.ZipFile("study.zip") as before:
        members = {name: before.read(name) for name in before.namelist()}
    edit(members)
    with zipfile.ZipFile("study.zip", "w") as after:
        for name, content in members.items():
            after.writestr(name, content)


@pytest.mark.parametrize(
    "name", ["../out.py", "/out.py", "files/../../out.py", "files//x", "other/x", "files/a\\b"]
)
def test_a_path_that_leaves_the_folder_is_refused(fullpipe: Cli, plain: Path, name: str) -> None:
    fullpipe("pack", "runs")
    changed(lambda members: members.__setitem__(name, b"x"))
    assert "which no pack has" in line(fullpipe("rerun", "study.zip", "--out", "again"))
    assert not Path("again").exists()
    assert not archive.is_member(name)


def test_a_link_is_refused(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    with zipfile.ZipFile("study.zip", "a") as pack:
        link = zipfile.ZipInfo("files/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        pack.writestr(link, "/etc/passwd")
    assert "is a link" in line(fullpipe("rerun", "study.zip"))


def test_a_member_that_is_not_listed_is_refused(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    changed(lambda members: members.__setitem__("files/x.py", b"x"))
    assert "has files/x.py, which " in line(fullpipe("rerun", "study.zip"))


def test_a_member_that_is_missing_is_named(fullpipe: Cli, plain: Path) -> None:
    fullpipe("pack", "runs")
    changed(lambda members: members.pop("README.md") and None)
    assert "lacks README.md" in line(fullpipe("rerun", "study.zip"))


def test_a_changed_member_is_damaged(fullpipe: Cli, study: Path) -> None:
    fullpipe("pack", "runs")
    changed(lambda members: members.__setitem__("files/lte.down", b"5\n"))
    told = line(fullpipe("rerun", "study.zip", "--out", "again", "--allow-python"))
    assert "files/lte.down is damaged" in told


def test_what_is_unpacked_has_bounds(fullpipe: Cli, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fullpipe("pack", "runs")
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    assert "which no pack has" in line(fullpipe("rerun", "study.zip"))


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_pack_is_refused(fullpipe: Cli, plain: Path, content: bytes) -> None:
    Path("study.zip").write_bytes(content)
    assert "is not a pack" in line(fullpipe("rerun", "study.zip"))


def test_a_file_that_is_not_there_is_refused(fullpipe: Cli, plain: Path) -> None:
    assert "study.zip: no such file" in line(fullpipe("rerun", "study.zip"))


def listed(edit: Callable[[dict[str, Any]], None]) -> None:
    """Change the list of study.zip."""

    def change(members: dict[str, bytes]) -> None:
        tree = json.loads(members[LIST])
        edit(tree)
        members[LIST] = json.dumps(tree).encode()

    changed(change)


@pytest.mark.parametrize(
    "scenario",
    [
        {"base": "/etc/passwd"},
        {
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"trace": {"file": "/etc/hostname"}, "delay": "1 ms"},
            }
        },
        {"topology": {"kind": "dumbbell", "bottleneck": {"trace": {"file": "../lte.down"}, "delay": "1 ms"}}},
    ],
)
def test_a_scenario_of_a_pack_reads_files_of_the_pack_only(
    fullpipe: Cli, study: Path, scenario: dict[str, Any]
) -> None:
    fullpipe("pack", "runs")
    listed(lambda tree: tree["scenarios"][0].update(scenario))
    result = fullpipe("rerun", "study.zip", "--out", "again", "--allow-python")
    assert "study.zip: " in line(result)


def test_modules_of_a_pack_are_not_found_unless_allowed(fullpipe: Cli, plain: Path) -> None:
    import sys

    fullpipe("pack", "plain.toml")
    before = list(sys.path)
    assert fullpipe("rerun", "study.zip", "--out", "again").exit_code == 0
    assert sys.path == before


@pytest.mark.parametrize(
    "edit",
    [
        lambda tree: tree.__setitem__("format", 2),
        lambda tree: tree.__setitem__("runs", 3),
        lambda tree: tree["runs"][0].__setitem__("scenario", 99),
        lambda tree: tree["runs"][0].__setitem__("seed", -1),
        lambda tree: tree["runs"][0].__setitem__("digest", "../../x"),
        lambda tree: tree["runs"][0]["engine"].__setitem__("name", "../x"),
        lambda tree: tree.__setitem__("scenarios", [{}]),
        lambda tree: tree.__setitem__("more", 1),
    ],
)
def test_a_list_that_is_none_is_refused(
    fullpipe: Cli, plain: Path, edit: Callable[[dict[str, Any]], None]
) -> None:
    fullpipe("pack", "runs")
    listed(edit)
    result = fullpipe("rerun", "study.zip", "--out", "again")
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def test_the_list_says_with_what_the_runs_were_made(fullpipe: Cli, study: Path) -> None:
    fullpipe("pack", "runs")
    with zipfile.ZipFile("study.zip") as pack:
        found = Manifest.from_json(pack.read(LIST), "study.zip")
        text = pack.read("README.md").decode()
    assert {name for name in found.files if name.startswith("files/")} == {"files/brake.py", "files/lte.down"}
    assert found.fullpipe.startswith(package.__version__)
    assert {run.engine.name for run in found.runs} == {"native"}
    assert "fullpipe rerun FILE --compare --out again --allow-python" in text
    assert os.sep + "tmp" not in text
