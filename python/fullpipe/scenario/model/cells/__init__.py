"""Cells: media that several nodes share. One file and one model per kind; `Cell` is any of them."""

from fullpipe.scenario.model.cells.shared import Shared

Cell = Shared
"""Kinds are told apart by `kind`."""
