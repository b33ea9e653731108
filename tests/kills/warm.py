"""A process in which fullpipe is imported already: it runs commands in forks, and kills them when asked to.

Orders are lines of JSON on standard input: `arguments`, `folder`, and, to kill, `event` and `delay_s`. Events
are what a command does to files. It is killed before the event of that number, or so long after it if a delay
is given. A file `log` has a line for every run that is begun, and one when it is kept. The answers, one line
each, say how many `events` there were, and whether it was `killed`, or with which `status` it ended.

Nothing has been computed here, so polars has no workers yet that a fork would miss.
"""

import json
import os
import signal
import sys
import time
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot  # noqa: F401

from fullpipe.analysis.export import pcapng  # noqa: F401
from fullpipe.cli import main, tables  # noqa: F401
from fullpipe.engines import native  # noqa: F401
from fullpipe.plots import style
from fullpipe.scenario import Scenario
from fullpipe.studies import kato2025
from fullpipe.studies.kato2025 import measures

from .noted import noted

_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod"}
_WRITING = os.O_WRONLY | os.O_RDWR


def shorten() -> None:
    """The study with runs of no time, and with one small picture."""
    values = {"duration": "2 s", "topology.bottleneck.rate": "10 Mbit/s"}
    named = Scenario.named
    short = SimpleNamespace(named=lambda name: named(name).with_values(values))
    kato2025.Scenario = short  # type: ignore[assignment,misc]
    style._STYLE["savefig.dpi"] = 40
    for name in ("figure_2", "figure_3", "figure_4", "figure_6"):
        setattr(measures, name, lambda *_: [])


def command(order: dict[str, Any], event: int, reached: int, counted: int) -> None:
    """Run a command in this process, which ends with it."""
    count = 0

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if name in _CHANGES or (name == "open" and (arguments[2] or 0) & _WRITING):
            count += 1
            if count == event:
                os.write(reached, b"x")
                if not order["delay_s"]:
                    time.sleep(3600)

    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.chdir(order["folder"])
    sys.argv = ["fullpipe", *order["arguments"]]
    if "log" in order:
        noted(order["log"])
    sys.addaudithook(hook)
    status: Any = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        status = 70
    os.write(counted, str(count).encode())
    os._exit(status if isinstance(status, int) else 1)


def obey(order: dict[str, Any]) -> dict[str, Any]:
    """Run one command in a fork, and kill it if that is the order."""
    reached, at_event = os.pipe()
    counted, counts = os.pipe()
    child = os.fork()
    if child == 0:
        command(order, order.get("event", 0), at_event, counts)
    os.close(at_event)
    os.close(counts)
    if os.read(reached, 1):  # nothing, if it ended before
        time.sleep(order["delay_s"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    events = os.read(counted, 100)
    os.close(reached)
    os.close(counted)
    code = os.waitstatus_to_exitcode(status)
    return {"events": int(events or 0), "killed": code == -signal.SIGKILL, "status": code}


if __name__ == "__main__":
    shorten()
    for line in sys.stdin:
        print(json.dumps(obey(json.loads(line))), flush=True)
