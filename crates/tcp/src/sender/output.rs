//! Sending: retransmissions first, then new data, as far as window, pacing, receiver and application allow
//! (Linux `tcp_xmit_retransmit_queue`, `tcp_write_xmit`, `tcp_tso_should_defer`).

use super::closing::Fin;
use super::host::{NEW_DATA, RETRANSMISSIONS};
use super::limits::Limit;
use super::pacing::GSO_MAX_BYTES;
use super::quirks::FullSendBuffer;
use super::scoreboard::{BURST_HEAD, EVER_RETRANSMITTED, FIN, PUSH, Record};
use super::{SendBuffer, Sender, stamp};
use crate::Segment;
use crate::segment::micros;
use congestion::{CaState, Sent};
use units::{Duration, Time};

/// A burst may wait for the next ACK to grow if that is due within this time.
const DEFER_FOR: Duration = Duration::from_millis(1);
/// The largest window that fits into a SYN-ACK, which knows no scale.
const SYN_WINDOW_BYTES: u32 = 65_535;
/// What an ACK lets go in slow start.
const UNDEFERRED: u32 = 2;

/// Where a data packet stands.
struct Flags {
    /// It ends a burst of several.
    last: bool,
    again: bool,
}

impl Sender {
    /// Retransmits lost packets, lowest first.
    #[inline]
    pub(super) fn retransmit_lost(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.board.next_to_retransmit().is_some() {
            self.retransmit_in_order(now, out);
        }
    }

    fn retransmit_in_order(&mut self, now: Time, out: &mut Vec<Segment>) {
        let largest = self.burst_packets();
        while let Some(seq) = self.board.next_to_retransmit() {
            let room = self.control.cwnd.saturating_sub(self.board.in_flight());
            if room == 0 || self.must_wait(now) {
                break;
            }
            let count = self.lost_run(seq, room.min(largest));
            if self.is_throttled(count, RETRANSMISSIONS) {
                break;
            }
            self.retransmit(now, seq, count, out);
            if self.recovery.is_reducing() {
                self.recovery.sent += count;
            }
            if seq == self.board.una && !self.timer.is_reordering() {
                self.timer.arm_retransmission(now + self.rtt.rto() + self.pacer.delay(now));
            }
        }
    }

    /// Lost packets from `seq` on that were sent in one burst, at most `limit`.
    fn lost_run(&self, seq: u32, limit: u32) -> u32 {
        let belongs = |s: &u32| !self.board.get(*s).is(BURST_HEAD) && self.board.awaits_retransmission(*s);
        1 + (seq + 1..self.board.next.min(seq + limit)).take_while(belongs).count() as u32
    }

    /// Retransmits `count` packets from `seq` on, as one burst.
    pub(super) fn retransmit(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.send_again(now, seq, count, out);
        (seq..seq + count).for_each(|s| self.board.mark_retransmitted(s));
        let sent = self.board.get(seq).sent;
        self.recovery.first_retransmission.get_or_insert(stamp(sent));
        self.recovery.unproven = Some(self.recovery.unproven.unwrap_or(0) + count);
    }

    /// Sends packets again, as one burst. Loss recovery takes no notice: a tail loss probe is not a
    /// retransmission in its counters (Linux `__tcp_retransmit_skb`).
    pub(super) fn send_again(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.before_burst(now, count);
        let (mut bytes, mut packets, at) = (0, 0, self.departure(now));
        let in_flight = self.board.in_flight();
        for (i, s) in (1..).zip(seq..seq + count) {
            let mut record = *self.board.get(s);
            record.sent = at;
            self.delivery.stamp(&mut record, self.board.packets_out());
            record.flags |= EVER_RETRANSMITTED;
            record.in_flight = in_flight + i;
            *self.board.get_mut(s) = record;
            self.board.link_newest(s);
            bytes += u64::from(record.len);
            packets += u64::from(record.len > 0);
            let flags = Flags { last: i == count && count > 1, again: true };
            let data = self.data(at, s, &record, flags);
            self.host.hand_over(now, at, data, out);
        }
        self.stats.retransmitted_packets += packets;
        self.count_in_host(count, bytes);
        self.pace(now, bytes);
        self.last_send = now;
    }

