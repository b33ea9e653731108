"""Workloads: traffic patterns of applications. Each kind has a model; `Workload` is the union of all
kinds."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from fullpipe.scenario.model.base import short_for
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.model.workloads.transfers import Transfers
from fullpipe.scenario.model.workloads.writers import Application, FlowContext, Writer


class Bulk(Application):
    """One stream of data, of `size` bytes or without an end; the default workload."""

    kind: Literal["bulk"] = "bulk"

    def plan(self, flow: FlowContext) -> None:
        """Return None: a plan without a workload means bulk."""


Workload = Annotated[Bulk | Transfers | Writer | Datagrams, Field(discriminator="kind"), short_for("kind")]
"""A workload, as a table or as text. A name without parameters means the workload with its defaults."""


def workload_models() -> dict[str, type[Application]]:
    """Return the models of workloads by their `kind`."""
    models: tuple[type[Application], ...] = get_args(get_args(Workload)[0])
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}
