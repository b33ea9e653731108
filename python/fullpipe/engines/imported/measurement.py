"""Runs and twins of measurement files: tables, origin, placeholders, and estimates that all formats share."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.engines.imported import FILE, NAMES
from fullpipe.errors import InputFileError, NoRunError, ScenarioError, UnknownNameError, brief
from fullpipe.runs import TABLES, Run, Store
from fullpipe.runs.encoding import empty
from fullpipe.runs.kept import Kept
from fullpipe.runs.schema import frame
from fullpipe.scenario import Scenario, catalogue

# Runs: tables, names of algorithms, and the place in a store.


Floats = npt.NDArray[np.float64]
Columns = dict[str, Any]
"""Columns of a part of a table."""


def table_of(name: str, parts: Sequence[Columns]) -> pl.DataFrame:
    """Concatenate the parts of the table `name`, in the order of time if the table has times."""
    if not parts:
        return empty(name)
    table = pl.concat([frame(TABLES[name], part) for part in parts])
    return table.sort("time_s", maintain_order=True) if "time_s" in table.columns else table


def spread(word: str, values: Floats) -> Columns:
    """Return minimum, mean and percentiles of delays as columns of the table of flows; empty without
    values."""
    if not values.size:
        return {}
    percentiles = {f"{word}_p{n}_s": [float(np.percentile(values, n))] for n in (50, 95, 99)}
    return {f"{word}_min_s": [float(values.min())], f"{word}_mean_s": [float(values.mean())], **percentiles}


def not_measured(tables: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    """Return columns that are entirely null, as "table.column", and tables that are empty."""
    found = []
    for name, table in tables.items():
        if table.is_empty():
            found.append(name)
        else:
            found += [f"{name}.{column}" for column in table.columns if table[column].is_null().all()]
    return tuple(sorted(found))


def origin_of(path: Path, algorithms: Mapping[str, str]) -> dict[str, str | int | None]:
    """Return the name of a file and the given algorithms, with which the file can be read again.

    The algorithms are a list in JSON, because names can contain spaces.
    """
    names = [f"{name}={algorithm}" for name, algorithm in sorted(algorithms.items())]
    return {FILE: brief(path.name), **({NAMES: json.dumps(names)} if names else {})}


def given_names(words: list[str]) -> dict[str, str]:
    """Parse pairs of a kernel name and an algorithm, such as "bbr=bbr3".

    Raises:
        ScenarioError: If a word has another form.
        UnknownNameError: If an algorithm does not exist.
    """
    found = {}
    for word in words:
        name, equals, algorithm = word.partition("=")
        if not equals or not name:
            raise ScenarioError([f'--cca "{word}": write it as NAME=ALGORITHM, as in bbr=bbr3'])
        if algorithm not in registered():
            raise UnknownNameError("algorithm", algorithm, catalogue.controllers(), "fullpipe list ccas")
        found[name] = registered()[algorithm]
    return found


def registered() -> dict[str, str]:
    """Return the algorithms by their names and aliases."""
    entries = catalogue.controllers()
    aliases = {alias: name for name, entry in entries.items() for alias in entry.aliases}
    return aliases | {name: name for name in entries}


def save(run: Run, store: Store) -> Run:
    """Store an imported run as the next repetition of its test. A file is stored only once.

    Raises:
        ResultError: If the run cannot be written.
    """
    store.prepare(run.meta.place)
    for seed in count(1):
        try:
            there = Kept.read(store.folder(run.meta.place, run.meta.engine.name, seed)).meta
        except NoRunError:
            break
        if there.engine == run.meta.engine:
            break
    return store.save(Run(run.meta.model_copy(update={"seed": seed}), run.tables))


# Scenarios: placeholders for unknown properties, and the twin of a measurement.


UNKNOWN = {"rate": "1 Tbit/s", "delay": "1 us"}
"""Placeholder for an unknown path, as a scenario needs a rate and a delay. The values are not measured."""
STAND_IN = "cubic"
"""Placeholder for an unknown algorithm: the default of Linux since 2.6.19 (net/ipv4/Kconfig)."""


@dataclass
class Twin:
    """A scenario that would reproduce a test, with its assumptions and unknown properties."""

    scenario: Scenario
    guessed: list[str] = field(default_factory=list)
    """Assumptions and estimates, one line each."""
    unknown: list[str] = field(default_factory=list)
    """Properties that the file does not determine, one line each."""


@contextmanager
def of_file(path: object, what: str) -> Iterator[None]:
    """Context in which an error of the scenario derived from a file names this file.

    Args:
        path: Path of the file.
        what: Word for the file in errors, such as "capture".

    Raises:
        InputFileError: Instead of a ScenarioError.
    """
    try:
        yield
    except ScenarioError as error:
        raise InputFileError(f"{path}: the {what} gives no valid scenario: {error.problems[0]}") from error


# Losses from which the length of a queue can be estimated.


FILLING = frozenset(
    {"reno", "cubic", "bic", "highspeed", "htcp", "hybla", "illinois"}
    | {"scalable", "westwood", "veno", "yeah", "compound"}
)
"""Loss-based algorithms, which increase their window until a packet is lost and so fill a buffer."""
FEW_EVENTS = 10
"""Smallest number of losses for an estimate of the loss probability. A count of n losses has a relative error
of 1 / sqrt(n): 32 % for 10 losses."""


# Estimation of a link's rate from the ceiling of the streams' rates. Rates are measured in time windows. A
# ceiling is a rate that many windows have and almost no window exceeds.
#
# A link that is never idle within a window delivers its full rate, whatever the streams do. The rates of all
# windows in which the link was busy are therefore equal to within one packet, and almost no window has a
# higher rate. If streams leave the link idle, the rates of windows vary: just above any given rate there are
# about as many windows as just below the rate.


_PACKET_BITS = 1514 * 8
_BUSY = 90
"""Percentile of the rates in time windows that is used as the rate of the link. On a path of constant rate,
most windows have the rate of a full link, and hardly any window exceeds that rate. On a path of changing
rate, p90 is near the highest rates."""
_FINE_PACKETS = 200
"""Smallest number of packets in a time window, so that one packet more or less changes the window's rate by
at most 0.5 %."""
_LEAST_SHARE = 0.0025
"""Smallest relative width of a ceiling. The rates in a busy link's windows differ by this much even with many
packets, because the rate of the ACKs among these packets is only an estimate."""
_FEWEST = 20
"""Smallest number of disjoint windows whose rates must be at a ceiling."""
_MOST_ABOVE = 1 / 3
"""Largest ratio of windows just above a ceiling to windows at the ceiling. If rates were evenly distributed,
the ratio would be 3/2: with 20 windows at a rate, 30 windows just above this rate would be expected. The
probability of 6 or fewer windows just above the rate is then below one in a million (Poisson)."""

_LEAST_OF_NEAR = 1 / 2
"""Smallest ratio of windows at a ceiling to windows in a range of rates that is four times as wide. If rates
were evenly distributed, the ratio would be a quarter."""


def busy_bps(rates_bps: Floats, step_s: float, window_s: float) -> float:
    """Return p90 of the rates in windows, or the mean rate if there is no whole window.

    Args:
        rates_bps: Delivered rates in consecutive steps, with headers, shape (n,), at least one.
        step_s: Length of a step.
        window_s: Length of a window.
    """
    window = max(math.ceil(window_s / step_s), 1)
    if rates_bps.size < window:
        return float(rates_bps.mean())
    sums = np.cumsum(np.concatenate([[0.0], rates_bps]))
    return float(np.percentile((sums[window:] - sums[:-window]) / window, _BUSY))


def ceiling_bps(rates_bps: Floats, step_s: float) -> float | None:
    """Return the rate of a link from the windows in which the link was never idle.

    Args:
        rates_bps: Delivered rates in consecutive steps, with headers, shape (n,).
        step_s: Length of a step.

    Returns:
        bit/s; None without a ceiling. Only a lower bound of the rate is then known.
    """
    packets = float(np.median(rates_bps)) * step_s / _PACKET_BITS if rates_bps.size else 0.0
    if packets <= 0:
        return None
    steps = math.ceil(_FINE_PACKETS / packets)
    if rates_bps.size < steps * _FEWEST:
        return None
    share = max(_LEAST_SHARE, 1 / (steps * packets))
    rates = np.sort(np.convolve(rates_bps, np.ones(steps) / steps, mode="valid"))
    at = _count(rates, 1 - share, 1 + share)
    above = _count(rates, 1 + share, 1 + 4 * share)
    near = _count(rates, 1 - 4 * share, 1 + 4 * share)
    is_ceiling = (at >= _FEWEST * steps) & (above <= _MOST_ABOVE * at) & (at >= _LEAST_OF_NEAR * near)
    return float(rates[np.argmax(np.where(is_ceiling, at, 0))]) if is_ceiling.any() else None


def _count(rates: Floats, low: float, high: float) -> Floats:
    """Return, for each of ascending rates r, the number of rates between low * r and high * r."""
    ends = np.searchsorted(rates, rates * high, side="right")
    found: Floats = (ends - np.searchsorted(rates, rates * low)).astype(np.float64)
    return found
