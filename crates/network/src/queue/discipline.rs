//! The interface of queue disciplines, and the drops and marks that they report.

use crate::{Drops, Ecn, Packet, StreamId};
use params::params;
use units::{Duration, Probe, Rate, Time};

/// Decides which waiting packet leaves next, and which packets are dropped or marked.
///
/// The packet in transmission no longer belongs to the queue. Calls come in the order of time.
pub trait QueueDiscipline<P: Copy>: Send {
    /// Accept an arriving packet, which has to wait, or drop it.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>);

    /// Take the next packet when the link is free. `now` is the start of its transmission, at or after
    /// [`ready`](Self::ready). When the queue has become empty, this method is called once more, so that a discipline
    /// can detect the empty queue.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>>;

    /// Packets and bytes that wait in the queue.
    fn backlog(&self) -> Backlog;

    /// The time at which the next packet may leave. The time is later than now only while a shaper holds
    /// packets back.
    fn ready(&self) -> Time {
        Time::ZERO
    }

    /// Set the changes of the rate, in the order of time, before the first packet arrives. A shaper applies the
    /// changes itself and returns none. Any other discipline returns the changes, which then apply to the wire.
    fn shape(&mut self, rates: Vec<(Time, Rate)>) -> Vec<(Time, Rate)> {
        rates
    }

    /// Change the limit, as with `tc qdisc change`. Return false if the discipline has no limit of that kind. As in
    /// Linux, a discipline that checks the limit on arrival only (pfifo, bfifo, tbf, CAKE) drops nothing until the
    /// next arrival. RED drops its whole queue. All other disciplines immediately drop the excess from the head.
    fn resize(&mut self, _limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        false
    }

    /// Pass a packet that arrives while the link is free and no packet waits. Limits on waiting packets do not apply.
    fn pass(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.enqueue(packet, now, events);
        self.dequeue(now, events)
    }

    /// Set the source and the destination host of every route, by the index of the route. `None` means that no other
    /// stream has the hosts of the route. Called before the first packet, if at all.
    fn know_hosts(&mut self, _hosts: &[Option<[u32; 2]>]) {}

    /// Set the function that decides whether a waiting packet (first argument) is redundant, given a younger packet
    /// of its flow. Called before the first packet, if at all.
    fn know_redundancy(&mut self, _redundant: fn(&P, &P) -> bool) {}

    /// Report the variables of the discipline at `now`, when all departures up to `now` have been served.
    fn observe(&self, _now: Time, _probe: &mut Probe<'_>) {}

    /// The limit of a drop-tail queue; `None` for other disciplines. A drop-tail queue is first in, first out, and only
    /// drops arriving packets that exceed the limit. The departure time of an admitted packet is therefore known on
    /// arrival.
    fn plain_limit(&self) -> Option<Limit> {
        None
    }

    /// The queue itself if it is the queue of a station that shares a limit with the other stations of a radio;
    /// otherwise `None`.
    fn station_queue(&mut self) -> Option<&mut dyn StationQueue<P>> {
        None
    }
}

params! {
    /// Limits on waiting packets. A limit that is left out does not apply.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Limit {
        /// Limit in packets; the packet in transmission does not count.
        packets: Option<u64> = None, "packets", 0.0..=1e18, role = limit, label = "buffer";
        /// Limit in bytes on the wire; the packet in transmission does not count.
        bytes: Option<u64> = None, "bytes", 0.0..=1e18, role = limit, label = "buffer", example = Some(1_048_576);
    }
}

impl Limit {
    /// Whether a packet of `size` bytes may join `backlog`.
    pub fn admits(&self, backlog: Backlog, size: u16) -> bool {
        backlog.packets < self.packets.unwrap_or(u64::MAX)
            && backlog.bytes + u64::from(size) <= self.bytes.unwrap_or(u64::MAX)
    }
}

/// Rules that the queues of one radio share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioRules {
    /// Maximum number of packets that may wait for all stations together.
    pub packets: u64,
    /// Maximum number of bytes that may wait for all stations together. `None` means the default for the Wi-Fi standard
    /// of the cell.
    pub bytes: Option<u64>,
    /// Whether stations get equal airtime.
    pub airtime_fairness: bool,
    /// Whether airtime queued in the radio is limited. `None` means the default for the Wi-Fi standard of the cell.
    pub aql: Option<bool>,
    /// Limits on airtime queued in the radio.
    pub airtime: AirtimeLimits,
}

/// Limits on queued airtime: Linux `ieee80211_txq_airtime_check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirtimeLimits {
    /// Limit of a station, regardless of the airtime that other stations have queued.
    pub low: Duration,
    /// Limit of a station while all stations together have queued less than the threshold.
    pub high: Duration,
    /// Threshold of the airtime queued for all stations together.
    pub threshold: Duration,
}

/// The interface of a station's queue to the radio.
pub trait StationQueue<P> {
    /// Rules that the queue shares with the other queues of its radio.
    fn rules(&self) -> RadioRules;

    /// Bytes of the longest flow of the queue.
    fn fattest(&self) -> u64;

    /// Drop up to half of the packets of the longest flow from its head, at least one packet and at most 32: Linux
    /// `fq_flow_drop`.
    fn drop_from_fattest(&mut self, events: &mut QueueEvents<P>);
}

/// Drop packets that `next` takes out of a queue, until at most `limit` packets wait.
pub(super) fn shrink<P: Copy, Q: QueueDiscipline<P>>(
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
    /// Arrival time of the packet.
    pub since: Time,
}

/// Numbers of packets and bytes that wait.
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

/// A packet whose transmission has ended, or that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// Stream of the packet.
    pub stream: StreamId,
    /// Bytes on the wire.
    pub size: u16,
}

impl Released {
    /// The record of a packet.
    pub fn of<P>(packet: &Packet<P>) -> Released {
        Released { stream: packet.stream, size: packet.size }
    }
}

/// Drops and marks by a queue during one call.
pub struct QueueEvents<'a, P> {
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes of the dropped packets.
    pub dropped_bytes: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// List to which dropped packets are appended, if drops are listed.
    pub(crate) listed: Option<&'a mut Vec<Released>>,
    /// Counter of drops by flow, with the time at which links count the drops.
    pub(crate) counted: Option<(&'a Drops<P>, Time)>,
}

impl<P> Default for QueueEvents<'_, P> {
    fn default() -> Self {
        let (listed, counted) = (None, None);
        QueueEvents { dropped_packets: 0, dropped_bytes: 0, marked_packets: 0, listed, counted }
    }
}

impl<P> QueueEvents<'_, P> {
    /// Record a drop.
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

    /// Mark a packet if it may be marked and is not marked yet.
    pub fn mark_if_capable(&mut self, packet: &mut Packet<P>) {
        if packet.ecn.may_mark() && packet.ecn != Ecn::Ce {
            self.mark(packet);
        }
    }

    /// Mark a packet. The caller has checked [`Ecn::may_mark`].
    pub fn mark(&mut self, packet: &mut Packet<P>) {
        debug_assert!(packet.ecn.may_mark());
        packet.ecn = Ecn::Ce;
        self.marked_packets += 1;
    }
}
