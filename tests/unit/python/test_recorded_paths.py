"""Recorded paths of two levels (CellReplay), what a run delivered as a trace, and public recordings."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullpipe import Run, Scenario, ScenarioError, run
from fullpipe.analysis.export import deliveries
from fullpipe.engines.native.plan import plan
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.scenario.traces import (
    TraceError,
    from_deliveries,
    mahimahi,
    parse_delays,
    parse_mahimahi,
    parse_trains,
)
from fullpipe.scenario.traces.files import MAX_DELAYS, MAX_FILE_BYTES

Cli = Callable[..., Any]
HEAVY = b"".join(b"%d\n" % n for n in range(1, 1001))  # 1,400 bytes every millisecond
LIGHT = b"".join(b"%d 20 0 5 10 15\n" % at for at in range(0, 1001, 100))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t: is empty"),
        (LIGHT[: len(LIGHT) // 2], "t:6: is truncated: the last line has no line break"),
        (b"0 20 0\n5\n", 't:2: "5" is not a time, a delay and offsets'),
        (b"0 20 0\n\n", 't:2: "" is not a time'),
        (b"0 nan 0\n", 't:1: "0 nan 0" is not a time'),
        (b"0 20 0\n9 -3 0\n", 't:2: "9 -3 0" is not a time'),
        (b"0 20  0\n", 't:1: "0 20  0" is not a time'),
        (b"0 20 0\r\n9 20 0\r\n", "t:1: "),
        (b"9 20 0\n5 20 0\n", "t:2: 5 is before the line above it"),
        (b"0 20 0 7 6\n5 20 0\n", "t:1: offset 6 is smaller than the offset to its left"),
        (b"0 20 0\n8 2 1 0\n", "t:2: offset 0 is smaller than"),
        (b"0 20 0\n", "t:1: has no duration"),
        (b"0 20 0\n3600000 20 0\n", "t:2: 3600000 comes an hour or more after"),
        (b"0 20 0\n10 9999999999 0\n", "t:2: a delay of 9999999999 ms is more than an hour"),
        (b"0 20 0\n99999999999 20 0\n", 't:2: "99999999999 20 0" is not'),
    ],
)
def test_bad_trains_are_one_error_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_trains(data, "t")
    assert str(error.value).startswith(message)
    assert len(error.value.problems) == 1


@pytest.mark.parametrize("line", [b"1 ", b"1 2\n", b"0 9999999999 0\n", b"\n", b"1"])
def test_the_largest_file_is_refused_in_little_memory(line: bytes) -> None:
    data = line * (MAX_FILE_BYTES // len(line))
    tracemalloc.start()
    with pytest.raises(TraceError):
        parse_trains(data, "x")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200_000_000


def test_a_pause_of_an_hour_is_two_recordings() -> None:
    with pytest.raises(TraceError, match="t:2: 3600001 comes an hour or more after the line above it"):
        parse_mahimahi(b"1\n3600001\n", "t")
    assert parse_mahimahi(b"1\n3600000\n").period_s == 3600


SCENARIO = """
name = "two-levels"
duration = "10 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
delay = "1 ms"
queue = { kind = "drop_tail", packets = 200 }
trace = { file = "heavy", light = "light" }
[topology.reverse]
delay = "1 ms"
[tcp]
mss = "1344 B"
link_overhead = "4 B"
[[flows]]
cca = "cubic"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "heavy").write_bytes(HEAVY)
    (tmp_path / "light").write_bytes(LIGHT)
    return tmp_path


def scenario(folder: Path, *changes: tuple[str, str]) -> Scenario:
    text = SCENARIO
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    return Scenario.from_file(folder / "scenario.toml")


def test_trains_are_part_of_the_plan_of_the_digest_and_of_the_delay(folder: Path) -> None:
    found = scenario(folder)
    link = plan(found)["links"][0]
    assert link["opportunities"]["bytes"] == 1400
    assert link["opportunities"]["light"]["trains"][1] == [100, 20, 0, 5, 10, 15]
    assert link["delay_ns"] == 1_000_000  # trains have their own
    assert Scenario.from_toml(found.to_toml()) == found
    sized = plan(scenario(folder, ("packets = 200", 'size = "1 bdp"')))["links"][0]
    assert sized["queue"]["packets"] == pytest.approx(0.022e3, abs=1)  # 11.2 Mbit/s, 22 ms, 1,400 bytes
    (folder / "light").write_bytes(LIGHT.replace(b" 20 ", b" 21 "))
    assert scenario(folder).digest != found.digest


