"""Cells: media that several nodes share. One file and one model per kind; `Cell` is any of them."""

from typing import Annotated

from pydantic import Field

from fullpipe.scenario.model.cells.shared import Shared
from fullpipe.scenario.model.cells.wifi import Wifi

Cell = Annotated[Shared | Wifi, Field(discriminator="kind")]
"""Kinds are told apart by `kind`."""
