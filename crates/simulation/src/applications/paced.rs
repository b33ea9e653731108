//! A bulk application whose data become available at given rates.

use super::application::{Application, Sockets};
use crate::plan::PacePlan;
use units::{Duration, Time};

/// Writes data packet by packet, at a rate that changes at given times.
#[derive(Debug)]
pub struct Paced {
    /// Times and rates in bits per second (0: nothing, `None`: unlimited), last first.
    later: Vec<(Time, Option<u64>)>,
    /// Payload of a full segment.
    mss: u32,
    interval: Duration,
    next_write: Time,
    /// Bytes written so far; `None`: unlimited.
    offered: Option<u64>,
    start: Time,
    connection: Option<u32>,
}

impl Paced {
    /// An application with these paces, in the order of time. Data are unlimited from `start` to the first of them.
    /// `mss`: payload of a full segment.
    pub fn new(start: Time, paces: &[PacePlan], mss: u32) -> Paced {
        let later = paces.iter().rev().map(|pace| (Time::from_nanos(pace.at_ns), pace.rate_bps));
        Paced {
            later: later.collect(),
            mss,
            interval: Duration::ZERO,
            next_write: Time::NEVER,
            offered: None,
            start,
            connection: None,
        }
    }

    fn change_pace(&mut self, at: Time, rate: Option<u64>, sent: u64) {
        self.next_write = Time::NEVER;
        match rate {
            None => self.offered = None,
            Some(rate) => {
                // Unsent data of an unlimited pace are withdrawn.
                self.offered = Some(self.offered.map_or(sent, |bytes| bytes.max(sent)));
                if let Some(nanos) = (u64::from(self.mss) * 8_000_000_000).checked_div(rate) {
                    self.next_write = at;
                    self.interval = Duration::from_nanos(nanos.max(1));
                }
            }
        }
    }
}

impl Application for Paced {
    fn next(&self) -> Time {
        if self.connection.is_none() {
            return self.start;
        }
        self.later.last().map_or(Time::NEVER, |phase| phase.0).min(self.next_write)
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        let connection = *self.connection.get_or_insert_with(|| sockets.open(false));
        while let Some(&(at, rate)) = self.later.last().filter(|phase| phase.0 <= now) {
            self.later.pop();
            self.change_pace(at.max(now), rate, sockets.stream.sent_bytes);
        }
        while self.next_write <= now {
            self.offered = self.offered.map(|bytes| bytes + u64::from(self.mss));
            self.next_write += self.interval;
        }
        sockets.write(connection, self.offered);
    }

    fn stop(&mut self, sockets: &mut Sockets) {
        self.connection.into_iter().for_each(|connection| sockets.close(connection));
    }

    fn is_stream(&self) -> bool {
        true
    }
}
