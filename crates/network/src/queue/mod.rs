//! Queue disciplines: which packets wait, which goes next, which are dropped or marked.
//!
//! Adding one is one file beside this one and one line in the list below.

mod device;
mod fair;
mod fifo;
mod registry;

pub use device::Device;
pub use drop_tail::{DropTail, Limit};
pub(crate) use fifo::Fifo;
pub(crate) use mac80211::MEMORY as RADIO_MEMORY;
pub use params::{BuildError, Descriptor};

registry::queues! {
    "drop_tail" => drop_tail::DropTail,
    "tbf" => tbf::Tbf,
    "police" => police::Police,
    "step" => step::Step,
    "red" => red::Red,
    "codel" => codel::CodelQueue,
    "fq" => fq::Fq,
    "fq_codel" => fq_codel::FqCodel,
    "pie" => pie::PieQueue,
    "fq_pie" => fq_pie::FqPie,
    "dualpi2" => dualpi2::DualPi2,
    "cake" => cake::Cake,
    "mac80211" => mac80211::Mac80211,
}

use crate::{Drops, Ecn, Packet, StreamId};
use units::{Duration, Probe, Rate, Time};

/// Decides about the packets that wait for a link.
///
/// The packet being transmitted no longer belongs to the queue. Calls come in the order of time.
pub trait QueueDiscipline<P: Copy>: Send {
    /// A packet arrives and has to wait, or is dropped.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>);

    /// Takes the next packet, as the link is free. `now` is the start of its transmission, not before [`ready`](Self::ready).
    /// Called once more when the queue has become empty, so that a discipline may notice.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>>;

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// When the next packet may leave; later than the present only while a shaper holds packets back.
    fn ready(&self) -> Time {
        Time::ZERO
    }

    /// Rates that take over at given times, in the order of time, before anything has arrived. A shaper keeps them to
    /// itself, any other discipline hands them back: they are those of the wire.
    fn shape(&mut self, rates: Vec<(Time, Rate)>) -> Vec<(Time, Rate)> {
        rates
    }

    /// From now on it has another limit, as after `tc qdisc change`; false if it has none of that kind. In Linux one that
    /// counts on arrival only (pfifo, bfifo, tbf, CAKE) keeps what waits until the next arrival; the others drop from their
    /// heads what is too much, at once; RED begins with an empty queue.
    fn resize(&mut self, _limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        false
    }

    /// A packet arrives while the link is free and nothing waits. It is not subject to limits on waiting packets.
    fn pass(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.enqueue(packet, now, events);
        self.dequeue(now, events)
    }

    /// The numbers of the source and the destination host of every route, by the route's; none: hosts that no other
    /// stream has. Told before the first packet, if at all.
    fn know_hosts(&mut self, _hosts: &[Option<[u32; 2]>]) {}

    /// How to tell that what a waiting packet carries (the first) says nothing that a younger one of its flow does not say
    /// as well. Told before the first packet, if at all.
    fn know_redundancy(&mut self, _redundant: fn(&P, &P) -> bool) {}

    /// Shows what the discipline keeps of itself, as it stands at `now`: once everything up to then has been served.
    fn observe(&self, _now: Time, _probe: &mut Probe<'_>) {}

    /// The limit, if this is first in, first out and decides by nothing but its backlog, on arrival. A packet that is
    /// admitted to such a queue has a known departure time.
    fn plain_limit(&self) -> Option<Limit> {
        None
    }

    /// Itself, if it is one of the queues of a radio that have a limit in common.
    fn station_queue(&mut self) -> Option<&mut dyn StationQueue<P>> {
        None
    }
}

/// What the queues of one radio have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioRules {
    /// Most packets that may wait for all stations.
    pub packets: u64,
    /// Most bytes; none: by the standard.
    pub bytes: Option<u64>,
    /// Stations get equal airtime.
    pub airtime_fairness: bool,
    /// Airtime that is queued below is limited; none: by the standard.
    pub aql: Option<bool>,
    /// Airtime that may be queued below.
    pub airtime: AirtimeLimits,
}

/// Linux `ieee80211_txq_airtime_check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirtimeLimits {
    /// Of a station, at any time.
    pub low: Duration,
    /// Of a station, below the threshold.
    pub high: Duration,
    /// Of all stations.
    pub threshold: Duration,
}

/// The queue of a station, to the radio.
pub trait StationQueue<P> {
    /// What it has in common with the other queues of its radio.
    fn rules(&self) -> RadioRules;

    /// Bytes of its fattest flow.
    fn fattest(&self) -> u64;

    /// Drops from the head of its fattest flow up to half of its packets, 32 at most and at least one: Linux `fq_flow_drop`.
    fn drop_from_fattest(&mut self, events: &mut QueueEvents<P>);
}

/// Drops what `next` takes out of a queue until no more than `limit` packets wait.
fn shrink<P: Copy, Q: QueueDiscipline<P>>(
    queue: &mut Q,
    limit: u64,
    events: &mut QueueEvents<P>,
    mut next: impl FnMut(&mut Q, &mut QueueEvents<P>) -> Option<Waiting<P>>,
) {
    while queue.backlog().packets > limit {
        let Some(surplus) = next(queue, events) else { return };
        events.drop(&surplus.packet);
    }
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: Packet<P>,
    /// When it arrived.
    pub since: Time,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    pub(crate) fn remove(&mut self, size: u16) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }
}

/// A packet that is no longer in a queue or in transmission: it left, or was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// Its stream.
    pub stream: StreamId,
    /// Its bytes on the wire.
    pub size: u16,
}

impl Released {
    /// Of a packet.
    pub fn of<P>(packet: &Packet<P>) -> Released {
        Released { stream: packet.stream, size: packet.size }
    }
}

/// What a queue did to packets during one call.
pub struct QueueEvents<'a, P> {
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// Where dropped packets are listed, if they are.
    pub(crate) listed: Option<&'a mut Vec<Released>>,
    /// Counter of drops by flow, with the time at which links count them.
    pub(crate) counted: Option<(&'a Drops<P>, Time)>,
}

impl<P> Default for QueueEvents<'_, P> {
    fn default() -> Self {
        let (listed, counted) = (None, None);
        QueueEvents { dropped_packets: 0, dropped_bytes: 0, marked_packets: 0, listed, counted }
    }
}

impl<P> QueueEvents<'_, P> {
    /// Notes a drop.
    pub fn drop(&mut self, packet: &Packet<P>) {
        if let Some(listed) = &mut self.listed {
            listed.push(Released::of(packet));
        }
        if let Some((drops, time)) = self.counted {
            drops.count(time, packet);
        }
        self.dropped_packets += 1;
        self.dropped_bytes += u64::from(packet.size);
    }

    /// Marks a packet if it may be marked and is not yet.
    pub fn mark_if_capable(&mut self, packet: &mut Packet<P>) {
        if packet.ecn.may_mark() && packet.ecn != Ecn::Ce {
            self.mark(packet);
        }
    }

    /// Marks a packet. The caller has checked [`Ecn::may_mark`].
    pub fn mark(&mut self, packet: &mut Packet<P>) {
        debug_assert!(packet.ecn.may_mark());
        packet.ecn = Ecn::Ce;
        self.marked_packets += 1;
    }
}
