//! The wire after a queue: transmission, propagation, impairments and losses.

use crate::Packet;
use crate::counters::LinkStats;
use crate::impairments::{Impairment, Properties};
use crate::losses::Loss;
use crate::opportunities::Opportunities;
use crate::queue::{Limit, QueueDiscipline};
use crate::server::{Server, Transmission};
use crate::streams::StreamId;
use crate::timetable::Timetable;
use units::{Duration, Rate, Time};

/// Effects of a link besides queueing, transmission and delay. By default a link has only queueing, transmission and
/// delay.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    /// Changes of the rate, in the order of time; zero is an outage. Each change also applies to the rest of the
    /// packet in transmission. If the link has an unlimited rate and a shaper, the changes apply to the shaper.
    pub rates: Vec<(Time, Rate)>,
    /// Changes of the delay, in the order of time. A change applies to packets whose transmission ends at or after the
    /// time of the change. After a change to a shorter delay, packets may overtake earlier packets.
    pub delays: Vec<(Time, Duration)>,
    /// Changes of the loss, in the order of time. A change applies to packets whose transmission ends at or after the
    /// time of the change.
    pub losses: Vec<(Time, Loss)>,
    /// Changes of the queue's limit, in the order of time; see [`QueueDiscipline::resize`].
    pub limits: Vec<(Time, Limit)>,
    /// Opportunities, the only times at which the link sends. Opportunities replace the rate. Every packet waits for an
    /// opportunity.
    pub opportunities: Option<Opportunities>,
    /// Impairments of single packets, at most one of each kind. Impairments act in the order of
    /// [`Impairment::descriptors`].
    pub each: Vec<Impairment>,
}

/// The part of a link that does not depend on what packets carry.
#[derive(Debug)]
pub(crate) struct Wire {
    pub server: Server,
    delay: Duration,
    /// `None` on links without impairments and losses. Most links are of this kind, and spend no time on impairments
    /// and losses.
    impairments: Option<Box<LinkDynamics>>,
}

/// Fate of a packet at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Once,
    Twice,
    /// The packet has a copy, and either the packet or the copy is lost.
    OneOfTwo,
    Lost,
}

/// The impairments and losses of a link, with their state.
#[derive(Debug)]
struct LinkDynamics {
    properties: Properties,
    reorders: bool,
    delays: Timetable<Duration>,
    /// The losses so far, in the order of time: packets in propagation may be subject to an earlier one than packets
    /// behind them.
    loss: Vec<Option<Loss>>,
    losses: Timetable<Loss>,
    limits: Timetable<Limit>,
    opportunities: Option<Opportunities>,
    each: Vec<Impairment>,
    /// Whether the next packet to arrive has already arrived once.
    copy: bool,
}

impl Wire {
    /// Create an idle wire.
    pub fn new(server: Server, delay: Duration, loss: Option<Loss>, impairments: Impairments) -> Wire {
        let is_plain = loss.is_none() && impairments.are_none();
        let impairments = (!is_plain).then(|| Box::new(LinkDynamics::new(loss, impairments)));
        Wire { server, delay, impairments }
    }

    /// Apply the changes of the queue's limit that are due, each at its time.
    #[inline]
    pub fn resize<P: Copy>(
        &mut self,
        queue: &mut dyn QueueDiscipline<P>,
        now: Time,
        stats: &mut LinkStats<P>,
    ) {
        while let Some(limit) = self.limit(now) {
            stats.queue_events(now, None, |events| queue.resize(limit, now, events));
        }
    }

    /// Decide the fate of the packet that reaches the far end at `now`, and count copies and losses; `era`: number of
    /// changes of the loss before the packet. As in netem, a packet that is both lost and duplicated arrives once.
    #[inline]
    pub fn fate<P>(&mut self, packet: &Packet<P>, now: Time, era: u32, stats: &mut LinkStats<P>) -> Fate {
        let Some(impairments) = &mut self.impairments else { return Fate::Once };
        let fate = impairments.fate(era);
        if fate != Fate::Once {
            count(fate, packet, now, stats);
        }
        fate
    }

