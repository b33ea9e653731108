"""Recorded paths: read, written, refused, turned into each other and followed by a link."""

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import Scenario, ScenarioError, run
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.model.link.losses import losses
from fullpipe.scenario.traces import (
    Steps,
    TraceError,
    files,
    from_rates,
    parse_mahimahi,
    parse_steps,
    read_mahimahi,
    read_steps,
    to_rates,
    write_mahimahi,
    write_steps,
)
from fullpipe.scenario.traces.files import MAX_FILE_BYTES


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.booleans())
def test_a_trace_round_trips_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[int], newline: bool
) -> None:
    times = np.cumsum([1, *gaps])
    data = "\n".join(map(str, times)).encode() + (b"\n" if newline else b"")
    path = tmp_path_factory.getbasetemp() / "trace"
    path.write_bytes(data)
    copy = path.with_suffix(".copy")
    write_mahimahi(copy, read_mahimahi(path))
    assert copy.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t: is empty"),
        (b"\n\n", "t: is empty"),
        (b"1\n\n3\n", "t:2: is empty"),
        (b"5\n3\n", "t:2: 3 is before 5"),
        (b"1\nx\n", 't:2: "x" is not a whole number'),
        (b"1\n2.5\n", 't:2: "2.5" is not a whole number'),
        (b"-1\n2\n", 't:1: "-1" is not a whole number'),
        (b"1\r\n2\r\n", r't:1: "1\r" is not a whole number'),
        (b"01\n2\n", 't:1: "01" is not a whole number'),
        (b"0\n0\n", "t:2: the last line is 0, so the trace has no duration"),
        (b"1\n9999999999\n", "t:2: 9999999999 is too large"),
        (b"1\n99999999999999999999\n", "t:2: "),
        (b"\xff\xfe\n", "t:1: "),
    ],
)
def test_a_bad_trace_is_one_error_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_mahimahi(data, "t")
    assert str(error.value).startswith(message)
    assert len(error.value.problems) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t: is empty"),
        ("time_s,rate_bps\n", "t: is empty"),
        ("time_s\n0\n", "t:1: needs a column time_s and one or more"),
        ("rate_bps\n0\n", "t:1: needs a column time_s"),
        ("time_s,rate\n0,1\n", 't:1: the column "rate" is unknown'),
        ("time_s,loss,loss\n0,1,1\n", 't:1: the column "loss" is given twice'),
        ("time_s,loss\n0,x\n", 't:2: loss: "x" is not a number'),
        ("time_s,loss\n,0\n", 't:2: time_s: "" is not a number'),
        ("time_s,loss\n0,nan\n", 't:2: loss: "nan" is not a number'),
        ("time_s,loss\n0,1.5\n", "t:2: loss: 1.5 is out of range, 0 to 1"),
        ("time_s,rate_bps\n0,-5\n", "t:2: rate_bps: -5 is out of range"),
        ("time_s,rate_bps\n0,1e99\n", "t:2: rate_bps: 1e99 is out of range"),
        ("time_s,rate_bps\n1,5\n0,5\n", "t:3: 0 s is before 1 s"),
        ("time_s,rate_bps\n0,5,6\n", "t:2: has 3 cells instead of 2"),
        ("time_s,rate_bps\n0,0\n5,0\n", "t: has no rate above zero"),
    ],
)
def test_bad_steps_are_one_error_with_their_line(text: str, message: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_steps(text.encode(), "t")
    assert str(error.value).startswith(message)


def test_a_file_that_is_missing_or_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such file"):
        read_mahimahi(tmp_path / "missing")
    with pytest.raises(TraceError, match="not a regular file"):
        read_steps(tmp_path)


def test_steps_round_trip(tmp_path: Path) -> None:
    steps = Steps((0.0, 0.1, 2.5), (10**6, None, 0), None, (0.0, 0.125, None))
    write_steps(tmp_path / "steps.csv", steps)
    assert read_steps(tmp_path / "steps.csv") == steps


def test_a_rate_becomes_opportunities_and_a_rate_again() -> None:
    trace = from_rates([0, 1, 2], [12_032_000, 0, 24_064_000], 3)  # 1 and 2 opportunities per millisecond
    assert len(trace.times_ms) == 3000
    assert trace.times_ms[:3].tolist() == [1, 2, 3]
    assert trace.times_ms[999:1003].tolist() == [1000, 2001, 2001, 2002]
    time_s, rate_bps = to_rates(trace, 1.0)
    assert time_s.tolist() == [0, 1, 2]
    assert rate_bps.tolist() == [12_032_000, 0, 24_064_000]


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(0, 50_000_000)), min_size=1, max_size=20).filter(
        lambda steps: any(rate > 1_000_000 and ms > 50 for ms, rate in steps)
    )
)
def test_a_trace_is_never_ahead_of_its_rate_nor_an_opportunity_and_a_millisecond_behind(
    steps: list[tuple[int, int]],
) -> None:
    ends = np.cumsum([ms for ms, _ in steps]) / 1e3
    begins = np.concatenate([[0.0], ends[:-1]])
    rates = np.array([rate for _, rate in steps], dtype=float)
    trace = from_rates(begins, rates, float(ends[-1]))
    ms = np.arange(0, int(ends[-1] * 1e3) + 1, 7)
    offered = np.searchsorted(trace.times_ms, ms, side="right") * 1504 * 8

    def carried(seconds: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return (rates * np.clip(seconds[:, None] - begins, 0, ends - begins)).sum(axis=1)

    assert (offered <= carried(ms / 1e3) + 1).all()
    assert (offered > carried((ms - 1) / 1e3) - 1504 * 8 - 1).all()


@pytest.mark.parametrize(
    ("time_s", "rate_bps", "duration_s"),
    [
        ([], [], 1), ([0], [0], 1), ([1], [1e6], 2), ([0], [-1], 1), ([0, 1], [1e6], 2),
        ([0], [1e6], float("nan")), ([0, 2], [1e6, 1e6], 1), ([0], [1e15], 1000), ([0], [float("inf")], 1),
    ],
)  # fmt: skip
def test_rates_that_make_no_trace_are_refused(
    time_s: list[float], rate_bps: list[float], duration_s: float
) -> None:
    with pytest.raises(TraceError):
        from_rates(time_s, rate_bps, duration_s)


SCENARIO = """
name = "traced"
duration = "10 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
delay = "20 ms"
queue = { kind = "drop_tail", packets = 60 }
trace = { file = "cell.up" }
[tcp]
link_overhead = "4 B"
[[flows]]
cca = "cubic"
"""


def scenario(folder: Path, trace: bytes, text: str = SCENARIO, name: str = "cell.up") -> Scenario:
    (folder / name).write_bytes(trace)
    (folder / "traced.toml").write_text(text, encoding="utf-8")
    return Scenario.from_file(folder / "traced.toml")


def test_a_link_carries_what_its_trace_offers(tmp_path: Path) -> None:
    traced = scenario(tmp_path, b"1\n1\n2\n")  # 18.05 Mbit/s on the wire, 17.38 of payload
    found = run(traced.with_values({"warmup": "2 s"}))
    assert 17.0e6 < found.flows["goodput_bps"][0] < 17.4e6
    assert 0.98 < found.links_summary["utilisation"][0] <= 1


def test_a_full_segment_fits_an_opportunity_exactly(tmp_path: Path) -> None:
    found = run(scenario(tmp_path, b"10\n").with_values({"record.packets": ["bottleneck"]}))
    data = found.packets.filter(found.packets["size"] == 1504)
    assert len(data) > 500
    assert set((data["time_ns"] - 20_000_000) % 10_000_000) == {0}


def test_content_is_in_the_digest_and_the_name_is_not(tmp_path: Path) -> None:
    first = scenario(tmp_path, b"1\n2\n")
    renamed = scenario(tmp_path, b"1\n2\n", SCENARIO.replace("cell.up", "other.up"), "other.up")
    other = scenario(tmp_path, b"1\n3\n")
    assert first.digest == renamed.digest != other.digest


def test_a_trace_is_found_beside_the_scenario_and_survives_toml(tmp_path: Path) -> None:
    traced = scenario(tmp_path, b"1\n2\n")
    again = Scenario.from_toml(traced.to_toml())
    assert again == traced
    assert plan(again)["links"][0]["opportunities"]["times"] == [1, 2]


def test_a_sweep_over_files_finds_them_too(tmp_path: Path) -> None:
    (tmp_path / "slow.up").write_bytes(b"9\n")
    swept = scenario(
        tmp_path, b"1\n", SCENARIO + '[sweep]\n"topology.bottleneck.trace.file" = ["cell.up", "slow.up"]\n'
    )
    assert [plan(s)["links"][0]["opportunities"]["times"] for s in swept.expand()] == [[1], [9]]


@pytest.mark.parametrize(
    ("trace", "more", "message"),
    [
        (b"", "", "topology.bottleneck.trace: {}: is empty"),
        (b"5\n3\n", "", "topology.bottleneck.trace: {}:2: 3 is before 5"),
        (b"1\n", ', kind = "csv"', "topology.bottleneck.trace: {}: is empty"),
        (b"1\n", ', kind = "pcap"', "topology.bottleneck.trace.kind: unknown value"),
        (b"time_s,rate_bps\n0,5\n", ', kind = "csv"', "topology.bottleneck.trace: {}: cannot be repeated"),
        (
            b"time_s,rate_bps\n0,5\n1,0\n",
            ', kind = "csv", repeat = false',
            "topology.bottleneck.trace: {}: ends with a rate of 0",
        ),
    ],
)
def test_a_bad_trace_in_a_scenario_names_path_file_and_line(
    tmp_path: Path, trace: bytes, more: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(tmp_path, trace, SCENARIO.replace('"cell.up"', f'"cell.up"{more}'))
    assert str(error.value).startswith(message.format(tmp_path / "cell.up"))


def test_a_trace_that_ends_before_the_run_is_refused_unless_it_repeats(tmp_path: Path) -> None:
    from fullpipe.engines import engine

    once = SCENARIO.replace('"cell.up"', '"cell.up", repeat = false')
    with pytest.raises(
        ScenarioError, match=r"bottleneck.trace: ends after 9.999 s, before the end of the run, 10 s"
    ):
        scenario(tmp_path, b"1\n9999\n", once)
    assert not engine("native").check(scenario(tmp_path, b"1\n9999\n", once.replace("10 s", "9 s")))


def test_a_size_in_bdp_goes_by_the_mean_rate_of_a_trace(tmp_path: Path) -> None:
    text = SCENARIO.replace("packets = 60", 'size = "1 bdp"')
    link = plan(scenario(tmp_path, b"1\n", text))["links"][0]  # 12.032 Mbit/s, 40 ms, 1504 B
    assert link["queue"]["packets"] == 40


def test_a_rate_beside_a_packet_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="trace: replaces the rate; leave out rate"):
        scenario(
            tmp_path, b"1\n", SCENARIO.replace('delay = "20 ms"', 'delay = "20 ms"\nrate = "1 Mbit/s"', 1)
        )


def csv_link(folder: Path, rows: str, more: str = "") -> dict[str, Any]:
    text = SCENARIO.replace('"cell.up"', f'"cell.csv", kind = "csv"{more}')
    link: dict[str, Any] = plan(scenario(folder, rows.encode(), text, "cell.csv"))["links"][0]
    return link


def test_rows_become_changes_and_the_first_stands_for_the_link(tmp_path: Path) -> None:
    link = csv_link(
        tmp_path, "time_s,rate_bps,delay_s\n0,5000000,0.03\n4,,0.01\n8,1000000,\n", ", repeat = false"
    )
    assert (link["rate_bps"], link["delay_ns"]) == (5_000_000, 20_000_000)
    assert link["changes"] == [
        {"at_ns": 0, "rate_bps": 5_000_000, "delay_ns": 30_000_000},
        {"at_ns": 4 * 10**9, "delay_ns": 10_000_000},
        {"at_ns": 8 * 10**9, "rate_bps": 1_000_000},
    ]


def test_rows_repeat_from_the_last_one_on_and_an_offset_begins_within(tmp_path: Path) -> None:
    rows = "time_s,rate_bps,loss\n0,1000000,0\n2,,0.1\n3,,0\n"
    link = csv_link(tmp_path, rows, ', offset = "1 s"')
    times = [(change["at_ns"] / 1e9, change["loss"]["probability"]) for change in link["changes"]]
    assert times[:5] == [(0, 0.0), (1, 0.1), (2, 0.0), (2, 0.0), (4, 0.1)]
    assert times[-1][0] < 10


def test_a_long_trace_is_quick(tmp_path: Path) -> None:
    lines = np.sort(np.random.default_rng(1).integers(0, 60_000, 1_000_000))  # 7 MB, 200 Mbit/s
    traced = scenario(tmp_path, "\n".join(map(str, [*lines, 60_000])).encode())
    assert len(plan(traced)["links"][0]["opportunities"]["times"]) == 1_000_001


@pytest.mark.parametrize(
    ("read", "line", "message"),
    [
        (parse_mahimahi, b"1\n", "lines are more than 10,000,000; split the file"),
        (parse_steps, b"1,2\n", "the column"),
        (parse_steps, b"1,", "is empty"),
        (losses, b"1", "lost packets are more than 5,000,000; split the file"),
        (losses, b"11\n", "lost packets are more than 5,000,000; split the file"),
    ],
)
def test_the_largest_file_is_refused_in_little_memory(
    read: Callable[[bytes, str], object], line: bytes, message: str
) -> None:
    data = line * (MAX_FILE_BYTES // len(line))
    tracemalloc.start()
    with pytest.raises(TraceError, match=message):
        read(data, "x")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 400_000_000


def test_rows_are_counted_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.MAX_ROWS == 1_000_000
    monkeypatch.setattr(files, "MAX_ROWS", 10_000)
    rows = b"".join(b"%d,1\n" % n for n in range(10_000))
    with pytest.raises(TraceError, match="has more than 10,000 rows; split the file"):
        parse_steps(b"time_s,rate_bps\n" + rows + b"no number,1\n")


@given(st.text(alphabet="019 \n\rx", max_size=30))
def test_a_packet_delivery_trace_has_lines_of_digits_alone(text: str) -> None:
    lines = text.removesuffix("\n").split("\n")
    right = all(re.fullmatch("0|[1-9][0-9]{0,9}", line) for line in lines)
    numbers = [int(line) for line in lines] if right else []
    right = right and numbers == sorted(numbers) and 0 < numbers[-1] <= 10**9
    right = right and all(b - a < 3_600_000 for a, b in zip([0, *numbers], numbers, strict=False))
    try:
        assert parse_mahimahi(text.encode()).times_ms.tolist() == numbers
        assert right
    except TraceError:
        assert not right
