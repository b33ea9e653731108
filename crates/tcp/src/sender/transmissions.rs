//! Transmissions of packets that were sent again.

use super::scoreboard::{EVER_RETRANSMITTED, Record};
use crate::numbered::Numbered;
use crate::receiver::{Arrivals, Transmission};

/// So many may be kept before they are looked through.
const FEWEST: usize = 64;

/// What was known of packets when they were sent again, or acknowledged after that.
#[derive(Debug)]
pub(super) struct Transmissions {
    /// Those that the scoreboard no longer has. Some may still be on their way.
    past: Vec<Transmission>,
    /// With so many of them it is time to forget some.
    most: usize,
    /// When each packet was first sent, microseconds modulo 2^32, if that is kept.
    first_us: Option<Numbered<u32>>,
}

impl Default for Transmissions {
    fn default() -> Transmissions {
        Transmissions { past: Vec::new(), most: FEWEST, first_us: None }
    }
}

impl Transmissions {
    /// A packet is sent again. Packets below `una` are acknowledged.
    #[inline]
    pub fn replace(&mut self, seq: u32, record: &Record, una: u32) {
        self.pass(seq, record);
        if let Some(first_us) = self.first_us.as_mut().filter(|_| !record.is(EVER_RETRANSMITTED)) {
            first_us.set(seq, record.sent.as_micros() as u32, una);
        }
    }

    /// The scoreboard forgets when a packet was last sent.
    pub fn pass(&mut self, seq: u32, record: &Record) {
        if record.len > 0 {
            self.past.push(Transmission { sent_us: record.sent.as_micros(), seq });
        }
    }

    /// There are many of which the scoreboard has forgotten.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.past.len() >= self.most
    }

    /// Forgets those before the newest that has arrived.
    pub fn forget(&mut self, arrivals: &Arrivals) {
        self.past.retain(|one| arrivals.may_follow(*one));
        self.most = FEWEST.max(2 * self.past.len());
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
        self.past.iter().filter(|one| arrivals.may_follow(**one)).count()
    }
}
