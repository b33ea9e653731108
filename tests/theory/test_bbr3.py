"""What BBR versions 2 and 3 and BBR-n+ do on a path, against what their sources say they do.

BDP in packets of 1514 B on the wire; the RTT includes the time to send one.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl
import pytest

import fullpipe

PACKET_BITS = 1514 * 8
MSS = 1448


class Visit(NamedTuple):
    """A stay in a state, from one transition to the next."""

    state: str
    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


class Trace:
    """One run: the variables of its first flow by name, and its states."""

    def __init__(self, run: fullpipe.Run) -> None:
        self.run = run
        flow = run.flows["flow"][0]
        self._variables = run.variables.filter(pl.col("flow") == flow).sort("time_s")
        self.series = run.series.filter(pl.col("flow") == flow)

    def variable(self, name: str, start_s: float = 0, end_s: float = float("inf")) -> pl.Series:
        return self.rows(name).filter(pl.col("time_s").is_between(start_s, end_s))["value"]

    def rows(self, name: str) -> pl.DataFrame:
        return self._variables.filter(pl.col("name") == name)

    def during(self, name: str, state: str) -> list[float]:
        """All readings of a variable in a state, but for those at its edges."""
        visits = [v for v in self.visits() if v.state == state]
        return [x for v in visits for x in self.variable(name, v.start_s + 1e-9, v.end_s - 1e-9)]

    def visits(self) -> list[Visit]:
        rows = self._variables.filter(pl.col("name") == "state").select("time_s", "state").rows()
        changes = [rows[0], *(now for before, now in pairwise(rows) if now[1] != before[1])]
        return [Visit(now[1], now[0], later[0]) for now, later in pairwise(changes)]

    def states(self, state: str) -> list[Visit]:
        return [v for v in self.visits() if v.state == state]


def scenario(
    cca: Any, mbps: int, rtt_ms: int, packets: int, duration_s: float, **more: Any
) -> fullpipe.Scenario:
    queue = {"kind": "drop_tail", "packets": packets}
    bottleneck = {"rate": f"{mbps} Mbit/s", "delay": f"{rtt_ms / 2} ms", "queue": queue}
    fields: dict[str, Any] = {
        "flows": [{"cca": cca}],
        "record": {"interval": "1 ms", "variables": True},
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
    } | more
    return fullpipe.Scenario(name="bbr3", duration=f"{duration_s} s", **fields)


@cache
def deep(cca: str = "bbr3", preset: str | None = None) -> Trace:
    """One flow on 100 Mbit/s and 10 ms, 83 packets, with a buffer that never overflows, for 7 s."""
    chosen = {"kind": cca, "preset": preset} if preset else cca
    return Trace(fullpipe.run(scenario(chosen, 100, 10, 10_000, 7), seed=1))


@cache
def shallow() -> Trace:
    """One flow on 100 Mbit/s and 40 ms, 330 packets, with a buffer of 60, for 12 s."""
    return Trace(fullpipe.run(scenario("bbr3", 100, 40, 60, 12), seed=1))


RTT_S = 0.010
BDP = 100e6 * RTT_S / PACKET_BITS


def test_startup_paces_at_2_77_with_a_window_of_two_bdp() -> None:
    assert set(deep().during("pacing_gain", "Startup")) == {710 / 256}
    assert set(deep().during("cwnd_gain", "Startup")) == {2.0}


def test_startup_ends_after_three_rounds_without_growth() -> None:
    startup = deep().states("Startup")[0]
    counts = deep().variable("full_bw_cnt", 0, startup.end_s + 0.0015)
    assert counts.unique(maintain_order=True).to_list() == [0, 1, 2, 3]


def test_startup_behind_a_shallow_buffer_ends_by_loss_and_bounds_the_flight() -> None:
    startup = shallow().states("Startup")[0]
    assert shallow().variable("full_bw_cnt", 0, startup.end_s).max() < 3  # type: ignore[operator]
    assert len(shallow().variable("inflight_hi", 0, startup.end_s - 1e-9)) == 0
    bdp = 100e6 * 0.04 / PACKET_BITS
    bound = shallow().variable("inflight_hi", startup.end_s, startup.end_s + 0.002)[0]
    assert bdp <= bound <= bdp + 60 + 24  # what was delivered in a round: the pipe and the buffer


@pytest.mark.parametrize("preset", ["google", "draft"])
def test_without_loss_the_flight_stays_unbounded(preset: str) -> None:
    trace = deep("bbr3", preset)
    assert len(trace.variable("inflight_hi")) == 0
    assert trace.run.flows["retransmitted_packets"][0] == 0


def test_probes_are_63_rounds_apart_on_a_short_path() -> None:
    """From DOWN to REFILL: 63 rounds, or 62 as the count starts at 0 or 1, of 10 ms and DOWN's queue."""
    refills = [v.start_s for v in deep().states("ProbeBW:Refill") if v.start_s < 5]
    downs = [v.start_s for v in deep().states("ProbeBW:Down")]
    counts = [deep().variable("rounds_since_probe", t - 0.0015, t)[-1] for t in refills]
    assert set(counts) <= {62.0, 63.0}
    followed = [refill for refill in refills if refill > downs[0]]
    assert len(followed) >= 3
    for refill in followed:
        down = max(start for start in downs if start < refill)
        assert 62 * RTT_S <= refill - down <= 63 * 1.25 * RTT_S


