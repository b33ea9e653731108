//! Sending of retransmissions, then of new data, within the limits of window, pacing, receiver and application
//! (Linux `tcp_xmit_retransmit_queue`, `tcp_write_xmit`, `tcp_tso_should_defer`).

use super::Sender;
use super::host::{NEW_DATA, RETRANSMISSIONS};
use super::limits::Limit;
use super::quirks::{FullSendBuffer, IdleApplication, Rescue};
use super::record::{BURST_HEAD, FIN, PUSH, Record};
use crate::segment::{Segment, micros, stamp};
use congestion::{CaState, Sent};
use units::{Duration, Time};

/// A small burst waits for the next ACK only if this ACK is expected within this time.
const DEFER_FOR: Duration = Duration::from_millis(1);

/// Treatment of a burst with fewer packets than the largest burst.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Small {
    /// The burst may wait for an ACK.
    MayWait,
    /// The burst is sent without waiting for an ACK (`tcp_push_one`).
    Goes,
}

/// Reason why the sender sends no further burst.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    By(Limit),
    /// The next burst waits for an ACK that allows a larger burst.
    Deferred,
    /// A short packet waits until the last short packet is acknowledged (Nagle, as modified by Minshall), or a small
    /// burst waits for more data.
    Small,
}

/// Properties of a data packet that its record does not have.
struct Flags {
    /// Whether the packet ends a burst of several packets.
    last: bool,
    /// Whether the packet is a retransmission.
    again: bool,
}

impl Sender {
    /// Retransmit lost packets, lowest first. The function is inlined because most ACKs arrive while pacing holds
    /// back retransmissions.
    #[inline]
    pub(super) fn retransmit_lost(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.departures.is_held(now) && self.board.next_to_retransmit().is_some() {
            self.retransmit_in_order(now, out);
        }
    }

    fn retransmit_in_order(&mut self, now: Time, out: &mut Vec<Segment>) {
        let largest = self.burst_packets();
        while let Some(seq) = self.board.next_to_retransmit() {
            // Retransmissions from before an undo still count, and so keep as many lost packets from being retransmitted.
            // Rescue retransmissions, which Linux does not have, never count.
            let counts = self.config.quirks.rescue == Rescue::None;
            let is_enough = counts && self.board.retrans_out() >= self.board.lost_out();
            let room = self.window.room(self.board.in_flight());
            if room == 0 || is_enough || self.must_wait(now) {
                break;
            }
            let count = self.board.lost_run(seq, room.min(largest));
            if self.departures.is_throttled(count, RETRANSMISSIONS, &self.config, &self.board) {
                break;
            }
            self.retransmit(now, seq, count, out);
            self.recovery.count_sent(count);
            if seq == self.board.una() && !self.timer.is_reordering() {
                self.timer.arm_retransmission(now, self.rtt.rto(), self.departures.delay(now));
            }
        }
    }

    /// Retransmit `count` packets from `seq` on, as one burst.
    pub(super) fn retransmit(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.send_again(now, seq, count, out);
        (seq..seq + count).for_each(|s| self.board.mark_retransmitted(s));
        let sent = self.board.get(seq).sent;
        self.recovery.count_retransmissions(stamp(sent), count);
    }

    /// Retransmit packets as one burst, and leave the counters of loss recovery unchanged (Linux
    /// `__tcp_retransmit_skb`). These counters do not count a tail loss probe as a retransmission.
    pub(super) fn send_again(&mut self, now: Time, seq: u32, count: u32, out: &mut Vec<Segment>) {
        self.before_burst(now, count);
        let (mut bytes, mut packets, at) = (0, 0, self.departures.departure(now));
        let in_flight = self.board.in_flight();
        for (i, s) in (1..).zip(seq..seq + count) {
            let mut record = *self.board.get(s);
            self.board.note_first(s, &record);
            record.sent = at;
            self.delivery.stamp(&mut record, self.board.packets_out());
            record.in_flight = in_flight + i;
            self.board.replace(s, record);
            bytes += u64::from(record.len);
            packets += u64::from(record.len > 0);
            let flags = Flags { last: i == count && count > 1, again: true };
            let data = self.data(at, s, &record, flags);
            self.departures.hand_over(now, at, data, out);
        }
        self.stats.retransmitted_packets += packets;
        self.departures.account(now, count, bytes, self.stats.sent_packets);
    }

