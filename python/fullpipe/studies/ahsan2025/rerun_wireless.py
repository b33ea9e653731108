"""The wireless part: uploads over a cell with parameters from the published files."""

from __future__ import annotations

from fullpipe.scenario import Scenario
from fullpipe.studies.ahsan2025 import rerun_measures as measures
from fullpipe.studies.experiments import Experiment, Variants

NAME = "wifi upload"
STREAMS = (1, 4, 8, 12, 16)


def experiment(*, length_s: float) -> Experiment:
    """Return the experiment with 1 to 16 uploads beside a neighbour, with Flent's times."""
    named = {"flows.0.name": "TCP upload", "flows.1.name": "Ping ICMP"}
    times = {
        "flows.0.start": "5 s",
        "flows.0.stop": f"{5 + length_s:g} s",
        "duration": f"{10 + length_s:g} s",
    }
    tree = Scenario.named("wifi-p4-streams").to_dict()
    plain = Scenario(**{key: value for key, value in tree.items() if key != "sweep"})
    scenario = plain.with_values({**named, **times, "record.interval": "200 ms"})
    streams: Variants = {count: {"flows.0.count": count} for count in STREAMS}
    return Experiment(NAME, scenario, {}, measures.of_test, {"streams": streams}, flows=(0,))
