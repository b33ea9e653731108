"""The simulator's streams of random numbers, for engines that draw what a scenario leaves to chance."""

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def unit(seed: int, name: str) -> float:
    """The first number in [0, 1) of the stream called `name`, exactly as `Rng::stream(seed, name).unit()`."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & _MASK
    state ^= (seed * _STEP) & _MASK
    _, state = _next(state)
    value, _ = _next(state)
    return float(value >> 11) / 2**53


def bits(seed: int, name: str) -> int:
    """64 bits that only this seed and this name give."""
    return int(unit(seed, name) * 2**53)


def start_ns(start_ns: int, jitter_ns: int, seed: int, flow: str) -> int:
    """When a flow begins: the same in every engine, so that they differ in nothing but themselves."""
    return start_ns + int(unit(seed, f"start/{flow}") * jitter_ns)


def _next(state: int) -> tuple[int, int]:
    state = (state + _STEP) & _MASK
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31), state
