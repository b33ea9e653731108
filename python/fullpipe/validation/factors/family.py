"""Families of tests that are declared before runs are looked at: `family.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.errors import ScenarioError
from fullpipe.scenario.read import files
from fullpipe.validation.compare import read_margin

MOST_FACTORS = 3
"""Factors of one design: an interaction of more than three cannot be read."""
Correction = Literal["holm", "bh"]


class Family(BaseModel):
    """Tests that answer one question, and are corrected together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = ""
    metrics: tuple[str, ...] = Field(min_length=1)
    factors: tuple[str, ...] = Field(min_length=1, max_length=MOST_FACTORS)
    of: tuple[str, ...] = ()
    """Groups of flows or links; all unless named."""
    reference: str | None = None
    """Level of the first factor that others are compared with."""
    block: Literal["seed"] | None = None
    margins: dict[str, str] = {}
    """Margins by metric, written as for `--margin`."""
    correction: Correction = "holm"

    def margin(self, metric: str, default: Mapping[str, Margin]) -> Margin:
        """The difference of a metric that does not matter.

        Raises:
            ScenarioError: If what is written cannot be read.
        """
        if metric not in self.margins:
            return default[metric]
        return read_margin(f"{metric}={self.margins[metric]}")[1]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    family: dict[str, Family] = Field(min_length=1)


def read_families(path: Path) -> dict[str, Family]:
    """The families of a file, by name.

    Raises:
        ScenarioError: If the file cannot be read or holds none.
    """
    tree: dict[str, Any] = files.parse_toml(files.read_text(path), str(path))
    try:
        return _File.model_validate(tree).family
    except ValidationError as error:
        raise ScenarioError([_problem(path, problem) for problem in error.errors()]) from None


def _problem(path: Path, problem: Any) -> str:
    where = ".".join(map(str, problem["loc"])) or "the file"
    return (
        f'{path}: {where}: {problem["msg"]}; a family has metrics and factors, such as metrics = ["goodput"]'
    )