    /// The time at which a packet whose transmission ended at `finish` reaches the far end, and the number of changes of
    /// the loss before.
    #[inline]
    pub fn arrival(&mut self, finish: Time) -> (Time, u32) {
        match &mut self.impairments {
            None => (finish + self.delay, 0),
            Some(impairments) => (impairments.arrival(finish, &mut self.delay), impairments.era(finish)),
        }
    }

    /// The time at which a packet reaches the far end, and whether the packet is lost there. Only for links on which
    /// packets keep their order and no packet is duplicated.
    #[inline]
    pub fn arrival_or_loss(&mut self, finish: Time) -> (Time, bool) {
        match &mut self.impairments {
            None => (finish + self.delay, false),
            Some(impairments) => {
                let arrival = impairments.arrival(finish, &mut self.delay);
                let era = impairments.era(finish);
                (arrival, impairments.loses(era))
            }
        }
    }

    /// The next limit of the queue that took effect at or before `now`, if any.
    #[inline]
    pub fn limit(&mut self, now: Time) -> Option<Limit> {
        self.impairments.as_mut()?.limit(now)
    }

    /// The opportunities of the link, if it has any.
    #[inline]
    pub fn opportunities(&mut self) -> Option<&mut Opportunities> {
        self.impairments.as_mut()?.opportunities.as_mut()
    }

    /// The time from which the link may send the next packet.
    #[inline]
    pub fn free_at(&self) -> Time {
        let opportunities =
            self.impairments.as_ref().and_then(|impairments| impairments.opportunities.as_ref());
        opportunities.map_or_else(|| self.server.free_at(), Opportunities::free_at)
    }

    /// Send `size` bytes as soon as possible, but not before `ready`.
    #[inline]
    pub fn transmit(&mut self, size: u16, ready: Time) -> Transmission {
        match self.opportunities() {
            None => self.server.transmit(size, ready),
            Some(opportunities) => opportunities.transmit(size),
        }
    }

    /// Bytes that the opportunities after `from`, up to and including `to`, could have carried; `None` without
    /// opportunities.
    pub fn offered_bytes(&self, from: Time, to: Time) -> Option<u64> {
        let opportunities = self.impairments.as_ref()?.opportunities.as_ref()?;
        Some(opportunities.offered_bytes(from, to))
    }

    /// Minimum delay from now on.
    pub fn min_delay(&self) -> Duration {
        let changed = self.impairments.iter().flat_map(|impairments| impairments.delays.values());
        let recorded = self.impairments.as_ref().and_then(|impairments| impairments.opportunities.as_ref());
        changed.copied().fold(self.delay, Duration::min)
            + recorded.map_or(Duration::ZERO, Opportunities::min_delay)
    }

    /// Highest rate from now on; unlimited if the link has opportunities.
    pub fn capacity(&self) -> Rate {
        let traced = self.impairments.as_ref().is_some_and(|impairments| impairments.opportunities.is_some());
        if traced { Rate::UNLIMITED } else { self.server.highest_rate() }
    }

    /// Whether packets may be dropped before they reach the queue.
    #[inline]
    pub fn may_filter(&self) -> bool {
        self.impairments.as_ref().is_some_and(|impairments| impairments.properties.filters)
    }

    /// Whether this packet of a stream is dropped before it reaches the queue.
    pub fn filters(&mut self, stream: StreamId, is_plain_ack: bool) -> bool {
        let Some(impairments) = &mut self.impairments else { return false };
        impairments.each.iter_mut().any(|one| one.filters(stream, is_plain_ack))
    }

