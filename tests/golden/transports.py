"""The transport: every option of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.golden.common import CUBIC, ENDS, LINK, Case, dumbbell

_TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "segments": {"mss": "1000 B", "timestamps": False, "link_overhead": "20 B"},
    "delayed ACKs": {"ack_every": 3, "delayed_ack_timeout": "10 ms"},
    "no SACK compression": {"sack_compression": False},
    "initial window": {"initial_window": 40},
    "buffers": {"send_buffer": "30 kB", "receive_buffer": "40 kB"},
    "send buffer limited by the network": {"send_buffer": "30 kB", "full_send_buffer": "network_limited"},
    "pacing always": {"pacing": "always", "max_burst": "off"},
    "pacing fq": {"pacing": "fq"},
    "bursts": {"max_burst": "20 kB", "min_burst": 4},
    "gro": {"gro": "200 us"},
    "ecn": {"ecn": True},
    "accecn": {"ecn": "accecn"},
    "accecn without its option": {"ecn": "accecn", "accecn_option": False},
    "idle application limited by the network": {"idle_application": "network_limited"},
    "ns-3 reduction": {"prr": "ns3"},
    "ns-3 samples": {"rate_sample": "ns3_3.40", "invalid_rate_samples": "repeated"},
    "Linux written out": {
        "host": "linux",
        "rate_sample": "linux",
        "invalid_rate_samples": "discarded",
        "rescue_retransmit": "none",
        "full_send_buffer": "app_limited",
        "idle_application": "app_limited",
        "prr": "rfc9937",
        "lost_in_flight": "counted",
    },
    "duplicate ACKs": {"loss_detection": "dupack"},
    "a smallest timeout": {"min_rto": "1 s"},
    "timers of 250 Hz": {"timer_tick": "4 ms"},
    "no tail loss probes": {"tail_loss_probe": False, "loss_detection": "rack"},
    "as Linux ships": {"host": "linux-defaults"},
    "as ns-3": {"host": "ns3-like"},
    "memory": {
        "send_memory": "20 kB",
        "send_memory_most": "60 kB",
        "receive_memory": "30 kB",
        "receive_memory_most": "200 kB",
        "packet_memory": "2 KiB",
    },
    "no undo": {"undo": False, "loss_detection": "dupack"},
    "rescue rfc6675": {"rescue_retransmit": "rfc6675"},
    "rescue unbounded": {"rescue_retransmit": "unbounded"},
}


def cases() -> Iterator[Case]:
    """Cubic, BBR and flows that end, through a queue that marks or drops, with some loss."""
    short = {"cca": "reno", "start": "500 ms", "size": "60 kB", "count": 4}
    link = {
        **LINK,
        "queue": {"kind": "step", "limit": 25, "mark_packets": 12},
        "loss": {"kind": "bernoulli", "probability": 0.005},
    }
    for name, values in _TRANSPORTS.items():
        yield f"tcp {name}", dumbbell(CUBIC, {"cca": "bbr1"}, short, link=link, tcp=values, record=ENDS)
    shifted = {"lost_in_flight": "shifted"}
    delays = {"interval": "100 ms", "in_order": True}
    yield "tcp delays in order", dumbbell(CUBIC, {"cca": "bbr1"}, short, link=link, record=delays)
    yield "tcp lost in flight shifted", dumbbell({"cca": "bbr3"}, CUBIC, tcp=shifted, record=ENDS)
