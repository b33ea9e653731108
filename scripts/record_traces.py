"""Record traces of Linux's TCP sender.

    python scripts/record_traces.py --seeds 1:15                      # the traces of the repository
    python scripts/record_traces.py --seeds 1001:1015 --out held-out  # other traces
    python scripts/record_traces.py --seeds 7:7 --text dctcp          # one trace as text

`cargo test -p fullpipe-tcp` replays the traces of the repository against the simulated sender. The variable
TRACES names another folder.

The Linux engine must be installed, because its kernel is recorded. A family and a seed give the same trace,
except for BBR. The kernel's BBR draws random numbers, so that the seeds recorded before matter, too.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fullpipe.engines.linux import boot
from fullpipe.engines.linux.install import installed
from fullpipe.engines.linux.script import kernel

FOLDER = Path(__file__).parent.parent / "crates" / "tcp" / "tests" / "traces" / "recorded"
MIXED = "loss reordering ack-loss ack-reordering blackout stall"
FAMILIES = {
    "cubic-losses": "cubic loss",
    "cubic-reordering": "cubic reordering",
    "cubic-acks": "cubic ack-loss ack-reordering",
    "cubic-blackouts": "cubic blackout",
    "cubic-stalls": "cubic stall",
    "cubic-idle": "cubic idle loss",
    "cubic-small": "cubic small loss",
    "cubic-windows": "cubic window",
    "cubic-gro": "cubic gro loss",
    "cubic-mixed": f"cubic {MIXED}",
    "cubic-ecn": "cubic ecn marks loss",
    "cubic-accecn": "cubic accecn marks loss",
    "reno-mixed": f"reno {MIXED}",
    "reno-idle": "reno idle loss ack-loss",
    "dctcp": "dctcp dctcp marks",
    "dctcp-losses": "dctcp dctcp marks loss reordering",
    "vegas": "vegas loss stall",
    "illinois": "illinois loss stall",
    "bbr1": "bbr loss",
    "bbr1-idle": "bbr idle loss stall",
}
"""The kernel's algorithm and the features of the path and the receiver, by family."""
MEMORY_MB = 512
END, WRITE, INJECTED, OUT, COUNTERS = range(5)


def recorded(family: str, seeds: range) -> str:
    """Return the traces of a family as text. Each trace begins with a line H."""
    found = installed.find()
    if found is None:
        raise SystemExit(f"the Linux engine is not installed: {installed.INSTALL}")
    lines = [*kernel(), *(f"trace {family} {seed} {FAMILIES[family]}" for seed in seeds)]
    guest = boot.Guest(found.kernel, installed.compile_program())
    with boot.boot(guest, "\n".join(lines) + "\n", memory_mb=MEMORY_MB, seed=1) as finished:
        return (finished.folder / "traces").read_text(encoding="ascii")


def number(value: int) -> bytes:
    """Return a number in groups of seven bits, lowest first."""
    groups = bytearray()
    while value >= 128:
        groups.append(value % 128 + 128)
        value //= 128
    groups.append(value)
    return bytes(groups)


def signed(value: int) -> bytes:
    """Return a number whose sign is in the lowest bit."""
    return number(2 * value if value >= 0 else -2 * value - 1)


