//! The schedule of wake-ups.

use crate::actors::ActorId;
use units::Time;

/// Wake-ups of actors, in the order of time.
///
/// Every actor has at most one wake-up, the earliest that it has requested. Wake-ups are never cancelled: an actor that
/// is woken too early requests another wake-up.
///
/// At equal times actors run in the order of their IDs. This order depends on the plan only, so that results do not
/// depend on when a wake-up was requested.
///
/// The schedule is a tournament tree: actors are the leaves, and every inner node has the earliest key of its four
/// children, so that the key of the root is the next wake-up. Unlike in a heap, the place of an actor is fixed, so that
/// no entry is searched, skipped or swapped. The nodes between an actor and the root are known in advance, which is
/// faster than branches that depend on comparisons.
#[derive(Debug)]
pub struct Schedule {
    /// Keys of the nodes `4 n + 1` to `4 n + 4`, the children of node `n`. The root is node 0. Actors are the leaves,
    /// which follow the inner nodes. The last actor is the first leaf: the first leaves are nearest to the root, and
    /// links, which have the most turns, have the highest IDs.
    families: Vec<[u64; 4]>,
    /// Place of actor 0 among all children.
    last_place: usize,
    /// Key of the root.
    first: u64,
    /// Number of low bits of a key that hold the actor's ID. The higher bits hold the time, so that a single comparison
    /// orders keys by time and actor.
    bits: u32,
    /// Mask of the bits that hold the actor's ID.
    actors: u64,
    /// Lowest time that counts as [`Time::NEVER`].
    never: u64,
}

const NEVER: u64 = u64::MAX;

impl Schedule {
    /// A schedule of `actors` actors without wake-ups.
    pub fn new(actors: usize) -> Schedule {
        let (actors, bits) = (actors.max(2), Schedule::bits(actors));
        let inner = (actors - 1).div_ceil(3); // each inner node reduces four candidates to one
        Schedule {
            families: vec![[NEVER; 4]; inner],
            last_place: inner + actors - 2,
            first: NEVER,
            bits,
            actors: (1 << bits) - 1,
            never: NEVER >> bits,
        }
    }

    /// Last time that a schedule of `actors` actors distinguishes from never: 4.9 hours for a million actors.
    pub fn horizon(actors: usize) -> Time {
        Time::from_nanos((NEVER >> Schedule::bits(actors)) - 1)
    }

    /// Number of bits of the IDs of `actors` actors.
    fn bits(actors: usize) -> u32 {
        usize::BITS - (actors.max(2) - 1).leading_zeros()
    }

    #[inline]
    fn key(&self, time: Time, actor: ActorId) -> u64 {
        let nanos = time.as_nanos();
        if nanos >= self.never { NEVER } else { nanos << self.bits | u64::from(actor.0) }
    }

    /// Place of an actor among all children.
    #[inline]
    fn place(&self, actor: ActorId) -> usize {
        self.last_place - actor.0 as usize
    }

    /// Place of the parent of a family. The root is not a child, so its place is beyond the places of all children.
    #[inline]
    fn parent(family: usize) -> usize {
        family.wrapping_sub(1)
    }

    /// Wakes `actor` at `time`, unless it will be woken sooner.
    #[inline]
    pub fn request(&mut self, actor: ActorId, time: Time) {
        let key = self.key(time, actor);
        let mut place = self.place(actor);
        while let Some(family) = self.families.get_mut(place / 4) {
            let known = &mut family[place % 4];
            if key >= *known {
                return;
            }
            *known = key;
            place = Schedule::parent(place / 4);
        }
        self.first = self.first.min(key);
    }

    /// Time and actor of the next turn, if it is due at or before `until`. The result is the same until
    /// [`end`](Self::end) is called.
    #[inline]
    pub fn next(&self, until: Time) -> Option<(Time, ActorId)> {
        let time = Time::from_nanos(self.first >> self.bits);
        let actor = self.first & self.actors;
        (time <= until && self.first != NEVER).then_some((time, ActorId(actor as u32)))
    }

