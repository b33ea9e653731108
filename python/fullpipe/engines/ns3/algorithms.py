"""Congestion controls of ns-3 that correspond to ours, with the parameters that they support."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Value = Callable[[Any], str]
"""Converts a value of ours to the text of an ns-3 attribute."""


def _number(value: Any) -> str:
    return f"{float(value):.17g}"


def _count(value: Any) -> str:
    return str(int(value))


def _switch(value: Any) -> str:
    return "true" if value else "false"


def _ms(value: Any) -> str:
    return f"{round(float(value) * 1e6)}ns"


def _power(value: Any) -> str:
    return _number(0.5 ** int(value))


@dataclass(frozen=True)
class Counterpart:
    """A congestion control of ns-3: its type, and the attributes for our parameters."""

    type: str
    attributes: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Our parameters for which ns-3 has a fixed value."""

    def knows(self, key: str, value: Any) -> bool:
        """Whether ns-3 supports one of our parameters with this value."""
        return key in self.attributes or (key in self.fixed and self.fixed[key] == value)


COUNTERPARTS: Mapping[str, Counterpart] = {
    "reno": Counterpart("ns3::TcpNewReno"),
    "cubic": Counterpart(
        "ns3::TcpCubic",
        {"beta": ("Beta", _number), "c": ("C", _number), "fast_convergence": ("FastConvergence", _switch)},
        fixed={"hystart": "ns3"},
    ),
    "bic": Counterpart(
        "ns3::TcpBic",
        {
            "beta": ("Beta", _number),
            "max_increment": ("MaxIncr", _count),
            "low_window": ("LowWnd", _count),
            "fast_convergence": ("FastConvergence", _switch),
        },
    ),
    "highspeed": Counterpart("ns3::TcpHighSpeed"),
    "htcp": Counterpart("ns3::TcpHtcp"),
    "hybla": Counterpart("ns3::TcpHybla"),
    "illinois": Counterpart(
        "ns3::TcpIllinois", {"win_thresh": ("WinThresh", _count), "theta": ("Theta", _count)}
    ),
    "scalable": Counterpart(
        "ns3::TcpScalable", {"per_increment": ("AIFactor", _count), "decrease_shift": ("MDFactor", _power)}
    ),
    "westwood": Counterpart("ns3::TcpWestwoodPlus"),
    "vegas": Counterpart(
        "ns3::TcpVegas", {"alpha": ("Alpha", _count), "beta": ("Beta", _count), "gamma": ("Gamma", _count)}
    ),
    "veno": Counterpart("ns3::TcpVeno", {"beta": ("Beta", _count)}),
    "yeah": Counterpart(
        "ns3::TcpYeah",
        {
            "alpha": ("Alpha", _count),
            "phy": ("Phy", _count),
            "rho": ("Rho", _count),
            "zeta": ("Zeta", _count),
            "delta": ("Delta", _count),
        },
    ),
    "lp": Counterpart("ns3::TcpLp"),
    "ledbat": Counterpart(
        "ns3::TcpLedbat",
        {
            "target_ms": ("TargetDelay", _ms),
            "gain": ("Gain", _number),
            "base_history": ("BaseHistoryLen", _count),
            "current_filter": ("NoiseFilterLen", _count),
            "slow_start": ("SSParam", lambda value: "yes" if value else "no"),
        },
    ),
    "bbr1": Counterpart(
        "ns3::TcpBbr",
        {
            "startup_gain": ("HighGain", _number),
            "bw_window_rounds": ("BwWindowLength", _count),
            "min_rtt_window_s": ("RttWindowLength", lambda value: _ms(1e3 * value)),
            "probe_rtt_ms": ("ProbeRttDuration", _ms),
        },
        fixed={"policer": False},
    ),
    "dctcp": Counterpart(
        "ns3::TcpDctcp",
        {
            "shift_g": ("DctcpShiftG", _power),
            "alpha_on_init": ("DctcpAlphaOnInit", lambda value: _number(value / 1024)),
        },
    ),
}
"""ns-3's congestion controls by our names."""


def counterpart(kind: str, ours: bool) -> Counterpart | None:
    """Return ns-3's congestion control for an algorithm, or None if our implementation runs."""
    return None if ours else COUNTERPARTS.get(kind)


def attributes(chosen: Counterpart, params: Mapping[str, Any]) -> dict[str, str]:
    """Convert our parameters to attributes of ns-3. Unsupported parameters are omitted."""
    known = ((chosen.attributes[key], value) for key, value in params.items() if key in chosen.attributes)
    return {name: write(value) for (name, write), value in known}
