//! One port of a cellular cell: one direction between the base station and a user.

use super::adaptation::{Adaptation, Sending};
use super::blocks::Headers;
use super::drx::Drx;
use super::gaps::Gaps;
use super::grants::Grants;
use super::rlc::{Block, Leaving, Rules, Window};
use crate::counters::{LinkStats, SamplingTimes};
use crate::queue::Waiting;
use crate::server::Transmission;
use crate::{Packet, QueueDiscipline};
use units::{Duration, Probe, Time};

/// Bytes of the Ethernet header, which packets have on other links but not in a cell.
const ETHERNET: u64 = 14;

/// The part of a slot that a block occupies.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Start of the slot.
    pub start: Time,
    /// Duration of the slot.
    pub length: Duration,
    /// Resource blocks of the slot: `before` precede the block, `own` carry the block, and `all` is the total.
    pub before: u64,
    pub own: u64,
    pub all: u64,
}

impl Part {
    /// The time at which the first `sent` of the `bytes` bytes of the block have been sent. Own choice: blocks that
    /// share a slot are sent one after the other, so that packets begin no faster than the carrier can send.
    fn at(&self, sent: u64, bytes: u64) -> Time {
        let share = (self.before * bytes + self.own * sent) as f64 / (self.all * bytes) as f64;
        self.start + Duration::from_nanos((self.length.as_nanos() as f64 * share) as u64)
    }
}

/// A packet of which a part has been sent.
#[derive(Clone, Copy, Debug)]
struct Head<P> {
    packet: Packet<P>,
    /// Bytes of the packet that have not been sent.
    left: u64,
}

/// Counters of the transmissions of a port since the beginning.
#[derive(Clone, Debug, Default)]
struct Activity {
    /// Blocks sent, including retransmissions.
    blocks: u64,
    /// Retransmitted blocks.
    retries: u64,
    /// Resource blocks used.
    resource_blocks: u64,
}

/// The state of a port.
pub struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    head: Option<Head<P>>,
    headers: Headers,
    pub adaptation: Adaptation,
    /// Grants of a user. `None` for a base station, which may always send.
    grants: Option<Grants>,
    window: Window<P>,
    /// Times in which the port neither sends nor receives.
    gaps: Gaps,
    /// Discontinuous reception of a user. `None` for a base station, which always listens.
    drx: Option<Drx>,
    /// Start of the last new block.
    pub active: Time,
    /// Time before which no new block is sent, because the queue has released no packet.
    not_before: Time,
    pub stats: LinkStats<P>,
    activity: Activity,
    /// End of the last block on the air.
    sending: Time,
    /// Latest time at which a loss becomes known.
    pub lost: Time,
    /// Latest time at which a packet that the receiver released reaches the far end.
    pub arrives: Time,
}

impl<P: Copy> Port<P> {
    /// Create an idle port.
    pub fn new(
        queue: Box<dyn QueueDiscipline<P>>,
        headers: Headers,
        adaptation: Adaptation,
        grants: Option<Grants>,
        rules: Rules,
        (gaps, drx): (Gaps, Option<Drx>),
        sampling: SamplingTimes,
    ) -> Port<P> {
        let window = Window::new(rules);
        let (stats, activity) = (LinkStats::new(sampling), Activity::default());
        Port {
            queue,
            head: None,
            headers,
            adaptation,
            grants,
            window,
            gaps,
            drx,
            active: Time::ZERO,
            not_before: Time::ZERO,
            stats,
            activity,
            sending: Time::ZERO,
            lost: Time::ZERO,
            arrives: Time::ZERO,
        }
    }

    /// Accept an arriving packet.
    pub fn arrive(&mut self, packet: Packet<P>, now: Time) {
        self.stats.arrived(now, packet.size);
        let Port { queue, stats, .. } = self;
        stats.queue_events(now, None, |events| queue.enqueue(packet, now, events));
        self.stats.backlog(now, self.queue.backlog().packets);
        if let Some(grants) =
            self.grants.as_mut().filter(|_| self.queue.backlog().packets > 0 || self.head.is_some())
        {
            grants.arrived(now);
        }
    }

