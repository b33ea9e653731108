"""Options of the ns3 engine; all others ignore them."""

from typing import Literal

from fullpipe.scenario.model.base import Model, Switch


class Ns3(Model):
    """How ns-3's own stack is set up where a scenario leaves it open. Engines other than ns3 ignore it."""

    algorithms: Literal["ns3", "ns3-only", "fullpipe"] = "ns3"
    """Whose algorithms run: ns-3's where it has one of that name, and fullpipe's where it has none; ns-3's
    only; or fullpipe's throughout, on ns-3's stack."""
    recovery: Literal["prr", "classic"] = "prr"
    """How ns-3 brings the window down in recovery: by proportional rate reduction, or at once. Without
    meaning for BBR and for fullpipe's algorithms."""
    sack: Switch = True
    """Selective acknowledgements."""
