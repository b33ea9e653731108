"""netem: propagation delay, serialisation, loss, jitter and duplication on a link."""

import struct
from dataclasses import dataclass, replace
from statistics import NormalDist

from fullpipe.engines.linux.tc.attributes import attribute, s64, u64
from fullpipe.engines.linux.tc.qdisc import Qdisc
from fullpipe.scenario.model.link.impairments import Impairment
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.quantities import BITS, to_nanoseconds

_PLENTY_PACKETS = 1_000_000
_MOST_U32 = 2**32 - 1
_CERTAIN = 2**32 - 1
_TABLE = 2048
_SIGMA = 8192
_MOST_S16 = 2**15 - 1
_IN_ORDER_BPS = 400_000_000_000
"""A rate so high that packets take hardly any time. With a rate, netem preserves the order of packets."""


@dataclass(frozen=True)
class Netem:
    """The path of packets from the queue to the end of the link."""

    delay_ns: int = 0
    rate_bps: int | None = None
    loss: Loss | None = None
    jitter: Impairment | None = None
    duplicate: float = 0.0

    @property
    def does_nothing(self) -> bool:
        """Whether it leaves packets unchanged."""
        return self == Netem()

    def split(self) -> "tuple[Netem, Netem]":
        """Split into serialisation, and the rest, in which packets may overtake each other."""
        return Netem(rate_bps=self.rate_bps), replace(self, rate_bps=None)

    def qdisc(self, seed: int) -> Qdisc:
        """Encode the options of netem. `seed` is for its random numbers, since Linux 6.7."""
        delay_ns, spread_ns, shape = self._delays()
        kind = self.loss.kind if self.loss else None
        loss = round(self.loss.probability * _CERTAIN) if self.loss and kind == "bernoulli" else 0
        copies = round(self.duplicate * _CERTAIN)
        options = struct.pack("<IIIIII", 0, _PLENTY_PACKETS, loss, 0, copies, 0)
        options += s64(10, delay_ns) + (s64(11, spread_ns) if spread_ns else b"") + shape
        if self.loss and kind == "gilbert_elliott":
            chain = (self.loss.worsens, self.loss.improves, 1 - self.loss.bad, self.loss.good)
            model = struct.pack("<IIII", *(round(probability * _CERTAIN) for probability in chain))
            options += attribute(5, attribute(2, model))
        rate_bps = self.rate_bps or (_IN_ORDER_BPS if self.jitter and not self.jitter.reorder else None)
        if rate_bps:
            rate = rate_bps // BITS
            options += attribute(6, struct.pack("<IiIi", min(rate, _MOST_U32), 0, 0, 0))
            options += u64(8, rate) if rate > _MOST_U32 else b""
        return Qdisc("netem", options + u64(14, seed), nested=False)

    def _delays(self) -> tuple[int, int, bytes]:
        """Return the mean delay, the spread around it, and the distribution's table unless it is uniform."""
        if not self.jitter:
            return self.delay_ns, 0, b""
        spread_ns = to_nanoseconds(self.jitter.spread_s)
        match self.jitter.shape:
            case "normal":
                return self.delay_ns, spread_ns, attribute(2, _half_normal())
            case "uniform":
                return self.delay_ns + spread_ns // 2, spread_ns // 2, b""
            case shape:
                raise ValueError(f"netem has no options for jitter with shape {shape}")


def _half_normal() -> bytes:
    """Return quantiles of the absolute value of a normal variable, in netem's steps."""
    shares = ((i + 0.5) / _TABLE for i in range(_TABLE))
    quantiles = (NormalDist().inv_cdf(0.5 + share / 2) for share in shares)
    return b"".join(struct.pack("<h", min(_MOST_S16, round(_SIGMA * q))) for q in quantiles)