    /// Send new data within all limits, and note the limit that stopped the sender.
    #[inline(always)] // called for every ACK
    pub(super) fn push(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.is_still_paced(now) || self.has_room_again(now) {
            return self.push_now(now, out);
        }
        if self.board.in_flight() >= self.window.cwnd() {
            self.window.fill(now, &self.board);
        }
    }

    /// Whether pacing is still the limit and the application cannot write. Most ACKs arrive between departures,
    /// so this test is a fast path.
    #[inline(always)]
    fn is_still_paced(&self, now: Time) -> bool {
        self.departures.is_limited_by_pacing()
            && self.departures.is_held(now)
            && self.queue.is_closed_to_writes()
            && self.board.packets_out() > 0
    }

    #[inline(never)]
    fn push_now(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.connection.is_established() {
            return;
        }
        if self.board.packets_out() == 0 {
            self.end_idle(now);
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

    /// Reduce the window after an idle time, if new data may be sent (`tcp_slow_start_after_idle_check`).
    fn end_idle(&mut self, now: Time) {
        let may_send = self.queue.has_new_data(&self.board) && self.queue.receiver_has_room(&self.board);
        if may_send && self.config.slow_start_after_idle {
            self.window.restart_after(now, self.departures.idle(now), self.rtt.rto());
        }
    }

    /// Send the next burst within all limits. Return the number of packets in the burst, or the reason why no burst was
    /// sent.
    #[inline(always)]
    fn send_next(&mut self, now: Time, small: Small, out: &mut Vec<Segment>) -> Result<u32, Stop> {
        if self.must_wait(now) {
            return Err(Stop::By(Limit::Pacing));
        }
        let room = self.window.room(self.board.in_flight());
        if room == 0 {
            return Err(Stop::By(self.lack_of_data().unwrap_or(Limit::Cwnd)));
        }
        let largest = self.burst_packets();
        let count = match self.next_burst(room, largest) {
            Ok(count) => count,
            Err(limit) if self.rescue(now, limit, out) => return Ok(0),
            Err(limit) => {
                self.note_full_buffer(limit);
                return Err(Stop::By(limit));
            }
        };
        if small == Small::MayWait
            && let Some(stop) = self.deferral(now, room, largest)
        {
            return Err(stop);
        }
        // A chunk that is pushed alone does not wait (`tcp_push_one`).
        let waits = small == Small::MayWait && self.must_wait_for_short(count);
        let count = if waits { count - 1 } else { count };
        if count == 0 {
            return Err(Stop::Small);
        }
        if self.departures.is_throttled(count, NEW_DATA, &self.config, &self.board) {
            return Err(Stop::By(Limit::Host));
        }
        self.send_new(now, count, out);
        Ok(count)
    }

    /// Packets of the next burst of new data, if the window has room for `room` packets, or the limit that allows no
    /// packet. A burst has at most half of the window (`tcp_cwnd_test`).
    #[inline(always)]
    pub(super) fn next_burst(&self, room: u32, largest: u32) -> Result<u32, Limit> {
        let half = (self.window.cwnd() / 2).max(1);
        let without_data = || self.connection.without_data(self.board.packets_out());
        self.queue.sendable(room.min(half).min(largest), &self.board, without_data)
    }

    /// Whether the last of `count` new packets is short and must wait. A FIN on this packet ends the wait (`tcp_nagle_test`).
    #[inline]
    fn must_wait_for_short(&self, count: u32) -> bool {
        if !self.queue.holds_short(&self.board) || !self.config.nagle {
            return false;
        }
        let bytes = self.queue.payload_of(count, &self.board);
        let has_fin = || self.connection.fin_is_due() && bytes == self.queue.unsent(self.board.next_bytes());
        bytes % u64::from(self.config.mss) > 0 && !has_fin()
    }

    /// Send `count` new packets as one burst, and note a short one.
    pub(super) fn send_new(&mut self, now: Time, count: u32, out: &mut Vec<Segment>) {
        let before = self.board.next_bytes();
        self.send_burst(now, count, out);
        let next = self.board.next_bytes();
        self.queue.note_burst(count, next - before, next);
    }

    /// The limit that leaves nothing to send, neither data nor a FIN; `None` if something waits (`tcp_send_head`).
    #[inline]
    pub(super) fn lack_of_data(&self) -> Option<Limit> {
        if self.queue.unsent(self.board.next_bytes()) > 0 {
            return None;
        }
        let without_data = || self.connection.without_data(self.board.packets_out()).err();
        if self.queue.is_full() { Some(Limit::SendBuffer) } else { without_data() }
    }

    /// Mark the flow app-limited if a full send buffer is the limit and the configuration treats a full send
    /// buffer like an idle application.
    fn note_full_buffer(&mut self, limit: Limit) {
        let looks_idle = self.config.quirks.full_send_buffer == FullSendBuffer::AppLimited;
        if limit == Limit::SendBuffer && self.queue.payload_is_full(&self.board) && looks_idle {
            self.check_path_idle();
        }
    }

    /// Rescue-retransmit one outstanding packet, if `limit` means that there is no new data and the rule allows it.
    fn rescue(&mut self, now: Time, limit: Limit, out: &mut Vec<Segment>) -> bool {
        let nothing_new = matches!(limit, Limit::Application | Limit::SendBuffer);
        if !nothing_new || self.recovery.state() != CaState::Recovery {
            return false;
        }
        let end = match self.config.quirks.rescue {
            Rescue::None => return false,
            Rescue::Rfc6675 => self.board.highest_sacked(),
            Rescue::Unbounded => self.board.next(),
        };
        let Some(seq) = self.board.find_untouched(self.recovery.rescued(), end) else { return false };
        self.recovery.note_rescue(seq);
        self.retransmit(now, seq, 1, out);
        self.recovery.count_sent(1);
        true
    }

    fn after_push(&mut self, now: Time, stop: Stop, sent: u32) {
        let (is_deferred, limit) = match stop {
            Stop::By(limit) => (false, limit),
            Stop::Deferred => (true, Limit::Cwnd),
            Stop::Small => (false, Limit::Application),
        };
        // With nothing to send, the window cannot be the limit: Linux calls `tcp_cwnd_validate` in `tcp_write_xmit` only.
        let is_full = is_deferred || self.board.in_flight() >= self.window.cwnd();
        self.validate_window(now, is_full && (sent > 0 || !limit.is_lack_of_data()), sent > 0);
        if sent > 0 {
            self.recovery.count_sent(sent);
            self.schedule_probe(now, false);
        }
        if limit == Limit::Receiver {
            self.await_window(now);
        }
        self.departures.limit(now, limit);
    }

    /// Record whether the congestion window is the limit, after `has_sent` new data or not (`tcp_cwnd_validate`).
    #[inline(always)] // called for every ACK
    pub(super) fn validate_window(&mut self, now: Time, is_limit: bool, has_sent: bool) {
        if is_limit {
            self.window.fill(now, &self.board);
        } else if has_sent && self.window.note_room(now, &self.board, self.rtt.rto()) {
            let may_shrink = self.config.slow_start_after_idle && self.recovery.state() == CaState::Open;
            self.window.shrink_unused(now, may_shrink && !self.queue.waits_for_room(&self.board));
        }
    }

    /// Why a burst with room for fewer packets than the largest burst waits for the next ACK, because this ACK is due
    /// soon; `None`: the burst is sent. A burst that ends a complete chunk does not wait (`tcp_tso_should_defer`).
    fn deferral(&self, now: Time, room: u32, largest: u32) -> Option<Stop> {
        let mss = u64::from(self.config.mss);
        let (next, cwnd) = (self.board.next_bytes(), u64::from(self.window.cwnd()) * mss);
        let (by_cwnd, by_receiver) = (u64::from(room) * mss, self.queue.window_room(next));
        let limit = by_cwnd.min(by_receiver);
        if limit >= u64::from(largest) * mss || limit >= cwnd.min(self.queue.window(&self.board)) / 3 {
            return None;
        }
        let idle = now.since(self.departures.next_departure()) > DEFER_FOR;
        if idle || self.recovery.state() >= CaState::Recovery || self.board.packets_out() == 0 {
            return None;
        }
        let srtt = self.rtt.srtt()?;
        let expected = self.board.get(self.board.una()).sent + srtt;
        // The burst takes from the next chunk what it lacks (`tcp_grow_skb`).
        let burst = room.min((self.window.cwnd() / 2).max(1)).min(largest);
        let waiting = self.queue.grown_chunk(u64::from(burst) * mss, next);
        if expected.since(now) > DEFER_FOR.min(srtt / 2) || self.queue.ends_chunk(waiting, limit, next) {
            return None;
        }
        if by_cwnd < by_receiver && by_cwnd <= waiting {
            return Some(Stop::Deferred);
        }
        let by_receiver = by_receiver <= by_cwnd && by_receiver <= waiting;
        Some(if by_receiver { Stop::By(Limit::Receiver) } else { Stop::Small })
    }

    /// Send `count` new packets as one burst.
    pub(super) fn send_burst(&mut self, now: Time, count: u32, out: &mut Vec<Segment>) {
        let was_idle = self.board.packets_out() == 0;
        self.before_burst(now, count);
        let (mut left, unsent) =
            (self.queue.payload_of(count, &self.board), self.queue.unsent(self.board.next_bytes()));
        let ends_data = left == unsent;
        let at = self.departures.departure(now);
        let mut record = Record::new(at, 0, 0);
        self.delivery.stamp(&mut record, self.board.packets_out()); // all packets of the burst get the same counters
        record.in_flight = self.board.in_flight();
        let (common, mut bytes) = (record.flags, 0);
        for i in 0..count {
            let len = left.min(u64::from(self.config.mss)) as u16;
            record.flags = if i == 0 { common | BURST_HEAD } else { common };
            if ends_data && left == u64::from(len) {
                record.flags |= self.ends_write(len);
            }
            left -= u64::from(len);
            record.len = len;
            record.in_flight += 1;
            let seq = self.board.append(&record);
            bytes += u64::from(len);
            let flags = Flags { last: i + 1 == count && count > 1, again: false };
            let data = self.data(at, seq, &record, flags);
            self.departures.hand_over(now, at, data, out);
        }
        self.departures.account(now, count, bytes, self.stats.sent_packets);
        if was_idle || self.timer.is_probe() {
            self.rearm_retransmission(now);
        }
    }

    fn before_burst(&mut self, now: Time, packets: u32) {
        let from_idle = self.board.in_flight() == 0;
        if !from_idle && !self.window.traits().watches_sends {
            return;
        }
        let sent = Sent { packets, from_idle, gap: self.departures.idle(now) };
        let path = self.path(now);
        self.window.on_send(&sent, &path);
        self.update_pacing_rate();
    }

    /// The flags of the last packet of the written data: PSH, and FIN if it is due (Linux `tcp_push`, `tcp_send_fin`).
    fn ends_write(&mut self, len: u16) -> u16 {
        let push = if len > 0 { PUSH } else { 0 };
        if !self.connection.fin_is_due() || self.queue.is_full() {
            return push;
        }
        self.connection.send_fin();
        push | FIN
    }

    /// Build a data packet that departs at `at`. The last packet of a burst has PSH, so that the receiver processes the
    /// burst immediately (Linux `__tcp_transmit_skb`).
    fn data(&mut self, at: Time, seq: u32, record: &Record, flags: Flags) -> Segment {
        let (Flags { last, again }, len) = (flags, record.len);
        let (push, fin) = (last || record.is(PUSH), record.is(FIN));
        let cwr = !again && self.recovery.take_cwr(); // CWR is on new data only
        self.stats.sent_packets += u64::from(len > 0);
        self.stats.sent_bytes += u64::from(len);
        Segment::Data { seq, len, push, again, cwr, fin, stamp: stamp(at), sent_us: micros(at), riding: None }
    }

    /// Whether pacing forbids sending now. With `sch_fq`: whether pacing forbids passing packets to `sch_fq` now.
    #[inline]
    pub(super) fn must_wait(&self, now: Time) -> bool {
        self.departures.must_wait(now, &self.config, self.window.control(), &self.rtt)
    }

    /// Packets per burst.
    #[inline]
    pub(super) fn burst_packets(&self) -> u32 {
        self.departures.burst_packets(&self.config, self.window.control(), &self.rtt)
    }

    /// Set the pacing rate from the window, or to the rate that the algorithm requests.
    #[inline]
    pub(super) fn update_pacing_rate(&mut self) {
        let mss = self.config.largest_segment();
        self.departures.set_rate(self.window.control(), &self.rtt, mss, self.board.packets_out());
    }

    /// Enlarge the send buffer to a multiple of the window. Late packets enlarge the buffer, too, so that the sender has
    /// data while it waits for them.
    #[inline]
    pub(super) fn expand_send_buffer(&mut self) {
        let packets = self.window.cwnd().max(self.rack.reordering() + 1);
        self.queue.expand(packets, self.window.traits().buffers_three_windows);
    }

    /// Let the application write until the send buffer is full or the application has no more data
    /// (`tcp_sendmsg_locked`). Return the number of packets sent meanwhile.
    #[inline]
    fn write(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        if self.queue.is_closed_to_writes() { 0 } else { self.write_chunks(now, out) }
    }

    /// Write chunks. When the next data to be sent is a full chunk, one burst of this chunk is sent immediately, even
    /// if a later ACK would allow a larger burst (`tcp_push_one`).
    fn write_chunks(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        let mut sent = 0;
        while self.queue.write_chunk(&self.board) {
            if self.queue.is_next_chunk_full(&self.board) {
                sent += self.send_next(now, Small::Goes, out).unwrap_or(0);
            }
        }
        sent
    }

    /// Enlarge the send buffer if the window allows. True if the waiting application has room to write. This
    /// function is called after every attempt to send, whereas Linux checks after ACKs only (`tcp_check_space`,
    /// `sk_stream_write_space`).
    #[inline]
    fn has_room_again(&mut self, now: Time) -> bool {
        self.queue.is_full() && self.frees_room(now)
    }

    #[inline(always)] // called for most ACKs while the buffer is full
    fn frees_room(&mut self, now: Time) -> bool {
        if self.board.in_flight() < self.window.cwnd() {
            self.expand_send_buffer();
            self.window.confirm(now);
        }
        let frees = self.queue.free(&self.board);
        if frees {
            self.check_app_limited();
        }
        frees
    }

    /// Mark packets sent from now on as app-limited if only the application kept the sender from sending
    /// (`tcp_rate_check_app_limited`). Must be called before the application writes.
    pub(super) fn check_app_limited(&mut self) {
        let counts = self.config.quirks.idle_application == IdleApplication::AppLimited;
        if counts && self.queue.lacks_segment(self.board.next_bytes()) {
            self.check_path_idle();
        }
    }

    /// Same as [`Sender::check_app_limited`], but regardless of unsent data. The sender calls this method when a
    /// full send buffer keeps the application from writing.
    fn check_path_idle(&mut self) {
        let in_flight = self.board.in_flight();
        let idle = self.departures.is_host_empty();
        if idle && in_flight < self.window.cwnd() && self.board.lost_out() <= self.board.retrans_out() {
            self.delivery.mark_app_limited(in_flight);
        }
    }

    /// Check for app limitation on ACKs and timers, too, for algorithms that watch for pauses.
    #[inline]
    pub(super) fn watch_pauses(&mut self) {
        if self.window.traits().watches_pauses {
            self.check_app_limited();
        }
    }
}
