"""Progress of the sweeps of a store, as read from its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullpipe.cluster.chunks import Claim
from fullpipe.cluster.folder import Failure, SweepFolder, sweeps_in
from fullpipe.errors import VersionError


@dataclass(frozen=True)
class Held:
    """A chunk that a process holds, and the time since it was renewed."""

    claim: Claim
    age_s: float


@dataclass(frozen=True)
class Status:
    """Progress of a sweep."""

    id: str
    name: str
    runs: int
    open_chunks: int
    open_runs: int
    held: tuple[Held, ...]
    failed: tuple[Failure, ...]

    @property
    def held_runs(self) -> int:
        """Number of runs in claimed chunks."""
        return sum(held.claim.range.runs for held in self.held)

    @property
    def finished(self) -> int:
        """Number of stored runs, which are those that are in no chunk and have not failed."""
        return max(0, self.runs - self.open_runs - self.held_runs - len(self.failed))

    def to_dict(self) -> dict[str, Any]:
        """Return the content for JSON."""
        claims = [
            {
                "host": held.claim.owner.host,
                "pid": held.claim.owner.pid,
                "runs": held.claim.range.runs,
                "age_s": round(held.age_s, 1),
            }
            for held in self.held
        ]
        return {
            "sweep": self.id,
            "scenario": self.name,
            "runs": self.runs,
            "finished": self.finished,
            "open": {"chunks": self.open_chunks, "runs": self.open_runs},
            "claimed": claims,
            "failed": [{"run": failure.index, "error": str(failure.error)} for failure in self.failed],
        }


def statuses(root: Path) -> list[Status | VersionError]:
    """Return the status of every unfinished sweep of a store, or an error if its plan cannot be read."""
    found = list[Status | VersionError]()
    for folder in sweeps_in(root):
        try:
            found.append(_status(folder))
        except FileNotFoundError:  # the sweep is finished
            continue
        except VersionError as error:
            found.append(error)
    return found


def _status(folder: SweepFolder) -> Status:
    plan = folder.plan()
    claims = [(claim, folder.chunks.age_s(claim)) for claim in folder.chunks.claimed()]
    opened = folder.chunks.open()
    status = Status(
        folder.path.name,
        plan.name,
        plan.runs,
        len(opened),
        sum(chunk.runs for chunk in opened),
        tuple(Held(claim, age_s) for claim, age_s in claims if age_s is not None),
        tuple(folder.failures()),
    )
    folder.leave()
    return status
