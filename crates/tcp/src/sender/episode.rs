//! The present or most recent congestion episode, and the evidence that it was spurious: DSACK (RFC 3708), timestamps
//! (Eifel, RFC 3522), F-RTO (RFC 5682).

use super::config::SenderConfig;
use super::probe::TailProbe;
use super::reduction::Reduction;
use crate::feedback::Feedback;
use congestion::{CaState, Undo};

/// State of loss recovery.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Episode {
    state: CaState,
    /// Number of the next new packet when the episode began. The episode ends when all packets below `high` are
    /// acknowledged.
    high: u32,
    /// Timestamp that the last ACK echoed.
    last_echo: u32,
    /// Timeouts since the cumulative acknowledgement last advanced.
    timeouts: u32,
    pub probe: TailProbe,
    /// Whether a reduction that turns out to be spurious is undone.
    undoes: bool,
    /// Whether the receiver echoes marks until it receives CWR.
    tells: bool,
    /// Whether the next new packet must have CWR because the window was reduced.
    tell_reduced: bool,
    /// Whether F-RTO is still checking if the timeout was spurious.
    frto: bool,
    /// Timestamp of the episode's first retransmission.
    first_retransmission: Option<u32>,
    /// Lowest unacknowledged packet when the episode began; `None` if the episode can no longer be undone.
    undo_from: Option<u32>,
    /// Retransmissions of the episode not yet reported as duplicates; `None` before the first retransmission.
    unproven: Option<u32>,
    /// Slow-start threshold to restore if the episode was spurious; 0 if the reduction must not be undone.
    prior_ssthresh: u32,
    /// Packets below this number were already examined for rescue retransmissions.
    rescued: u32,
    pub reduction: Reduction,
}

impl Episode {
    pub fn new(config: &SenderConfig) -> Episode {
        Episode {
            state: CaState::Open,
            high: 0,
            undoes: config.undo,
            tells: matches!(config.ecn, Feedback::Classic | Feedback::EveryMark),
            tell_reduced: false,
            frto: false,
            last_echo: 0,
            first_retransmission: None,
            undo_from: None,
            unproven: None,
            prior_ssthresh: 0,
            timeouts: 0,
            rescued: 0,
            probe: TailProbe::default(),
            reduction: Reduction::new(config.quirks.prr, config.mss),
        }
    }

    #[inline]
    pub fn state(&self) -> CaState {
        self.state
    }

    /// The episode ends when all packets below this number are acknowledged.
    #[inline]
    pub fn high(&self) -> u32 {
        self.high
    }

    /// Whether the window is being reduced.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    /// Whether the episode may still be undone.
    #[inline]
    pub fn can_undo(&self) -> bool {
        self.undo_from.is_some()
    }

    /// Whether the episode was undone.
    pub fn is_undone(&self) -> bool {
        self.undoes && !self.can_undo()
    }

    /// Enter another state of the same episode.
    #[inline]
    pub fn enter(&mut self, state: CaState) {
        self.state = state;
    }

    /// Go to Open, or to Disorder if packets are `suspicious`: SACKed, marked lost or retransmitted.
    pub fn settle(&mut self, suspicious: bool, next: u32) {
        let state = if suspicious { CaState::Disorder } else { CaState::Open };
        if self.state != state {
            self.state = state;
            self.high = next;
        }
    }

    /// Note the timestamp that an ACK echoes.
    #[inline]
    pub fn note_echo(&mut self, echo: u32) {
        self.last_echo = echo;
    }

    /// Record that the cumulative acknowledgement advanced.
    #[inline]
    pub fn note_progress(&mut self) {
        self.timeouts = 0;
    }

    /// Count a timeout.
    pub fn count_timeout(&mut self) {
        self.timeouts += 1;
    }

    /// Whether a timeout begins another reduction. The first timeout of an episode begins a reduction, and so
    /// does a timeout after the cumulative acknowledgement advanced.
    pub fn timeout_reduces(&self, una: u32) -> bool {
        self.state <= CaState::Disorder
            || self.high <= una
            || (self.state == CaState::Loss && self.timeouts == 0)
    }

    /// Enter the state Loss. `fresh`: the sender was not in recovery when the timer fired.
    pub fn enter_loss(&mut self, next: u32, fresh: bool) {
        self.state = CaState::Loss;
        self.high = next;
        self.probe.forget();
        self.tell_reduced = self.tells;
        self.frto = fresh || self.timeouts > 0;
    }

    /// Begin a reduction of a window of `cwnd` packets.
    pub fn begin_reduction(&mut self, next: u32, cwnd: u32) {
        self.high = next;
        self.probe.forget();
        self.reduction.begin(cwnd);
    }

    /// Set CWR on the next new packet, because the window was reduced and the receiver may echo marks until it
    /// receives CWR.
    pub fn tell_reduced(&mut self) {
        self.tell_reduced = self.tells;
    }

