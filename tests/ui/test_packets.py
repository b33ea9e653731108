"""Captured packets: their way from point to point, and the lanes in which Chromium draws them."""

from __future__ import annotations

from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from fullpipe import Run, Scenario, run
from fullpipe.analysis.packets import journeys, points_in_order
from fullpipe.cli.ui import stored, understood
from fullpipe.cli.ui.application import Server
from fullpipe.cli.ui.guard import Limits
from fullpipe.runs import Store
from fullpipe.scenario import resolve
from tests.ui.browsing import Open, finished
from tests.ui.conftest import events_of, what_if
from tests.ui.test_server import columns

POINTS = ["receiver", "bottleneck-reverse", "bottleneck", "sender"]
IN_ORDER = ["sender", "bottleneck", "receiver"]


def captured(points: list[str], queue: str = "0.3 bdp", **more: Any) -> dict[str, Any]:
    """A scenario that captures, with a small buffer."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"kind": "drop_tail", "size": queue}}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return what_if(warmup="0 s", topology=topology, record={"packets": points}, **more)


@cache
def made() -> Run:
    """Two flows with losses, captured everywhere."""
    return run(Scenario(**captured(POINTS)), 1)


def found(of: Run) -> pl.DataFrame:
    """The journeys of its packets."""
    return journeys(of.packets, resolve(of.scenario))


def test_points_stand_in_the_order_in_which_data_passes() -> None:
    network = resolve(made().scenario)
    assert points_in_order(network, IN_ORDER[::-1]) == IN_ORDER
    assert points_in_order(network, POINTS)[0] == "sender"
    assert points_in_order(network, POINTS)[-1] == "receiver"
    graph = resolve(Scenario.named("parking-lot"))
    assert points_in_order(graph, ["c-d", "b-c", "a-b"]) == ["a-b", "b-c", "c-d"]


def test_every_drop_of_the_queue_is_a_packet_that_does_not_arrive() -> None:
    table = found(made())
    assert table.height == made().packets.height
    assert table["time_ns"].equals(made().packets["time_ns"])
    lost = table.filter("is_lost")
    dropped = made().links_summary.filter(pl.col("link") == "bottleneck")["dropped_packets"].item()
    assert dropped > 10
    assert set(lost["point"]) == {"sender"}
    assert abs(lost.height - dropped) <= 2  # the last ones may have been under way at the end


def test_every_retransmission_is_told_at_every_point_that_it_passes() -> None:
    again = found(made()).filter("is_again", pl.col("point") == "sender")
    counted = dict(again.group_by("flow").len().rows())
    expected = dict(made().flows.select("flow", "retransmitted_packets").rows())
    assert counted == expected
    behind = found(made()).filter("is_again", pl.col("point") == "receiver")
    assert 0 < behind.height <= again.height


def test_a_packet_goes_on_to_the_next_point_and_never_back_in_time() -> None:
    table = found(made()).filter(pl.col("next_ns").is_not_null())
    assert (table["next_ns"] >= table["time_ns"]).all()
    ways = set(table.select("source", "point", "next_point").unique().rows())
    assert ways == {
        ("sender", "sender", "bottleneck"),
        ("sender", "bottleneck", "receiver"),
        ("receiver", "receiver", "bottleneck-reverse"),
        ("receiver", "bottleneck-reverse", "sender"),
    }
    data = table.filter(pl.col("point") == "sender", pl.col("kind") == "data")
    took_ns = data["next_ns"] - data["time_ns"]
    assert took_ns.to_numpy().min() >= 20e6
    assert took_ns.to_numpy().max() <= 20e6 + 1.1 * 0.3 * 40e6 + 2 * 1514 * 8 / 10e6 * 1e9


def test_without_the_far_end_nothing_is_called_lost() -> None:
    part = made().packets.filter(pl.col("point").is_in(["sender", "bottleneck"]))
    assert not journeys(part, resolve(made().scenario)).filter(pl.col("source") == "sender")["is_lost"].any()
    nothing = journeys(made().packets.clear(), resolve(made().scenario))
    assert nothing.is_empty()


def test_a_run_on_the_page_comes_with_its_packets_exactly(client: TestClient) -> None:
    text = client.post("/api/live", json={"scenario": captured(POINTS), "seed": 1}).text
    names = [name for name, _ in events_of(text)]
    assert names[-2:] == ["packets", "end"]
    told = columns(b64decode(events_of(text)[-2][1]))
    table = found(made())
    time_ns = told["second"].astype("f8") * 1e9 + told["fraction"].astype("f8") * 1e9
    assert abs(time_ns - table["time_ns"].to_numpy()).max() < 100
    number = pl.when(pl.col("kind") == "ack").then("ack").otherwise("seq")
    bytes_ = told["high"].astype("f8") * 2**20 + told["low"].astype("f8")
    assert (bytes_ == table.select(number).to_series().to_numpy()).all()
    assert told["is_lost"].sum() == table["is_lost"].sum()


def test_of_very_many_packets_a_part_is_sent_at_a_time(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path / "runs").save(made())
    address = f"/api/run/{made().meta.digest}/1/native/packets"
    whole = columns(client.get(address).content)
    assert len(whole["second"]) == made().packets.height
    monkeypatch.setattr(understood, "MOST_PACKETS", 1_000)
    first = columns(client.get(address).content)
    assert len(first["second"]) == 1_000
    later = columns(client.get(address, params={"from": "4.5"}).content)
    assert later["second"][0] == 4
    assert later["fraction"][0] == pytest.approx(0.5, abs=0.01)
    assert client.get(address, params={"from": "x"}).status_code == 400


def test_a_page_captures_no_more_than_it_can_draw(tmp_path: Path) -> None:
    served = TestClient(Server(tmp_path, limits=Limits(captured=10_000)).application())
    answer = served.post("/api/live", json={"scenario": captured(POINTS)})
    assert answer.status_code == 400
    assert "record.packets" in answer.json()["problems"][0]


def test_a_page_draws_no_more_lanes_than_fit(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = TestClient(Server(tmp_path, limits=Limits(points=3)).application())
    answer = served.post("/api/live", json={"scenario": captured(POINTS)})
    assert answer.status_code == 400
    assert "record.packets: 4 points" in answer.json()["problems"][0]
    Store(tmp_path / "runs").save(made())
    monkeypatch.setattr(stored, "MOST_POINTS", 3)
    kept = client.get(f"/api/run/{made().meta.digest}/1/native/packets")
    assert kept.status_code == 400
    assert "more than" in kept.json()["problems"][0]


ADDRESS = "#/what-if?a=10,40,0.3,drop_tail,0,0,cubic*1@0-bbr3*1@1&time=6&seed=1&packets=1"
INK = """(canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    .data.filter((value, n) => n % 4 === 3 && value > 0).length"""
MANY = """(room, copies) => {
    const { packets } = room.lanes, grown = {};
    for (const name of Object.keys(packets)) {
        const one = packets[name];
        if (!ArrayBuffer.isView(one)) continue;
        const all = grown[name] = new one.constructor(one.length * copies);
        for (let n = 0; n < all.length; n += 1) all[n] = one[Math.floor(n / copies)];
    }
    Object.assign(packets, grown, { length: grown.times.length });
    const took = [];
    for (let n = 0; n < 20; n += 1) {
        const half = 3 * 0.8 ** n, begun = performance.now();
        document.querySelector(".plot").zoom([3 - half, 3 + half]);
        room.lanes.redraw();
        took.push(performance.now() - begun);
    }
    return [packets.length, took.sort((a, b) => a - b)[10]];
}"""
FRAME_MS = 50 * 4
"""Four times what an idle machine must reach."""


def test_lanes_show_losses_one_by_one_and_stay_smooth(show: Open) -> None:
    from playwright.sync_api import expect

    tab = show(ADDRESS, wait=".lanes canvas")
    finished(tab)
    drawn, canvas, read = tab.locator(".lanes"), tab.locator(".lanes canvas"), tab.locator(".read-packet")
    expect(drawn).to_contain_text("dropped")
    assert canvas.evaluate(INK) > 3_000
    room = tab.locator(".room")
    room.focus()
    tab.keyboard.press("n")
    expect(read).to_contain_text("dropped")
    low, high = room.evaluate("(one) => [one.lanes.view().from, one.lanes.view().to]")
    assert high - low <= 0.5
    assert room.evaluate("(one) => one.lanes.view().areLines")
    assert tab.locator(".plot").first.evaluate("(one) => one.plot.scales.x.min") == pytest.approx(low)
    first = read.inner_text()
    tab.keyboard.press("ArrowRight")
    expect(read).not_to_have_text(first)
    tab.get_by_role("button", name="Next drop").click()
    expect(read).to_contain_text("dropped")
    expect(read).not_to_have_text(first)
    tab.keyboard.press("Tab")
    room.press("0")
    drawn.get_by_label("Flow").select_option("bbr3-1")
    canvas.hover(position={"x": 300, "y": 40})
    expect(read).to_contain_text(" data, ")
    count, took_ms = room.evaluate(MANY, 8)
    assert count > 100_000
    assert took_ms < FRAME_MS
