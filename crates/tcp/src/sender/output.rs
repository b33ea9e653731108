//! Sending: retransmissions first, then new data, within the limits of window, pacing, receiver and application
//! (Linux `tcp_xmit_retransmit_queue`, `tcp_write_xmit`, `tcp_tso_should_defer`).

use super::closing::Fin;
use super::host::{NEW_DATA, RETRANSMISSIONS};
use super::limits::Limit;
use super::quirks::FullSendBuffer;
use super::scoreboard::{BURST_HEAD, EVER_RETRANSMITTED, FIN, PUSH, Record};
use super::{SendBuffer, Sender, stamp};
use crate::Segment;
use crate::segment::micros;
use congestion::{CaState, Sent};
use units::{Duration, Time};

/// Longest time until the next ACK for which a burst waits to grow.
const DEFER_FOR: Duration = Duration::from_millis(1);

/// Treatment of a burst that is smaller than it could be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Small {
    /// It may wait for an ACK.
    MayWait,
    /// It is sent at once (`tcp_push_one`).
    Goes,
}

/// Why no more was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    By(Limit),
    /// The next burst waits for an ACK, to grow.
    Deferred,
}

/// Properties of a data packet that its record does not have.
struct Flags {
    /// Whether it ends a burst of several packets.
    last: bool,
    /// Whether it is a retransmission.
    again: bool,
}

