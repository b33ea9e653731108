//! Who runs next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use units::Time;

/// Wake-ups of numbered actors, in the order of time.
///
/// Every actor has at most one valid wake-up, the earliest it asked for. Nothing is cancelled: an actor that is
/// woken too early asks again, and a key that an earlier request has overtaken is skipped when it comes up.
///
/// Equal times run in the order of the actors' numbers. That order depends on nothing but the plan, so the same
/// things happen whether a wake-up was asked for early or late.
///
/// A running actor's key stays at the top of the heap until its turn ends. Most actors ask for another wake-up, which
/// then replaces the top in place.
#[derive(Debug)]
pub struct Schedule {
    /// Time in the upper half, actor in the lower: one comparison orders both.
    heap: BinaryHeap<Reverse<u128>>,
    /// When each actor will be woken. A key that says anything else is stale.
    due: Vec<Time>,
    /// The running actor's key in the heap. Its turn may have gone on beyond that time.
    running: u128,
}

fn key(time: Time, actor: u32) -> u128 {
    u128::from(time.as_nanos()) << 64 | u128::from(actor)
}

impl Schedule {
    /// A schedule of `actors` actors, none of which has asked for anything.
    pub fn new(actors: usize) -> Schedule {
        Schedule { heap: BinaryHeap::with_capacity(2 * actors), due: vec![Time::NEVER; actors], running: 0 }
    }

    /// Wakes `actor` at `time`, if it would not be woken sooner anyway.
    pub fn request(&mut self, actor: u32, time: Time) {
        let due = &mut self.due[actor as usize];
        if time < *due {
            *due = time;
            self.heap.push(Reverse(key(time, actor)));
        }
    }

    /// Begins the next turn that is due at or before `until`: the time and the actor.
    pub fn next(&mut self, until: Time) -> Option<(Time, u32)> {
        loop {
            let &Reverse(top) = self.heap.peek()?;
            let (time, actor) = (Time::from_nanos((top >> 64) as u64), top as u32);
            if time > until {
                return None;
            }
            if self.due[actor as usize] == time {
                self.running = top;
                return Some((time, actor));
            }
            self.heap.pop();
        }
    }

    /// The running actor wants to go on at `time`. True if nobody else comes before: then its turn just continues, at
    /// that time. Otherwise its turn ends, and it will be woken.
    pub fn go_on(&mut self, actor: u32, time: Time, until: Time) -> bool {
        let heap = self.heap.as_slice();
        let child = |n: usize| heap.get(n).map_or(u128::MAX, |k| k.0);
        let first = time <= until && heap.first() == Some(&Reverse(self.running)) && {
            let wanted = key(time, actor);
            wanted < child(1) && wanted < child(2)
        };
        if first {
            self.due[actor as usize] = time;
        } else {
            self.end(actor, time);
        }
        first
    }

    /// Ends the turn of the running actor, which wants to be woken at `time` ([`Time::NEVER`] if not at all).
    pub fn end(&mut self, actor: u32, time: Time) {
        self.due[actor as usize] = time;
        if let Some(mut top) = self.heap.peek_mut()
            && top.0 == self.running
        {
            if time == Time::NEVER {
                PeekMut::pop(top);
            } else {
                *top = Reverse(key(time, actor));
            }
            return;
        }
        // Somebody asked for this very time and has a smaller number; the key we leave behind is stale.
        if time != Time::NEVER {
            self.heap.push(Reverse(key(time, actor)));
        }
    }

    /// Keys in the heap, stale ones included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Nobody will be woken.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Runs everything; nobody asks again.
    fn drain(schedule: &mut Schedule) -> Vec<(u64, u32)> {
        let mut turns = Vec::new();
        while let Some((now, actor)) = schedule.next(at(1_000)) {
            turns.push((now.as_nanos(), actor));
            schedule.end(actor, Time::NEVER);
        }
        turns
    }

    #[test]
    fn the_earliest_request_wins() {
        let mut schedule = Schedule::new(2);
        [(0, 30), (0, 10), (0, 20), (1, 10)].into_iter().for_each(|(a, t)| schedule.request(a, at(t)));
        assert_eq!(drain(&mut schedule), [(10, 0), (10, 1)]);
    }

    #[test]
    fn nothing_runs_after_the_deadline() {
        let mut schedule = Schedule::new(1);
        schedule.request(0, at(10));
        assert_eq!(schedule.next(at(9)), None);
        assert_eq!(schedule.next(at(10)), Some((at(10), 0)));
    }

    #[test]
    fn a_turn_goes_on_only_while_nobody_else_is_due() {
        let mut schedule = Schedule::new(3);
        [(0, 10), (1, 20), (2, 30)].into_iter().for_each(|(a, t)| schedule.request(a, at(t)));
        assert_eq!(schedule.next(at(100)), Some((at(10), 0)));
        assert!(schedule.go_on(0, at(20), at(100))); // equal times: the smaller number first
        assert!(!schedule.go_on(0, at(21), at(100)));
        assert_eq!(drain(&mut schedule), [(20, 1), (21, 0), (30, 2)]);
    }

    #[test]
    fn somebody_asked_for_now_during_a_turn() {
        let mut schedule = Schedule::new(2);
        schedule.request(1, at(10));
        assert_eq!(schedule.next(at(100)), Some((at(10), 1)));
        schedule.request(0, at(10));
        assert!(!schedule.go_on(1, at(11), at(100)));
        assert_eq!(drain(&mut schedule), [(10, 0), (11, 1)]);
    }

    proptest! {
        /// Against a list of due times that is searched for its minimum.
        #[test]
        fn behaves_like_a_list(requests in proptest::collection::vec((0u32..6, 0u64..50, 0u64..60), 1..200)) {
            let (mut schedule, mut model) = (Schedule::new(6), [u64::MAX; 6]);
            let mut now = 0;
            for (actor, ahead, again) in requests {
                schedule.request(actor, at(now + ahead));
                model[actor as usize] = model[actor as usize].min(now + ahead);
                let (turn, first) = model.iter().zip(0u32..).map(|(&t, a)| (t, a)).min().unwrap();
                prop_assert_eq!(schedule.next(at(u64::MAX - 1)), Some((at(turn), first)));
                now = turn;
                let wish = if again < 50 { now + again } else { u64::MAX };
                model[first as usize] = wish;
                let rest = model.iter().zip(0u32..).filter(|&(_, a)| a != first).map(|(&t, a)| (t, a)).min().unwrap();
                if schedule.go_on(first, at(wish), at(u64::MAX - 1)) {
                    prop_assert!((wish, first) < rest);
                    schedule.end(first, at(wish));
                }
            }
        }
    }
}
