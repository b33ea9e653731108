//! Transmissions of packets that were sent again.

use super::rack::Rack;
use super::scoreboard::{EVER_RETRANSMITTED, Record};
use crate::numbered::Numbered;
use crate::receiver::{Arrivals, Transmission};
use units::Time;

/// What was known of packets when they were sent again.
#[derive(Debug, Default)]
pub(super) struct Transmissions {
    /// Earlier transmissions that were sent after every packet of which it is known that it was delivered.
    replaced: Vec<(Time, u32)>,
    /// When each packet was first sent, microseconds modulo 2^32, if that is kept.
    first_us: Option<Numbered<u32>>,
}

impl Transmissions {
    /// A packet is sent again. Packets below `una` are acknowledged.
    #[inline]
    pub fn replace(&mut self, seq: u32, record: &Record, rack: &Rack, una: u32) {
        let (sent, newest) = (record.sent, rack.newest());
        if (sent, seq) > newest {
            self.replaced.retain(|other| *other > newest);
            self.replaced.push((sent, seq));
        }
        if let Some(first_us) = self.first_us.as_mut().filter(|_| !record.is(EVER_RETRANSMITTED)) {
            first_us.set(seq, sent.as_micros() as u32, una);
        }
    }

    /// From now on keeps when packets were first sent.
    pub fn keep_first(&mut self) {
        self.first_us = Some(Numbered::default());
    }

    /// When a packet that was sent again was first sent, microseconds modulo 2^32.
    pub fn first_us(&self, seq: u32) -> Option<u32> {
        self.first_us.as_ref()?.get(seq)
    }

    /// How many may still be on their way, if these have arrived.
    pub fn under_way(&self, arrivals: &Arrivals) -> usize {
        let sent = |&(sent, seq): &(Time, u32)| Transmission { sent_us: sent.as_micros(), seq };
        self.replaced.iter().map(sent).filter(|one| arrivals.may_follow(*one)).count()
    }
}