    /// Bytes that all waiting packets need in blocks, including headers; 0 if no packet waits.
    fn backlog(&self) -> u64 {
        let waiting = self.queue.backlog();
        let begun = self.head.map_or(0, |head| head.left + self.headers.piece);
        let whole = (self.headers.packet + self.headers.piece) * waiting.packets;
        let bytes = waiting.bytes.saturating_sub(ETHERNET * waiting.packets);
        if waiting.packets == 0 && begun == 0 { 0 } else { self.headers.block + begun + whole + bytes }
    }

    /// Time from which the port may send a new block.
    fn ready(&self) -> Time {
        if self.backlog() == 0 {
            return Time::NEVER;
        }
        let queue = if self.head.is_some() { Time::ZERO } else { self.queue.ready() };
        queue.max(self.not_before).max(self.grants.as_ref().map_or(Time::ZERO, Grants::ready))
    }

    /// The first time at or after `time` at which the user listens.
    fn heard_after(&self, time: Time) -> Time {
        self.drx.as_ref().map_or(time, |drx| drx.after(time))
    }

    /// Restart the inactivity timer (DRX) of the user when a new block of the user begins in either direction.
    pub fn listens(&mut self, start: Time) {
        if let Some(drx) = &mut self.drx {
            drx.active(start);
        }
    }

    /// The first time at or after `from` at which the port has something to send or retransmit.
    pub fn wants(&self, from: Time) -> Time {
        let again = self.window.due().map_or(Time::NEVER, |due| due.1.max(from));
        self.gaps.after(again.min(self.heard_after(self.ready().max(from))))
    }

    /// The block that the port may retransmit in a slot that begins at `start`, and the time from which the port may
    /// retransmit it.
    pub fn due(&self, start: Time) -> Option<(Block, Time)> {
        let (n, at) = self.window.due().filter(|due| due.1 <= start && self.gaps.after(start) == start)?;
        Some((self.window.block(n), at))
    }

    /// Bytes of a new block that the port could fill in a slot that begins at `start`.
    pub fn wanted(&mut self, start: Time) -> u64 {
        if self.ready() > start || self.gaps.after(start) > start || self.heard_after(start) > start {
            return 0;
        }
        let room = self.grants.as_mut().map_or(u64::MAX, |grants| grants.room(start));
        self.backlog().min(room)
    }

    /// Fill a new block of at most `bytes` bytes and send it. Return false if the queue released no packet.
    pub fn send(&mut self, mcs: u64, bytes: u64, part: &Part, end: Time) -> bool {
        let limit = self.grants.as_mut().map_or(bytes, |grants| grants.room(part.start).min(bytes));
        let mut room = limit.saturating_sub(self.headers.block);
        let mut ends = 0;
        while room > self.headers.piece {
            let Some(head) = self.head.take().or_else(|| self.next_packet(part, bytes - room, bytes)) else {
                break;
            };
            let piece = head.left.min(room - self.headers.piece);
            room -= piece + self.headers.piece;
            if piece < head.left {
                self.head = Some(Head { left: head.left - piece, ..head });
                break;
            }
            self.window.carry(head.packet);
            ends += 1;
        }
        let sent = limit.saturating_sub(self.headers.block) - room;
        let remain = self.backlog();
        if sent == 0 {
            self.not_before = self.not_before.max(part.start + part.length); // the queue may have dropped all its packets
            return false;
        }
        if let Some(grants) = &mut self.grants {
            grants.sends(sent + self.headers.block, remain, part.start);
        }
        self.active = part.start;
        self.listens(part.start);
        let n = self.window.push(Block::new(mcs, bytes, ends, self.head.is_some()));
        self.transmit(n, part, end);
        true
    }

