"""Chunks and their leases, with a clock that moves when it is told to."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fullpipe.cluster.leases import LEASE_S, STATES, Chunks, Claim, FileSystemClock, Owner, Range

ALICE, BOB, CAROL = (Owner(name, "0" * 8, 7) for name in ("alice", "bob", "carol"))


@dataclass
class Moved:
    """A clock of the file system and of this process that stands still until it is moved."""

    at_s: float = 1_000.0

    def touch(self, path: Path) -> None:
        os.utime(path, (self.at_s, self.at_s))

    def age_s(self, path: Path) -> float:
        return self.at_s - path.stat().st_mtime

    def passed_s(self) -> float:
        return self.at_s


@pytest.fixture
def clock() -> Moved:
    return Moved()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for state in STATES:
        (tmp_path / state).mkdir()
    return tmp_path


def chunks(folder: Path, clock: Moved, owner: Owner = ALICE) -> Chunks:
    return Chunks(folder, owner, clock)


def test_a_chunk_is_claimed_once(folder: Path, clock: Moved) -> None:
    chunks(folder, clock).add(Range(0, 10))
    assert chunks(folder, clock, ALICE).claim() == Claim(Range(0, 10), ALICE)
    assert chunks(folder, clock, BOB).claim() is None


def test_of_two_that_want_the_same_chunk_one_gets_it(
    folder: Path, clock: Moved, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    seen = bob.open()
    assert alice.claim()
    monkeypatch.setattr(bob, "open", lambda: seen)
    assert bob.claim() is None


def test_a_lease_lasts_thirty_seconds(folder: Path, clock: Moved) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    alice.claim()
    clock.at_s += LEASE_S
    assert bob.take_over() is None
    clock.at_s += LEASE_S + 0.1
    assert bob.take_over() == Claim(Range(0, 10), BOB)


def test_a_lease_that_is_renewed_lasts(folder: Path, clock: Moved) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    claim = alice.claim()
    assert claim
    for _ in range(10):
        clock.at_s += LEASE_S / 2
        assert alice.renew(claim)
        assert bob.take_over() is None


def test_a_lease_that_ran_out_long_ago_is_taken_over_at_the_first_look(folder: Path, clock: Moved) -> None:
    alice = chunks(folder, clock)
    alice.add(Range(0, 10))
    alice.claim()
    clock.at_s += 1000
    assert chunks(folder, clock, BOB).take_over()


def test_a_chunk_that_lay_open_for_long_is_not_taken_over_when_it_is_claimed(
    folder: Path, clock: Moved
) -> None:
    alice = chunks(folder, clock)
    alice.add(Range(0, 10))
    clock.at_s += 1000
    clock.touch(folder / "open" / str(Range(0, 10)))
    clock.at_s += 1000
    assert alice.claim()
    assert chunks(folder, clock, BOB).take_over() is None


def test_of_two_that_take_over_one_gets_it(folder: Path, clock: Moved) -> None:
    alice, bob, carol = (chunks(folder, clock, owner) for owner in (ALICE, BOB, CAROL))
    alice.add(Range(0, 10))
    alice.claim()
    clock.at_s += 1000
    assert [bool(bob.take_over()), bool(carol.take_over())] == [True, False]


def test_who_lost_a_chunk_learns_it_when_it_renews(folder: Path, clock: Moved) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    claim = alice.claim()
    assert claim
    clock.at_s += 1000
    bob.take_over()
    assert not alice.renew(claim)
    alice.release(claim)
    alice.finish(claim)
    assert alice.pending() == [Range(0, 10)]


def test_a_process_of_this_machine_that_has_ended_loses_its_chunks_at_once(
    folder: Path, clock: Moved
) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    here = Owner.here()
    ended = chunks(folder, clock, Owner(here.host, here.kernel, child))
    ended.add(Range(0, 10))
    ended.claim()
    assert chunks(folder, clock, here).take_over()


def test_a_process_elsewhere_of_the_same_number_keeps_its_chunks(folder: Path, clock: Moved) -> None:
    assert not Owner("elsewhere", "0" * 8, 999_999_999).is_dead
    elsewhere = chunks(folder, clock, Owner("elsewhere", "0" * 8, 999_999_999))
    elsewhere.add(Range(0, 10))
    elsewhere.claim()
    assert chunks(folder, clock, Owner.here()).take_over() is None


def test_the_rest_of_a_chunk_is_free_for_others(folder: Path, clock: Moved) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    claim = alice.claim()
    assert claim
    assert alice.shorten(claim, 4).range == Range(0, 4)
    assert bob.claim() == Claim(Range(4, 10), BOB)


@pytest.mark.parametrize("stop", [0, 10, 11])
def test_there_is_a_rest_only_within_a_chunk(folder: Path, clock: Moved, stop: int) -> None:
    alice = chunks(folder, clock)
    alice.add(Range(0, 10))
    claim = alice.claim()
    assert claim
    assert alice.shorten(claim, stop) == claim
    assert alice.pending() == [Range(0, 10)]


def test_killed_while_it_gives_back_a_process_leaves_no_job_to_two(folder: Path, clock: Moved) -> None:
    alice, bob = chunks(folder, clock), chunks(folder, clock, BOB)
    alice.add(Range(0, 10))
    alice.claim()
    alice.add(Range(4, 10))  # and killed, before the claim was shortened
    clock.at_s += 1000
    assert {bob.claim(), bob.take_over()} == {Claim(Range(4, 10), BOB), Claim(Range(0, 4), BOB)}


@pytest.mark.parametrize(("end", "left"), [(Chunks.finish, []), (Chunks.release, [Range(0, 10)])])
def test_a_chunk_is_over_if_it_is_finished_and_free_if_it_is_given_back(
    folder: Path, clock: Moved, end: Callable[[Chunks, Claim], None], left: list[Range]
) -> None:
    alice = chunks(folder, clock)
    alice.add(Range(0, 10))
    claim = alice.claim()
    assert claim
    end(alice, claim)
    assert alice.pending() == alice.open() == left


@pytest.mark.parametrize(
    "name", ["x", "0000000-0000001@", "0000001-0000001", "0000000-0000001@a b-00000000-1", ".nfs0001"]
)
def test_other_files_are_no_chunks(folder: Path, clock: Moved, name: str) -> None:
    for state in STATES:
        (folder / state / name).touch()
    assert chunks(folder, clock).pending() == []


def test_a_sweep_that_is_over_and_gone_has_no_chunks(tmp_path: Path, clock: Moved) -> None:
    gone = chunks(tmp_path / "gone", clock)
    assert (gone.pending(), gone.claim(), gone.take_over()) == ([], None, None)


def test_ages_are_by_the_clock_of_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, claim = FileSystemClock(tmp_path, "ours"), tmp_path / "claim"
    claim.touch()
    there_s = claim.stat().st_mtime
    os.utime(claim, (there_s - 100, there_s - 100))
    monkeypatch.setattr("time.time", lambda: 0.0)  # the clock of this machine is wrong
    assert 100 <= clock.age_s(claim) < 160
    clock.touch(claim)
    assert clock.age_s(claim) < 60


@dataclass
class Process:
    """A process in the property below."""

    chunks: Chunks
    held: list[Claim] = field(default_factory=list)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_every_job_is_in_one_chunk_until_it_is_done(
    folder: Path, clock: Moved, seed: int
) -> None:
    chosen, done, jobs = random.Random(seed), set[int](), 60
    processes = [Process(chunks(folder, clock, owner)) for owner in (ALICE, BOB, CAROL)]
    for start in range(0, jobs, 20):
        processes[0].chunks.add(Range(start, start + 20))
    for _ in range(300):
        one = chosen.choice(processes)
        clock.at_s += chosen.choice([0.0, 1.0, LEASE_S / 2])
        act(one, chosen, done)
        free = [job for r in processes[0].chunks.open() for job in range(r.start, r.stop)]
        held = [job for c in processes[0].chunks.claimed() for job in range(c.range.start, c.range.stop)]
        assert len(free) + len(held) == len({*free, *held})
        assert {*free, *held} == set(range(jobs)) - done


def act(one: Process, chosen: random.Random, done: set[int]) -> None:
    """Let a process do one thing; what it holds and has not renewed may be another's by then."""
    taken = chosen.choice([one.chunks.claim, one.chunks.take_over])() if chosen.random() < 0.4 else None
    if taken:
        one.held.append(taken)
    one.held = [claim for claim in one.held if chosen.random() < 0.3 or one.chunks.renew(claim)]
    if not one.held:
        return
    claim = one.held.pop(chosen.randrange(len(one.held)))
    if chosen.random() < 0.4:
        one.held.append(one.chunks.shorten(claim, chosen.randint(claim.range.start, claim.range.stop)))
    elif chosen.random() < 0.4:
        one.chunks.release(claim)
    elif one.chunks.renew(claim):
        one.chunks.finish(claim)
        done.update(range(claim.range.start, claim.range.stop))
    # else it is forgotten, as if the process had been killed
