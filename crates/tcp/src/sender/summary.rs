//! Summary of one ACK, which the steps of ACK processing fill and read.

use super::delivery::Newest;
use crate::segment::stamp;
use congestion::CaState;
use units::{Duration, Time};

/// Findings of one ACK, and the state before this ACK.
#[derive(Debug, Default)]
pub(super) struct AckSummary {
    pub prior_una: u32,
    pub prior_state: CaState,
    pub prior_in_flight: u32,
    pub prior_highest: u32,
    pub prior_delivered: u64,
    pub prior_lost: u64,
    pub prior_sacked_out: u32,
    pub echo: u32,
    pub one_way_us: u32,
    /// Whether the cumulative acknowledgement advanced.
    pub advanced: bool,
    /// Whether packets were SACKed for the first time.
    pub sacked: bool,
    /// Whether the ACK acknowledges (or SACKs) a packet that was never retransmitted and was sent before the episode
    /// began.
    pub original_delivered: bool,
    /// Whether the ACK reports marks.
    pub ece: bool,
    /// Whether the ACK has a DSACK.
    pub dsack: bool,
    /// Whether the ACK acknowledges a tail loss probe that was a retransmission. The original packet may then
    /// have arrived.
    pub acks_probe: bool,
    /// Whether the DSACK is for the tail loss probe.
    pub dsack_of_probe: bool,
    /// Whether a retransmission was marked lost.
    pub retransmission_lost: bool,
    pub retransmission_acked: bool,
    /// Whether the retransmission timer is restarted after loss detection.
    pub arm_timer: bool,
    /// Whether the ACK acknowledges a lone short packet.
    pub short_packet: bool,
    /// Lowest packet that was delivered late, below the highest SACKed packet.
    pub reordered_from: Option<u32>,
    /// Times of sending of cumulatively acknowledged packets that were never retransmitted.
    pub acked_sent: Span,
    /// Times of sending of SACKed packets that were never retransmitted.
    pub sacked_sent: Span,
    /// RTT of the newest packet delivered.
    pub rtt: Option<Duration>,
    pub marked: u32,
    pub newest: Newest,
}

/// The echo of an ACK without timestamps: no packet was sent after it.
pub(super) const NO_ECHO: u32 = u32::MAX;

impl AckSummary {
    /// Record that a packet arrived after packets that were sent later.
    pub fn delivered_late(&mut self, seq: u32) {
        self.reordered_from = Some(self.reordered_from.map_or(seq, |lowest| lowest.min(seq)));
    }

    /// Whether the ACK is dubious (Linux `tcp_ack_is_dubious`): it does not advance the cumulative acknowledgement, or
    /// it also reports SACKs, a DSACK or marks.
    #[inline]
    pub fn is_dubious(&self) -> bool {
        !self.advanced || self.sacked || self.dsack || self.ece
    }

    /// RTT samples of the oldest and of the newest acknowledged packet. The sample of the oldest packet is for
    /// the smoothed RTT, the sample of the newest packet for the minimum RTT and the algorithm.
    #[inline(always)] // called for most ACKs while a packet is missing
    pub fn rtt_samples(&self, now: Time) -> Option<(Duration, Duration)> {
        let acked = if self.retransmission_acked { Span::default() } else { self.acked_sent };
        let (oldest, newest) = (acked.or(self.sacked_sent).first, self.sacked_sent.or(acked).last);
        if oldest != Time::NEVER {
            Some((now.since(oldest), now.since(newest)))
        } else if self.advanced && self.echo != NO_ECHO {
            let elapsed_ms = stamp(now).saturating_sub(self.echo).max(1);
            let elapsed = Duration::from_millis(u64::from(elapsed_ms)); // at least 1 ms, the resolution of timestamps
            Some((elapsed, elapsed))
        } else {
            None
        }
    }
}

/// Send times of the first and the last packet of a group; `NEVER` for an empty group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    first: Time,
    last: Time,
}

impl Default for Span {
    fn default() -> Span {
        Span { first: Time::NEVER, last: Time::NEVER }
    }
}

impl Span {
    /// Send time of the first packet.
    #[inline]
    pub fn first(self) -> Time {
        self.first
    }

    /// Add the send time of the next packet.
    #[inline]
    pub fn extend(&mut self, sent: Time) {
        if self.is_empty() {
            self.first = sent;
        }
        self.last = sent;
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == Time::NEVER
    }

    /// This span, or `other` if this span is empty.
    #[inline]
    fn or(self, other: Span) -> Span {
        if self.is_empty() { other } else { self }
    }
}