    /// Take the next packet of the queue. The packet begins after the first `sent` of the `bytes` bytes of a block.
    fn next_packet(&mut self, part: &Part, sent: u64, bytes: u64) -> Option<Head<P>> {
        if self.queue.backlog().packets > 0 && self.queue.ready() > part.start {
            return None;
        }
        let Port { queue, stats, .. } = self;
        // The discipline is also called if its queue is empty, so that it can detect the empty queue.
        let next = stats.queue_events(part.start, None, |events| queue.dequeue(part.start, events));
        let Waiting { packet, since } = next?;
        let at = part.at(sent, bytes);
        self.stats.started(packet.size, since, Transmission { start: at, finish: at });
        self.stats.waited(since, at);
        let size = u64::from(packet.size).saturating_sub(ETHERNET);
        Some(Head { packet, left: size + self.headers.packet })
    }

    /// Retransmit the block that is due.
    pub fn repeat(&mut self, part: &Part, end: Time) {
        if let Some((n, _)) = self.window.due() {
            self.activity.retries += 1;
            self.transmit(n, part, end);
        }
    }

    /// Put a block on the air in a part of a slot. At `end` it becomes known whether the block was decoded.
    fn transmit(&mut self, n: usize, part: &Part, end: Time) {
        let Block { mcs, bytes, tries, heard, .. } = self.window.block(n);
        let tried = self.adaptation.decodes(part.start, &Sending { mcs, bytes, first: tries == 0, heard });
        if self.window.tried(n, tried, part.start, end) {
            let Port { window, stats, lost, .. } = self;
            window.ending_in(n).for_each(|packet| lose(stats, lost, packet, end));
        }
        self.sending = part.start + part.length;
        self.activity.blocks += 1;
        self.activity.resource_blocks += part.own;
        self.stats.busy(part.at(0, bytes), part.at(bytes, bytes));
    }

    /// Remove the next packet that the receiver releases, and return it with the time of its release.
    pub fn release(&mut self) -> Option<(Packet<P>, Time)> {
        loop {
            match self.window.release()? {
                Leaving::Released(packet, at) => return Some((packet, at)),
                Leaving::Lost(packet, at) => lose(&mut self.stats, &mut self.lost, &packet, at),
            }
        }
    }

    /// Move to `into`, for another cell, all packets that the receiver has not released. Packets that were partly or
    /// wholly sent come first, then waiting packets. Packets that a shaper holds back stay.
    pub fn withdraw(&mut self, now: Time, into: &mut Vec<Packet<P>>) {
        let before = into.len();
        self.window.withdraw(into);
        into.extend(self.head.take().map(|head| head.packet));
        let sent = now.max(self.sending); // packets count as forwarded no earlier than the end of the last block
        into[before..].iter().for_each(|packet| self.stats.forwarded(sent, packet.size));
        while self.queue.backlog().packets > 0 && self.queue.ready() <= now {
            let Port { queue, stats, .. } = self;
            let next = stats.queue_events(now, None, |events| queue.dequeue(now, events));
            let Some(Waiting { packet, since }) = next else { return };
            self.stats.started(packet.size, since, Transmission { start: now, finish: now });
            self.stats.waited(since, now);
            self.stats.forwarded(now, packet.size);
            into.push(packet);
        }
    }

    /// Report the variables of the queue, the window and the counters of transmissions.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        self.queue.observe(now, probe);
        let Activity { blocks, retries, resource_blocks } = self.activity;
        probe.see("window", self.window.len() as f64, "blocks");
        probe.see("blocks", blocks as f64, "blocks");
        probe.see("retries", retries as f64, "blocks");
        probe.see("resource_blocks", resource_blocks as f64, "resource blocks");
        if let Some(snr_db) = self.adaptation.snr_db() {
            probe.see("snr", snr_db, "dB");
        }
        if self.adaptation.chooses() {
            probe.see("mcs", self.adaptation.mcs() as f64, "");
        }
    }
}

/// Count a lost packet at the time when the loss becomes known, which may be ahead of the clock.
fn lose<P>(stats: &mut LinkStats<P>, last: &mut Time, packet: &Packet<P>, known: Time) {
    stats.lost(known, packet);
    *last = known.max(*last);
}
