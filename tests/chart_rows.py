"""Rows of runs, as figures over many runs take them."""

import polars as pl


def rows(values: dict[str, list[float]]) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"value": numbers}).with_columns(colour=pl.lit(name)) for name, numbers in values.items()
    ]
    return pl.concat(parts).with_columns(x=pl.lit(1.0))


def rows_of(values: list[tuple[str, str, float]]) -> pl.DataFrame:
    """Rows of colour, x and value."""
    return pl.DataFrame(values, schema=["colour", "x", "value"], orient="row")
