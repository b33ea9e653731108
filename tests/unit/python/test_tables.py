"""Tables on a terminal of 80 columns: numbers stay whole, and nothing is cut off."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """
name = "long-names-and-large-numbers"
duration = "300 ms"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "40 Gbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", packets = 1000 }
[[flows]]
name = "download-from-the-server-in-the-basement"
cca = "cubic"
[[flows]]
cca = "da_bbr"
count = 2
[[flows]]
name = "telephone-call-to-grandmother"
workload = { kind = "voip" }
"""

Cli = Callable[..., Any]


@pytest.fixture
def told(fullpipe: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command says of this scenario."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "long.toml").write_text(SCENARIO, encoding="utf-8")

    def say(command: str, *words: str) -> str:
        text: str = fullpipe(command, *words).stdout
        prose = re.compile(
            "warning: |kept in |.* is left out, |the same at every point, as shown: |of [a-z]+ alone, "
        )
        tables = [line for line in text.splitlines() if not prose.match(line)]
        assert tables
        assert all(len(line) <= 80 and "…" not in line for line in tables)
        return text

    return say


def test_a_run_has_whole_names_and_numbers(told: Callable[..., str]) -> None:
    lines = told("run", "long.toml").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("download"))
    last = next(i for i, line in enumerate(lines) if line.startswith("da_bbr-1"))
    assert (
        "".join(line.split()[0] for line in lines[first:last]) == "download-from-the-server-in-the-basement"
    )


def test_metrics_have_as_many_columns_as_fit(told: Callable[..., str]) -> None:
    told("run", "long.toml")
    text = told("metrics", *map(str, Path("runs").glob("*/native-1")))
    assert text.count("\nretransmission_rate") == 2
    assert "server-in-the-" in text


def test_a_sweep_has_whole_names_and_numbers(told: Callable[..., str]) -> None:
    swept = 'sweep={"topology.bottleneck.queue" = [{kind = "drop_tail", packets = 9}, {kind = "fq_codel"}]}'
    text = told("run", "long.toml", "--set", swept)
    assert "\n\nlong-names-and-large-numbers, 0.3 s, engine native\n" in text
    assert "\ndrop_tail 9 all flows " in text
    assert "\nfq_codel    all flows " in text


def test_a_comparison_has_whole_numbers(told: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    from fullpipe import engines
    from fullpipe.engines.native import NativeEngine
    from fullpipe.validation.compare import MARGINS

    class Twin(NativeEngine):
        name = "twin"

    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "twin": Twin})
    shown = [word for metric in MARGINS for word in ("--metric", metric)]
    text = told("compare", "long.toml", "--engines", "native,twin", "--seeds", "2", "--all", *shown)
    assert " retransmission_rate " in text


@pytest.mark.parametrize("kind", ["ccas", "queues", "scenarios", "papers", "engines", "tables"])
def test_lists_fit(told: Callable[..., str], kind: str) -> None:
    told("list", kind)


@pytest.mark.parametrize("name", ["red", "ad_bbr", "series"])
def test_what_is_shown_fits(told: Callable[..., str], name: str) -> None:
    told("show", name)
