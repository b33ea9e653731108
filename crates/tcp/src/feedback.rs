//! Explicit congestion notification, the receiver's half: how marks are told to the sender.

/// What two endpoints have agreed upon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// No ECN: data packets must not be marked.
    #[default]
    Off,
    /// RFC 3168: ECN-Echo is set from the first mark until the sender says that it has reduced its window.
    Classic,
    /// RFC 8257 section 3.2, DCTCP: ECN-Echo is the mark of the packets acknowledged. An ACK speaks for packets of one
    /// kind only, so a change from marked to unmarked or back is acknowledged at once.
    EveryMark,
    /// RFC 9768, AccECN: every ACK carries the number of marked packets. Here it has 16 bits, as if the option with the
    /// counters went with every ACK: no ACK loss can hide marks, as it can in the three bits of the header. A change
    /// from marked to unmarked or back is acknowledged at once (RFC 9768 section 3.2.2.5.1, change-triggered ACKs;
    /// Linux `tcp_ecn_received_counters`).
    Accurate,
}

impl Feedback {
    /// Everything may be marked, retransmissions and bare ACKs, too. Classic ECN exempts them (RFC 3168 section 6.1.4);
    /// Linux `tcp_ecn_send` marks them capable for DCTCP and with AccECN.
    pub fn covers_everything(self) -> bool {
        matches!(self, Feedback::EveryMark | Feedback::Accurate)
    }
}

/// What the receiver does after an arriving packet's ECN bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Acknowledge what came before this packet, as it was, if that is still to be done.
    pub flush: bool,
    /// Acknowledge this packet at once.
    pub now: bool,
    /// Acknowledge at least so many packets at once.
    pub quick: u32,
}

/// Marks received, and what to say of them.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    feedback: Feedback,
    /// Marked packets so far, modulo 2^16.
    pub count: u16,
    /// ECN-Echo.
    pub ece: bool,
    /// Marks that no ACK has reported yet.
    pending: u32,
    /// The packet before was marked.
    last: bool,
}

/// Packets acknowledged at once after the first mark of an episode (Linux `__tcp_ecn_check_ce`).
const QUICK_ACKS_ON_MARK: u32 = 2;
/// Marks that the sender must not be left ignorant of (RFC 9768 section 3.2.2.5.1).
const MOST_PENDING: u32 = 2;

impl Echo {
    pub fn new(feedback: Feedback) -> Echo {
        Echo { feedback, ..Echo::default() }
    }

    /// Such a packet changes nothing.
    #[inline]
    pub fn has_no_use_for(&self, marked: bool, reduced: bool) -> bool {
        self.feedback == Feedback::Off && !(marked || reduced)
    }

    /// A data packet arrives, marked or not; `reduced`: the sender says that it has reduced its window.
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

    /// What came before a packet that `arrive` wanted flushed is acknowledged.
    pub fn turn(&mut self, marked: bool) {
        if self.feedback == Feedback::EveryMark {
            self.ece = marked;
        }
    }

    /// An ACK leaves.
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
