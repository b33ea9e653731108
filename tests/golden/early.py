"""Ten runs of 5 s whose numbers have been kept since before there was a case for every entry."""

from collections.abc import Iterator
from typing import Any

_LINK: dict[str, Any] = {
    "rate": "20 Mbit/s",
    "delay": "20 ms",
    "queue": {"kind": "drop_tail", "packets": 66},
}
_SMALL = {**_LINK, "queue": {"kind": "drop_tail", "packets": 15}}
_LOSSY = {**_LINK, "loss": {"kind": "bernoulli", "probability": 0.01}}


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each by its name: a link, its flows and their transport."""
    single = {"pacing": "always", "max_burst": "off"}
    buffers = {"send_buffer": "64 KiB", "receive_buffer": "32 KiB"}
    yield "reno", _case({"cca": "reno"})
    yield "cubic", _case({"cca": "cubic"})
    yield "cubic-hystart++", _case({"cca": {"kind": "cubic", "hystart": "rfc9406"}})
    yield "bbr1", _case({"cca": "bbr1"})
    yield "bbr1-small-buffer", _case({"cca": "bbr1", "count": 4}, link=_SMALL)
    yield "mix-under-loss", _case({"cca": "cubic"}, {"cca": "bbr1"}, {"cca": "reno"}, link=_LOSSY)
    yield "short-transfers", _case({"cca": "cubic", "size": "100 kB", "count": 8})
    yield "ack-every-packet", _case({"cca": "reno"}, tcp={"ack_every": 1})
    yield "single-packets-paced", _case({"cca": "cubic"}, tcp=single)
    yield "small-buffers", _case({"cca": "bbr1"}, tcp=buffers)


def _case(*flows: dict[str, Any], link: dict[str, Any] = _LINK, **more: Any) -> dict[str, Any]:
    topology = {"kind": "dumbbell", "bottleneck": link}
    return {
        "duration": "5 s",
        "topology": topology,
        "flows": list(flows),
        "record": {"interval": "off"},
    } | more
