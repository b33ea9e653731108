"""Every command makes the folder of the file that it writes, and one function writes it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Scenario, files
from fullpipe.analysis.export import flent as as_flent
from fullpipe.cli import app
from fullpipe.sweeps import jobs

LINE = """
name = "line"
duration = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "5 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", packets = 20 }
[[flows]]
cca = "cubic"
start_jitter = "50 ms"
[[flows]]
name = "ping"
workload = { kind = "ping" }
[sweep]
"topology.bottleneck.delay" = ["5 ms", "6 ms"]
"""
SUITE = """
scenarios = ["line.toml"]
seeds = 2
[metrics]
goodput = "2 %"
"""
OVER = "--over topology.bottleneck.rate=5Mbit/s,6Mbit/s"
COMMANDS = [
    "check suite.toml --seeds 2 --out own --keep {new}/base.json",
    f"compare line.toml {OVER} --seeds 2 --out own -o {{new}}/it.json",
    "compare line.toml --seeds 2 --out own --baseline {new}/base.json",
    "conformance bbr3 --only A.14 --junit {new}/it.xml",
    "export {run} -o {new}/it.flent.gz",
    "flent tcp_1up --length 1s --out own -o {new}/it.flent.gz",
    "import-tc 'tc qdisc add dev eth0 root pie' -o {new}/it.toml",
    "init {new}/it.toml --no-schema",
    "pack runs --no-runs -o {new}/it.zip",
    "plot {run} --quantity goodput --out {new}/it.svg",
    "report runs -o {new}/it.md",
    "schema -o {new}/it.json",
    "test runs --metric goodput --factor delay -o {new}/it.json",
    "trace convert trace.csv {new}/it.down",
    "twin measured.flent.gz -o {new}/it.toml",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of a scenario, a suite, a trace, and a file that Flent opens."""
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "line.toml").write_text(LINE, encoding="utf-8")
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")
    (folder / "trace.csv").write_text("time_s,rate_bps\n0,1000000\n1,2000000\n2,2000000\n", encoding="utf-8")
    for job in jobs(Scenario.from_file(folder / "line.toml"), (1, 2)):
        run = fullpipe.run(job.scenario, seed=job.seed, out=folder / "runs")
    (folder / "measured.flent.gz").write_bytes(as_flent(run))
    return folder


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: " ".join(line.split()[:1]))
def test_a_command_makes_the_folder_of_its_file(
    line: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    run = next(place.glob("runs/*/native-1")).relative_to(place)
    words = shlex.split(line.format(new=tmp_path / "not" / "there", run=run))
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    [written, *_] = sorted((tmp_path / "not" / "there").iterdir())
    assert written.stat().st_size > 0


def test_a_folder_that_cannot_be_made_is_one_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for line in ("schema -o line.toml/it.json", "pack runs -o line.toml/it.zip", "init line.toml/a/it.toml"):
        made = CliRunner().invoke(app, line.split())
        assert made.exit_code != 0
        said = f"fullpipe: {line.split()[-1]}: cannot be written: Not a directory\n"
        assert made.stderr.endswith(said), made.output


def test_no_command_writes_a_file_by_itself() -> None:
    """`fullpipe.files` writes what a person names: folders are made, and no file is ever half."""
    root = Path(files.__file__).parent
    found = [
        f"{file.relative_to(root)}: {call}"
        for part in ("cli", "plots", "report", "validation", "studies", "analysis")
        for file in (root / part).rglob("*.py")
        for call in re.findall(r"\w+\.(?:write_text|write_bytes|savefig)\(", file.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == ["cli/export.py: trace_files.write_bytes(", "plots/style.py: figure.savefig("]
