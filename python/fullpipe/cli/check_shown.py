"""The output of `fullpipe check`: the conclusion, and a table of what regressed or is undecided."""

from __future__ import annotations

from fullpipe.cli.answer import Answer
from fullpipe.cli.findings import show_findings
from fullpipe.validation.compare.conclusion import weight
from fullpipe.validation.compare.names import Names
from fullpipe.validation.compare.notes import merged
from fullpipe.validation.compare.rules import ALIKE
from fullpipe.validation.gate.check import Checked
from fullpipe.validation.gate.forms import conclusion, summary


def show(checked: Checked, names: Names, *, all_rows: bool = False) -> None:
    """Print the conclusion, and what is regressed or undecided; with `all_rows` all findings."""
    answer = Answer(all_rows=all_rows)
    answer.conclude(conclusion(checked, names))
    if not checked.is_identical:
        answer.title(checked.scenario, f": {summary(checked)}")
    answer.say("; ".join(f"{side}: {version}" for side, version in checked.versions.items()))
    left = [each for each in checked.findings if all_rows or each.decision != "not worse"]
    left.sort(key=lambda each: each.decision != "regressed")
    if left:
        show_findings(answer, left, names, first=weight)
    is_alike = any(each.reason == ALIKE for each in left)
    warning = f'note: {ALIKE}; give flows a start_jitter, such as "100 ms"'
    answer.notes(merged(checked.notes, names, whole=all_rows), [warning] if is_alike else [])
