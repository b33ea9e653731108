"""Run a command that compiles with cargo, and show its progress: crates done of all, and the elapsed time.

    python scripts/compile.py maturin develop --profile dev

A terminal has one line that changes; elsewhere a line is printed every ten seconds. The output of the
command is shown if it fails or warns.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

CARGO = {
    "CARGO_TERM_PROGRESS_WHEN": "always",
    "CARGO_TERM_PROGRESS_WIDTH": "100",
    "CARGO_TERM_COLOR": "never",
}
"""Cargo's own progress bar, which has the counts."""
EVERY_S = 10.0
_BAR = re.compile(r"\[[=> ]*\] (\d+)/(\d+)")


@dataclass
class Shown:
    """The line on the screen, and the text to print at the end."""

    terminal: bool
    started: float = field(default_factory=time.monotonic)
    printed: float = field(default_factory=time.monotonic)
    counts: str = ""
    lines: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Take a line of the command: cargo's bar is shown, other lines are stored."""
        if found := _BAR.search(line):
            self.counts = f"{found[1]} of {found[2]} crates, "
        elif line.strip():
            self.lines.append(line)

    def tick(self) -> None:
        """Show the progress, unless it was shown a moment ago."""
        now = time.monotonic()
        if now - self.printed < (0.2 if self.terminal else EVERY_S):
            return
        self.printed = now
        text = f"compiling the simulator: {self.counts}{now - self.started:.0f} s"
        print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n", flush=True)

    def end(self, status: int) -> None:
        """Print that the command is done, and its whole output if it failed or warned."""
        if self.terminal:
            print("\r\033[K", end="")
        if status or any(line.startswith(("warning", "⚠")) for line in self.lines):
            print("\n".join(self.lines), flush=True)
        if not status and self.counts:
            print(f"compiled the simulator in {time.monotonic() - self.started:.0f} s", flush=True)


def run(command: list[str], *, terminal: bool) -> int:
    """Run a command, show its progress, and return its exit status."""
    shown = Shown(terminal)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **CARGO}
    ) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        assert process.stdout is not None
        pipe, rest, ended = process.stdout.fileno(), b"", False
        while not ended:
            if select.select([pipe], [], [], 1)[0]:
                chunk = os.read(pipe, 65536)
                ended = not chunk
                *whole, rest = re.split(rb"[\r\n]", rest + chunk)
                for line in whole:
                    shown.take(line.decode(errors="replace"))
            shown.tick()
        shown.take(rest.decode(errors="replace"))
    shown.end(process.returncode)
    return process.returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], terminal=sys.stdout.isatty()))
