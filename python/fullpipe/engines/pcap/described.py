"""The scenario of a capture: its flows, on a path that is unknown."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fullpipe.engines.flent.described import STAND_IN, UNKNOWN
from fullpipe.engines.pcap.connections import Floats
from fullpipe.engines.pcap.flow import Flow
from fullpipe.errors import InputFileError, ScenarioError
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import MOST_MSS_BYTES

ALL = "all"
"""Name that means every flow when algorithms are given."""
_MOST_STEPS = 1_000
_LEAST_STEP_S = 1e-3


def step_s(duration_s: float) -> float:
    """Return the sampling interval: 1, 2 or 5 times a power of ten, for at most 1,000 samples."""
    least = max(duration_s / _MOST_STEPS, _LEAST_STEP_S)
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def grid_s(duration_s: float) -> Floats:
    """Return the ends of the steps. The last one is not before the last packet."""
    step = step_s(duration_s)
    steps = max(math.ceil(duration_s / step - 1e-9), 1)
    return np.asarray(np.arange(1, steps + 1, dtype=np.float64) * step)


def algorithm_of(flow: Flow, algorithms: Mapping[str, str]) -> str | None:
    """Return the algorithm given for a flow, or None. A capture does not contain it."""
    return algorithms.get(flow.name, algorithms.get(ALL))


@contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Name the file in errors of a scenario that was derived from it.

    Raises:
        InputFileError: Instead of a ScenarioError.
    """
    try:
        yield
    except ScenarioError as error:
        raise InputFileError(f"{path}: what it has is no scenario: {error.problems[0]}") from error


def scenario_of(
    path: Path, flows: Sequence[Flow], duration_s: float, algorithms: Mapping[str, str]
) -> Scenario:
    """Return the scenario of a capture whose path is unknown."""
    grid = grid_s(duration_s)
    return Scenario(
        name=_name(path),
        duration=_seconds(float(grid[-1])),
        warmup="0 s",
        topology={"kind": "dumbbell", "bottleneck": UNKNOWN},
        flows=[
            {
                "name": flow.name,
                "cca": algorithm_of(flow, algorithms) or STAND_IN,
                "start": _seconds(flow.span_s[0]),
                "stop": _seconds(max(flow.span_s[1], flow.span_s[0] + step_s(duration_s))),
                "tcp": {"mss": f"{min(flow.mss, MOST_MSS_BYTES)} B", "timestamps": flow.has_timestamps},
            }
            for flow in flows
        ],
        record={"interval": _seconds(step_s(duration_s))},
    )


def _name(path: Path) -> str:
    """Return the name of a file with the characters that a scenario's name can have."""
    return re.sub(r"[^\w.+ -]", "-", Path(path.name.removesuffix(".gz")).stem)[:100] or "capture"


def _seconds(time_s: float) -> str:
    return f"{time_s:.9g} s"
