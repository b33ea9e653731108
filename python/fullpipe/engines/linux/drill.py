"""Plays packetdrill scripts on the installed kernel, in virtual time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fullpipe import _native
from fullpipe.engines.linux.boot import DiedError, Guest, boot
from fullpipe.engines.linux.install import installed
from fullpipe.errors import EngineError

if TYPE_CHECKING:
    from fullpipe._native import PacketdrillOutcome

_MEMORY_MB = 512
_SEED = 1
_AT_ONCE = 40
"""Scripts per guest."""
_DEATH = "problem an end of this script: the guest crashed\n"
"""Recording of a script that ends its guest."""


def play(scripts: Sequence[tuple[str, str]]) -> list["PacketdrillOutcome"]:
    """Play scripts, each with the text of its defaults.sh, and return their verdicts.

    Every script has a network namespace of its own.

    Raises:
        EngineError: If no kernel is installed, or the guest fails.
    """
    found = installed.find()
    if not found:
        raise EngineError(f"no kernel is installed; run: {installed.INSTALL}")
    guest = Guest(found.kernel, installed.compile_program())
    outcomes: list[PacketdrillOutcome] = []
    for start in range(0, len(scripts), _AT_ONCE):
        outcomes += _play(guest, scripts[start : start + _AT_ONCE])
    return outcomes


def _play(guest: Guest, scripts: Sequence[tuple[str, str]]) -> list["PacketdrillOutcome"]:
    plans = [_native.packetdrill_plan(*script) for script in scripts]
    recordings = _survived(guest, {n: plan for n, plan in enumerate(plans) if isinstance(plan, str)})
    return [
        _native.packetdrill_judge(text, recordings.get(n, "")) if isinstance(plan, str) else plan
        for n, ((text, _), plan) in enumerate(zip(scripts, plans, strict=True))
    ]


def _survived(guest: Guest, plans: Mapping[int, str]) -> dict[int, str]:
    """Return the recording of each plan. If the guest dies, each plan is played in a guest of its own.

    Raises:
        EngineError: If the guest dies of every plan, which is then a fault of the kernel.
    """
    try:
        return _record(guest, plans) if plans else {}
    except DiedError as error:
        died = error
    recordings: dict[int, str] = {}
    deaths = 0
    for number, plan in plans.items():
        try:
            recordings |= _record(guest, {number: plan})
        except DiedError:
            recordings[number] = _DEATH
            deaths += 1
    if deaths == len(plans) > 1:
        raise died
    return recordings


def _record(guest: Guest, plans: Mapping[int, str]) -> dict[int, str]:
    """Return the recording of each plan by its number."""
    steps = "".join(f"script {number}\n{plan}" for number, plan in plans.items())
    files = {"plans": steps.encode("ascii")}
    with boot(guest, "scripts\n", files, memory_mb=_MEMORY_MB, seed=_SEED) as finished:
        text = (finished.folder / "recordings").read_text(encoding="ascii", errors="replace")
    # No other line of a recording begins with this word.
    recordings = (part.partition("\n") for part in f"\n{text}".split("\nscript ")[1:])
    return {int(number): recording for number, _, recording in recordings}
