"""How stations of a cell choose modulation and coding schemes: what all kinds of cells have in common."""

from typing import Self

from pydantic import model_validator

from fullpipe.scenario.model.base import Model, WithinError


class ChosenRate(Model):
    """A law, and the scheme if the law is "fixed"."""

    law: str
    """Which schemes are used."""
    mcs: int | None
    """Of a fixed rate."""

    @model_validator(mode="after")
    def _has_an_mcs_if_fixed(self) -> Self:
        if (self.law == "fixed") != (self.mcs is not None):
            fixed = self.law == "fixed"
            raise WithinError(("mcs", "missing" if fixed else f"{self.law} rates are chosen; leave it out"))
        return self