def test_probes_are_two_to_three_seconds_apart_on_a_long_path() -> None:
    trace = Trace(fullpipe.run(scenario("bbr3", 50, 100, 4000, 12), seed=1))
    cycles = [v for v in trace.visits() if v.state in ("ProbeBW:Down", "ProbeBW:Refill", "ProbeRTT")]
    waits = [
        b.start_s - a.start_s for a, b in pairwise(cycles) if (a.state[-4:], b.state[-4:]) == ("Down", "fill")
    ]
    probe_rtts = [
        b.start_s - a.end_s for a, b in pairwise(cycles) if (a.state, b.state[-4:]) == ("ProbeRTT", "fill")
    ]
    assert waits + probe_rtts
    assert all(2 <= wait <= 3 + 0.1 for wait in waits + probe_rtts)  # looked at on the next ACK


def test_up_lasts_three_rounds_if_there_is_no_more_bandwidth() -> None:
    ups = deep().states("ProbeBW:Up")
    assert len(ups) >= 7
    assert all(3 * RTT_S <= up.length_s <= 5 * 1.25 * RTT_S for up in ups)


def test_the_queue_of_a_probe_is_at_most_one_and_a_quarter_bdp() -> None:
    settled_s = deep().states("ProbeBW:Down")[0].end_s
    flight = deep().series.filter(pl.col("time_s") > settled_s)["in_flight_bytes"].max() / MSS  # type: ignore[operator]
    bursts = 3 * 8 + 2  # of 8 packets at this rate, and two for the probe
    assert flight <= 2.25 * BDP + bursts


def test_down_paces_at_0_906_until_the_flight_is_a_bdp() -> None:
    downs = [v for v in deep().states("ProbeBW:Down") if v.length_s > RTT_S]
    assert set(deep().during("pacing_gain", "ProbeBW:Down")) == {232 / 256}
    for down in downs:
        flight = deep().series.filter(pl.col("time_s").is_between(down.end_s - 0.002, down.end_s + 0.002))
        assert flight["in_flight_bytes"].min() / MSS <= BDP + 8  # type: ignore[operator]


def test_down_drains_a_tenth_of_the_rate_per_round() -> None:
    """In the middle of DOWN the flight falls by 0.094 + 0.01 (the pacing margin) of a BDP per RTT."""
    down = max(deep().states("ProbeBW:Down"), key=lambda v: v.length_s)
    middle = deep().series.filter(pl.col("time_s").is_between(down.start_s + 2 * RTT_S, down.end_s - RTT_S))
    times, flights = middle["time_s"].to_list(), middle["in_flight_bytes"].to_list()
    slope = (flights[-1] - flights[0]) / MSS / BDP / ((times[-1] - times[0]) / RTT_S)
    assert slope == pytest.approx(-(1 - 0.99 * 232 / 256), abs=0.04)


def test_probe_rtt_comes_every_five_seconds_at_half_a_bdp() -> None:
    visit = deep().states("ProbeRTT")[0]
    assert 5 <= visit.start_s <= 5 + 0.1
    assert 0.2 <= visit.length_s <= 0.2 + 3 * RTT_S
    inside = deep().series.filter(pl.col("time_s").is_between(visit.start_s + 2 * RTT_S, visit.end_s - RTT_S))
    flight = inside["in_flight_bytes"].max() / MSS  # type: ignore[operator]
    assert flight == pytest.approx(0.5 * BDP, abs=4)