    /// Whether packets arrive in the order of their departures and at most once, and departures depend only on the
    /// queue and a rate.
    pub fn arrivals_known_on_departure(&self) -> bool {
        self.impairments.as_ref().is_none_or(|impairments| {
            !impairments.reorders && !impairments.properties.copies && impairments.opportunities.is_none()
        })
    }

    /// Whether packets may arrive in an order that differs from the order of departures.
    #[inline]
    pub fn reorders(&self) -> bool {
        self.impairments.as_ref().is_some_and(|impairments| impairments.reorders)
    }
}

/// Count copies and losses.
#[cold]
fn count<P>(fate: Fate, packet: &Packet<P>, now: Time, stats: &mut LinkStats<P>) {
    if matches!(fate, Fate::Twice | Fate::OneOfTwo) {
        stats.duplicated(now);
    }
    if matches!(fate, Fate::Lost | Fate::OneOfTwo) {
        stats.lost(now, packet);
    }
}

impl LinkDynamics {
    fn new(loss: Option<Loss>, mut impairments: Impairments) -> LinkDynamics {
        impairments.each.sort_by_key(Impairment::place);
        LinkDynamics {
            properties: Properties::combined(&impairments.each),
            reorders: impairments.reorders(),
            delays: Timetable::new(impairments.delays),
            loss: vec![loss],
            losses: Timetable::new(impairments.losses),
            limits: Timetable::new(impairments.limits),
            opportunities: impairments.opportunities,
            each: impairments.each,
            copy: false,
        }
    }

    #[inline(never)] // otherwise the common case is not inlined
    fn limit(&mut self, now: Time) -> Option<Limit> {
        self.limits.one_due(now)
    }

    /// Number of changes of the loss at or before `finish`.
    fn era(&mut self, finish: Time) -> u32 {
        if let Some(loss) = self.losses.due(finish) {
            self.loss.push(Some(loss));
        }
        self.loss.len() as u32 - 1
    }

    #[inline(never)]
    fn loses(&mut self, era: u32) -> bool {
        self.loss[era as usize].as_mut().is_some_and(|loss| loss.is_lost())
    }

    #[inline(never)]
    fn fate(&mut self, era: u32) -> Fate {
        if !self.properties.copies {
            return if self.loses(era) { Fate::Lost } else { Fate::Once };
        }
        if std::mem::take(&mut self.copy) {
            return Fate::Once;
        }
        let copied = self.each.iter_mut().any(|one| one.copies());
        let lost = self.loses(era);
        self.copy = copied && !lost;
        match (copied, lost) {
            (true, false) => Fate::Twice,
            (true, true) => Fate::OneOfTwo,
            (false, true) => Fate::Lost,
            (false, false) => Fate::Once,
        }
    }

    #[inline(never)]
    fn arrival(&mut self, finish: Time, delay: &mut Duration) -> Time {
        if let Some(changed) = self.delays.due(finish) {
            *delay = changed;
        }
        let recorded = self.opportunities.as_ref().map_or(Duration::ZERO, Opportunities::delay);
        self.each.iter_mut().fold(finish + *delay + recorded, |arrival, one| one.arrival(finish, arrival))
    }
}

impl Impairments {
    /// Whether the wire has no impairments, no opportunities, and no changes except of the rate.
    fn are_none(&self) -> bool {
        let steady = self.delays.is_empty() && self.losses.is_empty() && self.limits.is_empty();
        steady && self.each.is_empty() && self.opportunities.is_none()
    }

    /// Whether everything that happens to an admitted packet is known when the packet reaches the link.
    pub(crate) fn have_closed_form(&self) -> bool {
        // A packet that is overtaken does not arrive in the order of departures.
        let Properties { filters, copies, .. } = Properties::combined(&self.each);
        !self.reorders() && self.opportunities.is_none() && !filters && !copies
    }

    /// Whether packets may arrive in an order that differs from the order of departures.
    fn reorders(&self) -> bool {
        !self.delays.is_empty() || Properties::combined(&self.each).reorders
    }
}
