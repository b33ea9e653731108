//! Explicit congestion notification at the receiver: how marks are reported to the sender.

/// ECN feedback that the two endpoints have negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// No ECN: data packets must not be marked.
    #[default]
    Off,
    /// RFC 3168: the receiver sets ECN-Echo from the first mark until the sender signals a reduced window (CWR).
    Classic,
    /// RFC 8257 section 3.2, DCTCP: ECN-Echo says whether the acknowledged packets were marked. An ACK never covers
    /// both marked and unmarked packets, so the receiver sends an ACK immediately when the marking changes.
    EveryMark,
    /// RFC 9768, AccECN: every ACK carries the number of marked packets. The counter has 16 bits, as if every ACK had
    /// the AccECN option, which contains the counters. A lost ACK therefore never hides marks, unlike with the
    /// three-bit counter of the TCP header. When packets change from marked to unmarked or back, the receiver sends an
    /// ACK immediately (RFC 9768 section 3.2.2.5.1, change-triggered ACKs; Linux `tcp_ecn_received_counters`).
    Accurate,
}

impl Feedback {
    /// Whether retransmissions and bare ACKs are ECN-capable, too. Classic ECN exempts these packets (RFC 3168
    /// section 6.1.4). With DCTCP and with AccECN, Linux `tcp_ecn_send` sends these packets as ECT.
    pub fn covers_everything(self) -> bool {
        matches!(self, Feedback::EveryMark | Feedback::Accurate)
    }
}

/// Acknowledgements that the ECN bits of an arriving packet require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Whether to acknowledge earlier packets first, with the old ECN-Echo, if they are still unacknowledged.
    pub flush: bool,
    /// Whether to acknowledge this packet immediately.
    pub now: bool,
    /// Smallest number of following packets to acknowledge immediately, each with its own ACK.
    pub quick: u32,
}

/// Marks received, and the feedback that they cause.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    feedback: Feedback,
    /// Marked packets so far, modulo 2^16.
    pub count: u16,
    /// The ECN-Echo flag of the next ACK.
    pub ece: bool,
    /// Marks that no ACK has reported yet.
    pending: u32,
    /// Whether the preceding packet was marked.
    last: bool,
}

/// Number of packets acknowledged immediately after the first mark of an episode (Linux `__tcp_ecn_check_ce`).
const QUICK_ACKS_ON_MARK: u32 = 2;
/// Number of unreported marks from which the receiver acknowledges immediately (RFC 9768 section 3.2.2.5.1).
const MOST_PENDING: u32 = 2;

impl Echo {
    pub fn new(feedback: Feedback) -> Echo {
        Echo { feedback, ..Echo::default() }
    }

    /// Whether a packet with these ECN bits leaves the state of the feedback unchanged.
    #[inline]
    pub fn has_no_use_for(&self, marked: bool, reduced: bool) -> bool {
        self.feedback == Feedback::Off && !(marked || reduced)
    }

    /// Process the ECN bits of an arriving data packet; `reduced`: the packet has CWR, so the sender has reduced
    /// its window.
    pub fn arrive(&mut self, marked: bool, reduced: bool) -> Wanted {
        self.count = self.count.wrapping_add(u16::from(marked));
        let mut wanted = Wanted { now: reduced, ..Wanted::default() };
        match self.feedback {
            Feedback::Off => {}
            Feedback::Classic => {
                self.ece &= !reduced;
                if marked && !self.ece {
                    wanted.quick = QUICK_ACKS_ON_MARK;
                }
                self.ece |= marked;
            }
            Feedback::EveryMark => {
                wanted.flush = marked != self.ece;
                wanted.now |= wanted.flush;
            }
            Feedback::Accurate => {
                self.pending += u32::from(marked);
                wanted.now |= self.pending >= MOST_PENDING || marked != self.last;
                self.last = marked;
            }
        }
        wanted
    }

    /// Process the ECN bits of a segment without data, which AccECN counts, too. True if the next acknowledgement is sent
    /// immediately, because the marking changes (Linux `tcp_ecn_received_counters`).
    pub fn arrive_bare(&mut self, marked: bool) -> bool {
        if self.feedback != Feedback::Accurate {
            return false;
        }
        self.count = self.count.wrapping_add(u16::from(marked));
        self.pending += u32::from(marked);
        marked != std::mem::replace(&mut self.last, marked)
    }

    /// Set the ECN-Echo of DCTCP to the mark of the packet passed to `arrive`. Must be called after the flush, if any.
    pub fn turn(&mut self, marked: bool) {
        if self.feedback == Feedback::EveryMark {
            self.ece = marked;
        }
    }

    /// Record that an ACK has left.
    pub fn reported(&mut self) {
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_echo_stays_until_the_sender_has_reduced() {
        let mut echo = Echo::new(Feedback::Classic);
        assert_eq!(echo.arrive(true, false).quick, QUICK_ACKS_ON_MARK);
        assert_eq!(echo.arrive(false, false), Wanted::default());
        assert!(echo.ece);
        assert!(echo.arrive(false, true).now);
        assert!(!echo.ece);
    }

    #[test]
    fn accurate_feedback_reports_changes_at_once_and_nothing_between() {
        let mut echo = Echo::new(Feedback::Accurate);
        let now = [false, true, false, false, true].map(|marked| {
            let now = echo.arrive(marked, false).now;
            echo.reported();
            now
        });
        assert_eq!(now, [false, true, true, false, true]);
        assert_eq!((echo.count, echo.ece), (2, false));
    }

    #[test]
    fn two_marks_that_no_ack_has_reported_are_reported_at_once() {
        let mut echo = Echo::new(Feedback::Accurate);
        echo.arrive(true, false);
        assert!(echo.arrive(true, false).now);
        echo.reported();
        assert!(!echo.arrive(true, false).now);
    }

    #[test]
    fn only_classic_ecn_exempts_retransmissions_and_bare_acks() {
        let all = [Feedback::Off, Feedback::Classic, Feedback::EveryMark, Feedback::Accurate];
        assert_eq!(all.map(Feedback::covers_everything), [false, false, true, true]);
    }
}
