"""Flows under congestion control, and those without."""

import polars as pl

_DATAGRAMS = ["udp", "icmp"]


def connections(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that have congestion control. Only among them is sharing fair or unfair.

    An engine that does not say what carries a flow has connections only.
    """
    return flows.filter(~_are_datagrams()) if "protocol" in flows.columns else flows


def datagrams(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that are datagrams: UDP at a rate, calls, pings and probes."""
    return flows.filter(_are_datagrams()) if "protocol" in flows.columns else flows.clear()


def _are_datagrams() -> pl.Expr:
    return pl.col("protocol").is_in(_DATAGRAMS).fill_null(value=False)
