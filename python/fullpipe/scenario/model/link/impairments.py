"""What a link does to packets besides losing them, one key for every impairment of the registry.

A test holds names, ranges, defaults and documentation of these models against the registry. Adding an
impairment is one field of `Impairments` here, with a model if it has several parameters.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, Field

from fullpipe.scenario.model.base import PERCENT, Delay, Model, Probability, Switch
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.quantities import Seconds, to_nanoseconds


class Jitter(Model):
    """Extra delay that differs from packet to packet."""

    spread_s: Delay = Field(alias="spread", title="jitter", examples=["5 ms"])
    """The largest extra delay; of a normal distribution, the standard deviation."""
    shape: Literal["uniform", "normal"] = "uniform"
    """Uniform from 0 to the spread, or the absolute value of a normal variable."""
    reorder: Switch = False
    """Packets may overtake each other; otherwise one that would waits for those before."""


class Reordering(Model):
    """Every so many packets, one takes longer on the wire, and those behind overtake it: reordering."""

    every: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)] = Field(
        title="packets per reordering", examples=[100]
    )
    """One packet in so many takes longer."""
    extra_s: Annotated[Delay, Field(gt=0)] = Field(alias="extra", title="extra delay", examples=["30 ms"])
    """How much longer it takes."""
    from_s: Seconds = Field(0.0, alias="from")
    """When it begins."""
    until_s: Seconds | None = Field(None, alias="until")
    """When it ends. Left out: never."""


class Arq(Model):
    """The link sends again what it loses, until it arrives, and those behind wait (perfectly persistent ARQ,
    RFC 3366): it loses and reorders nothing, but its delay varies."""

    probability: Annotated[float, Field(strict=True, ge=0, le=0.99), PERCENT] = Field(
        title="failed transmissions", examples=[0.1]
    )
    """Probability that a transmission fails, the repeated ones included."""
    delay_s: Annotated[Delay, Field(gt=0)] = Field(
        alias="delay", title="retransmission delay", examples=["8 ms"]
    )
    """What each failure costs: the time until the packet is sent again, and that of sending it."""


class Registered(NamedTuple):
    """Which impairment of the registry a key of a link is."""

    name: str
    param: str = ""
    """The parameter that a bare value sets; "": the key holds a model of the parameters."""


class Given(NamedTuple):
    """An impairment that a link has."""

    key: str
    """As scenarios write it."""
    name: str
    """In the registry."""
    params: dict[str, Any]
    """As the plan has them: times in nanoseconds."""


class Impairments(Model):
    """What a link does to single packets. The order in which they act is that of the registry."""

    duplicate: Annotated[Probability | None, Registered("duplication", "probability")] = Field(
        None, title="duplicated packets", examples=[0.01]
    )
    """Probability that a packet arrives twice, the copy right behind it (`netem duplicate`). Left out:
    none."""
    thin: Annotated[
        Annotated[int, Field(strict=True, ge=2, le=1_000_000)] | None, Registered("ack_filter", "every")
    ] = Field(None, validation_alias=AliasChoices("thin", "ack_filter"), examples=[4])
    """An ACK filter, also written `ack_filter`: a middlebox drops all but every n-th of the ACKs of each flow
    that report nothing but progress (no SACK, no mark). Left out: none. CAKE's `ack_filter` does it by what
    waits."""
    batch_s: Annotated[Annotated[Delay, Field(gt=0)] | None, Registered("aggregation", "slot_s")] = Field(
        None, alias="batch", validation_alias=AliasChoices("batch", "aggregation"), examples=["10 ms"]
    )
    """Packets are handed over at multiples of this time only, as on a radio link that aggregates them; also
    written `aggregation`."""
    detour: Annotated[Reordering | None, Registered("reordering")] = Field(
        None,
        validation_alias=AliasChoices("detour", "reordering"),
        examples=['{ every = 100, extra = "30 ms" }'],
    )
    """Some packets are overtaken; also written `reordering`. Left out: none."""
    jitter: Annotated[Jitter | None, Registered("jitter")] = Field(None, examples=['{ spread = "5 ms" }'])
    """Every packet takes a little longer. Left out: none."""
    arq: Annotated[Arq | None, Registered("arq")] = Field(
        None, examples=['{ probability = 0.1, delay = "8 ms" }']
    )
    """The link sends again what it loses (ARQ, RFC 3366). Left out: none."""


NO_IMPAIRMENTS = Impairments.model_construct()
"""Of a link that leaves all packets alone."""


def registered(name: str) -> Registered:
    """The impairment that a field of `Impairments` is."""
    notes = declared(Impairments)[name].metadata
    return next(note for note in notes if isinstance(note, Registered))


def given(impairments: Impairments) -> Iterator[Given]:
    """Those that a link has."""
    for name, field in declared(Impairments).items():
        value = getattr(impairments, name)
        if value is not None:
            entry = registered(name)
            params = {entry.param: value} if entry.param else dict(value)
            yield Given(field.alias or name, entry.name, dict(map(_in_plan, params.items())))


def _in_plan(param: tuple[str, Any]) -> tuple[str, Any]:
    """A parameter with times in nanoseconds."""
    name, value = param
    if not name.endswith("_s"):
        return param
    return f"{name.removesuffix('_s')}_ns", None if value is None else to_nanoseconds(value)
