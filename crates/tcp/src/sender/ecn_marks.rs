//! Explicit congestion notification at the sender: the marks that ACKs report.

use super::Sender;
use super::ack::AckSummary;
use crate::Feedback;

/// State of ECN feedback.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Whether the next new packet has CWR, as the window was reduced.
    pub tell_reduced: bool,
    /// Marked packets that the receiver has counted, modulo 2^16.
    count: u16,
}

impl Marks {
    /// Whether `count` is the receiver's last known count.
    #[inline]
    pub fn is_known(&self, count: u16) -> bool {
        self.count == count
    }

    /// Update the receiver's count and return its growth. An ACK that was overtaken has an old count, which is ignored.
    fn advance(&mut self, count: u16) -> u32 {
        let newly = count.wrapping_sub(self.count);
        if newly > u16::MAX / 2 {
            return 0;
        }
        self.count = count;
        u32::from(newly)
    }
}

impl Sender {
    /// Read the marks in an ACK that no later one has overtaken.
    #[inline]
    pub(super) fn read_marks(&mut self, count: u16, ece: bool, summary: &mut AckSummary) {
        if self.config.ecn == Feedback::Off && count == self.marks.count {
            return;
        }
        let newly = self.marks.advance(count);
        self.stats.marked_packets += u64::from(newly);
        let acked = (self.delivery.delivered - summary.prior_delivered) as u32;
        summary.ece = match self.config.ecn {
            Feedback::Off => false,
            Feedback::Classic | Feedback::EveryMark => ece,
            Feedback::Accurate => newly > 0,
        };
        // The algorithm gets only what the negotiated feedback can report.
        summary.marked = match self.config.ecn {
            Feedback::Accurate => newly,
            _ if summary.ece => acked,
            _ => 0,
        };
        self.delivery.marked += u64::from(summary.marked);
    }

    /// Set CWR on the next new packet, as the window was reduced and the receiver may echo marks until then.
    pub(super) fn tell_reduced(&mut self) {
        self.marks.tell_reduced = matches!(self.config.ecn, Feedback::Classic | Feedback::EveryMark);
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
}
