//! Delayed acknowledgements: their timeout, and ends that also send data, on which acknowledgements can be piggybacked
//! (Linux `tcp_event_data_recv`, `tcp_event_data_sent`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`).

use super::Receiver;
use crate::{Riding, Segment};
use units::{Duration, Time};

/// Delay of a delayed ACK in milliseconds (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
const SHORTEST_MS: u32 = 40;
/// Longest delay of a delayed ACK in milliseconds (`TCP_DELACK_MAX`).
const LONGEST_MS: u32 = 200;
/// Minimum of the RTO in milliseconds (`TCP_RTO_MIN`).
const MIN_RTO_MS: u32 = 200;

/// Timeout of delayed ACKs. The kernel counts in milliseconds.
#[derive(Debug)]
pub(super) struct AckTimeout {
    /// Time that an acknowledgement waits for more data, or for data on which it is piggybacked (`icsk_ack.ato`).
    timeout_ms: u32,
    /// Time at which data last arrived in order; `NEVER` before any data.
    last: Time,
    /// Whether this end sends data soon after it receives data, so that acknowledgements wait
    /// (`inet_csk_in_pingpong_mode`).
    pub answers: bool,
    /// Smoothed RTT of the sender at this end.
    srtt_ms: Option<u32>,
    /// RTO of the sender at this end.
    rto_ms: u32,
}

impl AckTimeout {
    pub fn new() -> AckTimeout {
        AckTimeout {
            timeout_ms: SHORTEST_MS,
            last: Time::NEVER,
            answers: false,
            srtt_ms: None,
            rto_ms: 1_000,
        }
    }

    /// Adapt the timeout to data in order. True if the data is the first of the connection, or follows a pause longer than
    /// the RTO, after which the other side slow-starts again.
    #[inline]
    pub fn receive(&mut self, now: Time) -> bool {
        let last = std::mem::replace(&mut self.last, now);
        // Less than 20 ms apart, the arrivals are at most 20 ticks of the clock apart.
        if now.since(last) < Duration::from_millis(u64::from(SHORTEST_MS / 2)) && last != Time::NEVER {
            self.timeout_ms = self.timeout_ms / 2 + SHORTEST_MS / 2;
            return false;
        }
        self.receive_after_pause(last, now)
    }

    #[cold]
    fn receive_after_pause(&mut self, last: Time, now: Time) -> bool {
        if last == Time::NEVER {
            return true;
        }
        let gap_ms = (now.as_millis() - last.as_millis()).min(u64::from(u32::MAX)) as u32;
        if gap_ms <= SHORTEST_MS / 2 {
            self.timeout_ms = self.timeout_ms / 2 + SHORTEST_MS / 2;
        } else if gap_ms < self.timeout_ms {
            self.timeout_ms = (self.timeout_ms / 2 + gap_ms).min(self.rto_ms).min(LONGEST_MS);
        } else {
            return gap_ms > self.rto_ms;
        }
        false
    }

    /// Record that data is sent. The data counts as an answer if it follows received data within the timeout. One
    /// answer is enough for the interactive mode (`inet_csk_inc_pingpong_cnt`).
    fn send(&mut self, now: Time) {
        self.answers |=
            self.last != Time::NEVER && now.as_millis() - self.last.as_millis() < u64::from(self.timeout_ms);
    }

    /// Longest time for which an acknowledgement is held back. Before any data, nothing is held back: `ato` is 0, so the
    /// ACK of a FIN leaves at once (`tcp_send_delayed_ack`).
    pub fn delay(&self) -> Duration {
        if self.last == Time::NEVER {
            return Duration::ZERO;
        }
        let by_rtt_ms = self.srtt_ms.map_or(LONGEST_MS, |srtt_ms| srtt_ms.max(SHORTEST_MS));
        let longest_ms = by_rtt_ms.min(MIN_RTO_MS - 1); // `tcp_delack_max`
        Duration::from_millis(self.timeout_ms.min(longest_ms).into())
    }

