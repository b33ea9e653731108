"""`fullpipe fit`: lines found again from logs with noise, and what cannot be known."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import fullpipe as library
from fullpipe import Scenario
from fullpipe.analysis.export import flent
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.twin import twin_of
from fullpipe.scenario import resolve
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.validation.fit import Fitted, fit
from fullpipe.validation.fit.read import read
from tests.fit import lines, score

Cli = Callable[..., Any]
RATE, RTT, BUFFER = (score.WITHIN[what] for what in ("rate", "RTT", "buffer"))
HELD_OUT = 4052
"""The seed of ten lines at which no constant was looked at."""
KINDS = ("wired", "cross", "wifi", "flent", "wired", "cross", "wired", "wifi", "cross", "flent")


def scenario_values(found: Fitted) -> dict[str, tuple[float, float]]:
    """Rate and wait in a full buffer by way, as the scenario has them."""
    values: dict[str, tuple[float, float]] = {}
    for way, link in zip(("down", "up"), resolve(found.scenario).links[:2], strict=True):
        assert link.rate_bps is not None
        limit = link.queue.limit_bytes if isinstance(link.queue, DropTail) else None
        values[way] = (link.rate_bps, (limit or 0) * 8 / link.rate_bps)
    return values


@pytest.mark.parametrize(
    "line", score.drawn(HELD_OUT, 10, KINDS), ids=lambda line: f"{line.kind} {line.seed}"
)
def test_a_line_is_found_again_from_its_logs_alone(tmp_path: Path, line: lines.Line) -> None:
    files, truth = lines.write(line, tmp_path)
    found = fit(read(files))
    assert found.rtt_s == pytest.approx(truth.rtt_s, rel=RTT)
    for way, (rate_bps, buffer_s) in scenario_values(found).items():
        if way in truth.rates_bps:
            assert rate_bps == pytest.approx(truth.rates_bps[way], rel=RATE)
            assert buffer_s == pytest.approx(truth.buffers_s[way], rel=BUFFER)


def test_most_lines_drawn_at_random_are_found_again(cases: Callable[[int], int]) -> None:
    drawn, off = score.drawn(1008, max(cases(40), 10), KINDS), 0
    for line, measured, truth in score.logs(drawn):
        found = fit(measured)
        assert found.ways.keys() == truth.rates_bps.keys()
        off += not all(one.is_within for one in score.offs(line, found, truth))
    assert off <= 0.1 * len(drawn)


def test_of_small_buffers_nothing_wrong_is_said_to_be_known(
    tmp_path: Path, cases: Callable[[int], int]
) -> None:
    chance, limited, unknown = random.Random(1009), 0, 0
    for number in range(max(cases(40), 10)):
        line = lines.draw(chance, "small")
        folder = tmp_path / str(number)
        folder.mkdir()
        files, truth = lines.write(line, folder)
        for way, of in fit(read(files)).ways.items():
            assert of.buffer.is_least
            assert of.buffer.least_s <= truth.buffers_s[way]
            if of.buffer.most_s is not None:
                limited += 1
                assert truth.buffers_s[way] <= of.buffer.most_s
            unknown += of.is_least_rate
            if not of.is_least_rate:
                assert of.rate_bps == pytest.approx(truth.rates_bps[way], rel=RATE)
    assert limited
    assert unknown


def wired(queue: object, folder: Path, **values: Any) -> tuple[list[Path], library.Run]:
    """The logs of a download over 20 Mbit/s and 40 ms."""
    line = replace(lines.draw(random.Random(3), "wired"), cca="cubic", ways=("down",), rates_as="iperf3")
    line = replace(line, pings_as="iputils", ping_s=0.2, **values)
    link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": queue}
    topology = {"kind": "dumbbell", "bottleneck": link}
    duration = f"{lines.IDLE_S + lines.LOAD_S + lines.GAP_S} s"
    record = {"interval": "100 ms"}
    flows = lines.flows_of(line)
    run = library.run(Scenario(name="x", duration=duration, topology=topology, flows=flows, record=record))
    return lines.logs_of(line, run, folder), run


@pytest.mark.parametrize("queue", ["fq_codel", "cake"])
def test_queues_per_flow_are_told_from_a_buffer(tmp_path: Path, queue: str) -> None:
    files, _ = wired(queue, tmp_path)
    found = fit(read(files))
    assert found.ways["down"].buffer.is_least
    assert any(line.startswith("buffer, down: pings took no longer under load") for line in found.unknown)
    assert found.scenario.to_dict()["topology"]["bottleneck"]["queue"]["kind"] == "fq_codel"


@pytest.mark.parametrize("queue", ["codel", "pie", {"size": "10 ms"}])
def test_a_managed_queue_and_a_small_buffer_are_not_told_apart(tmp_path: Path, queue: object) -> None:
    found = fit(read(wired(queue, tmp_path)[0]))
    (line,) = [line for line in found.unknown if line.startswith("buffer, down")]
    assert "managed queue" in line


def test_an_algorithm_that_keeps_queues_short_shows_no_buffer(tmp_path: Path) -> None:
    found = fit(read(wired({"size": "200 ms"}, tmp_path, cca="vegas")[0]))
    assert any("buffer, down: vegas may keep queues short" in line for line in found.unknown)
    assert found.ways["down"].buffer.wait_s is None


def test_of_streams_both_ways_at_once_it_says_what_a_twin_does(tmp_path: Path) -> None:
    path = path_of(Scenario.named("dsl"))
    run = library.run(scenario_of(declared("rrul"), path, Choices(("cubic",), length_s=20)))
    file = tmp_path / "rrul.flent.gz"
    file.write_bytes(flent(run))
    twin, found = twin_of(read_test(file), file), fit(read([file]))
    links, same = resolve(found.scenario).links[:2], resolve(twin.scenario).links[:2]
    assert [link.rate_bps for link in links] == [link.rate_bps for link in same]
    assert {line for line in twin.unknown if line.startswith("rate")} <= {*found.unknown}
    for _, buffer_s in scenario_values(found).values():
        assert buffer_s == pytest.approx(0.5, rel=BUFFER)
    assert not any("wait of pings without the noise" in line for line in found.guessed + found.unknown)


def test_scores_are_those_of_the_measured_line(tmp_path: Path) -> None:
    files, run = wired({"size": "150 ms"}, tmp_path)
    of = fit(read(files)).ways["down"]
    begin_s, end_s = lines.IDLE_S, lines.IDLE_S + lines.LOAD_S
    loaded = [
        rtt for t, rtt in run.probes.select("time_s", "rtt_s").iter_rows() if begin_s <= t < end_s and rtt
    ]
    assert of.increase_s == pytest.approx(sum(loaded) / len(loaded) - 0.04, rel=0.05)
    assert of.grade == "C"
    assert of.rpm == pytest.approx(library.metrics.responsiveness(loaded), rel=0.05)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs whose pings are all of the busy line."""
    files, _ = wired({"size": "150 ms"}, tmp_path_factory.mktemp("busy"))
    kept = [line for line in files[0].read_text().splitlines() if "icmp_seq" in line][100:300]
    files[0].write_text("\n".join(["PING x", *kept]))
    return files