    /// Sends new data as far as everything allows, and notes what stopped it.
    pub(super) fn push(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.established {
            return;
        }
        if self.has_new_data() {
            self.restart_after_idle(now);
        }
        let managed = self.queue.is_managed();
        if managed {
            self.write_more();
        }
        let mut sent = 0;
        let mut deferred = false;
        let limit = loop {
            let limit = loop {
                if self.must_wait(now) {
                    break Limit::Pacing;
                }
                let room = self.control.cwnd.saturating_sub(self.board.in_flight());
                if room == 0 {
                    break Limit::Cwnd;
                }
                let half = (self.control.cwnd / 2).max(1);
                let largest = self.burst_packets();
                let quota = room.min(half).min(largest);
                let count = match self.sendable(quota) {
                    Ok(count) => count,
                    Err(limit) if self.rescue(now, limit, out) => continue,
                    Err(limit) => break self.starved(limit),
                };
                if self.should_defer(now, room, largest) {
                    deferred = true;
                    break Limit::Cwnd;
                }
                if self.is_throttled(count, NEW_DATA) {
                    break Limit::Host;
                }
                self.send_burst(now, count, out);
                sent += count;
            };
            if !managed || !self.make_room(now) {
                break limit;
            }
        };
        self.after_push(now, limit, sent, deferred);
    }

    /// There is nothing to send, for this reason, which it gives back.
    fn starved(&mut self, limit: Limit) -> Limit {
        if limit == Limit::SendBuffer && self.payload_is_full() && self.full_buffer_looks_idle() {
            self.check_path_idle();
        }
        limit
    }

    fn after_push(&mut self, now: Time, limit: Limit, sent: u32, deferred: bool) {
        let in_flight = self.board.in_flight();
        let cwnd_limited = deferred || in_flight >= self.control.cwnd;
        if sent > 0 || cwnd_limited {
            self.note_window_usage(now, cwnd_limited);
        }
        if sent > 0 {
            if self.recovery.is_reducing() {
                self.recovery.sent += sent;
            }
            self.schedule_probe(now, false);
        }
        self.limits.switch(now, limit);
    }

    /// How many of `quota` packets may be sent, given what there is to send and what the receiver takes; or
    /// what forbids it.
    fn sendable(&self, quota: u32) -> Result<u32, Limit> {
        let mss = u64::from(self.config.mss);
        let fits = |room: u64| room / mss;
        let receiver = fits(self.window_end.saturating_sub(self.board.next_bytes));
        let buffer = fits(self.payload_room());
        let data = self.unsent().div_ceil(mss);
        let count = u64::from(quota).min(receiver).min(buffer).min(data);
        match count {
            0 if data == 0 && self.queue.is_full => Err(Limit::SendBuffer),
            0 if data == 0 => self.without_data(),
            0 if buffer == 0 => Err(Limit::SendBuffer),
            0 => Err(Limit::Receiver),
            _ => Ok(count as u32),
        }
    }

    /// What has been written and not sent, bytes.
    pub(super) fn unsent(&self) -> u64 {
        let end = self.config.data.unwrap_or(u64::MAX / 2).min(self.queue.written);
        end.saturating_sub(self.board.next_bytes)
    }

    pub(super) fn has_new_data(&self) -> bool {
        self.unsent() > 0 && !self.payload_is_full()
    }

    /// The application waits for room in the send buffer.
    pub(super) fn waits_for_send_buffer(&self) -> bool {
        self.queue.is_full || self.payload_is_full()
    }

    /// What a buffer that is counted in payload has room for.
    fn payload_room(&self) -> u64 {
        match self.config.send_buffer {
            SendBuffer::Payload(bytes) => bytes.get().saturating_sub(self.board.bytes_out()),
            SendBuffer::Unlimited | SendBuffer::Memory(_) => u64::MAX,
        }
    }

    fn payload_is_full(&self) -> bool {
        self.payload_room() < u64::from(self.config.mss)
    }

    fn full_buffer_looks_idle(&self) -> bool {
        self.config.quirks.full_send_buffer == FullSendBuffer::AppLimited
    }

    pub(super) fn receiver_has_room(&self) -> bool {
        self.window_end >= self.board.next_bytes + u64::from(self.config.mss)
    }

