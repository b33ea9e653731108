"""Seeds that engines take."""

from fullpipe.errors import ScenarioError

MAX_SEED = 2**63 - 1


def check_seed(seed: int) -> None:
    """Refuse a seed that no engine takes. Raises ScenarioError."""
    if not 0 <= seed <= MAX_SEED:
        raise ScenarioError([f"seed: {seed} is out of range; from 0 to {MAX_SEED}"])