    /// Return whether the new packet to be sent now has CWR, and clear the flag.
    #[inline]
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.tell_reduced)
    }

    /// Count packets that were sent during a reduction.
    #[inline]
    pub fn count_sent(&mut self, packets: u32) {
        if self.is_reducing() {
            self.reduction.count_sent(packets);
        }
    }

    /// Count retransmissions that were sent with the timestamp `stamp`.
    pub fn count_retransmissions(&mut self, stamp: u32, packets: u32) {
        self.first_retransmission.get_or_insert(stamp);
        self.unproven = Some(self.unproven.unwrap_or(0) + packets);
    }

    /// Whether F-RTO is still checking if the timeout was spurious.
    pub fn checks_timeout(&self) -> bool {
        self.frto
    }

    /// End the check by F-RTO and treat the timeout as not spurious.
    pub fn accept_timeout(&mut self) {
        self.frto = false;
    }

    /// Prolong the episode until all packets below `next` are acknowledged.
    pub fn prolong(&mut self, next: u32) {
        self.high = next;
    }

    /// The lowest packet that was not examined for rescue retransmissions.
    pub fn rescued(&self) -> u32 {
        self.rescued
    }

    /// Record that packets up to `seq` were examined.
    pub fn note_rescue(&mut self, seq: u32) {
        self.rescued = seq + 1; // all packets below `seq` are delivered, retransmitted or marked lost
    }

    /// Forget the time of the first retransmission, because no retransmission is in the network.
    #[inline]
    pub fn forget_retransmission(&mut self) {
        self.first_retransmission = None;
    }

    /// Begin an episode that may be undone. `retrans_out`: retransmissions in the network, not counting a tail loss
    /// probe.
    pub fn watch_for_undo(&mut self, una: u32, retrans_out: u32) {
        let out = retrans_out + u32::from(self.probe.is_retransmission_out());
        self.undo_from = self.undoes.then_some(una);
        self.unproven = (out > 0).then_some(out);
    }

    /// Record that an undo must not restore the slow-start threshold, for example because an ECN mark is never
    /// spurious.
    #[inline]
    pub fn forget_threshold(&mut self) {
        self.prior_ssthresh = 0;
    }

    /// Set the slow-start threshold that an undo restores.
    pub fn keep_threshold(&mut self, ssthresh: u32) {
        self.prior_ssthresh = ssthresh;
    }

    /// Window and slow-start threshold that an undo restores; `None` if the undo must restore neither.
    pub fn to_restore(&self) -> Option<Undo> {
        let (prior_cwnd, prior_ssthresh) = (self.reduction.prior_cwnd(), self.prior_ssthresh);
        (prior_ssthresh > 0).then_some(Undo { prior_cwnd, prior_ssthresh })
    }

    /// Forbid an undo of the episode.
    #[inline]
    pub fn forbid_undo(&mut self) {
        self.undo_from = None;
    }

    /// Clear the pending CWR, because the reduction was undone.
    pub fn withdraw_cwr(&mut self) {
        self.tell_reduced = false;
    }

    /// Return to Open after a spurious timeout.
    pub fn open_after_spurious_timeout(&mut self) {
        self.timeouts = 0;
        self.state = CaState::Open;
    }

    /// Record that the receiver has reported packet `seq` as a duplicate.
    pub fn see_duplicate(&mut self, seq: u32) {
        if self.undo_from.is_some_and(|from| seq >= from)
            && let Some(unproven) = &mut self.unproven
        {
            *unproven = unproven.saturating_sub(1);
        }
    }

    /// Whether the episode was spurious: every retransmission was a duplicate, or an original packet arrived after its
    /// retransmission was sent.
    pub fn undo_is_due(&self) -> bool {
        self.can_undo() && (self.unproven == Some(0) || self.original_was_delayed())
    }

    /// Whether the episode may be undone because the receiver reported all retransmissions as duplicates, so that
    /// no packet was lost.
    #[inline]
    pub fn all_were_duplicates(&self) -> bool {
        self.can_undo() && self.unproven == Some(0)
    }

    /// Whether the episode may be undone because an original packet arrived late.
    #[inline]
    pub fn original_was_late(&self) -> bool {
        self.can_undo() && self.original_was_delayed()
    }

    /// Whether an original packet arrived: the echoed timestamp is older than the first retransmission, or no
    /// retransmission has been sent yet (pacing may hold it back).
    #[inline]
    fn original_was_delayed(&self) -> bool {
        self.first_retransmission.is_none_or(|first| self.last_echo < first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode() -> Episode {
        let mut episode = Episode::new(&SenderConfig::default());
        episode.watch_for_undo(5, 0);
        episode.begin_reduction(20, 10);
        episode.enter(CaState::Recovery);
        episode
    }

    #[test]
    fn an_episode_was_spurious_if_every_retransmission_was_a_duplicate() {
        let mut episode = episode();
        episode.note_echo(100);
        episode.count_retransmissions(90, 2);
        assert!(!episode.undo_is_due());
        [4, 6].iter().for_each(|&seq| episode.see_duplicate(seq));
        assert!(!episode.all_were_duplicates(), "packet 4 is not of this episode");
        episode.see_duplicate(5);
        assert!(episode.all_were_duplicates() && episode.undo_is_due());
    }

    #[test]
    fn an_echo_older_than_the_first_retransmission_is_of_an_original() {
        let mut episode = episode();
        episode.count_retransmissions(90, 1);
        episode.note_echo(89);
        assert!(episode.original_was_late());
        episode.note_echo(90);
        assert!(!episode.original_was_late());
        episode.forbid_undo();
        assert!(episode.is_undone());
    }
}
