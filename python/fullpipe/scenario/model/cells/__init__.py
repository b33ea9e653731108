"""Cells: media shared by several nodes. Each kind of cell has a model; `Cell` is the union of all kinds."""

from typing import Annotated

from pydantic import Field

from fullpipe.scenario.model.cells.base import Shared
from fullpipe.scenario.model.cells.presets import Lte, Nr
from fullpipe.scenario.model.cells.wifi import Wifi

Cell = Annotated[Shared | Wifi | Lte | Nr, Field(discriminator="kind")]
"""A cell of any kind; `kind` selects the model."""
