"""Selection of modulation and coding schemes (MCS): the base class for all kinds of cells."""

from typing import Self

from pydantic import model_validator

from fullpipe.scenario.model.base import Model, WithinError


class ChosenRate(Model):
    """A rate control law, and the MCS if the law is "fixed"."""

    law: str
    """Rate control."""
    mcs: int | None
    """MCS of a fixed rate."""

    @model_validator(mode="after")
    def _has_an_mcs_if_fixed(self) -> Self:
        if (self.law == "fixed") != (self.mcs is not None):
            fixed = self.law == "fixed"
            raise WithinError(("mcs", "missing" if fixed else f"{self.law} rates are chosen; leave it out"))
        return self