impl Sender {
    /// Retransmit lost packets, lowest first. Inlined, as most ACKs arrive while pacing holds back retransmissions.
    #[inline]
    pub(super) fn retransmit_lost(&mut self, now: Time, out: &mut Vec<Segment>) {
        let is_held = !self.host.on && self.pacer.holds(now);
        if !is_held && self.board.next_to_retransmit().is_some() {
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

    /// Count the lost packets from `seq` on that were sent in one burst, at most `limit`.
    fn lost_run(&self, seq: u32, limit: u32) -> u32 {
        let belongs = |s: &u32| !self.board.get(*s).is(BURST_HEAD) && self.board.awaits_retransmission(*s);
        1 + (seq + 1..self.board.next.min(seq + limit)).take_while(belongs).count() as u32
    }

    /// Retransmit `count` packets from `seq` on, as one burst.
    pub(super) fn retransmit(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.send_again(now, seq, count, out);
        (seq..seq + count).for_each(|s| self.board.mark_retransmitted(s));
        let sent = self.board.get(seq).sent;
        self.recovery.first_retransmission.get_or_insert(stamp(sent));
        self.recovery.unproven = Some(self.recovery.unproven.unwrap_or(0) + count);
    }

    /// Retransmit packets as one burst, without the counters of loss recovery: a tail loss probe is no retransmission
    /// there (Linux `__tcp_retransmit_skb`).
    pub(super) fn send_again(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.before_burst(now, count);
        let (mut bytes, mut packets, at) = (0, 0, self.departure(now));
        let in_flight = self.board.in_flight();
        for (i, s) in (1..).zip(seq..seq + count) {
            let mut record = *self.board.get(s);
            if let Some(first_us) = self.first_us.as_mut().filter(|_| !record.is(EVER_RETRANSMITTED)) {
                first_us.set(s, record.sent.as_micros() as u32, self.board.una);
            }
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

    /// Send new data within all limits, and note which limit stopped it.
    #[inline(always)] // called for every ACK
    pub(super) fn push(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.is_still_paced(now) || self.has_room_again(now) {
            return self.push_now(now, out);
        }
        if self.board.in_flight() >= self.control.cwnd {
            self.usage.fill(now, &self.board);
        }
    }

    /// Whether pacing is still the limit and the application cannot write. A fast path: most ACKs arrive between
    /// departures.
    #[inline(always)]
    fn is_still_paced(&self, now: Time) -> bool {
        self.limits.is_pacing()
            && self.pacer.holds(now)
            && !self.host.on
            && (self.queue.is_full || !self.queue.is_managed())
            && self.board.packets_out() > 0
    }

    #[inline(never)]
    fn push_now(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.established {
            return;
        }
        if self.board.packets_out() == 0 && self.has_new_data() {
            self.restart_after_idle(now);
        }
        let mut sent = self.write(now, out);
        let stop = loop {
            match self.send_next(now, Small::MayWait, out) {
                Ok(count) => sent += count,
                Err(_) if self.has_room_again(now) => sent += self.write(now, out),
                Err(stop) => break stop,
            }
        };
        self.after_push(now, stop, sent);
    }

    /// Send the next burst within all limits. Return its packets, or why it was not sent.
    #[inline(always)]
    fn send_next(&mut self, now: Time, small: Small, out: &mut Vec<Segment>) -> Result<u32, Stop> {
        if self.must_wait(now) {
            return Err(Stop::By(Limit::Pacing));
        }
        let room = self.control.cwnd.saturating_sub(self.board.in_flight());
        if room == 0 {
            return Err(Stop::By(Limit::Cwnd));
        }
        let half = (self.control.cwnd / 2).max(1);
        let largest = self.burst_packets();
        let count = match self.sendable(room.min(half).min(largest)) {
            Ok(count) => count,
            Err(limit) if self.rescue(now, limit, out) => return Ok(0),
            Err(limit) => {
                self.note_full_buffer(limit);
                return Err(Stop::By(limit));
            }
        };
        if small == Small::MayWait && self.should_defer(now, room, largest) {
            return Err(Stop::Deferred);
        }
        if self.is_throttled(count, NEW_DATA) {
            return Err(Stop::By(Limit::Host));
        }
        self.send_burst(now, count, out);
        Ok(count)
    }

    /// Send a burst of a full chunk, however small. Return its packets.
    pub(super) fn push_one(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        self.send_next(now, Small::Goes, out).unwrap_or(0)
    }

    /// Mark the flow app-limited if a full send buffer is the limit and counts as an idle application.
    fn note_full_buffer(&mut self, limit: Limit) {
        if limit == Limit::SendBuffer && self.payload_is_full() && self.full_buffer_looks_idle() {
            self.check_path_idle();
        }
    }

    fn after_push(&mut self, now: Time, stop: Stop, sent: u32) {
        let in_flight = self.board.in_flight();
        let cwnd_limited = stop == Stop::Deferred || in_flight >= self.control.cwnd;
        if sent > 0 || cwnd_limited {
            self.note_window_usage(now, cwnd_limited);
        }
        if sent > 0 {
            if self.recovery.is_reducing() {
                self.recovery.sent += sent;
            }
            self.schedule_probe(now, false);
        }
        if stop == Stop::By(Limit::Receiver) {
            self.await_window(now);
        }
        self.limits.switch(now, if let Stop::By(limit) = stop { limit } else { Limit::Cwnd });
    }

    /// Packets of `quota` that data, send buffer and receive window allow; or the limit, if there are none.
    #[inline]
    fn sendable(&self, quota: u32) -> Result<u32, Limit> {
        let mss = u64::from(self.config.mss);
        let receiver = self.window_end.saturating_sub(self.board.next_bytes);
        let (buffer, data) = (self.payload_room(), self.unsent());
        if receiver.min(buffer).min(data) >= u64::from(quota) * mss {
            return Ok(quota);
        }
        let (receiver, buffer, data) = (receiver / mss, buffer / mss, data.div_ceil(mss));
        let count = u64::from(quota).min(receiver).min(buffer).min(data);
        match count {
            0 if data == 0 && self.queue.is_full => Err(Limit::SendBuffer),
            0 if data == 0 => self.without_data(),
            0 if buffer == 0 => Err(Limit::SendBuffer),
            0 => Err(Limit::Receiver),
            _ => Ok(count as u32),
        }
    }

    /// Bytes written and not yet sent.
    pub(super) fn unsent(&self) -> u64 {
        let end = self.config.data.unwrap_or(u64::MAX / 2).min(self.queue.written);
        end.saturating_sub(self.board.next_bytes)
    }

    /// Whether the application has unsent data, written or not, and the send buffer has room for it.
    pub(super) fn has_new_data(&self) -> bool {
        self.config.data.is_none_or(|end| end > self.board.next_bytes) && !self.payload_is_full()
    }

    /// Whether the application waits for room in the send buffer.
    pub(super) fn waits_for_send_buffer(&self) -> bool {
        self.queue.is_full || self.payload_is_full()
    }

    /// Room in a send buffer that counts payload, bytes; `MAX` for other buffers.
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

    /// Whether a burst that is smaller than it could be waits for the next ACK, which is due soon. The end of the
    /// written data, or of a complete chunk, does not wait (`tcp_tso_should_defer`).
    fn should_defer(&self, now: Time, room: u32, largest: u32) -> bool {
        if room >= largest || room >= self.control.cwnd.div_ceil(3) {
            return false;
        }
        let idle = now.since(self.pacer.next_departure()) > DEFER_FOR;
        if idle || self.recovery.state >= CaState::Recovery || self.board.packets_out() == 0 {
            return false;
        }
        let Some(srtt) = self.rtt.srtt() else { return false };
        let expected = self.board.get(self.board.una).sent + srtt;
        expected.since(now) <= DEFER_FOR.min(srtt / 2) && !self.ends_chunk(room)
    }

    /// Whether `room` packets reach the end of a chunk, or one packet the end of the written data.
    fn ends_chunk(&self, room: u32) -> bool {
        let mss = u64::from(self.config.mss);
        let left = self.queue.left_of_chunk(self.board.next_bytes);
        self.unsent() <= mss || left.is_some_and(|left| left <= u64::from(room) * mss)
    }

    /// Send `count` new packets as one burst.
    pub(super) fn send_burst(&mut self, now: Time, count: u32, out: &mut Vec<Segment>) {
        let was_idle = self.board.packets_out() == 0;
        self.before_burst(now, count);
        let (mut unsent, at) = (self.unsent(), self.departure(now));
        let mut record = Record::new(at, 0, 0);
        self.delivery.stamp(&mut record, self.board.packets_out()); // the same for all packets of the burst
        record.in_flight = self.board.in_flight();
        let (common, mut bytes) = (record.flags, 0);
        for i in 0..count {
            let len = unsent.min(u64::from(self.config.mss)) as u16;
            record.flags = if i == 0 { common | BURST_HEAD } else { common };
            if unsent == u64::from(len) {
                record.flags |= self.ends_write(len);
            }
            unsent -= u64::from(len);
            record.len = len;
            record.in_flight += 1;
            let seq = self.board.append(&record);
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

    /// The flags of the last packet of the written data: PSH, and FIN if it is due (Linux `tcp_push`, `tcp_send_fin`).
    fn ends_write(&mut self, len: u16) -> u16 {
        let push = if len > 0 { PUSH } else { 0 };
        if self.fin != Fin::Due || self.queue.is_full {
            return push;
        }
        self.fin = Fin::Sent;
        push | FIN
    }

    /// Build a data packet that departs at `at`. The last one of a burst has PSH, so that the receiver processes it at
    /// once (Linux `__tcp_transmit_skb`).
    fn data(&mut self, at: Time, seq: u32, record: &Record, flags: Flags) -> Segment {
        let (Flags { last, again }, len) = (flags, record.len);
        let (push, fin) = (last || record.is(PUSH), record.is(FIN));
        let cwr = !again && std::mem::take(&mut self.marks.tell_reduced); // CWR is on new data only
        self.stats.sent_packets += u64::from(len > 0);
        self.stats.sent_bytes += u64::from(len);
        Segment::Data { seq, len, push, again, cwr, fin, stamp: stamp(at), sent_us: micros(at), riding: None }
    }

    /// When pacing allows the next departure, if pacing is the limit; else `Time::NEVER`.
    pub(super) fn pacing_wakeup(&self) -> Time {
        let waits = self.limits.is_pacing() && !self.host.on; // with `sch_fq` the host has its own timer
        if waits { self.pacer.next_departure() } else { Time::NEVER }
    }
}
