//! Explicit congestion notification at the sender: the marks that ACKs report.

use crate::feedback::Feedback;

/// State of ECN feedback.
#[derive(Debug, Default)]
pub(super) struct Marks {
    feedback: Feedback,
    /// Marked packets that the receiver has counted, modulo 2^16.
    count: u16,
    /// Timestamp of the latest segment of the other end; `None` if timestamps are not noted.
    stamp: Option<u32>,
    /// Whether the last noted timestamp was not later than the timestamps before it.
    is_stale: bool,
}

/// Marks that one ACK reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// Growth of the receiver's count of marked packets.
    pub counted: u32,
    /// Whether the ACK reports marks: by ECN-Echo or, with AccECN, by a higher count.
    pub ece: bool,
    /// Marked packets, as far as the negotiated feedback can report them.
    pub marked: u32,
}

impl Marks {
    pub fn new(feedback: Feedback) -> Marks {
        Marks { feedback, ..Marks::default() }
    }

    /// Note the timestamp of a segment of the other end.
    pub fn note_stamp(&mut self, stamp: u32) {
        self.is_stale = self.stamp.is_some_and(|latest| stamp <= latest);
        self.stamp = self.stamp.max(Some(stamp));
    }

    /// Whether the count of an ACK that delivers nothing may be old, so that the ACK is not read. A later timestamp shows
    /// that it is new (RFC 9768 section 3.2.2.5; Linux `FLAG_TS_PROGRESS`).
    #[inline]
    pub fn may_be_old(&self, timestamps: bool) -> bool {
        self.feedback == Feedback::Accurate && (self.is_stale || !timestamps)
    }

    /// Whether `count` is the receiver's last known count of marked packets.
    #[inline]
    pub fn is_known(&self, count: u16) -> bool {
        self.count == count
    }

    /// Update the receiver's count of marked packets and return its growth. A count below the known count comes
    /// from an overtaken ACK and is ignored.
    fn advance(&mut self, count: u16) -> u32 {
        let newly = count.wrapping_sub(self.count);
        if newly > u16::MAX / 2 {
            return 0;
        }
        self.count = count;
        u32::from(newly)
    }

    /// Whether an ACK with this count reports no marks because there is no ECN.
    #[inline]
    pub fn reports_none(&self, count: u16) -> bool {
        self.feedback == Feedback::Off && count == self.count
    }

    /// Read the marks in an ACK of `acked` packets that no later ACK has overtaken.
    pub fn read(&mut self, count: u16, ece: bool, acked: u32) -> Report {
        let counted = self.advance(count);
        let ece = match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::EveryMark => ece,
            Feedback::Accurate => counted > 0,
        };
        // The algorithm gets only what the negotiated feedback can report.
        let marked = match self.feedback {
            Feedback::Accurate => counted,
            _ if ece => acked,
            _ => 0,
        };
        Report { counted, ece, marked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_wraps_and_never_goes_back() {
        let mut marks = Marks { count: 65_534, ..Marks::default() };
        assert_eq!([65_535, 3, 1, 3].map(|count| marks.advance(count)), [1, 4, 0, 0]);
    }

    #[test]
    fn only_accurate_feedback_reports_fewer_marks_than_packets() {
        let report = |feedback| Marks::new(feedback).read(2, true, 5);
        assert_eq!(report(Feedback::Off), Report { counted: 2, ece: false, marked: 0 });
        assert_eq!(report(Feedback::Classic), Report { counted: 2, ece: true, marked: 5 });
        assert_eq!(report(Feedback::Accurate), Report { counted: 2, ece: true, marked: 2 });
    }
}
