//! Delay of payload until it is delivered in order.

use super::Receiver;
use crate::Segment;
use crate::numbered::Numbered;
use crate::segment::micros;
use units::{Duration, Histogram, Time};

/// Delays of payload from its first transmission until it is delivered in order.
#[derive(Debug, Default)]
pub struct InOrder {
    /// The delays. The delays of retransmitted packets are added later, when the sender has supplied the times of their
    /// first transmissions.
    pub delays: Histogram,
    /// Retransmitted packets: delivery time and packet number.
    pub again: Vec<(Time, u32)>,
    /// Packets beyond a hole: send time of the transmission that arrived (microseconds modulo 2^32), and whether this
    /// transmission was a retransmission.
    waiting: Numbered<(u32, bool)>,
}

impl Receiver {
    /// Measure in-order delays from now on.
    pub fn measure_in_order(&mut self) {
        self.in_order = Some(Box::default());
    }

    /// Delays until delivery in order; `None` if they are not measured.
    #[inline]
    pub fn in_order(&mut self) -> Option<&mut InOrder> {
        self.in_order.as_deref_mut()
    }
}

impl InOrder {
    /// Record the delays of the packets in `[expected, next)`, which an arriving packet has brought in order.
    #[inline(never)]
    pub(super) fn note(&mut self, now: Time, [expected, next]: [u32; 2], segment: &Segment) {
        let Segment::Data { seq, len, again, sent_us, .. } = *segment else { return };
        if seq >= expected && len > 0 && self.waiting.get(seq).is_none() {
            self.waiting.set(seq, (sent_us, again), expected);
        }
        for seq in expected..next {
            match self.waiting.get(seq) {
                Some((sent_us, false)) => {
                    let took_us = micros(now).wrapping_sub(sent_us);
                    self.delays.record(Duration::from_micros(took_us.into()));
                }
                Some((_, true)) => self.again.push((now, seq)),
                None => {}
            }
        }
    }
}
