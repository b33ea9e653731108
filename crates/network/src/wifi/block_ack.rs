//! The block ACK window of a sender and its receiver (IEEE 802.11-2020, 10.25).
//!
//! No block ACK is lost, so sender and receiver always have the same window. The window begins at the first missing
//! sequence number. Lost MPDUs are retransmitted first in the next aggregate. A received MPDU is held until all
//! earlier MPDUs have been received or given up, and is then released in order (10.25.6.6).

use crate::queue::Waiting;
use std::collections::VecDeque;
use units::{Duration, Time};

/// The state of an MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not received yet.
    Missing,
    /// Received, and held until earlier MPDUs are received.
    Received,
    /// Lost, and will not be retransmitted.
    GivenUp,
}

/// An MPDU with a sequence number.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu<P> {
    /// The packet, and its arrival time at the queue.
    pub waiting: Waiting<P>,
    /// Transmissions so far.
    pub tries: u64,
    /// Whether any transmission was free of collisions.
    pub started: bool,
    /// Arrival time of the last transmission. The time is set only if packets are released one by one.
    pub ended: Time,
    /// Whether the MPDU is missing, received or given up.
    pub fate: Fate,
    /// Airtime that was estimated when the driver passed the packet to the radio. Zero if no driver is modelled.
    pub airtime: Duration,
}

/// MPDUs from the first missing MPDU on.
#[derive(Clone, Debug)]
pub struct Window<P> {
    mpdus: VecDeque<Mpdu<P>>,
    /// Maximum number of MPDUs: the size of the reorder buffer that the receiver has agreed to.
    size: usize,
    missing: usize,
    /// Number of MPDUs that have had no transmission without a collision so far.
    waiting: usize,
}

impl<P: Copy> Window<P> {
    /// Create an empty window for `size` MPDUs.
    pub fn new(size: usize) -> Window<P> {
        Window { mpdus: VecDeque::new(), size, missing: 0, waiting: 0 }
    }

    /// Whether another MPDU can get a sequence number.
    pub fn has_room(&self) -> bool {
        self.mpdus.len() < self.size
    }

    /// Number of MPDUs in the window, received or not.
    pub fn len(&self) -> usize {
        self.mpdus.len()
    }

    /// Number of missing MPDUs.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Number of MPDUs that have had no transmission without a collision so far.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Assign the next sequence number to a packet.
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

    /// The missing MPDUs, in order.
    pub fn outstanding(&mut self) -> impl Iterator<Item = &mut Mpdu<P>> {
        self.mpdus.iter_mut().filter(|mpdu| mpdu.fate == Fate::Missing)
    }

    /// Record that `count` MPDUs are sent without a collision for the first time.
    pub fn start(&mut self, count: usize) {
        self.waiting -= count;
    }

    /// Decide the fates of the first `n` missing MPDUs, which have been transmitted, and return how many arrived.
    /// `received` is called with the size of each transmitted packet, and returns whether it arrived. An MPDU that is
    /// lost after `retries` retries is given up. If `retries` is 0, no MPDU is given up. `settled` is called for every
    /// MPDU that was received or given up.
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

    /// Remove and return the first MPDU unless it is missing.
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

    /// Send the first `n` missing MPDUs. Of these, the MPDUs at the indices `arrive` arrive.
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
