//! Tail loss probes: if the end of a flight is lost no ACK arrives, so the sender sends one more packet to elicit an
//! ACK (RFC 8985 section 7; Linux `tcp_send_loss_probe`).

use super::Sender;
use super::ack::AckSummary;
use super::host::NEW_DATA;
use super::scoreboard::APP_LIMITED;
use crate::Segment;
use congestion::{CaState, Congestion};
use units::{Duration, Time};

/// State of a probe that awaits its ACK.
#[derive(Debug, Default)]
pub(super) struct TailProbe {
    /// `next` when the probe was sent.
    pub end: Option<u32>,
    /// Whether the probe was a retransmission of the last packet.
    pub was_retransmission: bool,
    /// Whether that packet was sent while the flow was app-limited.
    app_limited: bool,
}

/// Slack of the probe timer.
const SLACK: Duration = Duration::from_millis(2);

impl Sender {
    /// Arm the probe timer if a probe is allowed, and return whether it is. `rto_from_now`: the RTO counts from now,
    /// not from the sending of the head.
    pub(super) fn schedule_probe(&mut self, now: Time, rto_from_now: bool) -> bool {
        let calm = matches!(self.recovery.state, CaState::Open | CaState::Cwr) && self.config.tail_loss_probe;
        let (Some(srtt), true) = (self.rtt.srtt(), calm && self.board.packets_out() > 0) else {
            return false;
        };
        // The ACK of a lone packet may be delayed.
        let slack = if self.board.packets_out() == 1 { self.config.min_rto } else { SLACK };
        let timeout = now + srtt * 2 + slack;
        let rto_at = if rto_from_now { now + self.rtt.rto() } else { self.head_timeout() };
        let due = if rto_at > now { timeout.min(rto_at) } else { timeout };
        self.timer.arm_probe(due + self.pacer.delay(now));
        true
    }

    /// Send a probe, as its timer has fired.
    pub(super) fn send_probe(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.probe.end.is_none() && self.board.packets_out() > 0 {
            if self.has_new_data() && self.receiver_has_room() {
                if self.must_wait(now) || self.is_throttled(1, NEW_DATA) {
                    return self.rearm_retransmission(now); // new data remains paced (Linux `tcp_write_xmit`)
                }
                self.probe.was_retransmission = false;
                self.send_burst(now, 1, out);
            } else {
                let last = self.board.next - 1;
                self.probe.app_limited = self.board.get(last).is(APP_LIMITED);
                self.send_again(now, last, 1, out); // loss recovery does not count it as a retransmission
                self.probe.was_retransmission = true;
            }
            self.probe.end = Some(self.board.next);
            self.timer.disarm();
        }
        self.rearm_retransmission(now);
    }

    /// Judge whether the tail was lost, from an ACK that reaches an outstanding probe.
    #[inline]
    pub(super) fn judge_probe(&mut self, now: Time, ack: u32, summary: &mut AckSummary) {
        if let Some(end) = self.probe.end
            && ack >= end
        {
            self.judge_reached_probe(now, ack, end, summary);
        }
    }

    fn judge_reached_probe(&mut self, now: Time, ack: u32, end: u32, summary: &mut AckSummary) {
        if !self.probe.was_retransmission || summary.dsack_of_probe {
            self.probe.end = None; // both copies arrived, or the probe was new data: no packet was lost
        } else if ack > end {
            self.enter_reduction(now, Congestion::TailLoss { app_limited: self.probe.app_limited });
            self.recovery.state = CaState::Cwr;
            self.end_reduction(now);
            self.keep_open();
        } else if !summary.advanced && !summary.sacked {
            self.probe.end = None; // a pure duplicate
        } else {
            summary.acks_probe = true; // the original or the probe arrived: the next ACK decides
        }
    }
}
