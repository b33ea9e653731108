//! When payload that does not arrive in order is in order.

use super::Receiver;
use crate::Segment;
use crate::numbered::Numbered;
use crate::segment::micros;
use units::{Duration, Histogram, Time};

/// How long payload takes from its first transmission until it is in order.
#[derive(Debug, Default)]
pub struct InOrder {
    /// How long it took. Payload of later transmissions is not among it before it is said when the first one was.
    pub delays: Histogram,
    /// Payload of later transmissions: when it was in order, and the number of its packet.
    pub again: Vec<(Time, u32)>,
    /// Of packets beyond a hole: when the transmission was sent that has arrived, microseconds modulo 2^32, and whether it was
    /// not the first.
    waiting: Numbered<(u32, bool)>,
}

impl Receiver {
    /// From now on measures how long payload takes until it is in order.
    pub fn measure_in_order(&mut self) {
        self.in_order = Some(Box::default());
    }

    /// How long payload has taken until it was in order, if that is measured.
    #[inline]
    pub fn in_order(&mut self) -> Option<&mut InOrder> {
        self.in_order.as_deref_mut()
    }
}

impl InOrder {
    /// A packet was taken where `expected` was; now it is the turn of `next`.
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
