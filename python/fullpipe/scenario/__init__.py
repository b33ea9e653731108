"""Scenarios: experiments as frozen typed values, read from and written to TOML.

The subpackage `model` defines the keys of a scenario, `read` reads files, and `checks` checks that the parts
of a scenario are consistent. `network` derives nodes, links and routes (`resolve`), and `tc` reads Linux's
queue disciplines.
"""

from typing import TYPE_CHECKING

from fullpipe import lazy

if TYPE_CHECKING:
    from fullpipe.scenario.model.scenario import ENGINE_OPTIONS, Record
    from fullpipe.scenario.network import Link, Medium, Network, Node, Port, RoutedFlow, resolve
    from fullpipe.scenario.read.files import scenario_names
    from fullpipe.scenario.scenario import Scenario

__all__ = [
    "ENGINE_OPTIONS",
    "Link",
    "Medium",
    "Network",
    "Node",
    "Port",
    "Record",
    "RoutedFlow",
    "Scenario",
    "resolve",
    "scenario_names",
]

# Imports are lazy, as many commands use the registry (`catalogue`) without the models of scenarios.
__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "ENGINE_OPTIONS": "model.scenario",
        "Record": "model.scenario",
        "Scenario": "scenario",
        "scenario_names": "read.files",
        **dict.fromkeys(("Link", "Medium", "Network", "Node", "Port", "RoutedFlow", "resolve"), "network"),
    },
)
