//! Explicit congestion notification, the sender's half: what an ACK says of marks.

use super::Sender;
use super::ack::Digest;
use crate::Feedback;

/// What is known of marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The next new packet says that the window was reduced (CWR).
    pub tell_reduced: bool,
    /// Marked packets the receiver has counted, modulo 2^16.
    count: u16,
}

impl Sender {
    /// What an ACK that no later one has overtaken says.
    pub(super) fn read_marks(&mut self, count: u16, ece: bool, digest: &mut Digest) {
        let newly = count.wrapping_sub(self.marks.count);
        if newly <= u16::MAX / 2 {
            digest.marked = u32::from(newly);
            self.marks.count = count;
            self.stats.marked_packets += u64::from(newly);
        }
        digest.ece = match self.config.ecn {
            Feedback::Off => false,
            Feedback::Classic | Feedback::EveryMark => ece,
            Feedback::Accurate => digest.marked > 0,
        };
    }

    /// Marked packets that the algorithm hears of: what the feedback in use can tell of `acked` packets.
    pub(super) fn marks_among(&self, acked: u32, digest: &Digest) -> u32 {
        match self.config.ecn {
            Feedback::Accurate => digest.marked,
            _ if digest.ece => acked,
            _ => 0,
        }
    }

    /// The window was reduced: a receiver that repeats itself wants to know.
    pub(super) fn tell_reduced(&mut self) {
        self.marks.tell_reduced = matches!(self.config.ecn, Feedback::Classic | Feedback::EveryMark);
    }
}
