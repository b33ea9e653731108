//! The block ACK window of a sender, which is also that of its receiver (IEEE 802.11-2020, 10.25).
//!
//! Every block ACK arrives, so that both sides know the same after each exchange: one window stands for both. What is
//! lost goes again, first in the next aggregate. What was received waits until nothing before it is missing, and is then
//! released in order (10.25.6.6). The window spans the sequence numbers from the first that is missing.

use crate::queue::Waiting;
use std::collections::VecDeque;
use units::{Duration, Time};

/// What is known of an MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not received yet.
    Missing,
    /// Received; it waits for those before it.
    Received,
    /// Sent as often as it may be.
    GivenUp,
}

/// An MPDU with a sequence number: its place in the window.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu<P> {
    /// The packet, and when it joined the queue.
    pub waiting: Waiting<P>,
    /// Transmissions so far.
    pub tries: u64,
    /// One of them had the medium to itself.
    pub started: bool,
    /// When it had come, if it did, when sent for the last time; told only if it is released by itself.
    pub ended: Time,
    /// What is known of it.
    pub fate: Fate,
    /// The airtime that it was taken to need when it was handed down; nothing if it was not.
    pub airtime: Duration,
}

/// MPDUs from the first one that is missing on.
#[derive(Clone, Debug)]
pub struct Window<P> {
    mpdus: VecDeque<Mpdu<P>>,
    /// Most MPDUs: the buffer that the receiver has agreed to.
    size: usize,
    missing: usize,
    /// Those that have never had the medium to themselves.
    waiting: usize,
}

impl<P: Copy> Window<P> {
    /// An empty window for so many MPDUs.
    pub fn new(size: usize) -> Window<P> {
        Window { mpdus: VecDeque::new(), size, missing: 0, waiting: 0 }
    }

    /// Another MPDU may have a sequence number.
    pub fn has_room(&self) -> bool {
        self.mpdus.len() < self.size
    }

    /// How many it holds, received or not.
    pub fn len(&self) -> usize {
        self.mpdus.len()
    }

    /// How many of them are missing.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// How many have never had the medium to themselves.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The next packet gets a sequence number.
    pub fn push(&mut self, waiting: Waiting<P>, airtime: Duration) {
        self.mpdus.push_back(Mpdu {
            waiting,
            tries: 0,
            started: false,
            ended: Time::ZERO,
            fate: Fate::Missing,
            airtime,
        });
        self.missing += 1;
        self.waiting += 1;
    }

    /// Those that are missing, in order.
    pub fn outstanding(&mut self) -> impl Iterator<Item = &mut Mpdu<P>> {
        self.mpdus.iter_mut().filter(|mpdu| mpdu.fate == Fate::Missing)
    }

    /// So many have the medium to themselves for the first time.
    pub fn start(&mut self, count: usize) {
        self.waiting -= count;
    }

    /// The first `n` of those that are missing were on the air: which of them are `received`, by their bytes on a wire? Those
    /// that are not are given up after so many `retries`; never with 0. What will not be sent again is `settled`.
    pub fn judge(
        &mut self,
        n: usize,
        retries: u64,
        mut received: impl FnMut(u16) -> bool,
        mut settled: impl FnMut(&Mpdu<P>),
    ) -> usize {
        let (mut arrived, mut given_up) = (0, 0);
        for mpdu in self.outstanding().take(n) {
            if received(mpdu.waiting.packet.size) {
                mpdu.fate = Fate::Received;
                arrived += 1;
            } else if retries > 0 && mpdu.tries > retries {
                mpdu.fate = Fate::GivenUp;
                given_up += 1;
            } else {
                continue;
            }
            settled(mpdu);
        }
        self.missing -= arrived + given_up;
        arrived
    }

    /// The first one, unless it is missing: the window moves on.
    pub fn release(&mut self) -> Option<Mpdu<P>> {
        self.mpdus.front().filter(|mpdu| mpdu.fate != Fate::Missing)?;
        let released = self.mpdus.pop_front()?;
        self.waiting -= usize::from(!released.started);
        Some(released)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, Packet, StreamId};

    fn window(size: usize, count: u8) -> Window<u8> {
        let mut window = Window::new(size);
        for payload in 0..count {
            let packet = Packet { stream: StreamId(0), size: 100, ecn: Ecn::NotEct, dscp: 0, payload };
            window.push(Waiting { packet, since: Time::ZERO }, Duration::ZERO);
        }
        window
    }

    /// Sends the first `n` that are missing; the given ones of them arrive.
    fn send(window: &mut Window<u8>, n: usize, arrive: &[usize], retries: u64) -> Vec<(u8, Fate)> {
        let mut first = 0;
        for mpdu in window.outstanding().take(n) {
            mpdu.tries += 1;
            first += usize::from(!std::mem::replace(&mut mpdu.started, true));
        }
        window.start(first);
        let mut number = 0..;
        window.judge(n, retries, |_| arrive.contains(&number.next().unwrap()), |_| ());
        std::iter::from_fn(|| window.release()).map(|mpdu| (mpdu.waiting.packet.payload, mpdu.fate)).collect()
    }

    #[test]
    fn what_follows_a_hole_waits_for_it() {
        let mut window = window(4, 4);
        assert_eq!(send(&mut window, 4, &[0, 2, 3], 0), [(0, Fate::Received)]);
        assert_eq!((window.len(), window.missing(), window.waiting(), window.has_room()), (3, 1, 0, true));
        let rest = [1, 2, 3].map(|n| (n, Fate::Received));
        assert_eq!(send(&mut window, 1, &[0], 0), rest);
        assert_eq!(window.len(), 0);
    }

    #[test]
    fn a_hole_stalls_the_window() {
        let mut window = window(4, 4);
        send(&mut window, 4, &[1, 2, 3], 0);
        assert!(!window.has_room());
    }

    #[test]
    fn a_hole_is_skipped_when_its_retries_are_used_up() {
        let mut window = window(4, 3);
        assert_eq!(send(&mut window, 3, &[1, 2], 1), []);
        let released = send(&mut window, 1, &[], 1);
        assert_eq!(released, [(0, Fate::GivenUp), (1, Fate::Received), (2, Fate::Received)]);
    }
}
