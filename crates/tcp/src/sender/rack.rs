//! Loss detection. RACK marks a packet lost when another packet that was sent sufficiently later was delivered (RFC
//! 8985; Linux `tcp_recovery.c`).
//!
//! Loss detection by duplicate ACKs alone marks a packet lost when three packets above it have been SACKed (RFC 6675,
//! `IsLost`). Linux used this method before RACK, and ns-3 still uses it. This method has no reordering timer,
//! and its threshold is constant. It does not detect the loss of a retransmission. Only the timeout repairs this
//! loss, by marking all outstanding packets lost (RFC 6675 section 5.1).

use super::config::LossDetection;
use super::record::LOST;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use std::ops::Range;
use units::{Duration, Time};

/// Number of duplicate ACKs that end the wait for reordered packets, as long as no reordering was observed (RFC 5681).
const DUP_THRESHOLD: u32 = 3;
/// Largest reordering degree, packets.
const MAX_REORDERING: u32 = 300;
/// Number of recoveries without a spurious retransmission after which the widened reordering window is reset.
const PERSIST_RECOVERIES: u32 = 16;

/// State of RACK: the newest delivered packet (the delivered packet that was sent last), and the reordering
/// observed.
#[derive(Debug)]
pub(super) struct Rack {
    /// Send time and number of the newest delivered packet.
    newest: (Time, u32),
    /// RTT of the newest delivered packet.
    rtt: Duration,
    /// Reordering degree, packets.
    reordering: u32,
    /// Upper limit of `reordering`.
    most_reordering: u32,
    reordering_seen: bool,
    dsack_seen: bool,
    /// Whether a packet was delivered, or an episode was undone, since the last search for losses.
    advanced: bool,
    /// Whether losses are detected by duplicate ACKs alone.
    by_duplicates: bool,
    steps: u32,
    persist: u32,
    last_widened: u64,
    /// Packets below this number were already examined by loss detection with duplicate ACKs.
    settled: u32,
}

impl Rack {
    /// Create the initial state. With `DupAck` the duplicate threshold does not adapt to reordering.
    pub fn new(detection: LossDetection) -> Rack {
        let learns = detection == LossDetection::Rack;
        Rack {
            most_reordering: if learns { MAX_REORDERING } else { DUP_THRESHOLD },
            newest: (Time::ZERO, 0),
            rtt: Duration::ZERO,
            reordering: DUP_THRESHOLD,
            reordering_seen: false,
            dsack_seen: false,
            advanced: false,
            by_duplicates: !learns,
            steps: 1,
            persist: 0,
            last_widened: 0,
            settled: 0,
        }
    }

    /// Account for a delivered packet. `ambiguous`: the packet was retransmitted, so the original may have been
    /// delivered.
    #[inline]
    pub fn advance(&mut self, now: Time, sent: Time, seq: u32, ambiguous: bool, min_rtt: Option<Duration>) {
        let rtt = now.since(sent);
        if ambiguous && min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.newest = self.newest.max((sent, seq));
    }

    /// Record that an episode was undone, so that the next ACK must search for losses anew (Linux
    /// `tcp_undo_cwnd_reduction`).
    pub fn note_undo(&mut self) {
        self.advanced = true;
    }

    /// Record that a packet arrived late, `distance` packets below the highest delivered packet.
    pub fn see_reordering(&mut self, distance: u32) {
        self.reordering = self.reordering.max(distance.min(self.most_reordering));
        self.reordering_seen = true;
    }

    /// Whether [`adapt`](Self::adapt) may change the reordering window.
    #[inline]
    pub fn may_adapt(&self) -> bool {
        self.dsack_seen || self.steps > 1
    }

    /// Widen the reordering window after a spurious retransmission, at most once per round trip.
    pub fn adapt(&mut self, prior_delivered: Option<u64>, delivered: u64) {
        let Some(prior) = prior_delivered else { return };
        if prior < self.last_widened {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(255);
            self.dsack_seen = false;
            self.last_widened = delivered;
            self.persist = PERSIST_RECOVERIES;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Record that a recovery ended without being undone.
    pub fn recovery_was_real(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Record that a recovery was spurious.
    pub fn recovery_was_spurious(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST_RECOVERIES);
    }

    /// Reordering degree, packets.
    pub fn reordering(&self) -> u32 {
        self.reordering
    }

    /// Whether reordering beyond the duplicate threshold was observed.
    pub fn reorders(&self) -> bool {
        self.reordering > DUP_THRESHOLD
    }

    /// Reset a large reordering degree on a timeout with many SACKed packets, because the degree was probably an
    /// overestimate.
    pub fn forget_large_reordering(&mut self, sacked_out: u32) {
        if sacked_out >= DUP_THRESHOLD {
            self.reordering = self.reordering.min(DUP_THRESHOLD);
        }
    }

    /// Time left until a packet sent at `sent` counts as lost; `None` if no time is left.
    pub fn time_left(&self, now: Time, sent: Time, window: Duration) -> Option<Duration> {
        let left = (self.rtt + window).saturating_sub(now.since(sent));
        (left > Duration::ZERO).then_some(left)
    }

    /// Note a DSACK for a packet that was not a tail loss probe.
    pub fn see_dsack(&mut self) {
        self.dsack_seen |= self.reordering_seen;
    }

    /// Whether losses are detected by duplicate ACKs alone.
    #[inline]
    pub fn by_duplicates(&self) -> bool {
        self.by_duplicates
    }

    /// Packets to examine that have three SACKed packets above them; each packet is examined once.
    pub fn examine(&mut self, board: &Scoreboard) -> Range<u32> {
        let Some(below) = board.sacked.nth_highest(DUP_THRESHOLD) else { return 0..0 };
        let from = self.settled.max(board.una());
        self.settled = self.settled.max(below);
        from..below
    }

    /// Whether a packet was sent before the newest delivered packet.
    #[inline]
    pub fn is_overtaken(&self, sent: Time, seq: u32) -> bool {
        (sent, seq) < self.newest
    }

    /// Whether an ACK may reveal losses: RACK has advanced since the last search for losses (Linux
    /// `tcp_rack_mark_lost`), and a packet believed to be in the network was sent before a delivered packet. Always
    /// true with [`LossDetection::DupAck`].
    #[inline]
    pub fn may_have_losses(&mut self, board: &Scoreboard) -> bool {
        let advanced = std::mem::take(&mut self.advanced);
        self.by_duplicates
            || advanced
                && board.oldest_sent().is_some_and(|seq| {
                    let record = board.get(seq);
                    record.is(LOST) || self.is_overtaken(record.sent, seq)
                })
    }

    /// The reordering window: how much later than its successors a packet may arrive before it counts as lost.
    /// `recovers`: the sender is in recovery.
    #[inline]
    pub fn window(&self, recovers: bool, sacked_out: u32, rtt: &RttEstimator) -> Duration {
        if !self.reordering_seen && (recovers || sacked_out >= self.reordering) {
            return Duration::ZERO;
        }
        let min_rtt = rtt.min().unwrap_or_default();
        (min_rtt / 4 * u64::from(self.steps)).min(rtt.srtt().unwrap_or_default())
    }
}
