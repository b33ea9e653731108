"""Workloads: what the application of a flow does. One model per kind; `Workload` is any of them."""

from typing import Annotated, Literal

from pydantic import Field

from fullpipe.scenario.datagrams import Datagrams
from fullpipe.scenario.model import Model
from fullpipe.scenario.transfers import Transfers
from fullpipe.scenario.writers import Writer


class Bulk(Model):
    """One stream of data, which ends after `size` or never: the same as no workload."""

    kind: Literal["bulk"] = "bulk"


Workload = Annotated[Bulk | Transfers | Writer | Datagrams, Field(discriminator="kind")]
