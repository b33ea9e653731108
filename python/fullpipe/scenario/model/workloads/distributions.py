"""Distributions of sizes and of pauses."""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.quantities import SIZE, Bytes, OrWritten, Seconds

Size = Annotated[Bytes, Field(gt=0, le=10**15)]
Point = tuple[Size, Annotated[float, Field(strict=True, ge=0, le=1)]]

WEB_SEARCH: Sequence[tuple[int, float]] = (
    (6_000, 0.0), (10_000, 0.15), (20_000, 0.2), (30_000, 0.3), (50_000, 0.4), (80_000, 0.53),
    (200_000, 0.6), (1_000_000, 0.7), (2_000_000, 0.8), (5_000_000, 0.9), (10_000_000, 0.97),
    (30_000_000, 1.0),
)  # fmt: skip
"""After figure 4 of M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, from memory and not checked
point by point. With straight lines between these points, the mean size is 1.7 MB."""
DATA_MINING: Sequence[tuple[int, float]] = (
    (100, 0.0), (180, 0.1), (250, 0.2), (560, 0.3), (900, 0.4), (1_100, 0.5), (1_870, 0.6), (3_160, 0.7),
    (10_000, 0.8), (400_000, 0.9), (3_160_000, 0.95), (100_000_000, 0.98), (1_000_000_000, 1.0),
)  # fmt: skip
"""After figure 2 of A. Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009,
from memory and not checked point by point. With straight lines between these points, the mean size is 13 MB,
most of it due to the largest two per cent."""


class Constant(Model):
    """A constant size."""

    kind: Literal["constant"] = "constant"
    size_bytes: Size = Field(alias="size", examples=["20 kB"])
    """The size."""

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        return self.size_bytes

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "constant", "value": self.size_bytes}


class Exponential(Model):
    """Exponentially distributed sizes, rounded to whole bytes and at least 1 B."""

    kind: Literal["exponential"] = "exponential"
    mean_bytes: Size = Field(alias="mean", examples=["100 kB"])
    """Mean size."""

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        return self.mean_bytes

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "exponential", "mean": self.mean_bytes}


class Lognormal(Model):
    """Lognormally distributed sizes: the logarithm of a size is normally distributed."""

    kind: Literal["lognormal"] = "lognormal"
    mean_bytes: Size = Field(alias="mean", examples=["25 kB"])
    """Mean of the sizes (not of their logarithms)."""
    sigma: Annotated[float, Field(strict=True, ge=0, le=5)] = Field(1.0, examples=[1.5])
    """Standard deviation of the natural logarithm: 1 spreads two thirds of the sizes over a factor of 7."""

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        return self.mean_bytes

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "lognormal", "mean": self.mean_bytes, "sigma": self.sigma}


