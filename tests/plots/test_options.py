"""Options of `fullpipe plot`: each says something of the figure, or is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from fullpipe import Scenario, sweep
from fullpipe.cli import app
from fullpipe.cli.commands import load
from fullpipe.cli.plot import ALWAYS, ONE_RUN, OPTIONS
from fullpipe.cli.plot_drawn import Kind
from tests.quick_figures import make_figures_quick


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options") / "runs"
    short = {"duration": "2 s", "warmup": "0 s", "record.interval": "200 ms"}
    sweep(Scenario.named("cubic-vs-bbr1").with_values(short), (1, 2), out=folder)
    return folder


def plotted(folder: Path, out: Path, *words: str) -> Result:
    runs = (
        [str(folder)] if "--kind" in words or "--metric" in words else [str(next(folder.glob("*/native-1")))]
    )
    return CliRunner().invoke(app, ["plot", *runs, "--out", str(out), *words])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "--kind box --flow cubic-1",
            "--flow goes with --kind pauses, sequence, phase or rates or with runs over time, not with --kind"
            " box; --of chooses a group of flows",
        ),
        ("--metric goodput --flow cubic-1", "not with --kind lines; --of chooses a group of flows"),
        ("--metric goodput --var cwnd", "--var goes with runs over time, not with --kind lines"),
        ("--kind rates --quantity rtt", "--quantity goes with runs over time, not with --kind rates"),
        ("--colour cca", "--colour goes with --kind lines, delay, cdf, box, ecdf, violin or means,"),
        ("--of cubic-1", "not with runs over time; name a --kind"),
        ("--kind lines --y size", "--y goes with --kind heatmap or delay, not with --kind lines"),
        ("--kind lines --x-of cubic-1", "--x-of goes with --kind delay, not with --kind lines"),
        ("--kind heatmap --colour size", "not with --kind heatmap; --panel tells runs apart"),
        ("--kind cdf --x size", "not with --kind cdf; --colour and --panel tell runs apart"),
        ("--kind cdf --log y", "--log y goes with --kind lines, delay, box, violin or means,"),
        ("--kind means --log x", "--log x goes with --kind lines, delay, cdf or ecdf,"),
        ("--kind heatmap --log none", "not with --kind heatmap"),
        ("--kind pauses --where size=1", "not with --kind pauses"),
        ("--kind phase --metric goodput", "not with --kind phase"),
        ("--quantity rtt --var cwnd", "--quantity excludes --var"),
    ],
)
def test_what_would_say_nothing_is_refused_in_a_line(
    words: str, told: str, store: Path, tmp_path: Path
) -> None:
    found = plotted(store, tmp_path / "figures", *words.split())
    assert found.exit_code == 2
    (line,) = found.output.splitlines()
    assert line.startswith("fullpipe: --")
    assert told in line
    assert not (tmp_path / "figures").exists()


def test_a_file_has_no_second_name(store: Path, tmp_path: Path) -> None:
    found = plotted(store, tmp_path / "it.svg", "--name", "other")
    assert found.exit_code == 2
    assert found.output == "fullpipe: --name needs a folder as --out, but --out is a file; leave out --name\n"


def test_names_have_no_logarithmic_axis(store: Path, tmp_path: Path) -> None:
    found = plotted(store, tmp_path, "--kind", "lines", "--x", "flows", "--panel", "size", "--log", "x")
    assert found.exit_code == 2
    assert "the axis has names" in " ".join(found.output.split())


def test_every_option_is_declared() -> None:
    declared = {option.partition("=")[0] for options in OPTIONS.values() for option in options}
    there = {param.opts[0] for param in load("plot").params if param.param_type_name == "option"} - {"--help"}
    assert declared | set(ALWAYS) == there
    assert set(OPTIONS) == {None, *Kind}


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in ONE_RUN])
def test_what_goes_with_a_kind_over_many_runs_is_taken(
    kind: Kind, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch)
    values = {
        "--metric": "goodput",
        "--x": "rtt_mean" if kind == Kind.DELAY else "size",
        "--y": "goodput" if kind == Kind.DELAY else "flows",
        "--colour": "flows",
        "--panel": "size",
        "--where": "engine=native",
        "--width": "ieee-column",
        "--label": "size=buffer",
        "--xlabel": "below",
        "--ylabel": "beside",
        "--log": "none",
    }
    taken = {option.partition("=")[0] for option in (*ALWAYS, *OPTIONS[kind])} & set(values)
    taken -= {"--metric"} if kind == Kind.DELAY else set()  # which is another word for its --y
    words = [word for option in sorted(taken) for word in (option, values[option])]
    found = plotted(store, tmp_path, "--kind", kind, *words)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("kind", ["cdf", "ecdf"])
def test_the_axis_of_shares_can_be_called_otherwise(kind: str, store: Path, tmp_path: Path) -> None:
    plotted(store, tmp_path / "a.svg", "--kind", kind, "--colour", "size")
    plotted(store, tmp_path / "b.svg", "--kind", kind, "--colour", "size", "--ylabel", "of all")
    drawn = [(tmp_path / name).read_bytes() for name in ("a.svg", "b.svg")]
    assert drawn[0] != drawn[1]


def test_a_flow_can_be_chosen_over_time(store: Path, tmp_path: Path) -> None:
    found = plotted(store, tmp_path, "--flow", "cubic-1", "--name", "it", "--quantity", "goodput")
    assert found.exit_code == 0, found.output
    assert pl.read_csv(tmp_path / "it.csv")["actor"].n_unique() == 1
