"""Text of the report besides verdicts: the effect of the open settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullpipe.analysis.statistics import t_interval
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import aligned

ROUTES: Mapping[str, str] = {"mean": "mean", "flow_30": "30 ms", "flow_90": "90 ms"}
LINKS: Mapping[str, str] = {
    "long_share_percent": "70 + 90 ms (%)",
    "dynamic_on_bbr": "on link 1",
    "dynamic_on_cubic": "on link 2",
    "jain_cubic_shared": "Jain, five on link 2",
    "bbr_gap_s": "link 1 not full (s)",
    "cubic_gap_s": "link 2 not full (s)",
}


REMARKS = (
    ". Throughput counts the headers of IP and TCP. Flows are named by their one-way delay along the faster "
    "route."
)


def sections(found: Measurements) -> list[str]:
    """What the open settings do, in both experiments."""
    return [
        "Experiment 1 under every setting, throughput in Mbit/s:",
        settings_text(found, "routes", ROUTES, "interval"),
        "Experiment 2 under every setting, throughput of the dynamic flow in Mbit/s:",
        settings_text(found, "links", LINKS),
    ]


def settings_text(
    found: Measurements, experiment: str, quantities: Mapping[str, str], key: str | None = None
) -> str:
    """A row per setting, algorithm and value of the condition `key`."""
    rows = [["setting", "algorithm", *([key] if key else []), *quantities.values()]]
    for setting in found.choices(experiment, "setting"):
        for algorithm in ("BBRv3", "CUBIC"):
            for value in found.choices(experiment, key) if key else [None]:
                where = {"setting": setting} | ({key: value} if key and value is not None else {})
                cells = [_cell(found.at(experiment, quantity, algorithm, where)) for quantity in quantities]
                rows.append([str(setting), algorithm, *([str(value)] if key else []), *cells])
    return aligned(rows, right=range(3 if key else 2, len(rows[0])))


def _cell(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.3g}" if values else ""
    interval = t_interval(values)
    return f"{sum(values) / len(values):.3g} [{interval.low:.3g}, {interval.high:.3g}]"
