"""The range of seeds."""

from fullpipe.errors import ScenarioError

MAX_SEED = 2**63 - 1


def check_seed(seed: int) -> None:
    """Raise ScenarioError if a seed is out of range."""
    if not 0 <= seed <= MAX_SEED:
        raise ScenarioError([f"seed: {seed} is out of range; from 0 to {MAX_SEED}"])
