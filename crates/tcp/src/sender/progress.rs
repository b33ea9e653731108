//! Fast path for an ACK that only advances, while there are no losses, marks or retransmissions. Most ACKs are such.
//! The result is that of `ack.rs`.

use super::Sender;
use super::scoreboard::EVER_RETRANSMITTED;
use crate::Segment;
use congestion::{Ack, CaState};
use units::{Duration, Time};

impl Sender {
    /// Whether an ACK without SACK blocks and ECN-Echo only advances: every packet was sent once, and none may be lost.
    #[inline]
    pub(super) fn is_progress(&self, ack: u32, ce_count: u16) -> bool {
        let board = &self.board;
        ack > board.una
            && self.recovery.state == CaState::Open
            && board.is_clean()
            && self.marks.is_known(ce_count)
            && self.probe.end.is_none()
            && !self.rack.may_adapt()
            && (board.una..ack).all(|seq| !board.recent(seq).is(EVER_RETRANSMITTED))
    }

    /// Process such an ACK.
    #[inline(never)]
    pub(super) fn on_progress(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let &Segment::Ack { ack, echo, window, one_way_us, .. } = segment else { return };
        let (una, prior_in_flight) = (self.board.una, self.board.in_flight());
        let (acked, oldest) = (ack - una, self.board.recent(una).sent);
        self.last_echo = echo;
        while self.board.una < ack {
            self.stats.acked_bytes += u64::from(self.board.acknowledge_lowest().len);
        }
        self.delivery.delivered += u64::from(acked);
        self.window_end = self.window_end.max(self.board.una_bytes + u64::from(window));
        self.recovery.timeouts = 0;
        // The acknowledged packet sent last is sampled. Its record stays in the ring until the next packet is sent.
        let record = self.board.recent(ack - 1);
        self.rack.advance(now, record.sent, ack - 1, false, None);
        self.delivery.sample(ack - 1, record.sent, &mut None);
        let lone = acked == 1 && u32::from(record.len) < self.config.mss;
        let delayed = lone && u64::from(record.delivered) + 1 == self.delivery.delivered;
        let rtt = now.since(record.sent);
        self.learn_rtt(now, now.since(oldest), rtt, delayed);
        let record = self.board.recent(ack - 1);
        let rate = self.delivery.finish(now, acked, Some(record), self.rtt.min());
        self.set_timer_after_progress(now);
        let digest = Ack {
            acked,
            cumulative: acked,
            lost: 0,
            marked: 0,
            rtt: Some(rtt),
            one_way_delay: Some(Duration::from_micros(u64::from(one_way_us))),
            delayed,
            prior_state: CaState::Open,
            prior_in_flight,
            may_grow: true,
            advanced: true,
            una: u64::from(ack),
            rate,
            acks_probe: false,
        };
        self.consult(now, &digest);
        self.apply_control();
        self.push(now, out);
    }
}
