//! A bulk application whose data become available at given rates.

use super::application::{Application, Sockets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Time};

/// Rate at which the application writes from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Start of this rate.
    pub at_ns: u64,
    /// Rate of payload, written packet by packet; 0: nothing; `None`: unlimited.
    pub rate_bps: Option<u64>,
}

impl Pace {
    fn at(&self) -> Time {
        Time::from_nanos(self.at_ns)
    }
}

/// Writes data packet by packet, at a rate that changes at given times.
#[derive(Debug)]
pub struct Paced {
    /// Paces that have not begun, in reverse order of time.
    later: Vec<Pace>,
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
    /// An application with these paces, in the order of time. Data are unlimited from `start` to the first pace. `mss`
    /// is the payload of a full segment.
    pub fn new(start: Time, paces: &[Pace], mss: u32) -> Paced {
        Paced {
            later: paces.iter().rev().copied().collect(),
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
                // Data that an unlimited pace has offered and that are not yet sent are withdrawn.
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
        self.later.last().map_or(Time::NEVER, Pace::at).min(self.next_write)
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        let connection = *self.connection.get_or_insert_with(|| sockets.open(false));
        while let Some(pace) = self.later.pop_if(|pace| pace.at() <= now) {
            self.change_pace(pace.at().max(now), pace.rate_bps, sockets.stream.sent_bytes);
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
