"""Scenarios: what is simulated, as frozen typed values, read from and written to TOML."""

from fullpipe.scenario.network import Link, Network, Node, Route, resolve
from fullpipe.scenario.reading import scenario_names
from fullpipe.scenario.scenario import Record, Scenario

__all__ = ["Link", "Network", "Node", "Record", "Route", "Scenario", "resolve", "scenario_names"]
