"""Variables of algorithms and queues: numbers over time, and times in each state."""

from __future__ import annotations

from fullpipe.errors import UnknownNameError
from fullpipe.lazy import pl


def states(variables: pl.DataFrame, flow: str, name: str = "state") -> pl.DataFrame:
    """The states of a flow's algorithm over time: the columns start_s, end_s, state.

    Starts are exact because every change is recorded when it happens. The last state ends with the last row
    of the flow.

    Raises:
        UnknownNameError: If the flow published no such state.
    """
    rows = _rows(variables, flow, name).filter(pl.col("state") != "")
    begins = rows.filter((pl.col("state") != pl.col("state").shift(1)).fill_null(value=True))
    last_s = variables.filter(pl.col("flow") == flow)["time_s"].max()
    return begins.select(
        pl.col("time_s").alias("start_s"),
        pl.col("time_s").shift(-1).fill_null(last_s).alias("end_s"),
        "state",
    )


def numbers(variables: pl.DataFrame, flow: str, name: str) -> pl.DataFrame:
    """A variable of a flow's algorithm over time: the columns time_s, value, in the unit of the table.

    Raises:
        UnknownNameError: If the flow published no such number.
    """
    return _rows(variables, flow, name).select("time_s", "value").drop_nulls()


def _rows(variables: pl.DataFrame, flow: str, name: str) -> pl.DataFrame:
    own = variables.filter(pl.col("flow") == flow)
    found = own.filter(pl.col("name") == name)
    if found.is_empty():
        raise UnknownNameError("variable", name, own["name"].unique(maintain_order=True).to_list())
    return found
