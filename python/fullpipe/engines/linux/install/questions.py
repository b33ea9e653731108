"""Finds out what a kernel supports: boots it, and tries every queue discipline and filter of the engine."""

from collections.abc import Iterator
from pathlib import Path

from fullpipe.engines.linux.install.guest_program import compile_program
from fullpipe.engines.linux.install.installed import PERIODIC, Installed
from fullpipe.engines.linux.machine.boot import Guest, boot
from fullpipe.engines.linux.tc import filters, queues, service
from fullpipe.engines.linux.tc.qdisc import ARRIVALS, INGRESS, ROOT

_PROBE_MB = 64
_EXAMPLES = {"step": {"mark_ms": 1.0}}


def ask(path: Path, fingerprint: str) -> Installed:
    """Boot the kernel in a file and find its features.

    Raises:
        EngineError: If it does not boot here.
    """
    with boot(Guest(path, compile_program()), _questions(), memory_mb=_PROBE_MB, seed=1) as finished:
        lines = (finished.folder / "knows").read_text(encoding="utf-8").splitlines()
    told = [tuple(line.split("=", 1)) for line in lines]
    known = {key: value for key, value in told if key != "qdisc"}
    return Installed(
        path,
        fingerprint,
        known["release"],
        tuple(known["ccas"].split()),
        tuple(value for key, value in told if key == "qdisc"),
        known["accecn"] == "1",
        known["radios"] == "1",
    )


def _questions() -> str:
    defaults = {kind: queues.all_params(kind, _EXAMPLES.get(kind, {})) for kind in queues.MAKERS}
    asked = {kind: queues.MAKERS[kind](values) for kind, values in defaults.items() if kind != "police"}
    asked["htb"] = service.htb()
    policer, periodic = filters.policer(defaults["police"], 0), filters.every(2)

    def lines() -> Iterator[str]:
        yield "namespace a"
        yield "namespace b"
        yield "link a a0 b b0 1500"
        yield "probe"
        for number, (name, qdisc) in enumerate(asked.items(), start=1):
            yield f"try {name} qdisc a a0 add {ROOT} {number:x}0000 {qdisc.written()}"
        yield f"try police filter a a0 add {number:x}0000 1 {policer.written()}"
        yield f"try ingress qdisc a a0 add {INGRESS} {ARRIVALS} ingress"
        yield f"try {PERIODIC} filter a a0 add {ARRIVALS} 1 {periodic.written()}"
        yield "end 1"

    return "\n".join(lines()) + "\n"