class Pareto(Model):
    """Bounded Pareto distribution: many small sizes and a few very large ones."""

    kind: Literal["pareto"] = "pareto"
    shape: Annotated[float, Field(strict=True, ge=0.01, le=100)] = Field(1.2, examples=[1.2])
    """Shape parameter. The larger this value, the rarer are large sizes."""
    min_bytes: Size = Field(alias="min", examples=["1 kB"])
    """Smallest size."""
    max_bytes: Size = Field(alias="max", examples=["100 MB"])
    """Largest size."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max_bytes < self.min_bytes:
            raise ValueError(
                f"max is {SIZE.format(self.max_bytes)}, less than min, {SIZE.format(self.min_bytes)}"
            )
        return self

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        low, high, shape = float(self.min_bytes), float(self.max_bytes), float(self.shape)
        if low == high:
            return low
        tail: float = (low / high) ** shape
        if math.isclose(shape, 1.0):
            return low * math.log(high / low) / (1 - tail)
        rest: float = (low / high) ** (shape - 1)
        return low * shape / (shape - 1) * (1 - rest) / (1 - tail)

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "pareto", "shape": self.shape, "low": self.min_bytes, "high": self.max_bytes}


class _Points(Model):
    """A cumulative distribution, linear between given points."""

    def table(self) -> Sequence[tuple[int, float]]:
        """Return pairs: a size in bytes, and the share of sizes up to this size."""
        raise NotImplementedError

    @property
    def mean(self) -> float:
        """Mean size in bytes."""
        points = self.table()
        lines = sum((q - p) * (a + b) / 2 for (a, p), (b, q) in pairwise(points))
        return points[0][0] * points[0][1] + lines

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "cdf", "points": [list(point) for point in self.table()]}


class WebSearch(_Points):
    """Flow sizes of a web search cluster: half are below 80 kB, most bytes are in flows above 1 MB.

    After Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4; approximate.
    """

    kind: Literal["web_search"] = "web_search"

    def table(self) -> Sequence[tuple[int, float]]:
        """Return sizes in bytes, each with the share of sizes that do not exceed it."""
        return WEB_SEARCH


class DataMining(_Points):
    """Flow sizes of a data mining cluster: half are below 1.1 kB, nearly all bytes are in flows above 100 MB.

    After Greenberg et al., "VL2", SIGCOMM 2009, figure 2; approximate.
    """

    kind: Literal["data_mining"] = "data_mining"

    def table(self) -> Sequence[tuple[int, float]]:
        """Return sizes in bytes, each with the share of sizes that do not exceed it."""
        return DATA_MINING


class Cdf(_Points):
    """A cumulative distribution given by points, linear between two points."""

    kind: Literal["cdf"] = "cdf"
    points: Annotated[tuple[Point, ...], Field(min_length=1, max_length=10_000)] = Field(
        examples=['[["1 kB", 0.5], ["100 kB", 1.0]]']
    )
    """Pairs of a size and the share of sizes that do not exceed it, both rising. The last share is 1.0. No
    size is below the size of the first point."""

    @model_validator(mode="after")
    def _rising(self) -> Self:
        for (size, share), (next_size, next_share) in pairwise(self.points):
            if next_size < size or next_share < share:
                raise ValueError(
                    f"points: {SIZE.format(next_size)}, {next_share:g} comes after {SIZE.format(size)}, "
                    f"{share:g}; both must rise"
                )
        if self.points[-1][1] != 1:
            raise ValueError(f"points: the last share is {self.points[-1][1]:g}; it must be 1.0")
        return self

    def table(self) -> Sequence[tuple[int, float]]:
        """Return sizes in bytes, each with the share of sizes that do not exceed it."""
        return self.points


_NAMES = ("web_search", "data_mining")


def _sizes(value: object) -> object:
    """Convert a size to a constant distribution, and a name to a published distribution."""
    if isinstance(value, str):
        if value not in _NAMES and get_close_matches(value, _NAMES, n=1):
            raise ValueError(f"unknown distribution {shown(value)}{suggestion(value, _NAMES)}")
        return {"kind": value} if value in _NAMES else {"kind": "constant", "size": value}
    if isinstance(value, dict) and "kind" not in value:
        raise ValueError(f'expected "20 kB", "web_search" or {{ kind = ... }}, got {shown(value)}')
    return value


Sizes = Annotated[
    Annotated[
        Constant | Exponential | Lognormal | Pareto | WebSearch | DataMining | Cdf,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_sizes),
    OrWritten(Size),
    OrWritten(Literal[*_NAMES]),
]
"""Sizes: "20 kB" (constant), "web_search", "data_mining", or a table with a `kind`."""


class ConstantTime(Model):
    """A constant pause."""

    kind: Literal["constant"] = "constant"
    time_s: Seconds = Field(alias="time", examples=["1 s"])
    """The pause."""

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "constant", "value": self.time_s * 1e9}


class ExponentialTime(Model):
    """Exponentially distributed pauses."""

    kind: Literal["exponential"] = "exponential"
    mean_s: Annotated[Seconds, Field(gt=0)] = Field(alias="mean", examples=["10 s"])
    """Mean pause."""

    def plan(self) -> dict[str, Any]:
        """Return the distribution in the format of the plan."""
        return {"kind": "exponential", "mean": self.mean_s * 1e9}


def _pause(value: object) -> object:
    return {"kind": "constant", "time": value} if isinstance(value, str) else value


Pause = Annotated[
    Annotated[ConstantTime | ExponentialTime, Field(discriminator="kind")],
    BeforeValidator(_pause),
    OrWritten(Seconds),
]
"""Pauses: "1 s" (constant), or { kind = "exponential", mean = "10 s" }."""
