"""Runs for profile-guided optimisation (`pgo-command` in pyproject.toml).

`maturin develop --release --pgo` builds an extension that counts executions, runs this program with it, and
builds it again with the profile. Results stay byte-identical. It needs `rustup component add llvm-tools`.
"""

from __future__ import annotations

import subprocess
import sys

LONG_QUEUE = "topology.bottleneck.queue.packets=5000"

# Scenarios of the package with their changed values: algorithms, queues, many flows, samples, web pages.
TRAINING: tuple[tuple[str, ...], ...] = (
    *(
        ("kato2025", LONG_QUEUE, f"flows.0.cca={cca}", "duration=10s")
        for cca in ("cubic", "bbr1", "bbr3", "reno")
    ),
    ("kato2025", "duration=10s"),
    (
        "kato2025",
        LONG_QUEUE,
        "flows.0.cca=cubic",
        "flows.0.count=500",
        "flows.0.start_jitter=1s",
        "duration=10s",
    ),
    *(
        ("kato2025", "flows.0.cca=cubic", f'topology.bottleneck.queue={{kind="{kind}"}}', "duration=10s")
        for kind in ("codel", "fq_codel", "cake")
    ),
    ("kato2025", LONG_QUEUE, "flows.0.cca=cubic", "record.interval=10ms", "duration=10s"),
    ("web-1000", "flows.0.count=200", "duration=20s", "warmup=0s"),
)


def main() -> None:
    """Run them, each in a separate process."""
    for name, *values in TRAINING:
        chosen = [part for value in values for part in ("--set", value)]
        command = [sys.executable, "-m", "fullpipe", "run", name, *chosen, "--no-store", "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
