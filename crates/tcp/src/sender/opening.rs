//! Opening a connection (RFC 9293 section 3.5; Linux `tcp_connect`, `tcp_rcv_synsent_state_process`,
//! `tcp_rcv_state_process`): actively with a SYN, or passively with the answer to one.

use super::{RttEstimator, Sender, pacer, stamp};
use crate::Segment;
use units::{Duration, Time};

/// The segment that is sent, and retransmitted, until the connection is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Opening {
    /// Timestamp to echo and receive window of a SYN-ACK; `None`: a SYN.
    answer: Option<(u32, u32)>,
    /// Whether it was sent more than once, so that its RTT is ambiguous (Karn).
    repeated: bool,
}

impl Sender {
    /// Send the SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.limits.start(now);
        self.send_syn(now, out);
    }

    /// Answer a SYN that has the timestamp `echo` with a SYN-ACK, which opens the direction of this sender, too.
    /// `window` is that of the receiver at this end.
    pub fn accept(&mut self, now: Time, echo: u32, window: u32, out: &mut Vec<Segment>) {
        if self.established {
            return; // a late SYN
        }
        match self.opening.answer {
            None => self.limits.start(now),
            Some(_) => self.opening.repeated = true, // the first SYN-ACK was lost
        }
        self.opening.answer = Some((echo, window));
        self.send_syn(now, out);
    }

    /// Answer a SYN-ACK, also a retransmitted one.
    pub fn confirm(&mut self, now: Time, out: &mut Vec<Segment>) {
        out.push(Segment::HandshakeAck { stamp: stamp(now), echo: 0, window: 0 });
    }

    fn send_syn(&mut self, now: Time, out: &mut Vec<Segment>) {
        let stamp = stamp(now);
        out.push(match self.opening.answer {
            None => Segment::Syn { stamp },
            Some((echo, window)) => Segment::SynAck { echo, stamp, window },
        });
        self.last_send = now;
        self.timer.arm_retransmission(now + self.rtt.rto());
    }

    pub(super) fn on_syn_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.stats.timeouts += 1;
        self.opening.repeated = true;
        self.rtt.back_off();
        self.send_syn(now, out);
    }

    /// Continue the handshake. An ACK of any kind completes it at the passive end (`tcp_synack_rtt_meas`).
    #[cold]
    pub(super) fn shake_hands(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        match (*segment, self.opening.answer) {
            (Segment::SynAck { echo, window, .. }, None) => {
                self.establish(now, echo, window);
                self.confirm(now, out);
            }
            (Segment::HandshakeAck { echo, window, .. } | Segment::Ack { echo, window, .. }, Some(_)) => {
                self.establish(now, echo, window);
            }
            _ => return,
        }
        // An application writes once its connection is open, and closes after that: data first, then the FIN.
        let fin = std::mem::take(&mut self.fin);
        self.push(now, out);
        self.fin = fin;
        self.push_fin(now, out);
    }

    fn establish(&mut self, now: Time, echo: u32, window: u32) {
        self.established = true;
        self.timer.disarm();
        let echoed_ms = u64::from(stamp(now).saturating_sub(echo).max(1));
        let repeated = self.opening.repeated;
        let rtt = if repeated { Duration::from_millis(echoed_ms) } else { now.since(self.last_send) };
        self.rtt = RttEstimator::new(self.config.min_rto); // forget the back-off
        self.take_rtt_sample(now, rtt);
        self.window_end = u64::from(window);
        self.delivery.delivered = 1; // the SYN counts as delivered, as in Linux
        self.delivery.delivered_time = now;
        self.usage.confirm(now);
        let path = self.path(now);
        self.algorithm.on_established(&path);
        self.traits = self.algorithm.traits();
        self.pacer = pacer(self.traits, self.config.pacing);
        self.refresh_control();
        self.update_pacing_rate();
        self.expand_send_buffer();
    }
}
