"""Rows of a table of values by the values of paths."""

from collections.abc import Sequence

import polars as pl

from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.points import path_called
from fullpipe.errors import ScenarioError, UnknownNameError, brief


def only(values: pl.DataFrame, where: Sequence[str]) -> pl.DataFrame:
    """The rows of runs that have all of several `path=value`.

    Raises:
        UnknownNameError: If there is no such path.
        ScenarioError: If no run has such a value.
    """
    for text in where:
        word, equals, value = text.partition("=")
        path = path_called(word.strip(), paths_of(values))
        if not equals or path is None:
            raise UnknownNameError("path", word.strip(), paths_of(values))
        values = values.filter(pl.col(path).cast(pl.String) == value.strip())
        if values.is_empty():
            raise ScenarioError([f"--where {brief(text)}: no run has this value"])
    return values
