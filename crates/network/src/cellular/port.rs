//! One port of a cell: one direction between the base station and a user.

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

/// Bytes of the Ethernet header, which packets have elsewhere and not here.
const ETHERNET: u64 = 14;

/// A part of a slot, for blocks of which the others have the rest.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// When the slot begins.
    pub start: Time,
    /// How long it is.
    pub length: Duration,
    /// Resource blocks that others have before it, its own, and all.
    pub before: u64,
    pub own: u64,
    pub all: u64,
}

impl Part {
    /// Own: blocks that share a slot are counted as one after the other, so that packets begin no faster than the carrier can send.
    /// When so much of a block has been sent.
    fn at(&self, sent: u64, bytes: u64) -> Time {
        let share = (self.before * bytes + self.own * sent) as f64 / (self.all * bytes) as f64;
        self.start + Duration::from_nanos((self.length.as_nanos() as f64 * share) as u64)
    }
}

/// A packet of which a part has been sent.
#[derive(Clone, Copy, Debug)]
struct Head<P> {
    packet: Packet<P>,
    /// Bytes that have not.
    left: u64,
}

/// What a port has done.
#[derive(Clone, Debug, Default)]
struct Activity {
    /// Blocks sent, first or again.
    blocks: u64,
    /// Blocks sent again.
    retries: u64,
    /// Resource blocks that they took.
    resource_blocks: u64,
}

/// The port.
pub struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    head: Option<Head<P>>,
    headers: Headers,
    pub adaptation: Adaptation,
    /// What a user may send; none: a base station may always.
    grants: Option<Grants>,
    window: Window<P>,
    /// When it neither sends nor receives.
    gaps: Gaps,
    /// When a user listens; none: a base station always does.
    drx: Option<Drx>,
    /// When the last new block began.
    pub active: Time,
    /// Nothing new is sent before, as its queue has let nothing go.
    not_before: Time,
    pub stats: LinkStats<P>,
    activity: Activity,
    /// Until when its last block is on the air.
    sending: Time,
    /// When the last loss is known.
    pub lost: Time,
    /// When the last packet that was handed up reaches the far end.
    pub arrives: Time,
}

impl<P: Copy> Port<P> {
    /// An idle port.
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

    /// A packet arrives.
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

    /// Bytes that all that waits takes in blocks, with its headers; none if nothing waits.
    fn backlog(&self) -> u64 {
        let waiting = self.queue.backlog();
        let begun = self.head.map_or(0, |head| head.left + self.headers.piece);
        let whole = (self.headers.packet + self.headers.piece) * waiting.packets;
        let bytes = waiting.bytes.saturating_sub(ETHERNET * waiting.packets);
        if waiting.packets == 0 && begun == 0 { 0 } else { self.headers.block + begun + whole + bytes }
    }

    /// From when on it may send a block that is new.
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

    /// A new block of the user has begun, either way: it listens.
    pub fn listens(&mut self, start: Time) {
        if let Some(drx) = &mut self.drx {
            drx.active(start);
        }
    }

    /// The first time at or after `from` at which it has something to send, new or again.
    pub fn wants(&self, from: Time) -> Time {
        let again = self.window.due().map_or(Time::NEVER, |due| due.1.max(from));
        self.gaps.after(again.min(self.heard_after(self.ready().max(from))))
    }

    /// The block that it may send again in a slot that begins at `start`, and since when.
    pub fn due(&self, start: Time) -> Option<(Block, Time)> {
        let (n, at) = self.window.due().filter(|due| due.1 <= start && self.gaps.after(start) == start)?;
        Some((self.window.block(n), at))
    }

    /// Bytes of a new block that it would fill in a slot that begins at `start`.
    pub fn wanted(&mut self, start: Time) -> u64 {
        if self.ready() > start || self.gaps.after(start) > start || self.heard_after(start) > start {
            return 0;
        }
        let room = self.grants.as_mut().map_or(u64::MAX, |grants| grants.room(start));
        self.backlog().min(room)
    }

    /// Fills a new block of at most so many bytes, and sends it; false if its queue has let nothing go.
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
            self.not_before = self.not_before.max(part.start + part.length); // its queue may have dropped what waited
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

    /// The next packet of its queue begins after so many bytes of a block.
    fn next_packet(&mut self, part: &Part, sent: u64, bytes: u64) -> Option<Head<P>> {
        if self.queue.backlog().packets > 0 && self.queue.ready() > part.start {
            return None;
        }
        let Port { queue, stats, .. } = self;
        // Also when it is empty, so that it may notice.
        let next = stats.queue_events(part.start, None, |events| queue.dequeue(part.start, events));
        let Waiting { packet, since } = next?;
        let at = part.at(sent, bytes);
        self.stats.started(packet.size, since, Transmission { start: at, finish: at });
        self.stats.waited(since, at);
        let size = u64::from(packet.size).saturating_sub(ETHERNET);
        Some(Head { packet, left: size + self.headers.packet })
    }

    /// Sends the block again that is due.
    pub fn repeat(&mut self, part: &Part, end: Time) {
        if let Some((n, _)) = self.window.due() {
            self.activity.retries += 1;
            self.transmit(n, part, end);
        }
    }

    /// A block is on the air for a part of a slot, and known at `end` to have been decoded or not.
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

    /// The next packet that is handed up, and when.
    pub fn release(&mut self) -> Option<(Packet<P>, Time)> {
        loop {
            match self.window.release()? {
                Leaving::Released(packet, at) => return Some((packet, at)),
                Leaving::Lost(packet, at) => lose(&mut self.stats, &mut self.lost, &packet, at),
            }
        }
    }

    /// What has not been handed up leaves for another cell: what has been sent, in part or as a whole, then what waits, but for
    /// what a shaper holds back.
    pub fn withdraw(&mut self, now: Time, into: &mut Vec<Packet<P>>) {
        let before = into.len();
        self.window.withdraw(into);
        into.extend(self.head.take().map(|head| head.packet));
        let sent = now.max(self.sending); // no sooner than it has begun
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

    /// Shows its queue, its window and what it has done.
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

/// A packet is lost, which is known at a time that may be ahead.
fn lose<P>(stats: &mut LinkStats<P>, last: &mut Time, packet: &Packet<P>, known: Time) {
    stats.lost(known, packet);
    *last = known.max(*last);
}