    /// A burst smaller than it could be waits for the next ACK, if that is about to come. A single packet does, too,
    /// but for the last one of a chunk of data that Linux queues for segmentation.
    fn should_defer(&self, now: Time, room: u32, largest: u32) -> bool {
        if self.left_in_chunk() <= room || self.unsent() <= u64::from(self.config.mss) {
            return false;
        }
        let idle = now.since(self.pacer.next_departure()) > DEFER_FOR;
        if self.recovery.state >= CaState::Recovery
            || idle
            || room >= largest
            || room >= self.control.cwnd.div_ceil(3)
        {
            return false;
        }
        let Some(srtt) = self.rtt.srtt() else { return false };
        if self.board.packets_out() == 0 {
            return false;
        }
        let expected = self.board.get(self.board.una).sent + srtt;
        expected.since(now) <= DEFER_FOR.min(srtt / 2)
    }

    /// Packets left of the chunk of data that Linux has queued for segmentation (`tcp_xmit_size_goal`). The first two
    /// chunks behind the initial window are half of the largest window that a SYN-ACK can tell, and fill the send buffer;
    /// the next are full ones, written when all of that has been sent, whose first burst waits for nothing
    /// (`tcp_push_one`).
    fn left_in_chunk(&self) -> u32 {
        let (next, mss) = (self.board.next, self.config.mss);
        let half = (SYN_WINDOW_BYTES / 2 / mss).max(1);
        let first = self.config.initial_window + half;
        let early = [first, first + half, first + half + UNDEFERRED];
        if let Some(end) = early.into_iter().find(|&end| next < end) {
            return end - next;
        }
        let full = (GSO_MAX_BYTES / mss).max(1);
        full - (next - early[2]) % full
    }

    /// Sends `count` new packets as one burst.
    pub(super) fn send_burst(&mut self, now: Time, count: u32, out: &mut Vec<Segment>) {
        let was_idle = self.board.packets_out() == 0;
        self.before_burst(now, count);
        let (mut bytes, at) = (0, self.departure(now));
        for i in 0..count {
            let unsent = self.unsent();
            let len = unsent.min(u64::from(self.config.mss)) as u16;
            let mut record = Record::new(at, len, if i == 0 { BURST_HEAD } else { 0 });
            if unsent == u64::from(len) {
                record.flags |= self.ends_write(len);
            }
            self.delivery.stamp(&mut record, self.board.packets_out());
            record.in_flight = self.board.in_flight() + 1;
            let seq = self.board.append(record);
            bytes += u64::from(len);
            let flags = Flags { last: i + 1 == count && count > 1, again: false };
            let data = self.data(at, seq, &record, flags);
            self.host.hand_over(now, at, data, out);
        }
        self.count_in_host(count, bytes);
        self.pace(now, bytes);
        self.last_send = now;
        if was_idle || self.timer.is_probe() {
            self.rearm_retransmission(now);
        }
    }

    fn before_burst(&mut self, now: Time, packets: u32) {
        let from_idle = self.board.in_flight() == 0;
        if !from_idle && !self.traits.watches_sends {
            return;
        }
        let sent = Sent { packets, from_idle, gap: now.since(self.last_send) };
        let path = self.path(now);
        self.algorithm.on_send(&sent, &path);
        self.refresh_control();
        self.update_pacing_rate();
    }

    /// What the last packet of all that was written says: that the receiver may hand it up, and that no more follows.
    /// Linux `tcp_push`, `tcp_send_fin`.
    fn ends_write(&mut self, len: u16) -> u16 {
        let push = if len > 0 { PUSH } else { 0 };
        if self.fin != Fin::Due || self.queue.is_full {
            return push;
        }
        self.fin = Fin::Sent;
        push | FIN
    }

    /// A data packet that departs at `at`. The last one of a burst is pushed, so that the receiver looks at it.
    /// Linux `__tcp_transmit_skb`.
    fn data(&mut self, at: Time, seq: u32, record: &Record, flags: Flags) -> Segment {
        let (Flags { last, again }, len) = (flags, record.len);
        let (push, fin) = (last || record.is(PUSH), record.is(FIN));
        let cwr = !again && std::mem::take(&mut self.marks.tell_reduced); // only new data may say so
        self.stats.sent_packets += u64::from(len > 0);
        self.stats.sent_bytes += u64::from(len);
        Segment::Data { seq, len, push, again, cwr, fin, stamp: stamp(at), sent_us: micros(at), riding: None }
    }

    /// When pacing lets the sender go on, if pacing is what holds it.
    pub(super) fn pacing_wakeup(&self) -> Time {
        let waits = self.limits.is_pacing() && !self.host.on; // else the host wakes up for what it holds
        if waits { self.pacer.next_departure() } else { Time::NEVER }
    }
}
