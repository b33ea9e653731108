"""Makes the tables of a run from the files that the guest wrote."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.engines.linux.layout.network import NetworkLayout
from fullpipe.engines.linux.tables import connections, packets
from fullpipe.engines.linux.tables.connections import read_marks, read_samples
from fullpipe.engines.linux.tables.packets import ProbeRecords
from fullpipe.errors import EngineError
from fullpipe.runs import TABLES, frame
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import to_nanoseconds

# All tables of a run.


MEASURED: Mapping[str, str] = {
    "flows": "flow cca protocol start_s end_s delivered_bytes goodput_bps wire_bps sent_packets "
    "retransmitted_packets lost_packets marked_packets rtt_min_s rtt_mean_s rtt_p50_s rtt_p95_s rtt_p99_s "
    "owd_mean_s owd_p50_s owd_p95_s owd_p99_s jitter_s fct_s limited_receiver limited_send_buffer "
    "owd_min_s dropped_packets",
    "transfers": "flow number connection start_s end_s bytes delivered_bytes sent_packets "
    "retransmitted_packets fct_s",
    "probes": "time_s flow owd_s rtt_s",
    "series": "time_s flow goodput_bps cwnd_bytes in_flight_bytes srtt_s min_rtt_s pacing_bps delivery_bps "
    "retransmitted_packets state",
    "links": "time_s link backlog_bytes backlog_packets dropped_packets marked_packets utilisation",
    "packets": "time_ns point flow connection source kind seq len ack window sacks ts_val ts_ecr ce_count "
    "flags ecn size",
    "links_summary": "link dropped_packets marked_packets forwarded_packets forwarded_bytes utilisation",
}
"""Columns that the engine measures. The kernel reports the state of connections and queues, and packets at
hosts."""

_SMOOTHED = "its RTT samples are smoothed"
_NEVER_FORGOTTEN = "it is the minimum of the whole connection, including the warm-up"


def otherwise(scenario: Scenario) -> dict[str, str]:
    """Return the columns whose meaning for connections differs from the schema, with their meaning in this
    engine.

    A kernel reports the smoothed and the minimum RTT of a connection, but not every RTT sample.
    """
    smoothed = {f"flows.rtt_{what}_s": _SMOOTHED for what in ("mean", "p50", "p95", "p99")}
    return smoothed | ({"flows.rtt_min_s": _NEVER_FORGOTTEN} if scenario.warmup_s else {})


def read(folder: Path, scenario: Scenario, network: NetworkLayout) -> dict[str, pl.DataFrame]:
    """Read the tables of a run.

    Raises:
        EngineError: If the guest did not run the scenario as requested.
    """
    _check(folder, network)
    samples, marks = read_samples(folder / "flows", scenario), read_marks(folder / "marks")
    records = packets.read_datagrams(folder / "datagrams", network)
    measured: dict[str, Mapping[str, Any]] = {
        **_flows_and_transfers(samples, marks, records, scenario, network),
        "probes": packets.probes(list(records.values())),
        "series": _series(samples, records, scenario, network),
        **connections.read(folder / "links", scenario, network),
    }
    made = {name: frame(table, measured.get(name, {})) for name, table in TABLES.items()}
    return made | {"packets": packets.read(folder, scenario, network, records)}


def _check(folder: Path, network: NetworkLayout) -> None:
    """Check that the kernel used the requested algorithms and dropped no packets in its own queues.

    The kernel reports no error if it uses another algorithm or drops a packet in its own queues.
    """
    for line in (folder / "connections").read_text(encoding="ascii").splitlines():
        number, asked, chosen = line.split(",")[:3]
        if asked != chosen:
            name = network.flows[int(number)].routed.name
            raise EngineError(f"{name}: the kernel runs {chosen} instead of {asked}")
    thrown_away = int((folder / "thrown-away").read_text(encoding="ascii"))
    if thrown_away:
        raise EngineError(
            f"the run is not valid: the kernel dropped {thrown_away} packets outside the scenario's queues"
        )


def _flows_and_transfers(
    samples: pl.DataFrame,
    marks: pl.DataFrame,
    records: Mapping[int, ProbeRecords],
    scenario: Scenario,
    network: NetworkLayout,
) -> dict[str, dict[str, list[Any]]]:
    flows, transfers = [], []
    for number, laid in enumerate(network.flows):
        if number in records:
            flows.append(packets.flow(records[number], scenario))
            continue
        own = samples.filter(pl.col("number") == number)
        row = connections.flow(laid, own, marks.filter(pl.col("number") == number), scenario)
        flows.append(row)
        if laid.routed.flow.size_bytes is not None:
            transfers.append(connections.transfer(row, own, laid.routed.flow.size_bytes))
    return {"flows": _columns(flows), "transfers": _columns(transfers)}


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Convert rows to columns. A value that a row lacks is null."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}


def _series(
    samples: pl.DataFrame, records: Mapping[int, ProbeRecords], scenario: Scenario, network: NetworkLayout
) -> Mapping[str, Any]:
    """Return the columns of the table `series`, in order of time and of flows. Empty if `record.interval` is
    0."""
    interval_ns, duration_ns = to_nanoseconds(scenario.record.interval_s), to_nanoseconds(scenario.duration_s)
    if not interval_ns:
        return {}
    found = pl.DataFrame(connections.series(samples, network, interval_ns))
    if not records:
        return found.to_dict(as_series=False)
    rows = [row for of_flow in records.values() for row in packets.series(of_flow, interval_ns, duration_ns)]
    order = {flow.routed.name: number for number, flow in enumerate(network.flows)}
    both = pl.concat([found, pl.DataFrame(rows)], how="diagonal_relaxed")
    numbers = pl.col("flow").replace_strict(order, return_dtype=pl.Int64)
    return both.sort("time_s", numbers, maintain_order=True).to_dict(as_series=False)
