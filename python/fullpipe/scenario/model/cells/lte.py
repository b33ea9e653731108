"""An LTE cell."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fullpipe.scenario.model.cells.cellular import Cellular

RESOURCE_BLOCKS: Mapping[str, int] = {
    "1.4 MHz": 6,
    "3 MHz": 15,
    "5 MHz": 25,
    "10 MHz": 50,
    "15 MHz": 75,
    "20 MHz": 100,
}
"""Resource blocks by carrier width: 3GPP TS 36.101, table 5.6-1."""


class Lte(Cellular):
    """LTE, with slots of 1 ms (its subframes) and up to 64-QAM."""

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        # A common carrier: two antennas at both ends.
        "lte-20mhz": {"width": "20 MHz", "layers": 2},
        # The cell of ns-3's LENA: one antenna, proportional fair over 99 ms, no retransmission above HARQ.
        "ns3": {
            "width": "20 MHz",
            "layers": 1,
            "fairness_slots": 99,
            "rlc": {"mode": "um", "reordering": "100 ms"},
        },
    }

    kind: Literal["lte"] = Field(examples=["lte"])
    preset: Literal["lte-20mhz", "ns3"] | None = None
    """Preset of other keys; explicit keys override it. Left out: none."""
    width: Literal["1.4 MHz", "3 MHz", "5 MHz", "10 MHz", "15 MHz", "20 MHz"] = "20 MHz"
    """Carrier width."""
    resource_blocks: Annotated[int, Field(strict=True, ge=1, le=100)] | None = Field(None, examples=[100])
    """Resource blocks of a carrier. Left out: by `width`."""

    @property
    def carrier(self) -> tuple[int, int]:
        """Resource blocks and numerology of the carrier."""
        return self.resource_blocks or RESOURCE_BLOCKS[self.width], 0

    @property
    def times_s(self) -> tuple[float, float]:
        """Eight HARQ processes of 1 ms (TS 36.213, section 7), and 1 ms of processing (our choice)."""
        return 0.008, 0.001
