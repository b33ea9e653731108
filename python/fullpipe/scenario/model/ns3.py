"""Options of the ns3 engine; all others ignore them."""

from typing import Literal

from fullpipe.scenario.model.base import Model, Switch


class Ns3(Model):
    """Settings of ns-3's TCP stack that have no counterpart elsewhere. Engines other than ns3 ignore them."""

    algorithms: Literal["ns3", "ns3-only", "fullpipe"] = "ns3"
    """Implementation of the congestion control. "ns3": ns-3's, or fullpipe's if ns-3 has none of that name.
    "ns3-only": ns-3's, otherwise an error. "fullpipe": always fullpipe's, on ns-3's stack."""
    recovery: Literal["prr", "classic"] = "prr"
    """Window reduction in recovery: proportional rate reduction ("prr"), or at once ("classic"). BBR and
    fullpipe's algorithms ignore it."""
    sack: Switch = True
    """Selective acknowledgements."""
