"""Impairments of a link other than loss: one key for every impairment of the registry.

A test compares names, ranges, defaults and documentation of these models with the registry. To add an
impairment, add one field to `Impairments`, with a model if it has several parameters.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, Field

from fullpipe.scenario.catalogue import FORMER_KEYS
from fullpipe.scenario.model.base import PERCENT, Delay, Model, Probability, Switch
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.quantities import Seconds, to_nanoseconds


class Jitter(Model):
    """A random extra delay of every packet."""

    spread_s: Delay = Field(alias="spread", title="jitter", examples=["5 ms"])
    """Maximum extra delay; with a normal distribution, its standard deviation."""
    shape: Literal["uniform", "normal"] = "uniform"
    """Uniform from 0 to the spread, or the absolute value of a normal variable."""
    reorder: Switch = False
    """Let packets overtake each other. Otherwise a packet that would overtake waits for those before it."""


class Reordering(Model):
    """Reordering: one packet in `every` is delayed on the wire, and later packets overtake it."""

    every: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)] = Field(
        title="packets per reordering", examples=[100]
    )
    """One packet in this many takes longer."""
    extra_s: Annotated[Delay, Field(gt=0)] = Field(alias="extra", title="extra delay", examples=["30 ms"])
    """Extra delay of such a packet."""
    from_s: Seconds = Field(0.0, alias="from")
    """Time at which reordering begins."""
    until_s: Seconds | None = Field(None, alias="until")
    """Time at which it ends. Left out: never."""


class Arq(Model):
    """Link-layer retransmission: a packet is retransmitted until it arrives, and later packets wait.

    This is perfectly persistent ARQ (RFC 3366). The link loses and reorders nothing, but its delay varies.
    """

    probability: Annotated[float, Field(strict=True, ge=0, le=0.99), PERCENT] = Field(
        title="failed transmissions", examples=[0.1]
    )
    """Probability that a transmission fails, retransmissions included."""
    delay_s: Annotated[Delay, Field(gt=0)] = Field(
        alias="delay", title="retransmission delay", examples=["8 ms"]
    )
    """Delay of each failure: the time until the packet is retransmitted, and its transmission."""


class Registered(NamedTuple):
    """The impairment of the registry to which a key of a link belongs."""

    name: str
    param: str = ""
    """Parameter that a bare value sets. Empty: the key holds a table of parameters."""


class Given(NamedTuple):
    """An impairment that a link has."""

    key: str
    """Key in scenarios."""
    name: str
    """Name in the registry."""
    params: dict[str, Any]
    """Parameters as in the plan, with times in nanoseconds."""


def _spellings(key: str) -> AliasChoices:
    """Return a key with its former one."""
    return AliasChoices(key, FORMER_KEYS[key])


class Impairments(Model):
    """Effects of a link on single packets. They act in the order of the registry."""

    duplicate: Annotated[Probability | None, Registered("duplicate", "probability")] = Field(
        None, title="duplicated packets", examples=[0.01]
    )
    """Probability that a packet is duplicated; the copy follows directly (`netem duplicate`). Left out:
    none."""
    ack_filter: Annotated[
        Annotated[int, Field(strict=True, ge=2, le=1_000_000)] | None, Registered("ack_filter", "every")
    ] = Field(None, validation_alias=_spellings("ack_filter"), examples=[4])
    """ACK filter: a middlebox passes only every n-th plain ACK of each flow. A
    plain ACK reports only progress, without SACK or ECN marks. Left out: none. CAKE has an `ack_filter` of
    its own, which drops ACKs that wait in its queue."""
    aggregation_s: Annotated[Annotated[Delay, Field(gt=0)] | None, Registered("aggregation", "slot_s")] = (
        Field(
            None,
            alias="aggregation",
            validation_alias=_spellings("aggregation"),
            examples=["10 ms"],
        )
    )
    """Aggregation: packets are delivered only at multiples of this time, as on a
    radio link that aggregates them. Left out: none."""
    reordering: Annotated[Reordering | None, Registered("reordering")] = Field(
        None,
        validation_alias=_spellings("reordering"),
        examples=['{ every = 100, extra = "30 ms" }'],
    )
    """Reordering: some packets are delayed and overtaken. Left out: none."""
    jitter: Annotated[Jitter | None, Registered("jitter")] = Field(None, examples=['{ spread = "5 ms" }'])
    """Random extra delay of every packet. Left out: none."""
    arq: Annotated[Arq | None, Registered("arq")] = Field(
        None, examples=['{ probability = 0.1, delay = "8 ms" }']
    )
    """Link-layer retransmission of lost packets (ARQ, RFC 3366). Left out: none."""


_DIGEST_NAMES = {
    name: name.replace(key, FORMER_KEYS[key])
    for name, field in declared(Impairments).items()
    if (key := field.alias or name) in FORMER_KEYS
}
"""Former names of fields, under which digests have them."""


def with_digest_names(tree: Any) -> Any:
    """Return values of a scenario with fields under the names in digests, so that stored runs are found.

    Copying takes a quarter of the time of a digest: `has_renamed_fields` says whether it is needed.
    """
    if isinstance(tree, list | tuple):
        return [with_digest_names(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    names = {} if "kind" in tree else _DIGEST_NAMES  # a queue has parameters, which are no impairments
    return {names.get(key, key): with_digest_names(part) for key, part in tree.items()}


def has_renamed_fields(text: str) -> bool:
    """Whether the JSON of a scenario may have fields with other names in digests."""
    return any(f'"{name}":' in text for name in _DIGEST_NAMES)


NO_IMPAIRMENTS = Impairments.model_construct()
"""A link without impairments."""


def registered(name: str) -> Registered:
    """Return the registry entry of a field of `Impairments`."""
    notes = declared(Impairments)[name].metadata
    return next(note for note in notes if isinstance(note, Registered))


def given(impairments: Impairments) -> Iterator[Given]:
    """Yield the impairments that are set."""
    for name, field in declared(Impairments).items():
        value = getattr(impairments, name)
        if value is not None:
            entry = registered(name)
            params = {entry.param: value} if entry.param else dict(value)
            yield Given(field.alias or name, entry.name, dict(map(_in_plan, params.items())))


def _in_plan(param: tuple[str, Any]) -> tuple[str, Any]:
    """Return a parameter as in the plan, with times in nanoseconds."""
    name, value = param
    if not name.endswith("_s"):
        return param
    return f"{name.removesuffix('_s')}_ns", None if value is None else to_nanoseconds(value)
