//! RACK: a packet is marked lost when one sent sufficiently later was delivered (RFC 8985; Linux `tcp_recovery.c`).

use super::scoreboard::{APP_LIMITED, LOST, RETRANSMITTED};
use super::{LossDetection, Sender};
use congestion::{CaState, LostPacket};
use units::{Duration, Time};

/// Duplicate ACKs that end the wait for reordered packets, until reordering is observed (RFC 5681).
pub(super) const DUP_THRESHOLD: u32 = 3;
/// Largest reordering degree, packets.
const MAX_REORDERING: u32 = 300;
/// Recoveries without a spurious retransmission after which the widened reordering window is reset.
const PERSIST_RECOVERIES: u32 = 16;
/// Slack of the reordering timer.
const TIMER_SLACK: Duration = Duration::from_millis(2);

/// State of RACK: the most recently sent packet among those delivered, and the reordering observed.
#[derive(Debug)]
pub(super) struct Rack {
    /// When that packet was sent, and its number.
    newest: (Time, u32),
    /// RTT of that packet.
    pub rtt: Duration,
    /// Reordering degree, packets.
    pub reordering: u32,
    /// Upper limit of `reordering`.
    most_reordering: u32,
    pub reordering_seen: bool,
    pub dsack_seen: bool,
    steps: u32,
    persist: u32,
    last_widened: u64,
}

impl Rack {
    /// The initial state. With `DupAck` the threshold does not adapt to reordering.
    pub fn new(detection: LossDetection) -> Rack {
        let learns = detection == LossDetection::Rack;
        Rack {
            most_reordering: if learns { MAX_REORDERING } else { DUP_THRESHOLD },
            newest: (Time::ZERO, 0),
            rtt: Duration::ZERO,
            reordering: DUP_THRESHOLD,
            reordering_seen: false,
            dsack_seen: false,
            steps: 1,
            persist: 0,
            last_widened: 0,
        }
    }

    /// Account for a delivered packet. `ambiguous`: it was retransmitted, so the original may have been delivered.
    #[inline]
    pub fn advance(&mut self, now: Time, sent: Time, seq: u32, ambiguous: bool, min_rtt: Option<Duration>) {
        let rtt = now.since(sent);
        if ambiguous && min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max((sent, seq));
    }

    /// Note that a packet arrived late, `distance` packets below the highest delivered one.
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

    /// Note that a recovery ended without being undone.
    pub fn recovery_was_real(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Note that a recovery was spurious.
    pub fn recovery_was_spurious(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST_RECOVERIES);
    }

    /// Whether reordering beyond the duplicate threshold was observed.
    pub fn reorders(&self) -> bool {
        self.reordering > DUP_THRESHOLD
    }

    /// Reset a large reordering degree on a timeout with many SACKed packets: it was probably an overestimate.
    pub fn forget_large_reordering(&mut self, sacked_out: u32) {
        if sacked_out >= DUP_THRESHOLD {
            self.reordering = self.reordering.min(DUP_THRESHOLD);
        }
    }

    /// Time left until a packet sent at `sent` counts as lost; `None` if that time has come.
    pub fn time_left(&self, now: Time, sent: Time, window: Duration) -> Option<Duration> {
        let left = (self.rtt + window).saturating_sub(now.since(sent));
        (left > Duration::ZERO).then_some(left)
    }
}

impl Sender {
    /// The reordering window: how much later than its successors a packet may arrive before it counts as lost.
    fn reordering_window(&self) -> Duration {
        if !self.rack.reordering_seen {
            let certain =
                self.recovery.state >= CaState::Recovery || self.board.sacked_out >= self.rack.reordering;
            if certain {
                return Duration::ZERO;
            }
        }
        let min_rtt = self.rtt.min().unwrap_or_default();
        (min_rtt / 4 * u64::from(self.rack.steps)).min(self.rtt.srtt().unwrap_or_default())
    }

    /// Mark every packet lost whose time has expired. Return the longest remaining time of the others sent before the
    /// newest delivered packet.
    pub(super) fn detect_losses(&mut self, now: Time) -> Option<Duration> {
        if self.config.loss_detection == LossDetection::DupAck {
            self.detect_losses_by_duplicates(now);
            return None;
        }
        let (mut window, mut wait) = (None, None);
        let mut cursor = self.board.oldest_sent();
        while let Some(seq) = cursor {
            let record = self.board.get(seq);
            cursor = record.next_sent();
            if record.flags & (LOST | RETRANSMITTED) == LOST {
                continue; // marked by a timeout, waiting to be retransmitted
            }
            if (record.sent, seq) >= self.rack.newest {
                break;
            }
            let sent = record.sent;
            let window = *window.get_or_insert_with(|| self.reordering_window());
            match self.rack.time_left(now, sent, window) {
                None => {
                    self.mark_lost(now, seq);
                    self.board.unlink(seq);
                }
                left => wait = wait.max(left),
            }
        }
        wait
    }

    /// Whether there may be losses: a packet believed to be in the network was sent before a delivered one. Always true
    /// with `DupAck`.
    #[inline]
    fn may_have_losses(&self) -> bool {
        self.config.loss_detection == LossDetection::DupAck
            || self.board.oldest_sent().is_some_and(|seq| {
                let record = self.board.get(seq);
                record.is(LOST) || (record.sent, seq) < self.rack.newest
            })
    }

    /// Detect losses on an ACK. True if the reordering timer was armed.
    #[inline(always)] // called for most ACKs while a packet is missing
    pub(super) fn detect_losses_and_arm(&mut self, now: Time) -> bool {
        if !self.may_have_losses() {
            return false;
        }
        let wait = self.detect_losses(now);
        if let Some(wait) = wait {
            self.timer.arm_reordering(now + wait + TIMER_SLACK);
        }
        wait.is_some()
    }

    pub(super) fn mark_lost(&mut self, now: Time, seq: u32) {
        if self.board.mark_lost(seq) {
            self.delivery.lost += 1;
            self.stats.lost_packets += u64::from(self.board.get(seq).len > 0);
            if self.traits.watches_losses {
                self.report_loss(now, seq);
            }
        }
    }

    fn report_loss(&mut self, now: Time, seq: u32) {
        let record = self.board.get(seq);
        let lost = LostPacket {
            number: u64::from(seq),
            tx_in_flight: self.in_flight_before_loss(seq),
            lost: (self.delivery.lost as u32).wrapping_sub(record.lost),
            app_limited: record.is(APP_LIMITED),
        };
        let path = self.path(now);
        self.algorithm.on_lost(&lost, &path);
        self.refresh_control();
    }
}