class Packer:
    """Packs the lines of one trace. Every number is the difference from the last number of its kind."""

    def __init__(self, header: list[str]) -> None:
        _name, seed, _cca, *rest = header
        self.packed = bytearray()
        for value in (int(seed), *map(int, rest)):
            self.packed += number(value)
        self.mss = int(rest[3])
        self.time_us = self.ack = self.echo = self.window = self.marks = self.sent = 0
        self.counters = [0] * 8

    def lines(self, lines: Iterable[list[str]]) -> bytes:
        """Pack lines, and the end of the trace."""
        waiting: list[tuple[int, int, int, int]] = []
        for kind, *words in lines:
            if kind == "O":
                at, start, end, cwr = map(int, words)
                if waiting and not self._continues(waiting[-1], at, start, end, cwr):
                    self._out(waiting)
                    waiting = []
                waiting.append((at, start, end, cwr))
                continue
            if waiting:
                self._out(waiting)
                waiting = []
            if kind == "W":
                self.packed += bytes([WRITE]) + self._time(int(words[0])) + number(int(words[1]))
            elif kind == "I":
                self._injected(words)
            else:
                self._counted([int(word) for word in words])
        if waiting:
            self._out(waiting)
        return bytes(self.packed + bytes([END]))

    def _time(self, at_us: int) -> bytes:
        passed, self.time_us = at_us - self.time_us, at_us
        return number(passed)

    def _continues(self, last: tuple[int, int, int, int], at: int, start: int, end: int, cwr: int) -> bool:
        full = end - start == self.mss == last[2] - last[1]
        return full and at == last[0] and start == last[2] and not cwr and not last[3]

    def _out(self, run: list[tuple[int, int, int, int]]) -> None:
        at, start, end, cwr = run[0]
        is_next, is_full = start == self.sent, end - start == self.mss
        self.packed.append(OUT | cwr << 3 | is_next << 4 | is_full << 5 | (len(run) > 1) << 6)
        self.packed += self._time(at)
        if not is_next:
            self.packed += signed(start - self.sent)
        if not is_full:
            self.packed += number(end - start)
        if len(run) > 1:
            self.packed += number(len(run))
        self.sent = run[-1][2]

    def _injected(self, words: list[str]) -> None:
        at, ack, echo, window, marks, ece = map(int, words[:6])
        blocks = [tuple(map(int, word.split(":"))) for word in words[6:]]
        opens, marked = window != self.window, marks != self.marks
        self.packed.append(INJECTED | len(blocks) << 3 | ece << 5 | opens << 6 | marked << 7)
        self.packed += self._time(at) + signed(ack - self.ack) + signed(echo - self.echo)
        if opens:
            self.packed += signed(window - self.window)
        if marked:
            self.packed += signed(marks - self.marks)
        for start, end in blocks:
            self.packed += signed(start - ack) + number(end - start)
        self.ack, self.echo, self.window, self.marks = ack, echo, window, marks

    def _counted(self, counters: list[int]) -> None:
        changed = [n for n in range(8) if counters[n] != self.counters[n]]
        self.packed += bytes([COUNTERS, sum(1 << n for n in changed)])
        for n in changed:
            self.packed += signed(counters[n] - self.counters[n])
        self.counters = counters


def packed(text: str) -> bytes:
    """Return all traces of a text in the format that crates/tcp/tests/traces/format.rs reads."""
    lines = [line.split() for line in text.splitlines()]
    heads = [n for n, line in enumerate(lines) if line[0] == "H"]
    ends = [*heads[1:], len(lines)]
    name = lines[0][3].encode("ascii")
    return name + b"\n" + b"".join(_packed(lines[a:b]) for a, b in zip(heads, ends, strict=True))


def _packed(lines: list[list[str]]) -> bytes:
    return Packer(lines[0][1:]).lines(lines[1:])


def seeds(text: str) -> range:
    """Read FIRST:LAST."""
    found = re.fullmatch(r"(\d+):(\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is not FIRST:LAST, such as 1:15")
    return range(int(found[1]), int(found[2]) + 1)


def main() -> Iterator[str]:
    """Record, and yield a line for every family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("families", nargs="*", help=f"default: all of {', '.join(FAMILIES)}")
    parser.add_argument("--seeds", type=seeds, required=True, help="FIRST:LAST")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files, one per family")
    parser.add_argument("--text", action="store_true", help="print the traces as text instead")
    wanted = parser.parse_args()
    for family in wanted.families or FAMILIES:
        text = recorded(family, wanted.seeds)
        if wanted.text:
            yield text
            continue
        wanted.out.mkdir(parents=True, exist_ok=True)
        data = packed(text)
        (wanted.out / f"{family}.traces").write_bytes(data)
        yield f"{family}: {len(wanted.seeds)} traces, {len(data):,} B, {text.count('I '):,} ACKs"


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