def test_without_idle_pings_the_rtt_is_known_from_above(busy: list[Path]) -> None:
    found = fit(read(busy))
    assert any("ms at most: no ping is known to be of the idle line" in line for line in found.unknown)


def test_without_idle_pings_there_is_no_latency_increase_and_no_grade(
    fullpipe: Cli, busy: list[Path]
) -> None:
    done = fullpipe("fit", *map(str, busy), "-o", "mine.toml")
    assert "down: latency increase unknown, as no ping is known to be from the idle line, " in done.stdout
    told = json.loads(fullpipe("fit", *map(str, busy), "--json").stdout)["ways"]["down"]
    assert (told["latency_increase_s"], told["grade"]) == (None, None)
    assert told["responsiveness"] > 0


def test_the_command_writes_a_scenario_that_runs(fullpipe: Cli, tmp_path: Path) -> None:
    files, _ = wired({"size": "150 ms"}, tmp_path)
    done = fullpipe("fit", *map(str, files), "-o", "mine.toml")
    assert done.exit_code == 0, done.stderr
    assert "round trips per minute" in done.stdout
    assert "# not known: rate and buffer, up" in done.stdout
    text = Path("mine.toml").read_text()
    assert text.startswith("# guessed: ")
    scenario = Scenario.from_file("mine.toml")
    assert scenario.name == "mine"
    assert {flow.name for flow in scenario.flows} == {"download", "upload", "ping"}
    told = json.loads(fullpipe("fit", *map(str, files), "--json").stdout)
    assert told["ways"]["down"]["is_known"] is True
    assert told["ways"]["down"]["grade"] == "C"
    assert Scenario.from_toml(fullpipe("fit", *map(str, files)).stdout).name == "line"
    assert fullpipe("run", "mine.toml", "--set", "duration=6 s", "--out", "lab").exit_code == 0
