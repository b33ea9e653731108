"""The output of `fullpipe check`: the conclusion, and a table of what is not "not worse"."""

from __future__ import annotations

from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.findings import show_conclusion, show_findings
from fullpipe.cli.output import complain
from fullpipe.validation.compare.conclusion import weight
from fullpipe.validation.compare.rules import ALIKE
from fullpipe.validation.gate.check import Checked
from fullpipe.validation.gate.forms import conclusion, summary


def show(checked: Checked, *, all_rows: bool = False) -> None:
    """Print the conclusion, and what is regressed or undecided; with `all_rows` all findings."""
    console = terminal()
    show_conclusion(conclusion(checked))
    if not checked.is_identical:
        console.print(led(f"{checked.scenario}: ", "bold", summary(checked)))
    console.print(styled(f"base: {checked.reference}; change: {checked.other}", "dim"), soft_wrap=True)
    left = [each for each in checked.findings if all_rows or each.decision != "not worse"]
    left.sort(key=lambda each: each.decision != "regressed")
    if left:
        show_findings(left, all_rows=all_rows, first=weight)
    for note in checked.notes:
        console.print(styled(note, "dim"), soft_wrap=True)
    if any(each.reason == ALIKE for each in left):
        complain(f'note: {ALIKE}; give flows a start_jitter, such as "100 ms"')