    /// Ends the turn of `actor` and sets its next wake-up to `time` ([`Time::NEVER`]: none). Earlier requests of the
    /// actor are discarded.
    #[inline]
    pub fn end(&mut self, actor: ActorId, time: Time) {
        let mut key = self.key(time, actor);
        let mut place = self.place(actor);
        let mut family = place / 4;
        while let Some(keys) = self.families.get_mut(family) {
            let own = place % 4;
            keys[own] = key;
            key = key.min(keys[own ^ 1].min(keys[own ^ 2]).min(keys[own ^ 3]));
            place = Schedule::parent(family);
            family = place / 4;
        }
        self.first = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Runs all turns until no wake-up is left. No actor requests another wake-up.
    fn drain(schedule: &mut Schedule) -> Vec<(u64, u32)> {
        let mut turns = Vec::new();
        while let Some((now, actor)) = schedule.next(at(1_000)) {
            turns.push((now.as_nanos(), actor.0));
            schedule.end(actor, Time::NEVER);
        }
        turns
    }

    #[test]
    fn the_earliest_request_wins() {
        let mut schedule = Schedule::new(2);
        [(0, 30), (0, 10), (0, 20), (1, 15)]
            .into_iter()
            .for_each(|(a, t)| schedule.request(ActorId(a), at(t)));
        assert_eq!(drain(&mut schedule), [(10, 0), (15, 1)]);
    }

    #[test]
    fn equal_times_run_in_the_order_of_actors() {
        let mut schedule = Schedule::new(5);
        [4, 1, 3, 0, 2].into_iter().for_each(|actor| schedule.request(ActorId(actor), at(7)));
        assert_eq!(drain(&mut schedule), [0, 1, 2, 3, 4].map(|actor| (7, actor)));
    }

    #[test]
    fn nothing_runs_after_the_deadline() {
        let mut schedule = Schedule::new(1);
        assert_eq!(schedule.next(at(u64::MAX)), None);
        schedule.request(ActorId(0), at(10));
        assert_eq!(schedule.next(at(9)), None);
        assert_eq!(schedule.next(at(10)), Some((at(10), ActorId(0))));
    }

    #[test]
    fn what_lies_beyond_the_horizon_never_comes() {
        let mut schedule = Schedule::new(1 << 20);
        let horizon = Schedule::horizon(1 << 20);
        assert_eq!(horizon.as_nanos(), (1 << 44) - 2);
        schedule.request(ActorId(5), horizon + units::Duration::from_nanos(1));
        assert_eq!(schedule.next(Time::NEVER), None);
        schedule.request(ActorId(1_048_575), horizon);
        assert_eq!(schedule.next(Time::NEVER), Some((horizon, ActorId(1_048_575))));
    }

    proptest! {
        /// Comparison with a list of due times in which the earliest time is searched.
        #[test]
        fn behaves_like_a_list(
            actors in 1usize..40,
            requests in proptest::collection::vec((0u32..40, 0u64..50, 0u64..60), 1..200),
        ) {
            let (mut schedule, mut model) = (Schedule::new(actors), vec![u64::MAX; actors]);
            let mut now = 0;
            for (actor, delay, again) in requests {
                let actor = actor % actors as u32;
                schedule.request(ActorId(actor), at(now + delay));
                model[actor as usize] = model[actor as usize].min(now + delay);
                let (turn, first) = model.iter().zip(0u32..).map(|(&t, a)| (t, a)).min().unwrap();
                prop_assert_eq!(schedule.next(Time::NEVER), Some((at(turn), ActorId(first))));
                now = turn;
                model[first as usize] = if again < 50 { now + again } else { u64::MAX };
                schedule.end(ActorId(first), at(model[first as usize]));
            }
        }
    }
}
