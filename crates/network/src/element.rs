//! The trait of elements, which carry packets in a network: links and media.

use crate::{Counters, Drops, Link, Packet, Released, Totals};
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

/// The number of a port of an element, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// Takes packets at its ports, and hands each over at the far end of the port that it came in by.
///
/// # Contract
///
/// An element is served lazily. It is called when a packet reaches it and when it asked to be woken, and then replays
/// what it would have done up to that time, each decision at its exact time.
///
/// * Times of calls never decrease, and [`take`](Self::take) is called at [`next`](Self::next) at the latest.
/// * What it does depends on nothing but the packets put in, their order and their times, and on its seed. Asked at
///   any other times as well, it hands over the same packets at the same times, with the same counters.
/// * At equal times what is due, such as a departure, comes before an arrival: a packet put in at `now` changes no
///   decision that was due at or before `now`. Packets put in at one time arrive in the order of the calls.
/// * A wake-up may turn out to deliver nothing: `next` says when it has to be called at the latest.
/// * For each port, at any time: arrived + duplicated = dropped + waiting + travelling + lost + forwarded.
///
/// [`kit`](crate::kit) checks all of it.
pub trait Element<P>: Send {
    /// How many ports it has.
    fn ports(&self) -> usize;

    /// A packet reaches a port.
    fn put(&mut self, port: PortId, packet: &Packet<P>, now: Time);

    /// When it wants to be woken; [`Time::NEVER`] if nothing happens before the next arrival. An arrival may make it
    /// earlier.
    fn next(&self) -> Time;

    /// A packet that reaches the far end at or before `now`, and its port. The turn of one wake-up: none does not mean
    /// that nothing else is due, which [`next`](Self::next) says.
    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)>;

    /// Reads the counters of a port for the interval that ends now. Must be called at every sampling time.
    fn close_interval(&mut self, port: PortId, now: Time) -> Counters;

    /// Shows what the queue of a port, and the element itself at its first port, keep of themselves, at the sampling
    /// time up to which the counters were read last.
    fn observe(&self, _port: PortId, _now: Time, _probe: &mut Probe<'_>) {}

    /// Everything of a port up to the last sampling time.
    fn totals(&self, port: PortId) -> &Totals;

    /// Counts by flow the data packets that it drops, from now on.
    fn count_drops(&mut self, drops: &Arc<Drops<P>>);

    /// From now on what leaves the host at a port, or is dropped in its queue, is to be told; see
    /// [`take_released`](Self::take_released). An element in which nothing ever waits below a host need not.
    fn list_released(&mut self, _port: PortId) {}

    /// What has been released at such ports since this was called last, in order.
    fn take_released(&mut self, _into: &mut Vec<Released>) {}

    /// What has come in at a port and has not been handed over at its far end leaves it for another element, in order, as far as
    /// it can; that counts as forwarded. Otherwise it stays.
    fn withdraw(&mut self, _port: PortId, _now: Time, _into: &mut Vec<Packet<P>>) {}

    /// No packet takes less time from a port to its far end, from now on.
    fn min_delay(&self) -> Duration;

    /// All ports together never carry more than this, from now on; unlimited if that cannot be said.
    fn capacity(&self) -> Rate;

    /// So many ports may transmit at one time.
    fn at_once(&self) -> usize {
        1
    }

    /// The packets of one stream leave a port in the order in which they came.
    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Copy + Send> Element<P> for Link<P> {
    fn ports(&self) -> usize {
        1
    }

    fn put(&mut self, _port: PortId, packet: &Packet<P>, now: Time) {
        self.send(*packet, now);
    }

    fn next(&self) -> Time {
        self.next_arrival()
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)> {
        Link::take(self, now).map(|packet| (PortId(0), *packet))
    }

    fn close_interval(&mut self, _port: PortId, now: Time) -> Counters {
        Link::close_interval(self, now)
    }

    fn observe(&self, _port: PortId, now: Time, probe: &mut Probe<'_>) {
        Link::observe(self, now, probe);
    }

    fn totals(&self, _port: PortId) -> &Totals {
        Link::totals(self)
    }

    fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        Link::count_drops(self, drops);
    }

    fn min_delay(&self) -> Duration {
        Link::min_delay(self)
    }

    fn capacity(&self) -> Rate {
        Link::capacity(self)
    }

    fn keeps_order(&self) -> bool {
        Link::keeps_order(self)
    }
}
