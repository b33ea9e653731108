"""Parts that files of findings and of tests share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fullpipe.analysis.metrics import BY_NAME


def _known(name: str) -> str:
    if name not in BY_NAME:
        raise ValueError("unknown metric")
    return name


Probability = Annotated[float, Field(strict=True, ge=0, le=1)]
Count = Annotated[int, Field(strict=True, ge=0)]
Metric = Annotated[str, AfterValidator(_known)]
"""Name of a metric."""


class Part(BaseModel):
    """A part of a file. A later version may add keys."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredScenario(Part):
    """A scenario as one side ran it, without its sweep."""

    side: str
    case: str = ""
    point: dict[str, Any] = {}
    scenario: dict[str, Any]


class StoredBasis(Part):
    """Runs that the results rest on."""

    store: str = Field(description="Last name of the folder of the runs.")
    runs: list[tuple[str, str]] = Field(description="Place of each run below it, and when it was made.")


class ResultFile(Part):
    """A file with a conclusion, and input of `fullpipe report`."""

    title: str
    question: str
    conclusion: list[str] = Field(description="One to five sentences.")
    scenarios: list[StoredScenario] = []
    notes: list[str] = []
    warnings: list[str] = Field([], description="Reasons to doubt the conclusion, such as short runs.")
    command: str = ""
    versions: dict[str, str] = {}
    basis: StoredBasis | None = None


def schema_of(file: type[ResultFile]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **file.model_json_schema()}
