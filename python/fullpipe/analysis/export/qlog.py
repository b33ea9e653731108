"""A run as a qlog trace: one JSON object per event, as a JSON text sequence (RFC 7464).

Names and fields follow draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events. qlog is made
for QUIC, so TCP is mapped to the terms of QUIC: a packet number identifies one transmission, and a
retransmission has a new packet number.
"""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import datagrams
from fullpipe.errors import ResultError
from fullpipe.runs import Run

Event = tuple[float, dict[str, Any]]
"""Time in milliseconds, and the other fields of the event."""


def qlog(run: Run) -> bytes:
    """Return one trace of all connections of a run, identified by `group_id`; datagrams are left out.

    There is one event `recovery_metrics_updated` per sample, and one event `congestion_state_updated` per
    change of a state that the algorithm published. Packets are included if the scenario captured them at the
    sender. A packet counts as lost when it is retransmitted.

    Raises:
        ResultError: If the run was recorded without samples.
    """
    if run.series.is_empty():
        raise ResultError('no samples to export; run with record.interval = "10 ms"')
    events = [*_metrics(run), *_states(run), *_packets(run)]
    events.sort(key=lambda event: event[0])
    records = [_header(run), *({"time": round(time_ms, 6)} | event for time_ms, event in events)]
    text = "".join(f"\x1e{json.dumps(record, separators=(',', ':'))}\n" for record in records)
    return text.encode()


def _header(run: Run) -> dict[str, Any]:
    meta, engine = run.meta, run.meta.engine
    model = f"engine {engine.name}, model {engine.model_version}"
    return {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": run.name,
        "description": f"scenario {meta.digest}, seed {meta.seed}, {model}",
        "trace": {
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"type": "client", "name": "sender"},
            "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
        },
    }


def _event(time_s: float, flow: str, name: str, data: dict[str, Any]) -> Event:
    return time_s * 1e3, {"name": f"quic:{name}", "group_id": flow, "data": data}


def _metrics(run: Run) -> Iterator[Event]:
    started = run.series.filter(pl.col("cwnd_bytes").is_not_null())
    for row in started.iter_rows(named=True):
        values = {
            "smoothed_rtt": None if row["srtt_s"] is None else row["srtt_s"] * 1e3,
            "min_rtt": None if row["min_rtt_s"] is None else row["min_rtt_s"] * 1e3,
            "congestion_window": row["cwnd_bytes"],
            "bytes_in_flight": row["in_flight_bytes"],
            "pacing_rate": None if row["pacing_bps"] is None else int(row["pacing_bps"]),
        }
        data = {key: value for key, value in values.items() if value is not None}
        yield _event(row["time_s"], row["flow"], "recovery_metrics_updated", data)


def _states(run: Run) -> Iterator[Event]:
    """Yield changes of the states that algorithms published. For a flow whose algorithm published no states,
    the changes are those of loss recovery's state."""
    published = run.variables.filter(pl.col("state") != "").select("time_s", "flow", "name", "state")
    left_out = [*published["flow"].unique(), *datagrams(run.flows)["flow"]]
    silent = run.series.filter(~pl.col("flow").is_in(left_out))
    sampled = silent.select("time_s", "flow", pl.lit("recovery").alias("name"), "state")
    known: dict[tuple[str, str], str] = {}
    for time_s, flow, name, state in pl.concat([published, sampled]).iter_rows():
        old = known.get((flow, name))
        if state == old:
            continue
        known[flow, name] = state
        data = {"new": state} if old is None else {"old": old, "new": state}
        yield _event(time_s, flow, "congestion_state_updated", data)


def _packets(run: Run) -> Iterator[Event]:
    sent_of: dict[tuple[str, int | None, int], int] = {}
    number_of: dict[str, int] = {}
    for row in run.packets.filter(pl.col("point") == "sender").iter_rows(named=True):
        time_s, flow = row["time_ns"] / 1e9, row["flow"]
        if row["kind"] == "data" and row["source"] != "receiver":
            number = number_of[flow] = number_of.get(flow, -1) + 1
            place = (flow, row["connection"], row["seq"])
            before = sent_of.get(place)
            if before is not None:
                yield _event(time_s, flow, "packet_lost", {"header": _packet(before)})
            sent_of[place] = number
            yield _event(time_s, flow, "packet_sent", {"header": _packet(number), "raw": _raw(row)})
        elif row["kind"] in ("ack", "data") and row["source"] != "sender":
            data = {"header": {"packet_type": "1RTT"}, "raw": _raw(row)}
            yield _event(time_s, flow, "packet_received", data)


def _packet(number: int) -> dict[str, Any]:
    return {"packet_type": "1RTT", "packet_number": number}


def _raw(row: dict[str, Any]) -> dict[str, int]:
    return {"length": row["size"], "payload_length": row["len"]}
