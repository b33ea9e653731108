"""Conversion of a Flent test on a path to a scenario."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from fullpipe.scenario import catalogue
from fullpipe.scenario.flent.families import LENGTH_S, STEP_S, FlentTest, extra_rtt_ms, server
from fullpipe.scenario.flent.names import flow_of, mark_of
from fullpipe.scenario.flent.path import TestPath
from fullpipe.scenario.scenario import Scenario

_SERVER = "server"
_APART = {
    "TCP": "10 ms",
    "UDP": "10 ms",
    "Ping": f"{STEP_S * 1e3:g} ms",
    "VoIP": "20 ms",
    "HTTP": f"{STEP_S * 1e3:g} ms",
}
"""Start jitter of programs that Flent starts together."""
_LATENCY = {
    "Ping (ms) UDP": {"kind": "probe", "interval": "200 ms"},
    "Ping (ms)::UDP": {"kind": "probe", "interval": "200 ms"},
    "Ping (ms)": {"kind": "ping", "interval": "200 ms"},
    "VoIP": {"kind": "voip"},
}
_PAGES = {"kind": "web", "think": "0 s"}
"""http-getter loads the same pages repeatedly."""
_FLOOD = {"kind": "udp", "rate": "100 Mbit/s", "size": "1470 B"}
"""Default UDP load that Flent sends with iperf, in datagrams that fill an Ethernet frame."""


_PROGRAMS = {"torrent": "ledbat"}
"""Algorithms of programs after which series are named: RFC 6817 is BitTorrent's."""


@dataclass(frozen=True)
class Choices:
    """Options of a test."""

    ccas: Sequence[Any] = ("cubic",)
    """Algorithms of streams whose algorithm the test does not define, used in turn."""
    server_cca: Any = None
    """Algorithm of downloads, which the server sends. None: as for uploads."""
    length_s: float = LENGTH_S
    extra_rtts_ms: Sequence[float] = ()
    """Additional RTTs of the servers, in order. Empty: Flent's test setup (`extra_rtt_ms`)."""


def scenario_of(test: FlentTest, path: TestPath, choices: Choices | None = None) -> Scenario:
    """Return the scenario of a test on a path.

    Raises:
        ScenarioError: If the test cannot run on that path.
    """
    chosen = choices or Choices()
    ccas = cycle(chosen.ccas)
    flows = [_flow(one, test, path, chosen, ccas) for one in test.series]
    return Scenario(
        name=test.name,
        duration=f"{test.duration_s(chosen.length_s):g} s",
        warmup=f"{test.warmup_s:g} s",
        **path.parts,
        flows=flows,
        record={"interval": f"{STEP_S * 1e3:g} ms"},
    )


def _flow(series: str, test: FlentTest, path: TestPath, chosen: Choices, ccas: Any) -> dict[str, Any]:
    is_upload = "download" not in series and not series.startswith("HTTP")
    number = int(found[1]) if (found := re.search(r"server(\d+)$", series)) else 0
    mark = mark_of(series)
    return {
        "name": flow_of("VoIP" if series.startswith("VoIP") else series),
        **path.ends(server(number) if number else _SERVER, is_upload=is_upload),
        **path.further(_extra_rtt_ms(number, chosen)),
        **({"dscp": mark} if mark else {}),
        "start_jitter": _APART[series[:4].strip()],
        **(
            _load(series, test, chosen, ccas)
            if series.startswith(("TCP", "UDP", "HTTP"))
            else {"workload": _latency(series)}
        ),
    }


def _extra_rtt_ms(number: int, chosen: Choices) -> float:
    if not number:
        return 0.0
    if not chosen.extra_rtts_ms:
        return extra_rtt_ms(number - 1)
    return chosen.extra_rtts_ms[(number - 1) % len(chosen.extra_rtts_ms)]


def _latency(series: str) -> dict[str, Any]:
    return next(workload for start, workload in _LATENCY.items() if series.startswith(start))


def _load(series: str, test: FlentTest, chosen: Choices, ccas: Any) -> dict[str, Any]:
    when = {"start": f"{test.begin_s(series):g} s", "stop": f"{test.end_s(series, chosen.length_s):g} s"}
    if series.startswith("UDP"):
        return {"workload": _FLOOD, **when}
    of_server = not series.startswith("TCP") or "download" in series
    named = _named_algorithm(series)
    cca = named or (chosen.server_cca if of_server and chosen.server_cca else next(ccas))
    return {"cca": cca, "workload": _PAGES} if series.startswith("HTTP") else {"cca": cca, **when}


def _named_algorithm(series: str) -> str | None:
    """Return the algorithm in the name of a series, or None."""
    entries = catalogue.controllers()
    aliases = {alias: name for name, entry in entries.items() for alias in (name, *entry.aliases)}
    aliases |= _PROGRAMS
    return next(
        (aliases[word.lower()] for word in re.split(r" |::", series) if word.lower() in aliases), None
    )
