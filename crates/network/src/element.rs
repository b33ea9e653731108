//! The trait of elements, which carry packets in a network: links and media.

use crate::{Counters, Drops, Link, Packet, Released, Totals};
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

/// Index of a port of an element, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// Carries packets from its ports to the far ends of the same ports.
///
/// # Contract
///
/// An element is served lazily: it is called when a packet reaches it and at the wake-ups that it requests. On each
/// call it replays its decisions up to the time of the call, each at its exact time.
///
/// * Times of calls never decrease, and [`take`](Self::take) is called at [`next`](Self::next) at the latest.
/// * The actions of an element depend only on its seed and on the packets put in, their order and their times. With
///   additional calls at other times, it delivers the same packets at the same times, with the same counters.
/// * At equal times, events that are due, such as a departure, come before arrivals. A packet put in at `now`
///   therefore changes no decision that was due at or before `now`. Packets put in at the same time arrive in the
///   order of the calls.
/// * A wake-up may deliver no packet: `next` is the latest time at which the element has to be called.
/// * For each port, at any time: arrived + duplicated = dropped + waiting + travelling + lost + forwarded.
///
/// [`kit`](crate::kit) checks all of these rules.
pub trait Element<P>: Send {
    /// Number of ports.
    fn ports(&self) -> usize;

    /// Accept a packet at a port.
    fn put(&mut self, port: PortId, packet: &Packet<P>, now: Time);

    /// Time of the next wake-up; [`Time::NEVER`] if nothing happens before the next arrival. An arrival may make the
    /// wake-up earlier.
    fn next(&self) -> Time;

    /// Take a packet that reaches the far end at or before `now`, with its port. Even after `None`, another packet may
    /// be due at `now`; [`next`](Self::next) then returns at most `now`.
    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)>;

    /// Read the counters of a port for the interval that ends now. Must be called at every sampling time.
    fn close_interval(&mut self, port: PortId, now: Time) -> Counters;

    /// Report the variables of the queue of a port. The first port also reports the variables of the element. Called
    /// at the sampling time at which the counters were last read.
    fn observe(&self, _port: PortId, _now: Time, _probe: &mut Probe<'_>) {}

    /// Counters of a port up to the last sampling time.
    fn totals(&self, port: PortId) -> &Totals;

    /// Count dropped data packets by flow, from now on.
    fn count_drops(&mut self, drops: &Arc<Drops<P>>);

    /// Start to list packets that leave the host at a port or are dropped in its queue; see
    /// [`take_released`](Self::take_released). Only elements whose ports can be the NIC of a host need this method.
    fn list_released(&mut self, _port: PortId) {}

    /// Move the packets listed so far to `into`, in order.
    fn take_released(&mut self, _into: &mut Vec<Released>) {}

    /// Move to `into`, for another element, the packets that have arrived at a port and have not been delivered. The
    /// packets are in order and count as forwarded. Packets that cannot be moved stay.
    fn withdraw(&mut self, _port: PortId, _now: Time, _into: &mut Vec<Packet<P>>) {}

    /// Minimum time from a port to its far end, from now on.
    fn min_delay(&self) -> Duration;

    /// Maximum rate of all ports together, from now on; unlimited if unknown.
    fn capacity(&self) -> Rate;

    /// Maximum number of ports that transmit at the same time.
    fn at_once(&self) -> usize {
        1
    }

    /// Whether packets of one stream leave a port in the order in which they arrived.
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