def test_probe_rtt_costs_half_of_its_time() -> None:
    visit = deep().states("ProbeRTT")[0]
    during = deep().series.filter(pl.col("time_s").is_between(visit.start_s + 2 * RTT_S, visit.end_s))
    goodput = during["goodput_bps"].mean() / (100e6 * MSS / 1514)  # type: ignore[operator]
    assert goodput == pytest.approx(0.5, abs=0.06)


def test_cruise_leaves_15_percent_of_the_bound_free() -> None:
    trace = shallow()
    cruises = [v for v in trace.states("ProbeBW:Cruise") if v.length_s > 0.1]
    assert cruises
    for visit in cruises:
        window = trace.variable("cwnd", visit.start_s + 0.002, visit.end_s - 0.002)
        bound = trace.variable("inflight_hi", visit.start_s + 0.002, visit.end_s - 0.002)
        assert len(window) == len(bound) > 0
        assert all(w <= b - int(b * 38 / 256) for w, b in zip(window, bound, strict=True))


def test_random_loss_below_the_threshold_costs_little_and_above_it_much() -> None:
    """2 % of a flight is the most that a probe may lose."""

    def goodput(probability: float) -> float:
        loss = {"kind": "bernoulli", "probability": probability}
        lossy = scenario("bbr3", 50, 40, 165, 15).with_values(
            {"topology.bottleneck.loss": loss, "record.interval": "off", "record.variables": False}
        )
        run = fullpipe.run(lossy, seed=1)
        return float(run.flows["goodput_bps"][0]) / (50e6 * MSS / 1514)

    assert goodput(0.001) > 0.9
    assert goodput(0.05) < 0.4


def late_share_of_a_newcomer(cca: str, after_s: int = 20) -> float:
    """The newcomer's share of the goodput of two flows, for as long as it has been there; 2 BDP of buffer."""
    flows = [{"cca": cca}, {"cca": cca, "start": "3 s"}]
    run = fullpipe.run(
        scenario(cca, 50, 20, 165, 3 + 2 * after_s, flows=flows, record={"interval": "100 ms"}), seed=1
    )
    late = (
        run.series.filter(pl.col("time_s") > 3 + after_s)
        .group_by("flow")
        .agg(pl.col("goodput_bps").mean())
        .sort("flow")
    )
    rates = late["goodput_bps"].to_list()
    return float(rates[1] / sum(rates))


def test_two_flows_converge_to_equal_shares() -> None:
    assert late_share_of_a_newcomer("bbr3", after_s=40) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("bdp", [1, 4])
def test_bbr3_and_cubic_both_get_along(bdp: int) -> None:
    flows = [{"cca": cca, "start_jitter": "500 ms"} for cca in ("bbr3", "cubic")]
    made = scenario("bbr3", 50, 40, 165 * bdp, 60, flows=flows, record={"interval": "off"}, warmup="10 s")
    rates = [fullpipe.run(made, seed=seed).flows["goodput_bps"].to_list() for seed in (1, 2, 3)]
    share = sum(rate[0] for rate in rates) / sum(map(sum, rates))
    assert 0.35 < share < 0.65


# Version 2


def test_bbr2_leaves_up_after_one_to_two_rtts() -> None:
    ups = deep("bbr2").states("ProbeBW:Up")
    assert len(ups) >= 7
    assert all(RTT_S <= up.length_s <= 2 * RTT_S for up in ups)


def test_bbr2_drains_a_quarter_of_the_rate_per_round() -> None:
    assert set(deep("bbr2").during("pacing_gain", "ProbeBW:Down")) == {0.75}
    downs = [v for v in deep("bbr2").states("ProbeBW:Down") if v.length_s > RTT_S / 2]
    assert all(v.length_s <= 2 * RTT_S for v in downs)  # a quarter BDP, where version 3 takes nine rounds


def test_bbr2_probes_the_rtt_as_version_3_does() -> None:
    two, three = (deep(cca).states("ProbeRTT")[0] for cca in ("bbr2", "bbr3"))
    assert two.start_s == pytest.approx(three.start_s, abs=2 * RTT_S)
    assert two.length_s == pytest.approx(three.length_s, abs=2 * RTT_S)


def test_bbr2_starts_up_with_both_gains_at_2_89() -> None:
    assert set(deep("bbr2").during("pacing_gain", "Startup")) == {739 / 256}
    assert set(deep("bbr2").during("cwnd_gain", "Startup")) == {739 / 256}


