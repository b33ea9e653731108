"""Workloads: what the application of a flow does. One model per kind; `Workload` is any of them."""

from typing import Annotated, Literal

from pydantic import Field

from fullpipe.scenario.model.workloads.application import Application, FlowContext
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.model.workloads.transfers import Transfers
from fullpipe.scenario.model.workloads.writers import Writer


class Bulk(Application):
    """One stream of data, which ends after `size` or never: the same as no workload."""

    kind: Literal["bulk"] = "bulk"

    def plan(self, flow: FlowContext) -> None:
        """Nothing: the plan says it by having no workload."""


Workload = Annotated[Bulk | Transfers | Writer | Datagrams, Field(discriminator="kind")]
