"""How far fitted lines are off, of lines that are drawn at random: the numbers of docs/how-to/home-line.md.

python -m tests.fit.score --seed 1010 --lines 120
python -m tests.fit.score --seed 1014 --lines 30 --kinds small
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fullpipe.validation.fit import Fitted, fit
from fullpipe.validation.fit.measured import Measured
from fullpipe.validation.fit.read import read
from tests.fit import lines

WITHIN = {"RTT": 0.05, "rate": 0.05, "buffer": 0.15}
"""How far a fitted line may be off."""
QUARTERS = ("wired", "cross", "wifi", "flent")


@dataclass(frozen=True)
class Off:
    """How far one quantity of a line is off."""

    what: str
    error: float
    """Relative."""
    is_known: bool
    """Whether the fit says that it is a value, and no limit."""
    of: str
    """The line and the direction."""

    @property
    def is_within(self) -> bool:
        """Whether it is as near as is promised."""
        return abs(self.error) <= WITHIN[self.what]


def drawn(seed: int, count: int, kinds: Sequence[str] = QUARTERS) -> list[lines.Line]:
    """Lines of kinds in turn."""
    chance = random.Random(seed)
    return [lines.draw(chance, kinds[n % len(kinds)]) for n in range(count)]


def logs(some: Sequence[lines.Line]) -> Iterator[tuple[lines.Line, Measured, lines.Truth]]:
    """Lines with what their logs say, and the truth."""
    for line in some:
        with TemporaryDirectory() as folder:
            paths, truth = lines.write(line, Path(folder))
            yield line, read(paths), truth


def offs(line: lines.Line, found: Fitted, truth: lines.Truth) -> Iterator[Off]:
    """How far a fitted line is off. A buffer that is given no value is off by all of it."""
    name = f"{line.kind} {line.seed}"
    yield Off("RTT", found.rtt_s / truth.rtt_s - 1, True, name)
    for way, of in found.ways.items():
        rate, buffer_s = of.rate_bps / truth.rates_bps[way], of.buffer.wait_s or 0.0
        yield Off("rate", rate - 1, not of.is_least_rate, f"{name} {way}")
        yield Off("buffer", buffer_s / truth.buffers_s[way] - 1, not of.buffer.is_least, f"{name} {way}")


def limits(line: lines.Line, found: Fitted, truth: lines.Truth) -> Iterator[tuple[str, bool, str]]:
    """Of every limit above 0 that is said of a buffer: which, whether it holds, and of what line."""
    for way, of in found.ways.items():
        name, buffer_s = f"{line.kind} {line.seed} {way}", truth.buffers_s[way]
        if of.buffer.is_least and of.buffer.most_s is not None:
            yield "interval", of.buffer.least_s <= buffer_s <= of.buffer.most_s, name
        elif of.buffer.least_s > 0:
            yield "lower limit", of.buffer.least_s <= buffer_s, name


def table(some: Sequence[Off]) -> str:
    """How many are near enough, and how far off the farthest is, in the form of a page."""
    rows = ["| | within | | at most | said to be known |", "|---|---|---|---|---|"]
    for what, within in WITHIN.items():
        of = [one for one in some if one.what == what]
        known = [one for one in of if one.is_known]
        most = max(abs(one.error) for one in of)
        near = f"{sum(one.is_within for one in of)} of {len(of)}"
        said = f"{sum(one.is_within for one in known)} of {len(known)}"
        rows.append(f"| {what} | {within:.0%} | {near} | {most:.1%} | {said} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1010)
    parser.add_argument("--lines", type=int, default=120)
    parser.add_argument("--kinds", nargs="+", default=QUARTERS)
    parser.add_argument("--all", action="store_true", help="list what is near enough, too")
    said = parser.parse_args()
    found = [
        (line, fit(measured), truth)
        for line, measured, truth in logs(drawn(said.seed, said.lines, said.kinds))
    ]
    every = [off for one in found for off in offs(*one)]
    print(table(every))
    for off in every:
        if said.all or not off.is_within:
            print(f"{off.of}: {off.what} {off.error:+.1%}, {'known' if off.is_known else 'at least'}")
    for word in ("interval", "lower limit"):
        held = [(holds, of) for one in found for kind, holds, of in limits(*one) if kind == word]
        print(
            f"{word}: {sum(holds for holds, _ in held)} of {len(held)} hold",
            *[of for holds, of in held if not holds],
        )


if __name__ == "__main__":
    main()