def test_bbr2_does_not_converge_as_version_3_does() -> None:
    """The fault that version 3 mended."""
    assert late_share_of_a_newcomer("bbr2") < 0.35


# BBR-n+


def test_bbr_n_plus_grows_at_most_twofold_per_round_in_startup() -> None:
    trace = deep("bbr_n_plus")
    assert set(trace.during("pacing_gain", "Startup")) == {738 / 256}
    end_s = trace.states("Startup")[0].end_s
    by_round = dict(
        zip(trace.variable("round_count", 0, end_s), trace.variable("cwnd", 0, end_s), strict=True)
    )
    windows = list(by_round.values())
    assert all(after <= 2 * before + 1 for before, after in pairwise(windows))


def test_bbr_n_plus_probes_at_1_5_with_two_and_a_half_bdp() -> None:
    trace = deep("bbr_n_plus")
    assert set(trace.during("pacing_gain", "ProbeBW:Up")) == {1.5}
    assert set(trace.during("cwnd_gain", "ProbeBW:Up")) == {2.5}
    up = trace.states("ProbeBW:Up")[0]
    rates = trace.variable("pacing_rate", up.start_s + 0.002, up.end_s - 0.002)
    bandwidths = trace.variable("bw", up.start_s + 0.002, up.end_s - 0.002)
    ratio = [rate / (bw * MSS * 8) for rate, bw in zip(rates, bandwidths, strict=True)]
    assert ratio == pytest.approx([1.485] * len(ratio), rel=1e-3)


def test_bbr_n_plus_queues_at_most_one_and_a_half_bdp_and_more_than_version_3() -> None:
    def queue(cca: str) -> float:
        settled_s = deep(cca).states("ProbeBW:Down")[0].end_s + 0.1
        late = deep(cca).series.filter(pl.col("time_s") > settled_s)
        return float(late["in_flight_bytes"].max()) / MSS - BDP  # type: ignore[arg-type]

    assert queue("bbr3") < queue("bbr_n_plus") <= 1.5 * BDP + 26


def test_bbr_n_plus_loses_more_than_version_3_behind_a_shallow_buffer() -> None:
    def lost(cca: str) -> int:
        run = fullpipe.run(scenario(cca, 50, 20, 40, 20, record={"interval": "off"}, warmup="2 s"), seed=1)
        return int(run.flows["retransmitted_packets"][0])

    assert lost("bbr_n_plus") > lost("bbr3")


def test_bbr_n_plus_claims_freed_bandwidth_faster_than_version_3() -> None:
    """From 20 to 80 Mbit/s: the time from the first probe after the change until the estimate follows."""

    def climb_s(cca: str) -> float:
        steps = [{"at": "2 s", "rate": "80 Mbit/s"}]
        changing = scenario(cca, 20, 20, 1000, 8).with_values({"topology.bottleneck.changes": steps})
        trace = Trace(fullpipe.run(changing, seed=1))
        first = next(up.start_s for up in trace.states("ProbeBW:Up") if up.start_s > 2)
        full = 0.95 * 80e6 / PACKET_BITS
        reached = trace.rows("bw").filter((pl.col("time_s") > first) & (pl.col("value") > full))
        return float(reached["time_s"][0]) - first

    assert climb_s("bbr_n_plus") < climb_s("bbr3")


def startup_behind_a_small_receive_window(preset: str) -> Trace:
    """20 Mbit/s and 40 ms, 66 packets, with a receive buffer that allows about half of that."""
    tcp = {"receive_buffer": "48 kB"}
    return Trace(
        fullpipe.run(scenario({"kind": "bbr_n_plus", "preset": preset}, 20, 40, 1000, 3, tcp=tcp), seed=1)
    )


def test_smart_exit_stays_in_startup_while_the_receive_window_is_the_limit() -> None:
    staying = startup_behind_a_small_receive_window("smart_exit")
    assert [v.state for v in staying.visits()] == []  # no transition at all
    assert staying.series["srtt_s"].max() < 0.045  # type: ignore[operator]


def test_without_smart_exit_three_flat_rounds_end_startup() -> None:
    leaving = startup_behind_a_small_receive_window("paper2025")
    assert leaving.visits()[0].state == "Startup"
    assert leaving.visits()[0].end_s < 1