def test_who_keeps_the_path_busy_gets_the_busy_path_and_who_begins_gets_a_train(folder: Path) -> None:
    busy = run(scenario(folder, ('"10 s"', '"10 s"\nwarmup = "2 s"'))).flows["goodput_bps"][0]
    assert busy == pytest.approx(1344 * 8e3, rel=0.005)

    paced = ('cca = "cubic"', 'workload = { kind = "ping", interval = "50 ms" }')
    found = run(scenario(folder, paced)).flows
    assert found["rtt_min_s"][0] == pytest.approx(0.022, abs=1e-4)


def test_short_transfers_are_slower_than_over_the_trace_alone(folder: Path) -> None:
    transfer = ('cca = "cubic"', 'cca = "cubic"\nsize = "20 kB"')
    alone = ('light = "light"', 'opportunity = "1400 B"'), ('delay = "1 ms"\nqueue', 'delay = "21 ms"\nqueue')
    times = [run(scenario(folder, transfer, *more)).flows["fct_s"][0] for more in ((), alone)]
    assert times[0] > 1.1 * times[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('file = "heavy"', 'file = "steps.csv", kind = "csv"'),
            "light: only with a packet-delivery trace",
        ),
        (('light = "light"', 'light = "none"'), "no such file"),
        (('light = "light"', 'light = { file = "light", idle = "-1 s" }'), "idle"),
        (('light = "light"', 'light = "heavy"'), "is not a time, a delay and offsets"),
    ],
)
def test_what_is_wrong_with_trains_names_path_and_file(
    folder: Path, change: tuple[str, str], message: str
) -> None:
    (folder / "steps.csv").write_text("time_s,rate_bps\n0,1000000\n1,1000000\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=message) as error:
        scenario(folder, change)
    assert str(error.value).startswith("topology.bottleneck.trace")
    assert len(error.value.problems) == 1


@pytest.mark.parametrize("name", ["heavy", "light"])
def test_a_half_of_what_was_recorded_together_is_refused(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: whole.index(b"\n", len(whole) // 2) + 1])
    with pytest.raises(ScenarioError, match="the shorter file is incomplete") as error:
        scenario(folder)
    assert len(error.value.problems) == 1


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        (
            "heavy",
            b"1\n3600002\n",
            "topology.bottleneck.trace: heavy:2: 3600002 comes an hour or more after the line above it",
        ),
        ("light", LIGHT[: len(LIGHT) // 2], "topology.bottleneck.trace.light: light:6: is truncated: "),
        ("heavy", HEAVY[: len(HEAVY) // 2], "topology.bottleneck.trace: heavy:"),
    ],
    ids=["a gap of an hour", "trains cut in half", "opportunities cut in half"],
)
def test_a_bad_recording_ends_a_command_with_one_line(
    fullpipe: Cli, name: str, data: bytes, told: str
) -> None:
    Path("heavy").write_bytes(HEAVY)
    Path("light").write_bytes(LIGHT)
    Path(name).write_bytes(data)
    Path("scenario.toml").write_text(SCENARIO, encoding="utf-8")
    for command in ("run", "show"):
        done = fullpipe(command, "scenario.toml")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(f"fullpipe: {told}"), done.stderr


def test_deliveries_become_opportunities_when_their_bytes_have_come() -> None:
    trace = from_deliveries([0.0004, 0.001, 0.0021, 0.0021], [1504, 800, 1504, 1504])
    assert trace.times_ms.tolist() == [1, 3, 3]
    with pytest.raises(TraceError, match="fill 0 delivery opportunities"):
        from_deliveries([1.0], [100])


CELL = {
    "name": "cell",
    "duration": "6 s",
    "warmup": "1 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"cell": "home"}, "access": {"delay": "10 ms"}},
    "cells": [
        {
            "name": "home",
            "kind": "wifi",
            "standard": "802.11ac",
            "width": "20 MHz",
            "stations": [{"node": "laptop", "rate": {"mcs": 4}, "errors": 0.05}],
        }
    ],
    "flows": [{"cca": "cubic", "station": "laptop"}],
}


@pytest.fixture(scope="module")
def recorded() -> Run:
    """A busy Wi-Fi cell."""
    cell = Scenario(**CELL)
    port = plan(cell)["media"][0]["ports"][0]["name"]
    return run(cell.with_values({"record.packets": [port]}))


def replayed(folder: Path, trace: bytes, **flow: Any) -> Run:
    (folder / "cell.down").write_bytes(trace)
    return run(
        Scenario(
            name="replayed",
            duration="6 s",
            warmup="1 s",
            topology={
                "kind": "dumbbell",
                "bottleneck": {
                    "delay": "0 ms",
                    "trace": {"file": str(folder / "cell.down")},
                    "queue": {"kind": "drop_tail", "packets": 1000},
                },
                "reverse": {"delay": "0 ms"},
                "access": {"delay": "5 ms"},  # at both ends; a cell has it at one
            },
            tcp={"link_overhead": "4 B"},
            flows=[{"cca": "cubic", **flow}],
        )
    )


def test_a_bulk_flow_gets_from_a_cells_trace_what_it_got_from_the_cell(recorded: Run, tmp_path: Path) -> None:
    found = replayed(tmp_path, deliveries(recorded))
    assert found.flows["goodput_bps"][0] == pytest.approx(recorded.flows["goodput_bps"][0], rel=0.005)


def test_what_a_run_did_not_capture_is_no_trace(recorded: Run) -> None:
    with pytest.raises(UnknownNameError, match='unknown link or port with captured packets "bottleneck"'):
        deliveries(recorded, "bottleneck")
    ends = run(recorded.scenario.with_values({"record.packets": ["sender"], "duration": "2 s"}))
    with pytest.raises(ResultError, match="no deliveries to export"):
        deliveries(ends)


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A public set of two files in a folder of this machine."""
    content = b"1\n2\n"
    identity = hashlib.sha1(b"blob 4\0" + content, usedforsecurity=False).hexdigest()
    known = (
        mahimahi.Fetchable("made/one.up", "one.up", identity, 4),
        mahimahi.Fetchable("made/two.up", "two.up", identity, None),
    )
    sets = (
        mahimahi.PublicSet("made", "two lines", "CC0", "https://made.invalid", known),
        mahimahi.PublicSet("other", "more", "none stated", "https://other.invalid", ()),
    )
    (tmp_path / "one.up").write_bytes(content)
    monkeypatch.setattr(mahimahi, "RAW", tmp_path.as_uri())
    monkeypatch.setattr(mahimahi, "public_sets", lambda: sets)
    return tmp_path


def test_a_public_recording_is_fetched_with_its_licence_and_checked(published: Path, fullpipe: Cli) -> None:
    done = fullpipe("trace", "fetch", "made/one.up", "-o", "here.up")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "made/one.up, 4 bytes: two lines", "licence: CC0", "https://made.invalid", "here.up"
    ]  # fmt: skip
    assert Path("here.up").read_bytes() == b"1\n2\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("made/two.up", None, "check the network, and repeat the command"),
        ("made/two.up", b"1\n3\n", "is not the file with the Git blob ID"),
        ("made/one.up", b"1\n2", "got 3 bytes instead of the listed 4 bytes"),
        ("made/one.up", b"1\n2\n3\n", "longer than 4 bytes"),
        ("made", None, "made: has 2 files; name a file, such as made/one.up"),
        (
            "other",
            None,
            "other: has no single files to fetch; see https://other.invalid, licence: none stated",
        ),
        ("mad", None, 'unknown recording "mad"'),
    ],
)
def test_what_cannot_be_fetched_is_one_line_and_keeps_nothing(
    published: Path, fullpipe: Cli, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (published / name.removeprefix("made/")).write_bytes(content)
    done = fullpipe("trace", "fetch", name, "-o", "here.up")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not Path("here.up").exists()


def test_the_list_says_licence_and_place_of_every_set(fullpipe: Cli) -> None:
    found = json.loads(fullpipe("trace", "list", "--json").stdout)
    assert {"mahimahi", "cellreplay"} <= {one["name"] for one in found}
    assert all(one["licence"] and one["page"].startswith("https://") for one in found)
    assert all(len(file["id"]) == 40 for one in found for file in one["files"])
    assert "licence: GPL-3.0" in fullpipe("trace", "list").stdout


def test_info_says_what_trains_hold(folder: Path, fullpipe: Cli) -> None:
    said = fullpipe("trace", "info", str(folder / "light"))
    assert said.stdout == ("11 packet trains in 1 s, 44 packets\ndelay of the first packet 20 to 20 ms\n")
    assert np.isclose(
        json.loads(fullpipe("trace", "info", str(folder / "light"), "--json").stdout)["delay_s"][0], 0.02
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "d: is empty; write one delay in ms per line, such as 2.5"),
        (b"\n\n", "d: is empty"),
        (b"1\nabc\n", 'd:2: "abc" is not a number; write a delay in ms, such as 2.5'),
        (b"nan\n", 'd:1: "nan" is not a number'),
        (b"1 2\n", 'd:1: "1 2" is not a number'),
        (b"\xff\n", "d:1: "),
        (b"1\n-2\n", "d:2: -2 is out of range, 0 to 3600000 ms"),
        (b"inf\n", "d:1: inf is out of range"),
        (b"1\n" * (MAX_DELAYS + 1), "d:100001: has more than 100,000 delays; leave out lines"),
    ],
)
def test_bad_delays_are_one_error_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_delays(data, "d")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def jittery(**link: object) -> Scenario:
    """Pings over a link without other traffic."""
    bottleneck = {"rate": "100 Mbit/s", "delay": "5 ms", "queue": {"packets": 100}, **link}
    probe = {"name": "ping", "workload": {"kind": "probe", "interval": "1 ms"}}
    return Scenario(
        name="jittery",
        duration="20 s",
        warmup="0 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[probe],
    )


def extra_ms(made: Run) -> np.ndarray[Any, Any]:
    """Delays of the pings above the shortest, in ascending order."""
    rtts = made.probes["rtt_s"].drop_nulls().to_numpy() * 1e3
    return np.sort(rtts - rtts.min())


def test_recorded_jitter_has_the_quantiles_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "delays.txt"
    file.write_text("".join(f"{delay}\n" for delay in (40, 0, 10, 20, 30)), encoding="utf-8")
    listed = extra_ms(run(jittery(recorded_jitter={"file": str(file), "reorder": True})))
    assert [np.mean(np.abs(listed - delay) < 0.1) for delay in (0, 10, 20, 30, 40)] == pytest.approx(
        [0.2] * 5, abs=0.015
    )
    between = extra_ms(
        run(jittery(recorded_jitter={"file": str(file), "draw": "interpolated", "reorder": True}))
    )
    assert np.quantile(between, [0.1, 0.25, 0.5, 0.75, 0.9]) == pytest.approx([4, 10, 20, 30, 36], abs=0.6)


def test_the_content_of_recorded_delays_decides_the_run(tmp_path: Path) -> None:
    def with_delays(name: str, text: str) -> Scenario:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return jittery(recorded_jitter=str(tmp_path / name))

    one, same, other = with_delays("a", "1\n9\n"), with_delays("b", "1\n9\n"), with_delays("c", "1\n8\n")
    assert one.digest == same.digest != other.digest
    assert run(one, seed=1).probes.equals(run(same, seed=1).probes)
    assert not run(one, seed=1).probes.equals(run(one, seed=2).probes)


def test_wifi_jitter_delays_most_packets_little_and_some_packets_much() -> None:
    found = extra_ms(run(jittery(wifi_jitter="7 ms")))
    assert np.mean(found < 6) < 0.9 < np.mean(found < 150)
    assert 100 < found[-1] < 250


def test_targets_of_wifi_jitter_outside_the_law_are_refused() -> None:
    for target in ("0.9 ms", "92 ms"):
        with pytest.raises(ScenarioError, match="wifi_jitter: must be at"):
            jittery(wifi_jitter=target)
