"""Files in which a key has a value of any JSON type: read, or refused in one line."""

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fullpipe.engines.flent.run import read_run, read_test
from fullpipe.engines.flent.twin import twin_of
from fullpipe.errors import FullpipeError
from fullpipe.validation.fit.read import of_flent
from tests.flent import made

Place = tuple[str | int, ...]
DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]
ANY = [None, True, 0, -1, 0.5, 1e14, 10**400, "", "12", "\x1b[2J", [], [1], {}, {"a": 1}, DEEP]
"""Values of every JSON type."""


def short(version: int) -> made.Tree:
    """A file of all kinds of series with few points."""
    tree = made.upload()
    raw, meta = tree["raw_values"], tree["metadata"]["SERIES_META"]
    raw["TCP download"], meta["TCP download"] = made.stream(), made.meta(upload=False, COMMAND="netperf")
    raw["Ping (ms) UDP BE"] = [{"t": made.T0 + n, "dur": 1.0, "val": 50.0} for n in range(12)]
    raw["Ping (ms) UDP EF"] = [
        {"t": made.T0 + n, "val": 10.0, "owd_up": 4.0, "seq": n, "lost_dir": "up"} for n in range(12)
    ]
    raw["HTTP latency"] = [{"t": made.T0 + n, "val": 0.2} for n in range(12)]
    raw["VoIP"] = [{"t": made.T0 + n, "val": 5.0, "owd_up": 5.0, "seq": n} for n in range(12)]
    raw["qdisc_stats_eth0"] = [
        {"t": made.T0 + n, "dropped": n, "backlog_bytes": n, "sent_bytes": n} for n in range(12)
    ]
    raw["TCP upload"][1] |= {"tcp_bbr_bw": 11.0, "tcp_bbr_mrtt": 20.0}
    tree["raw_values"] = {name: points[:12] for name, points in raw.items()}
    tree["x_values"] = tree["x_values"][:4]
    tree["results"] = {name: [1.0, None, 2.0, 3.0] for name in [*raw, "TCP upload sum"]}
    tree["version"] = version
    return tree


def places(tree: Any, above: Place = ()) -> Iterator[Place]:
    """Every key, and the first two of every list."""
    inside = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree))[:2]
    for key, value in inside:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def changed(tree: made.Tree, place: Place, value: Any) -> made.Tree:
    found = copy.deepcopy(tree)
    inside: Any = found
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return found


def drawn(version: int, count: int) -> Sequence[tuple[Place, Any]]:
    every = [(place, value) for place in places(short(version)) for value in ANY]
    return random.Random(version).sample(every, count)


def refusal(file: Path) -> str:
    """Why one of those that read such files refuses one; empty if none does."""
    try:
        read_run(file)
        twin_of(read_test(file), file)
        of_flent(file)
    except FullpipeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("version", [1, 3, 4])
def test_it_is_read_or_refused_in_one_line(tmp_path: Path, cases: Callable[[int], int], version: int) -> None:
    tree, file, told = short(version), tmp_path / "a.flent", list[str]()
    for place, value in drawn(version, cases(400)):
        file.write_text(json.dumps(changed(tree, place, value)))
        told.append(refusal(file))
    assert not [message for message in told if "\n" in message]
    assert 0 < sum(map(bool, told)) < len(told)


@pytest.mark.parametrize(
    ("key", "value"),
    [("tcp_cwnd", "many"), ("tcp_rtt", [1]), ("tcp_pacing_rate", {"a": 1}), ("tcp_cwnd", True), ("seq", "x")],
)
def test_a_value_of_a_point_that_is_no_number_counts_as_not_measured(
    tmp_path: Path, key: str, value: Any
) -> None:
    tree = made.upload()
    for points in tree["raw_values"].values():
        for point in points:
            if key in point:
                point[key] = value
    run = read_run(made.write(tree, tmp_path / "a.flent.gz"))
    column = {"tcp_cwnd": "cwnd_bytes", "tcp_rtt": "srtt_s", "tcp_pacing_rate": "pacing_bps"}.get(key)
    if column is None:
        assert run.flows.filter(flow="Ping ICMP")["lost_packets"].to_list() == [None]
    else:
        assert run.series.filter(flow="TCP upload")[column].null_count() == 350


@pytest.mark.parametrize("command", ["import", "twin", "fit"])
def test_a_list_in_the_place_of_raw_values_ends_with_two(fullpipe: Callable[..., Any], command: str) -> None:
    old = {"version": 1, "metadata": {"NAME": "rrul"}, "x_values": [], "results": {}, "raw_values": [1]}
    Path("old.flent").write_text(json.dumps(old))
    done = fullpipe(command, "old.flent")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "old.flent: raw_values: should be a table" in done.stderr
