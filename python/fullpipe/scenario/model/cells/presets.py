"""Cellular cells by name: LTE and 5G NR."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fullpipe.errors import suggestion
from fullpipe.scenario.model.base import WithinError
from fullpipe.scenario.model.cells.cellular import Cellular, Pattern

# An LTE cell.


LTE_RESOURCE_BLOCKS: Mapping[str, int] = {
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
    """Resource blocks of a carrier. Left out: the number for `width`."""

    @property
    def carrier(self) -> tuple[int, int]:
        """Resource blocks and numerology of the carrier."""
        return self.resource_blocks or LTE_RESOURCE_BLOCKS[self.width], 0

    @property
    def times_s(self) -> tuple[float, float]:
        """HARQ round trip of 8 ms: eight processes of 1 ms (TS 36.213, section 7). Processing time of 1 ms,
        an assumption."""
        return 0.008, 0.001


# An NR cell.


NR_RESOURCE_BLOCKS: Mapping[str, Mapping[int, int]] = {
    "15 kHz": {5: 25, 10: 52, 15: 79, 20: 106, 25: 133, 30: 160, 40: 216, 50: 270},
    "30 kHz": {
        5: 11,
        10: 24,
        15: 38,
        20: 51,
        25: 65,
        30: 78,
        40: 106,
        50: 133,
        60: 162,
        70: 189,
        80: 217,
        90: 245,
        100: 273,
    },
    "60 kHz": {50: 66, 100: 132, 200: 264},
    "120 kHz": {50: 32, 100: 66, 200: 132, 400: 264},
}
"""Resource blocks by subcarrier spacing and carrier width in MHz: 3GPP TS 38.101-1, table 5.3.2-1; for 60 and
120 kHz, TS 38.101-2, table 5.3.2-1."""


class Nr(Cellular):
    """NR, with up to 256-QAM and slots of 14 symbols (0.5 ms at a spacing of 30 kHz)."""

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        # Mid-band (n41, n78) as deployed by operators.
        "nr-100mhz": {"width": "100 MHz", "spacing": "30 kHz", "pattern": "DDDSU", "layers": 4},
        # A carrier in the bands above 24 GHz.
        "nr-mmwave": {"width": "400 MHz", "spacing": "120 kHz", "pattern": "DDDSU", "layers": 2},
        # Satellites in low orbit; the satellite changes every 15 s. Width, spacing and duplexing of the
        # carrier are assumptions.
        "starlink-like": {
            "width": "50 MHz",
            "spacing": "15 kHz",
            "pattern": "FDD",
            "delay": "10 ms",
            "gaps": [{"at": "12 s", "gap": "80 ms", "every": "15 s"}],
        },
    }

    kind: Literal["nr"] = Field(examples=["nr"])
    preset: Literal["nr-100mhz", "nr-mmwave", "starlink-like"] | None = None
    """Preset of other keys; explicit keys override it. Left out: none."""
    spacing: Literal["15 kHz", "30 kHz", "60 kHz", "120 kHz"] = "30 kHz"
    """Subcarrier spacing. Slots last 1, 0.5, 0.25 or 0.125 ms."""
    width: Annotated[str, Field(strict=True, pattern=r"^[0-9]+ MHz$")] = Field("20 MHz", examples=["100 MHz"])
    """Carrier width."""
    resource_blocks: Annotated[int, Field(strict=True, ge=1, le=275)] | None = Field(None, examples=[273])
    """Resource blocks of a carrier. Left out: the number for `width` and `spacing`."""
    pattern: Pattern = Field("DDDSU", examples=["DDDSU"])
    """Slots of time division duplex: D is downlink, U is uplink, S is split as in `special`. "FDD": every
    slot has both directions, on two carriers."""

    @property
    def carrier(self) -> tuple[int, int]:
        """Resource blocks and numerology of the carrier."""
        numerology = list(NR_RESOURCE_BLOCKS).index(self.spacing)
        width_mhz = int(self.width.split()[0])
        return self.resource_blocks or NR_RESOURCE_BLOCKS[self.spacing][width_mhz], numerology

    @property
    def times_s(self) -> tuple[float, float]:
        """HARQ round trip of eight slots (4 to 10 are possible), and the processing time of 5G-LENA, 0.1
        ms."""
        return 0.008 / 2 ** list(NR_RESOURCE_BLOCKS).index(self.spacing), 0.0001

    @model_validator(mode="after")
    def _has_such_a_width(self) -> Self:
        widths = [f"{mhz} MHz" for mhz in NR_RESOURCE_BLOCKS[self.spacing]]
        if self.width not in widths:
            has = suggestion(self.width, widths)
            raise WithinError(("width", f"a spacing of {self.spacing} has no {self.width}{has}"))
        return self
