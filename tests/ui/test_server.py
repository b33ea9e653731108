"""Requests of the page, and the responses."""

import json
import re
import shlex
import sys
import time
from base64 import b64decode
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from fullpipe import Scenario, run
from fullpipe.cli.ui import inputs
from fullpipe.cli.ui.application import Server
from fullpipe.cli.ui.fields import lines_of
from fullpipe.cli.ui.guard import Limits
from fullpipe.cli.ui.understood import packed
from fullpipe.metrics import summary
from tests.ui.conftest import event_named, events_of, what_if

Cli = Callable[..., Any]


def columns(data: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """The columns that `packed` encoded."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    floats = np.frombuffer(data[4 + length :], "<f4").reshape(len(header["columns"]), header["rows"])
    return dict(zip(header["columns"], floats, strict=True))


def counts_of_runs(page: str) -> set[str]:
    """Over how many runs the tables of a report say that their means are."""
    return set(re.findall(r"\bruns (\d+)", re.sub(r"<[^>]+>|\s+", " ", page).replace("  ", " ")))


def test_columns_survive_as_floats() -> None:
    table = {"time_s": pl.Series([0.1, 0.2]), "cwnd": pl.Series([1, None])}
    found = columns(packed(table))
    assert found["time_s"].tolist() == pytest.approx([0.1, 0.2])
    assert found["cwnd"][0] == 1
    assert np.isnan(found["cwnd"][1])
    assert columns(packed({})) == {}
    with pytest.raises(ValueError, match="rows"):
        packed({"a": pl.Series([1.0]), "b": pl.Series([1.0, 2.0])})


def test_a_live_run_is_the_run(client: TestClient) -> None:
    text = client.post("/api/live", json={"scenario": what_if(duration="60 s"), "seed": 7}).text
    names = [name for name, _ in events_of(text)]
    assert names[0] == "begin"
    assert names[-1] == "end"
    assert set(names[1:-1]) == {"samples"}
    parts = [columns(b64decode(data)) for name, data in events_of(text) if name == "samples"]
    whole = run(Scenario(**what_if(duration="60 s")), 7)
    for number, flow in enumerate(["cubic-1", "bbr3-1"]):
        expected = whole.series.filter(pl.col("flow") == flow)["goodput_bps"].to_numpy().astype("f4")
        got = np.concatenate([part[f"goodput_bps/{number}"] for part in parts])
        assert np.array_equal(got, expected)
    end = event_named(text, "end")
    assert end["flows"] == json.loads(json.dumps(summary(whole)["flows"]))


def test_what_theory_expects_is_of_the_path(client: TestClient) -> None:
    told = event_named(client.post("/api/live", json={"scenario": what_if()}).text, "begin")
    (link,) = told["expected"]
    assert link["bdp_bytes"] == pytest.approx(20e6 * 0.04 / 8)
    assert link["fair_share_bps"] == pytest.approx(20e6 * 1448 / 1514 / 2)
    assert link["full_wait_s"] == pytest.approx(66 * 1514 * 8 / 20e6)
    assert link["full_window_packets"] == pytest.approx((100_000 / 1514 + 66) / 2)
    assert link["target_wait_s"] is None
    assert link["unknown"] == ""
    assert told["path"]["shape"] == "dumbbell"


def test_theory_leaves_bulk_flows_what_a_call_does_not_take(client: TestClient) -> None:
    """160 B of G.711 every 20 ms, behind 12 B of RTP, 8 of UDP, 20 of IP and 14 of Ethernet: 85.6 kbit/s."""
    flows = [{"cca": "cubic", "count": 2}, {"workload": {"kind": "voip"}}]
    told = event_named(client.post("/api/live", json={"scenario": what_if(flows=flows)}).text, "begin")
    (link,) = told["expected"]
    assert link["flows"] == 2
    assert link["datagrams_bps"] == pytest.approx(214 * 8 * 50)
    assert link["fair_share_bps"] == pytest.approx((20e6 - 85_600) * 1448 / 1514 / 2)


def test_the_command_makes_the_same_run(client: TestClient, fullpipe: Cli) -> None:
    bottleneck = {
        "rate": "12.5 Mbit/s",
        "delay": "7.5 ms",
        "queue": {"kind": "codel"},
        "loss": {"kind": "bernoulli", "probability": 0.001},
    }
    scenario = what_if(topology={"kind": "dumbbell", "bottleneck": bottleneck}, tcp={"ecn": True})
    checked = client.post("/api/check", json={"scenario": scenario, "seed": 3}).json()["understood"]
    words = shlex.split(checked["command"])
    assert words[:3] == ["fullpipe", "run", "single-cubic"]
    done = fullpipe(*words[1:], "--json")
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["digest"] == checked["digest"]
    assert printed["seed"] == 3


@pytest.mark.parametrize(
    "name", ["single-cubic", "cellular", "parking-lot", "wifi-home-ax", "rrul", "web-1000"]
)
def test_scenarios_that_come_with_fullpipe_are_understood(client: TestClient, name: str) -> None:
    answer = client.post("/api/check", json={"scenario": f'base = "{name}"\nname = "mine"\n'}).json()
    assert answer["problems"] == []
    assert answer["understood"]["flows"]
    assert "/python/fullpipe/data" not in answer["understood"]["toml"]
    again = client.post("/api/check", json={"scenario": answer["understood"]["toml"]}).json()
    assert again["understood"]["digest"] == answer["understood"]["digest"]


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the page must not read, in the folder in which it was started."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "secret.toml"
    path.write_text('name = "secret"\nduration = "1 s"\n', encoding="utf-8")
    (tmp_path / "cellular-down.trace").write_text("1\n2\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "sent",
    [
        'base = "{path}"',
        'base = "secret.toml"',
        'base = "../../../../../../../../etc/passwd"',
        "trace:{path}",
        "trace:/etc/passwd",
        "trace:secret.toml",
        "trace:cellular-down.trace\x00",
    ],
)
def test_no_file_is_read_for_a_client(client: TestClient, secret: Path, sent: str) -> None:
    sent = sent.format(path=secret)
    scenario: object = sent
    if sent.startswith("trace:"):
        topology = {"kind": "dumbbell", "bottleneck": {"delay": "5 ms", "trace": sent.removeprefix("trace:")}}
        scenario = what_if(topology=topology)
    answer = client.post("/api/check", json={"scenario": scenario}).json()
    assert answer["understood"] is None
    assert answer["problems"]
    assert client.post("/api/live", json={"scenario": scenario}).status_code == 400


def test_a_name_stands_for_the_recording_of_fullpipe_and_not_for_a_file_here(
    client: TestClient, secret: Path
) -> None:
    topology = {"kind": "dumbbell", "bottleneck": {"delay": "5 ms", "trace": "cellular-down.trace"}}
    answer = client.post("/api/check", json={"scenario": what_if(topology=topology)}).json()
    assert answer["problems"] == []


@pytest.mark.parametrize("cca", ["python:os:system", "library:/tmp/mine.so:mine"])
def test_no_code_is_run_for_a_client(client: TestClient, cca: str) -> None:
    answer = client.post("/api/live", json={"scenario": what_if(flows=[{"cca": cca}])})
    assert answer.status_code == 400
    assert "--allow-python" in answer.json()["problems"][0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"duration": "3600 s"}, "at most 600 s"),
        ({"duration": "500 s", "flows": [{"cca": "cubic", "count": 500}]}, "samples"),
        ({"record": {"interval": "off"}}, "record.interval"),
        ({"sweep": {"duration": ["5 s", "6 s"]}}, "a single point"),
    ],
)
def test_runs_are_bounded(client: TestClient, more: dict[str, Any], said: str) -> None:
    answer = client.post("/api/live", json={"scenario": what_if(**more)})
    assert answer.status_code == 400
    assert said in "\n".join(answer.json()["problems"])


def test_a_fast_link_for_long_is_too_many_packets(client: TestClient) -> None:
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "100 Gbit/s", "delay": "1 ms"}}
    answer = client.post("/api/live", json={"scenario": what_if(topology=topology)})
    assert answer.status_code == 400
    assert "packets" in answer.json()["problems"][0]


UDP = {"kind": "udp", "rate": "1 Gbit/s", "size": "20 B"}


def test_datagrams_count_whether_the_link_carries_them_or_not(client: TestClient) -> None:
    flows = [{"workload": UDP}]
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s", "delay": "10 ms"}}
    for duration, is_fine in (("1100 ms", True), ("600 s", False)):
        sent = {"scenario": what_if(topology=topology, flows=flows, duration=duration)}
        problems = client.post("/api/check", json=sent).json()["problems"]
        assert not problems
        answer = client.post("/api/live", json=sent)
        assert (answer.status_code == 200) is is_fine
    assert "up to 3,750," in answer.json()["problems"][0]


def test_samples_of_a_comparison_are_bounded_together(client: TestClient) -> None:
    scenario = what_if(duration="200 s", record={"interval": "1 ms"})
    assert client.post("/api/report", json={"scenarios": [scenario]}).status_code == 200
    answer = client.post("/api/compare", json={"scenarios": [scenario] * 2, "seeds": 50})
    assert "more than 200,000 samples" in answer.json()["problems"][0]


RUNNING: list[tuple[str, dict[str, Any]]] = [
    ("live", {"scenario": what_if()}),
    ("keep", {"scenarios": [what_if()]}),
    ("seeds", {"scenario": what_if(), "seeds": 2}),
    ("report", {"scenarios": [what_if()]}),
    ("compare", {"scenarios": [what_if(name="a"), what_if(name="b", tcp={"ecn": True})], "seeds": 2}),
    (
        "compare/report",
        {"scenarios": [what_if(name="a"), what_if(name="b", tcp={"ecn": True})], "seeds": 2},
    ),
]
"""Requests that run something for a client."""


@pytest.mark.parametrize(("path", "more"), RUNNING)
def test_every_run_is_stopped_when_it_takes_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, more: dict[str, Any]
) -> None:
    late = TestClient(Server(tmp_path / "runs", limits=Limits(wall_s=0.0)).application())
    assert "after 0 s of computing" in late.post(f"/api/{path}", json=more).text
    looks = count()
    monkeypatch.setattr(inputs, "resident_bytes", lambda: 39 * 10**8 if next(looks) < 2 else 41 * 10**8)
    large = TestClient(Server(tmp_path / "runs", limits=Limits()).application())
    assert "after 4 GB of memory" in large.post(f"/api/{path}", json=more).text
    assert large.get("/api/runs").json()["total"] == 0


@pytest.mark.parametrize(("path", "more"), RUNNING)
def test_no_run_begins_while_the_page_has_all_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, more: dict[str, Any]
) -> None:
    full = TestClient(Server(tmp_path / "runs", limits=Limits()).application())
    monkeypatch.setattr(inputs, "resident_bytes", lambda: 41 * 10**8)
    told = "the page has reached its limit of 4 GB of memory; wait for other runs, or restart fullpipe ui"
    assert told in full.post(f"/api/{path}", json=more).text


def test_a_run_may_begin_below_the_bound_whatever_the_page_had_before(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "resident_bytes", lambda: 39 * 10**8)
    assert events_of(client.post("/api/live", json={"scenario": what_if()}).text)[-1][0] == "end"


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not say what a process has now")
def test_freed_memory_goes_back_to_the_system() -> None:
    before = inputs.resident_bytes()
    held = [bytes(1_000) for _ in range(100_000)]
    assert inputs.resident_bytes() - before > 80 * 10**6
    del held
    assert inputs.settled_bytes(1) - before < 20 * 10**6


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    limited = TestClient(Server(tmp_path, limits=Limits(wall_s=0.0)).application())
    text = limited.post("/api/live", json={"scenario": what_if(duration="500 s")}).text
    assert "after 0 s of computing" in event_named(text, "problem")["problems"][0]
    assert "end" not in [name for name, _ in events_of(text)]


def test_more_runs_than_may_wait_are_turned_away(tmp_path: Path) -> None:
    limited = TestClient(Server(tmp_path, limits=Limits(waiting=0)).application())
    text = limited.post("/api/live", json={"scenario": what_if()}).text
    assert "close other tabs" in event_named(text, "problem")["problems"][0]


def test_a_comparison_ends_with_verdicts(client: TestClient) -> None:
    queue = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"kind": "fq_codel"}}
    flows = [{"cca": "cubic", "start_jitter": "100 ms"}, {"name": "call", "workload": "voip"}]
    one = what_if(duration="3 s", flows=flows)
    other = {**one, "topology": {"kind": "dumbbell", "bottleneck": queue}}
    sent = {"scenarios": [one, other], "seeds": 3}
    text = client.post("/api/compare", json=sent).text
    assert [name for name, _ in events_of(text)].count("progress") == 6
    end = event_named(text, "end")
    assert end["seeds"] == [1, 2, 3]
    assert {"verdict", "interval", "margin"} <= set(end["rows"][0])
    assert (end["reference"], end["variant"]) == ("drop_tail 1 bdp", "fq_codel")
    assert end["files"] == ["drop_tail-1-bdp.toml", "fq_codel.toml"]
    assert f"--over scenario={','.join(end['files'])} --seeds 3" in end["command"]
    of_call = {row["metric"] for row in end["rows"] if row["of"] == "call"}
    assert {"call_score", "owd_mean", "loss_rate"} <= of_call
    page = client.post("/api/compare/report", json=sent).text
    assert "fq_codel against drop_tail 1 bdp" in page
    assert "call_score" in page
    assert counts_of_runs(page) == {"3"}


def test_many_seeds_end_with_means_and_their_intervals(client: TestClient) -> None:
    one = what_if(duration="3 s")
    text = client.post("/api/seeds", json={"scenario": one, "seeds": 3}).text
    assert [name for name, _ in events_of(text)] == ["progress"] * 3 + ["end"]
    end = event_named(text, "end")
    (goodput,) = [row for row in end["rows"] if (row["of"], row["metric"]) == ("cubic-1", "goodput")]
    each = [run(Scenario(**one), seed).flows["goodput_bps"][0] for seed in (1, 2, 3)]
    assert end["seeds"] == goodput["n"] == 3
    assert goodput["mean"] == pytest.approx(sum(each) / 3)
    assert goodput["low"] < goodput["mean"] < goodput["high"]


def test_means_are_those_that_the_terminal_prints(
    client: TestClient, fullpipe: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    one = what_if(duration="3 s")
    end = event_named(client.post("/api/seeds", json={"scenario": one, "seeds": 3}).text, "end")
    (tmp_path / "one.toml").write_text(Scenario(**one).to_toml(), encoding="utf-8")
    printed = fullpipe("run", "one.toml", "--seeds", 3).stdout
    means = {row["metric"]: row["shown"] for row in end["rows"] if row["of"] == "cubic-1"}
    assert means["goodput"]["metric"] == "goodput (Mbit/s)"
    assert means["goodput"]["mean"] in printed
    assert means["rtt_mean"]["mean"] in printed


@pytest.mark.parametrize(
    "sent", [{"seeds": 1}, {"seeds": 51}, {"scenario": None}, {"scenario": what_if(duration="601 s")}]
)
def test_many_seeds_are_of_a_scenario_and_a_number(client: TestClient, sent: dict[str, Any]) -> None:
    answer = client.post("/api/seeds", json={"scenario": what_if(), "seeds": 2, **sent})
    assert answer.status_code == 400
    assert answer.json()["problems"]


@pytest.mark.parametrize(
    "sent", [{"scenarios": None}, {"scenarios": [what_if()]}, {"seeds": 1}, {"seeds": "3"}]
)
def test_a_report_is_of_two_variants_and_some_seeds(client: TestClient, sent: dict[str, Any]) -> None:
    whole = {"scenarios": [what_if(), what_if(tcp={"ecn": True})], "seeds": 2}
    assert client.post("/api/compare/report", json=whole).status_code == 200
    answer = client.post("/api/compare/report", json={**whole, **sent})
    assert answer.status_code == 400
    assert answer.json()["problems"]


def test_variants_that_cannot_be_compared_are_not_run(client: TestClient) -> None:
    one = what_if(name="b", flows=[{"cca": "cubic"}])
    text = client.post("/api/compare", json={"scenarios": [what_if(), one], "seeds": 3}).text
    assert [name for name, _ in events_of(text)] == ["problem"]


@pytest.mark.parametrize("seeds", [1, 51, "3", None, True])
def test_seeds_of_a_comparison_are_a_number_of_them(client: TestClient, seeds: object) -> None:
    answer = client.post("/api/compare", json={"scenarios": [what_if(), what_if(name="b")], "seeds": seeds})
    assert answer.status_code == 400


def test_a_report_is_one_file_that_asks_for_nothing(client: TestClient) -> None:
    text = client.post("/api/report", json={"scenarios": [what_if()]}).text
    assert text.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in text
    assert "what-if" in text


DEEP: list[Any] = []
for _ in range(400):
    DEEP = [DEEP]
DOTS = ".".join(["a"] * 100_000)


@pytest.mark.parametrize(
    "sent", [None, 5, [], "not toml =", {"name": 1}, "", "[" * 5_000, {"name": DEEP}, DEEP, f"{DOTS} = 1"]
)
def test_what_is_no_scenario_is_told_so(client: TestClient, sent: object) -> None:
    answer = client.post("/api/live", json={"scenario": sent})
    assert answer.status_code == 400
    assert answer.json()["problems"]


def test_a_key_of_too_many_parts_is_told_without_reading_it(client: TestClient) -> None:
    answer = client.post("/api/check", json={"scenario": f"{DOTS} = 1\nx = {{ {DOTS} = 1 }}\n"}).json()
    assert answer["fields"] == []
    assert answer["problems"] == [
        {"message": "too deeply nested; a scenario has at most 50 levels", "line": 0}
    ]


def test_a_body_that_is_no_object_is_refused(client: TestClient) -> None:
    for body in ("[]", "nonsense", "5", "[" * 100_000, r'{"scenario": "a = \"\ud800\""}', r'{"\udfff": 1}'):
        answer = client.post("/api/check", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400


TOML = """name = "mine"
duration = "10 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit"
delay = "20 ms"

[[flows]]
cca = "cubic"
[[flows]]
cca = "bbr9"
count = -1
"""


def test_problems_say_in_which_line_they_are(client: TestClient) -> None:
    problems = client.post("/api/check", json={"scenario": TOML}).json()["problems"]
    lines = {problem["message"].partition(":")[0]: problem["line"] for problem in problems}
    assert lines["topology.bottleneck.rate"] == 7
    assert lines["flows[1].cca"] == 13
    assert lines["flows[1].count"] == 14


NESTED = """[[flows]]
cca = "cubic"
[[sites.hosts]]
name = "a"
[[sites.hosts]]
name = "b"
[sites.hosts.more]
x = 1
"""


def test_lines_of_nested_lists_have_the_numbers_of_their_entries() -> None:
    found = dict(lines_of(NESTED))
    assert found["sites.hosts.0.name"] == 4
    assert found["sites.hosts.1.name"] == 6
    assert found["sites.hosts.1.more.x"] == 8


@pytest.mark.parametrize(
    "text",
    ["[" + " " * 500_000, "[" + "a." * 300_000 + "a]", "\n".join(f"[[a{n}]]" for n in range(50_000))],
    ids=["spaces", "words", "tables"],
)
def test_no_text_takes_long_to_find_lines_in(text: str) -> None:
    began_s = time.process_time()
    list(lines_of(text))
    assert time.process_time() - began_s < 5


def test_a_mistake_of_syntax_says_its_line(client: TestClient) -> None:
    (problem,) = client.post("/api/check", json={"scenario": 'name = "x"\nduration = \n'}).json()["problems"]
    assert problem["line"] == 2
