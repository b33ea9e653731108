"""Runs as tables on a terminal: one in full, or a row per point of a sweep and group of flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fullpipe.sweeps import Outcome


def show(
    outcomes: Sequence[Outcome],
    metrics: Sequence[str] | None = None,
    form: str = "table",
    also: Sequence[str] = (),
    *,
    all_rows: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Print one run in full. For several runs, or with `metrics`, print a conclusion and a table.

    The table has a row per point and group of flows; without `all_rows`, only the first rows.
    """
    if len(outcomes) == 1 and not metrics and not also and form == "table":
        from fullpipe.cli.run_tables import show_run  # imported here, as one run needs no data frames

        show_run(outcomes[0].run, all_rows=all_rows)
    elif outcomes:
        from fullpipe.cli.summary import show_points

        show_points(outcomes, metrics, form, also, all_rows=all_rows, labels=labels)
    if form == "table":
        from fullpipe.cli.console import terminal

        for folder in _folders(outcomes):
            terminal().print(folder, no_wrap=True, overflow="ignore")


def _folders(outcomes: Sequence[Outcome]) -> Iterator[str]:
    kept = [outcome.run for outcome in outcomes if outcome.run.root is not None]
    if kept:
        yield f"kept in {kept[0].folder if len(kept) == 1 else kept[0].root}"
