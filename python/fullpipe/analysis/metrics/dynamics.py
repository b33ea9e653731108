"""Dynamics: times until flows converge, fill free capacity, and recover from a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from fullpipe.analysis.metrics.samples import between, means_over, spacing_s
from fullpipe.errors import UnknownNameError
from fullpipe.lazy import pl


def settling_time_s(
    times_s: Sequence[float],
    values: Sequence[float],
    *,
    since_s: float,
    target: float | Sequence[float],
    tolerance: float,
    hold_s: float,
) -> float | None:
    """Settling time: seconds until a value begins to stay close to its target for a given time.

    Formula: the least t - since, with |value_k - target_k| ≤ tolerance · target_k for every sample in
    [t, t + hold]. None if there is no such t with t + hold within the recording.
    Source: the settling time of control theory (Ogata, "Modern control engineering"), with the time `hold` in
    place of "for ever", as in Dong et al., NSDI 2015.

    Args:
        times_s: End of each sample's interval, in rising order.
        values: One value per sample.
        since_s: Time of the change; samples up to it do not count.
        target: Target of the values: one number, or one per sample.
        tolerance: Allowed deviation, as a share of the target.
        hold_s: Time for which the value must stay within the tolerance.

    >>> settling_time_s([1, 2, 3, 4, 5], [0, 6, 9, 10, 11], since_s=0, target=10, tolerance=0.1, hold_s=2)
    3
    """
    targets = target if isinstance(target, Sequence) else [target] * len(values)
    rows = zip(times_s, values, targets, strict=True)
    good = [(time, abs(value - aim) <= tolerance * aim * (1 + 1e-12)) for time, value, aim in rows]
    since = None
    for time, is_good in good:
        if time <= since_s:
            continue
        since = (time if since is None else since) if is_good else None
        if since is not None and time - since >= hold_s - 1e-9:
            return since - since_s
    return None


def convergence_time_s(
    series: pl.DataFrame,
    flows: pl.DataFrame,
    flow: str,
    *,
    share_bps: float | None = None,
    tolerance: float = 0.25,
    hold_s: float = 5.0,
    window_s: float = 1.0,
) -> float | None:
    """Seconds from a flow's start until its rate stays close to its fair share; None if the rate never does.

    The time counts from the start of the flow, also if that is within the warm-up.

    Formula: the least t - start such that the goodput of every window of 1 s that ends in [t, t + 5 s] is
    within 25 % of the fair share.
    Source: Dong, Li, Zarchy, Godfrey and Schapira, "PCC: re-architecting congestion control for consistent
    high performance", NSDI 2015: within ±25 % for 5 s. The source has no window of 1 s.

    Args:
        series: Table of samples.
        flows: Rows of the competing flows in the table of flows, as `bulk_flows` gives them.
        flow: Name of the flow.
        share_bps: The fair share. Default: the mean goodput of the active flows of the table in each window,
            which is right for flows that share one bottleneck.
        tolerance: Allowed deviation, as a share of the fair share.
        hold_s: Time for which the rate must stay within the tolerance.
        window_s: A multiple of the time between samples.

    Raises:
        KeyError: If there is no such flow.
    """
    windows = Windows(series, flows, window_s)
    return windows.convergence_time_s(flow, share_bps=share_bps, tolerance=tolerance, hold_s=hold_s)


class Windows:
    """Goodput of competing flows in consecutive windows, from which convergence times are computed.

    Args:
        series: Table of samples.
        flows: Rows of the competing flows in the table of flows, as `bulk_flows` gives them.
        window_s: A multiple of the time between samples.
    """

    def __init__(self, series: pl.DataFrame, flows: pl.DataFrame, window_s: float = 1.0) -> None:
        self._windows = means_over(series, "flow", "goodput_bps", window_s)
        self._flows = flows.select("flow", "start_s", "end_s")
        self._spans_s = {flow: (start_s, end_s) for flow, start_s, end_s in self._flows.iter_rows()}
        self._of_flow = self._windows.partition_by("flow", as_dict=True)

    @cached_property
    def _shares_bps(self) -> Mapping[float, float | None]:
        """Mean goodput of the active flows in each window; the key is the end of the window."""
        active = self._windows.join(self._flows, on="flow").filter(
            (pl.col("start_s") < pl.col("time_s")) & (pl.col("end_s") >= pl.col("time_s"))
        )
        means = active.group_by("time_s").agg(pl.col("goodput_bps").mean())
        return dict(means.iter_rows())

    def convergence_time_s(
        self, flow: str, *, share_bps: float | None = None, tolerance: float = 0.25, hold_s: float = 5.0
    ) -> float | None:
        """Return the convergence time of a flow: see the function `convergence_time_s`.

        Raises:
            KeyError: If there is no such flow.
        """
        start_s, end_s = map(float, self._spans_s[flow])
        rows = self._of_flow.get((flow,), self._windows.clear())
        own = between(rows, start_s, end_s).drop_nulls().sort("time_s")
        times_s = own["time_s"].to_list()
        target: float | list[float] = (
            [float(self._shares_bps.get(time_s) or 0.0) for time_s in times_s]
            if share_bps is None
            else share_bps
        )
        return settling_time_s(
            times_s,
            own["goodput_bps"].to_list(),
            since_s=start_s,
            target=target,
            tolerance=tolerance,
            hold_s=hold_s,
        )


def time_to_fill_s(
    series: pl.DataFrame,
    rate_bps: float,
    at_s: float,
    *,
    until_s: float | None = None,
    share: float = 0.8,
    window_s: float = 1.0,
) -> float | None:
    """Seconds that flows take to fill bandwidth that becomes free; None if the flows never fill it.

    Formula: the least t - at, with at ≤ t - window, where the goodput of all flows in (t - window, t] reaches
    share · rate. The result is at least one window.
    Source: aggressiveness in Bansal, Balakrishnan, Floyd and Shenker, "Dynamic behavior of slowly-responsive
    congestion control algorithms", SIGCOMM 2001, which measures the utilisation after a given time instead.

    Args:
        series: Samples of the flows that may fill the free bandwidth.
        rate_bps: Payload rate that the path can carry from `at_s` on.
        at_s: Time at which the bandwidth becomes free.
        until_s: End of the search. Default: the end of the samples.
        share: Share of the rate that counts as full.
        window_s: Length of the window of a rate; a multiple of the time between samples.
    """
    step_s = spacing_s(series)
    if step_s is None:
        return None
    after = between(series, at_s, float("inf") if until_s is None else until_s)
    total = after.group_by("time_s").agg(pl.col("goodput_bps").sum()).sort("time_s")
    rates = total["goodput_bps"].rolling_mean(max(1, round(window_s / step_s)))
    full = total["time_s"].filter(rates >= share * rate_bps)
    return float(full[0]) - at_s if len(full) else None


def recovery_time_s(
    series: pl.DataFrame,
    flow: str,
    at_s: float,
    *,
    target_bps: float,
    until_s: float | None = None,
    tolerance: float = 0.1,
    hold_s: float = 1.0,
) -> float | None:
    """Seconds that a flow takes to reach a target rate after a step of the path; None if the flow never does.

    Formula: the least t - at, with goodput within 10 % of the target in every sample of [t, t + 1 s].
    Source: response to changes in RFC 5166, section 2.2; settling as in `settling_time_s`.

    Args:
        series: Table of samples.
        flow: Name of the flow.
        at_s: Time of the step.
        target_bps: The flow's share after the step.
        until_s: End of the search, such as the next step. Default: the end of the samples.
        tolerance: Allowed deviation, as a share of the target.
        hold_s: Time for which the rate must stay within the tolerance.
    """
    own = series.filter(pl.col("flow") == flow).sort("time_s")
    own = between(own, at_s, float("inf") if until_s is None else until_s).drop_nulls("goodput_bps")
    return settling_time_s(
        own["time_s"].to_list(),
        own["goodput_bps"].to_list(),
        since_s=at_s,
        target=target_bps,
        tolerance=tolerance,
        hold_s=hold_s,
    )


# Internal variables of algorithms: numbers over time, and the time spans of each state.


def states(variables: pl.DataFrame, flow: str, name: str = "state") -> pl.DataFrame:
    """Return the states of a flow's algorithm over time, in columns start_s, end_s and state.

    start_s is exact because every change of state is recorded at its time. The last state ends with the last
    row of the flow.

    Raises:
        UnknownNameError: If the flow published no variable of this name.
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
    """Return a variable of a flow's algorithm over time, in columns time_s and value, in the unit of
    `variables`.

    Raises:
        UnknownNameError: If the flow published no variable of this name.
    """
    return _rows(variables, flow, name).select("time_s", "value").drop_nulls()


def _rows(variables: pl.DataFrame, flow: str, name: str) -> pl.DataFrame:
    own = variables.filter(pl.col("flow") == flow)
    found = own.filter(pl.col("name") == name)
    if found.is_empty():
        raise UnknownNameError("variable", name, own["name"].unique(maintain_order=True).to_list())
    return found