    /// Adapt the timeout to an acknowledgement that left without data.
    pub fn miss(&mut self) {
        self.timeout_ms = if self.answers { SHORTEST_MS } else { (self.timeout_ms * 2).min(self.rto_ms) };
        self.answers = false;
    }

    /// Reset the timeout at the end of quick ACKs (`tcp_dec_quickack_mode`).
    pub fn deflate(&mut self) {
        self.timeout_ms = SHORTEST_MS;
    }

    /// Leave the interactive mode for quick ACKs (`tcp_enter_quickack_mode`).
    fn hurry(&mut self) {
        self.answers = false;
        self.deflate();
    }

    /// Use the RTT of the handshake, at an end without a sender (`tcp_synack_rtt_meas`).
    #[cold]
    pub fn note_handshake(&mut self, rtt: Duration) {
        self.learn(Some(rtt), rtt + (rtt * 2).max(Duration::from_millis(MIN_RTO_MS.into())));
    }

    fn learn(&mut self, srtt: Option<Duration>, rto: Duration) {
        let ceil_ms = |time: Duration| time.as_nanos().div_ceil(1_000_000).min(u64::from(u32::MAX)) as u32;
        (self.srtt_ms, self.rto_ms) = (srtt.map(ceil_ms), ceil_ms(rto));
    }
}

impl Receiver {
    /// Turn this receiver into a receiver at an end that also sends data.
    pub fn interactive(mut self) -> Receiver {
        self.sends = true;
        self
    }

    /// Process the other side's SYN or SYN-ACK with the timestamp `stamp`.
    pub fn on_syn(&mut self, now: Time, stamp: u32) {
        self.rtt.answered = Some(now);
        self.echo = stamp;
    }

    /// Copy the smoothed RTT and the RTO from the sender at this end.
    pub fn learn(&mut self, srtt: Option<Duration>, rto: Duration) {
        self.ack_timeout.learn(srtt, rto);
    }

    /// The acknowledgement to piggyback on `len` bytes of data that leave now (`tcp_event_ack_sent`). `None` while
    /// there are SACK blocks to report, which are sent in a separate ACK.
    pub fn ride(&mut self, now: Time, len: u16, out: &mut Vec<Segment>) -> Option<Riding> {
        if len > 0 {
            self.ack_timeout.send(now);
        }
        if self.dsack.is_some() || !self.recent.is_empty() {
            self.acknowledge(out);
            return None;
        }
        let riding = self.riding();
        self.acknowledged(u32::from(self.unacked > 0));
        Some(riding)
    }

    /// Send the acknowledgement that is held back, if any.
    pub fn acknowledge(&mut self, out: &mut Vec<Segment>) {
        if self.unacked > 0 || self.compressed > 0 || self.dsack.is_some() {
            self.send_ack(out);
        }
    }

    /// Whether the other side has closed and all its packets have arrived.
    pub fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Process packet `seq` with `len` bytes, with or without a FIN. True if the application reads immediately, so that
    /// the packet must be acknowledged now (`tcp_cleanup_rbuf` after `ICSK_ACK_PUSHED`). Once everything up to a FIN
    /// has arrived, this end is expected to answer (`tcp_fin`).
    #[cold] // bulk data arrives at ends that send nothing
    pub(super) fn interact(&mut self, seq: u32, len: u16, fin: bool) -> bool {
        if fin {
            if self.fin.is_none() && seq < self.next {
                self.dsack = None; // a FIN in order resets the SACK state (`tcp_fin`)
            }
            self.fin = Some(seq);
        }
        self.ack_timeout.answers |= self.is_finished();
        len > 0 && u32::from(len) < self.config.mss
    }

    /// Acknowledge at least the next `packets` packets immediately, each with its own ACK.
    pub(super) fn quicken(&mut self, packets: u32) {
        self.quick = self.quick.max(packets);
        self.ack_timeout.hurry();
    }
}
