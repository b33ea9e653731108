"""Twelve questions whose truth is set: the first sentences of a comparison state it.

Every question draws a path and changes one thing of it. The truth is known beforehand: the change has a known
effect by the laws of the path (a rate, a delay, a loss), or none. Sizes are compared with other seeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from fullpipe import Scenario, compare_over, sweeps
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.cli.compare_variants import write
from fullpipe.report.content import Document, Table
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.report.runs.page import page_of
from fullpipe.validation.compare import Finding, Subject, VariantComparison
from fullpipe.validation.compare.conclusion import conclusion
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import independent, paired
from fullpipe.validation.compare.sentence import one

Draw = np.random.Generator
SEEDS, OTHERS = range(1, 9), range(101, 125)
"""Seeds of the question, and those that tell the size besides."""
ONCE_IN = 10_000
"""A true size is found outside by chance once in so many."""
LINK = "topology.bottleneck"
BULK = {"name": "mine", "cca": "cubic", "start_jitter": "300 ms"}
PING = {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}}
CALL = {"name": "call", "workload": "voip"}
PROBE = {"name": "probe", "workload": {"kind": "udp", "rate": "400 kbit/s"}}
RARE = {"loss": {"kind": "bernoulli", "probability": 0.002}}
"""Random losses, so that seeds differ."""
PAGES = {"name": "reader", "cca": "cubic", "workload": {"kind": "web", "think": "100 ms", "objects": 3}}


@dataclass(frozen=True)
class Question:
    """A scenario, one change, and the truth on it."""

    flows: Sequence[Mapping[str, Any]]
    over: Mapping[str, Sequence[Any]]
    metric: str
    of: str
    truth: str
    """A verdict."""
    path: Mapping[str, Any] = field(default_factory=dict)
    seeds: range = SEEDS
    duration_s: float = 4.0
    metrics: Sequence[str] | None = None
    """Metrics that are asked for."""

    @property
    def scenario(self) -> Scenario:
        """What is varied."""
        path = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"size": "1 bdp"}, **self.path}
        return Scenario(
            name="question",
            duration=f"{self.duration_s:g} s",
            warmup="1 s",
            topology={"kind": "dumbbell", "bottleneck": path},
            flows=[dict(flow) for flow in self.flows],
            record={"interval": "off"},
        )

    def asked(self, seeds: range) -> VariantComparison:
        """The comparison of these seeds."""
        (found,) = compare_over(self.scenario, self.over, seeds, metrics=self.metrics)
        return found


def halved(draw: Draw) -> Question:
    rate = int(draw.integers(6, 20))
    over = {f"{LINK}.rate": [f"{rate} Mbit/s", f"{rate / 2} Mbit/s"]}
    return Question([BULK], over, "goodput", "mine", "worse")


def faster(draw: Draw) -> Question:
    rate, factor = int(draw.integers(4, 8)), float(draw.uniform(1.5, 3))
    over = {f"{LINK}.rate": [f"{rate} Mbit/s", f"{rate * factor:.3f} Mbit/s"]}
    return Question([BULK], over, "goodput", "mine", "better")


def longer(draw: Draw) -> Question:
    delay = int(draw.integers(5, 20))
    over = {f"{LINK}.delay": [f"{delay} ms", f"{2 * delay} ms"]}
    return Question([PING], over, "rtt_mean", "ping", "worse", path=RARE, duration_s=8.0)


def emptier(draw: Draw) -> Question:
    """A queue that holds a tenth: the ping behind a CUBIC flow waits less."""
    size = int(draw.integers(80, 160))
    over = {f"{LINK}.queue": [{"kind": "drop_tail", "packets": n} for n in (size, size // 10)]}
    return Question([BULK, PING], over, "rtt_mean", "ping", "better", metrics=["rtt_mean"])


def lossier(draw: Draw) -> Question:
    """Datagrams on a path that drops one in a hundred, or in twenty-five."""
    share = float(draw.uniform(0.005, 0.015))
    over = {f"{LINK}.loss": [{"kind": "bernoulli", "probability": p} for p in (share, 4 * share)]}
    return Question(
        [PROBE], over, "dropped_share", "probe", "worse", duration_s=12.0, metrics=["dropped_share"]
    )


def worse_call(draw: Draw) -> Question:
    """A call over a path that is longer than 177 ms, from where on delay impairs it (ITU-T G.107)."""
    delay = int(draw.integers(300, 400))
    return Question(
        [CALL], {f"{LINK}.delay": ["20 ms", f"{delay} ms"]}, "call_score", "call", "worse", path=RARE
    )


def slower_pages(draw: Draw) -> Question:
    factor = int(draw.integers(3, 5))
    return Question(
        [PAGES],
        {f"{LINK}.delay": ["10 ms", f"{10 * factor} ms"]},
        "page_p50",
        "reader",
        "worse",
        duration_s=12.0,
    )


def displaced(draw: Draw) -> Question:
    """Vegas beside CUBIC behind a deep queue: its own flow loses, whatever the other gains."""
    size = f"{int(draw.integers(3, 6))} bdp"
    beside = {**BULK, "name": "beside"}
    return Question(
        [BULK, beside], {"flows.0.cca": ["cubic", "vegas"]}, "goodput", "mine", "worse",
        path={"queue": {"size": size}}, seeds=range(1, 13), duration_s=15.0,
    )  # fmt: skip


def renamed(draw: Draw) -> Question:
    """Nothing that is simulated differs."""
    rate = int(draw.integers(5, 15))
    return Question(
        [BULK], {f"{LINK}.rate": [f"{rate} Mbit/s", f"{rate * 1000} kbit/s"]}, "goodput", "mine", "equivalent"
    )


def redrawn(draw: Draw) -> Question:
    """Other random numbers of the same distribution."""
    over = {"flows.0.stream": ["one", f"other {int(draw.integers(1_000))}"]}
    return Question([BULK], over, "goodput", "mine", "equivalent", duration_s=10.0)


def meeting(draw: Draw) -> Question:
    """Two equal flows of which one begins anew, with three seeds: who gets more is left to chance."""
    over = {"flows.0.stream": ["one", f"other {int(draw.integers(1_000))}"]}
    return Question(
        [BULK, {**BULK, "name": "beside"}], over, "goodput", "mine", "undecided", seeds=range(1, 4)
    )


def nearly(draw: Draw) -> Question:
    """A hundredth more of a rate that two flows share by chance, with three seeds."""
    rate = int(draw.integers(8, 12))
    over = {f"{LINK}.rate": [f"{rate} Mbit/s", f"{rate * 1.01:.3f} Mbit/s"]}
    flows = [BULK, {**BULK, "name": "beside"}]
    return Question(flows, over, "goodput", "mine", "undecided", seeds=range(1, 4))


QUESTIONS: Sequence[Callable[[Draw], Question]] = (
    *(halved, faster, longer, emptier, lossier, worse_call, slower_pages, displaced),
    *(renamed, redrawn, meeting, nearly),
)
SIZE = re.compile(r"by ([\d.,]+)(?P<unit> %| pp| ms| Mbit/s)?(?: \[([\d.,]+), ([\d.,]+)\])?")


def finding(found: VariantComparison, question: Question) -> Finding:
    """What was measured of the group and metric that the question is of."""
    of = question.of, question.metric
    return next(each for each in found.findings if (each.of, each.metric) == of)


def sentence(found: VariantComparison, question: Question) -> str:
    """The sentence on the group and metric that the question is of."""
    told = conclusion([found], question.metrics or ())
    assert 1 <= len(told) <= 5
    label = BY_NAME[question.metric].label or question.metric
    name = re.compile(rf"\b{re.escape(label)} of {question.of} is ", re.IGNORECASE)
    (first,) = (each for each in told if name.search(each))
    assert first is told[0] or question.metrics, "the metric that leads is in the first sentence"
    return first


@pytest.mark.parametrize("ask", QUESTIONS, ids=lambda ask: ask.__name__)
def test_the_first_sentence_states_the_truth(ask: Callable[[Draw], Question]) -> None:
    question = ask(np.random.Generator(np.random.PCG64(sum(map(ord, ask.__name__)))))
    found = question.asked(question.seeds)
    told, measured = sentence(found, question), finding(found, question)
    assert f"is {question.truth}: " in told, told
    if question.truth in ("better", "worse"):
        assert (" rises " if measured.difference > 0 else " falls ") in told
        _check_size(told, measured)
    _check_truth(measured, finding(question.asked(OTHERS), question))


def _check_size(told: str, measured: Finding) -> None:
    """The numbers of a sentence are those that were measured, as they are shown."""
    found = SIZE.search(told.partition(": ")[2])  # without the names of the sides
    assert found
    size, low, high = (number and float(number.replace(",", "")) for number in found.group(1, 3, 4))
    scales = {" %": 100 / measured.reference, " pp": 100.0, " ms": 1e3, " Mbit/s": 1e-6}
    factor = scales.get(found["unit"], 1.0)
    assert size == pytest.approx(abs(measured.difference) * factor, rel=0.06)
    within = measured.interval_shown
    if within and low is not None:
        ends = sorted(abs(end * factor) for end in (within.low, within.high))
        assert (low, high) == pytest.approx(ends, rel=0.06, abs=0.06)
        assert low <= size <= high


def _check_truth(measured: Finding, other: Finding) -> None:
    """The difference is that of other seeds, as far as both are known."""
    steps = [np.subtract(each.values[1], each.values[0]) for each in (measured, other)]
    errors = [step.std(ddof=1) / np.sqrt(step.size) for step in steps]
    error = float(np.hypot(*errors))
    wide = student.ppf(1 - 0.5 / ONCE_IN, min(step.size for step in steps) - 1) * error
    assert abs(measured.difference - other.difference) <= wide + 1e-9 * abs(measured.reference)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (([10.0] * 8, [10.0 - 0.01 * n for n in range(8)]), "equivalent"),
        (([10.0 + n for n in range(8)], [5.0 + n * 1.01 for n in range(8)]), "worse"),
    ],
)
def test_a_question_is_wrongly_answered_if_its_numbers_are_exchanged(values: Any, told: str) -> None:

    subject = Subject("flows", 0, "mine", "goodput", "bit/s")
    make = partial(Contrast, margin=0.3, better="higher", subject=subject, stated=Margin(0.03))
    (there,), (back,) = (paired([make(*sides)]) for sides in (values, values[::-1]))
    assert f"is {told}" in one(there)
    assert f"is {'better' if told == 'worse' else told}" in one(back)


def test_means_of_engines_have_the_names_of_the_engines() -> None:
    subject = Subject("flows", 0, "mine", "goodput", "bit/s")
    contrast = Contrast(
        [1e7] * 4, [1.2e7, 1.1e7, 0.9e7, 1e7], 3e5, "higher", subject=subject, sides=("linux", "native")
    )
    assert "goodput of mine is undecided: 10.00 (linux) and 10.50 Mbit/s (native), " in one(
        independent(contrast)
    )


# Every number of the conclusion of a report is that of the tables below it.


STUDY = Scenario(
    name="study",
    duration="6 s",
    warmup="1 s",
    topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
    flows=[
        {"name": "new", "cca": "cubic", "start_jitter": "300 ms"},
        {"name": "old", "cca": "cubic", "count": 2, "start_jitter": "300 ms"},
        PING,
    ],
    sweep={f"{LINK}.queue.size": ["0.5 bdp", "1 bdp", "3 bdp"]},
)
VERDICT = "better|worse|equivalent|undecided|higher|lower"
CLAIM = re.compile(
    r"(?P<difference>[-+]?[\d.]+)(?: %| pp| ms)? \[(?P<low>[-+\d.]+),"
    r" (?P<high>[-+\d.]+)\](?: to (?P<mean>[\d.]+))?(?:[^\[\];,()]*? at buffer (?P<point>[\d.]+ BDP))?"
)
Cells = Mapping[str, str]


def rows_in(page: Document, heading: str) -> list[Cells]:
    """The rows of the first table of a section, with the variant of a table of one pair of sides."""
    found = next(each for each in page.parts[0].details if each.heading == heading)
    made = next(block for block in found.blocks if isinstance(block, Table))
    names = [column.name for column in made.columns]
    return [dict(zip(names, row, strict=True)) for row in made.rows]


def subject_of(row: Cells) -> str:
    """Metric and group in words, as sentences have them."""
    of, link = row["flows or link"], " at " if row["flows or link"] == "bottleneck" else " of "
    return f"{row['metric'].rpartition(' (')[0] or row['metric']}{link}{of}"


def is_near(told: str, cell: str) -> bool:
    """Whether two texts show one number, with the decimals of each."""
    slack = sum(0.5 * 10.0 ** -len(text.partition(".")[2]) for text in (told, cell))
    return abs(abs(float(told)) - abs(float(cell))) <= slack * 1.001


def check_sentence(told: str, rows: Sequence[Cells], variants: Sequence[str]) -> int:
    """Check the counts and differences of a sentence; return their number."""
    subjects = sorted({subject_of(row) for row in rows}, key=len, reverse=True)
    named = [each for each in subjects if each.lower() in told.lower()]
    if not named:
        return 0
    side, checked = next((each for each in variants if told.startswith(f"{each} instead of ")), ""), 0
    for clause in re.split(r"; (?![^(]*\))", told):
        after = re.search(r" with ([\w ,]+?)(?: \(|$|;|\.)", clause)
        words = side or (after[1] if after else "")
        sides = variants if words == "both" else [each for each in variants if each in words]
        for name in sides:
            own = [row for row in rows if subject_of(row) == named[0] and row["variant"] == name]
            for verdict, count in re.findall(rf"({VERDICT}) at (?:all )?(\d+)", clause):
                assert sum(row["verdict"].startswith(verdict) for row in own) == int(count), clause
                checked += 1
        for found in CLAIM.finditer(clause):
            point = found["point"]
            at = [row for row in rows if subject_of(row) == named[0] and row["variant"] in sides]
            at = [row for row in at if point is None or row["buffer"] == point]
            cells = [(re.findall(r"[-+]?\d[\d.]*", row["difference [95 %]"]), row) for row in at]
            told_ends = sorted(abs(float(found[end])) for end in ("low", "high"))
            assert any(
                is_near(found["difference"], numbers[0])
                and (found["mean"] is None or found["mean"] == row["variant mean"])
                and sorted(abs(float(each)) for each in numbers[1:]) == pytest.approx(told_ends, abs=0.6)
                for numbers, row in cells
                if len(numbers) == 3
            ), (clause, found[0])
            checked += 1
    return checked


def check_brief(told: str, rows: Sequence[Cells], variants: Sequence[str]) -> int:
    """Check the verdicts of the first sentence, which has all variants; return their number."""
    checked = 0
    for part in told.partition(", ")[2].split("; "):
        who = re.split(r" (?:is|are) ", part)[0]
        found = re.findall(rf"({VERDICT}) in (.+?) at (both|all \d+|\d+ of \d+) points", part)
        assert found, part
        for name in (each for each in variants if each in who):
            for verdict, groups, count in found:
                for subject in re.split(r" and (?=goodput)", groups):
                    own = [row for row in rows if subject_of(row) == subject and row["variant"] == name]
                    having = sum(row["verdict"].startswith(verdict) for row in own)
                    first = count.split()[0]
                    assert having == (int(first) if first.isdigit() else len(own)), part
                    checked += 1
    return checked


def test_numbers_of_a_conclusion_are_those_of_the_tables(tmp_path: Path) -> None:
    variants = ["bbr1", "bbr3"]
    made = compare_over(STUDY, {"flows.0.cca": ["cubic", *variants]}, range(1, 6))
    write(tmp_path / "c.json", made, "fullpipe")
    page = page_of_file(read(tmp_path / "c.json"))
    rows = rows_in(page, "All verdicts")
    first, *others = page.parts[0].conclusion
    assert check_brief(first, rows, variants) >= 4
    sentences = [each for told in others for each in re.split(r"(?<=\.) (?=[A-Z])", told)]
    assert sum(check_sentence(each, rows, variants) for each in sentences) >= 15
    undecided = sum(row["verdict"].startswith("undecided") for row in rows)
    assert f"{undecided} of {len(rows)} findings are undecided" in sentences[-1]
    wrong = first.replace("worse", "better") if "worse" in first else first.replace("better", "worse")
    with pytest.raises(AssertionError):
        check_brief(wrong, rows, variants)


def test_means_of_a_conclusion_are_those_of_the_tables() -> None:
    page = page_of(sweeps.run(sweeps.jobs(STUDY, range(1, 6))))
    known = {cell for row in rows_in(page, "Means") for cell in row.values()}
    told = [each for line in page.parts[0].conclusion for each in re.findall(r"[\d.]+ \[[\d., ]+\]", line)]
    assert len(told) >= 6
    assert set(told) <= {cell.rstrip("†") for cell in known}
