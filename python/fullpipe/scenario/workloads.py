"""Workloads: what the application of a flow does. One model per kind; `Workload` is any of them."""

from typing import Literal

from fullpipe.scenario.model import Model


class Bulk(Model):
    """One stream of data, which ends after `size` or never: the same as no workload."""

    kind: Literal["bulk"] = "bulk"


Workload = Bulk
