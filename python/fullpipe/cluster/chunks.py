"""Chunks of a sweep that processes claim from a shared folder by atomic renames.

A chunk is a range of jobs. It is an empty file named after the range, in the folder of its state:

    open/0000100-0000200                     can be claimed
    claimed/0000100-0000150@node7-1a2b3c4d-812   held by a process, until its lease runs out

It is removed when each of its jobs is in the store or has failed, so jobs that are in no chunk are finished.
A process that needs fewer jobs first adds the rest as a new chunk, and then shortens its claim. If it is
killed between the two, its claim overlaps the new chunk, and the next owner takes only the jobs before it. So
no job is lost, and none is held by two processes.
"""

import os
import random
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from fullpipe.cluster.lease import LEASE_S, Clock
from fullpipe.cluster.owner import Owner

_NAME = re.compile(r"(\d{7,9})-(\d{7,9})(?:@(.+))?", re.ASCII)
STATES = ("open", "claimed")


@dataclass(frozen=True, order=True)
class Range:
    """The jobs from `start` up to, but not including, `stop`."""

    start: int
    stop: int

    @property
    def runs(self) -> int:
        """Number of jobs."""
        return self.stop - self.start

    def __str__(self) -> str:
        return f"{self.start:07}-{self.stop:07}"


@dataclass(frozen=True)
class Claim:
    """A chunk that a process holds."""

    range: Range
    owner: Owner

    @property
    def name(self) -> str:
        """Name of its file."""
        return f"{self.range}@{self.owner}"


class Chunks:
    """The chunks in a folder, for one process. Threads may share the object."""

    def __init__(self, folder: Path, owner: Owner, clock: Clock) -> None:
        self.folder = folder
        self.owner = owner
        self._clock = clock
        self._lock = RLock()
        self._held = set[Claim]()
        self._ask_at_s: dict[str, float] | None = None
        """Times at which to check the age of others' claims, by name. None before the first check."""

    def open(self) -> list[Range]:
        """Return the free chunks in order."""
        return sorted(found for found, _ in self._listed("open"))

    def claimed(self) -> list[Claim]:
        """Return the claimed chunks in order."""
        owners = [(found, Owner.read(owner)) for found, owner in self._listed("claimed")]
        return [Claim(found, owner) for found, owner in sorted(owners, key=lambda o: o[0]) if owner]

    def pending(self) -> list[Range]:
        """Return all free and claimed chunks. Claims are listed twice, so that none is missed in a move."""
        held = [claim.range for claim in self.claimed()]
        return sorted({*held, *self.open(), *(claim.range for claim in self.claimed())})

    def add(self, chunk: Range) -> None:
        """Add a free chunk."""
        with suppress(FileExistsError):
            os.close(os.open(self.folder / "open" / str(chunk), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    def claim(self) -> Claim | None:
        """Claim one of the first free chunks, chosen at random to avoid conflicts. None if there is none."""
        free = self.open()
        near = free[: 1 + 2 * len(self.claimed())] if free else []
        random.shuffle(near)
        for chunk in near:
            taken = self._take(self.folder / "open" / str(chunk), chunk)
            if taken:
                return taken
        return None

    def take_over(self) -> Claim | None:
        """Take over a chunk whose owner has ended or not renewed its lease. None if there is none."""
        with self._lock:
            others = [claim for claim in self.claimed() if claim not in self._held]
            soonest_s = 0.0 if self._ask_at_s is None else self._clock.passed_s() + LEASE_S
            known = self._ask_at_s or {}
            self._ask_at_s = {claim.name: known.get(claim.name, soonest_s) for claim in others}
            for claim in others:
                if self._has_expired(claim):
                    taken = self._take(
                        self.folder / "claimed" / claim.name, self._not_given_back(claim.range)
                    )
                    if taken:
                        return taken
        return None

    def age_s(self, claim: Claim) -> float | None:
        """Return the time since a claim was renewed. None if it no longer exists."""
        with suppress(FileNotFoundError):
            return self._clock.age_s(self.folder / "claimed" / claim.name)
        return None

    def renew(self, claim: Claim) -> bool:
        """Renew the lease. Returns False if another process has taken over the chunk."""
        with self._lock:
            if claim in self._held:
                with suppress(FileNotFoundError):
                    self._clock.touch(self.folder / "claimed" / claim.name)
                    return True
                self._held.discard(claim)
            return False

    def renew_all(self) -> None:
        """Renew every lease of this process."""
        with self._lock:
            for claim in list(self._held):
                self.renew(claim)

    def shorten(self, claim: Claim, stop: int) -> Claim:
        """Release the jobs from `stop` on, and return the shortened claim."""
        with self._lock:
            if not claim.range.start < stop < claim.range.stop or not self.renew(claim):
                return claim
            rest = Range(stop, claim.range.stop)
            self.add(rest)
            kept = Claim(Range(claim.range.start, stop), self.owner)
            if not self._move(claim, f"claimed/{kept.name}"):  # taken over meanwhile, with the rest
                (self.folder / "open" / str(rest)).unlink(missing_ok=True)
                return claim
            self._held.add(kept)
            return kept

    def finish(self, claim: Claim) -> None:
        """Remove a chunk whose jobs are all in the store or have failed."""
        with self._lock:
            self._held.discard(claim)
            (self.folder / "claimed" / claim.name).unlink(missing_ok=True)

    def release(self, claim: Claim) -> None:
        """Make a claimed chunk free again."""
        self._move(claim, f"open/{claim.range}")

    def _move(self, claim: Claim, where: str) -> bool:
        with self._lock:
            self._held.discard(claim)
            with suppress(FileNotFoundError):
                (self.folder / "claimed" / claim.name).rename(self.folder / where)
                return True
            return False

    def _take(self, path: Path, chunk: Range) -> Claim | None:
        """Rename a file to a claim of this process. Its time is set before, so that it is not expired."""
        mine = Claim(chunk, self.owner)
        final = self.folder / "claimed" / mine.name
        with self._lock:
            try:
                self._clock.touch(path)
                path.rename(final)
            except FileNotFoundError:  # another process was quicker, unless NFS lost the answer
                return None
            self._held.add(mine)
            return mine

    def _has_expired(self, claim: Claim) -> bool:
        assert self._ask_at_s is not None
        if claim.owner.is_dead:
            return True
        if self._clock.passed_s() < self._ask_at_s[claim.name]:
            return False
        age_s = self.age_s(claim)
        if age_s is None or age_s > LEASE_S:
            return age_s is not None
        self._ask_at_s[claim.name] = self._clock.passed_s() + LEASE_S - age_s
        return False

    def _not_given_back(self, chunk: Range) -> Range:
        """Return the part of a dead process's claim before the jobs that it had released."""
        given_back = [r.start for r in self.pending() if chunk.start < r.start < chunk.stop]
        return Range(chunk.start, min(given_back, default=chunk.stop))

    def _listed(self, state: str) -> list[tuple[Range, str]]:
        """List the ranges in a state, with the owners' names. Empty if the sweep was finished and removed."""
        try:
            names = os.listdir(self.folder / state)
        except FileNotFoundError:
            return []
        found = [
            match for match in map(_NAME.fullmatch, names) if match and bool(match[3]) == (state == "claimed")
        ]
        ranges = [(Range(int(match[1]), int(match[2])), match[3] or "") for match in found]
        return [(chunk, owner) for chunk, owner in ranges if chunk.runs > 0]
