//! Accounting of a medium's time by use.

use units::{Duration, Probe, Time};

/// Time by use. The sum over all uses is the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Time without a transmission: no traffic, interframe spaces before an access, backoff.
    pub idle: Duration,
    /// Data PPDUs, over all ports.
    pub data: Duration,
    /// SIFS and answers within exchanges; RTS, CTS and requests for block ACKs.
    pub control: Duration,
    /// Frames that collided, from their start to the end of the longest frame.
    pub collisions: Duration,
    /// Beacons.
    pub beacons: Duration,
}

impl Airtime {
    /// Report the time of each use.
    pub fn observe(&self, probe: &mut Probe<'_>) {
        let uses = [
            ("cell_idle", self.idle),
            ("cell_data", self.data),
            ("cell_control", self.control),
            ("cell_collisions", self.collisions),
            ("cell_beacons", self.beacons),
        ];
        for (name, time) in uses {
            probe.see(name, time.as_secs_f64(), "s");
        }
    }
}

/// Use of one part of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Control frames.
    Control,
    /// A data PPDU.
    Data,
    /// Frames that collide.
    Collision,
    /// A beacon.
    Beacon,
}

/// The parts of an exchange, in order.
pub type Parts = [(Use, Duration); 3];

/// Sums the time of a medium by use, exchange by exchange.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Time by use up to the start of the last exchange.
    before: Airtime,
    start: Time,
    parts: Parts,
    end: Time,
}

impl Account {
    /// Create the account of a medium that has been idle from the beginning.
    pub fn new() -> Account {
        let parts = [(Use::Control, Duration::ZERO); 3];
        Account { before: Airtime::default(), start: Time::ZERO, parts, end: Time::ZERO }
    }

    /// Begin an exchange at `start`, at or after the end of the preceding exchange. Return the end of the new
    /// exchange.
    pub fn begin(&mut self, start: Time, parts: Parts) -> Time {
        self.before = self.until(start);
        let length = parts.iter().fold(Duration::ZERO, |sum, part| sum + part.1);
        (self.start, self.parts, self.end) = (start, parts, start + length);
        self.end
    }

    /// Time by use up to `now`, at or after the start of the last exchange.
    pub fn until(&self, now: Time) -> Airtime {
        let mut sum = self.before;
        let mut left = now.since(self.start);
        for (used_for, length) in self.parts {
            let passed = length.min(left);
            left = left - passed;
            let place = match used_for {
                Use::Control => &mut sum.control,
                Use::Data => &mut sum.data,
                Use::Collision => &mut sum.collisions,
                Use::Beacon => &mut sum.beacons,
            };
            *place = *place + passed;
        }
        sum.idle = sum.idle + left;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_is_counted_once() {
        let us = Duration::from_micros;
        let at = |n| Time::ZERO + us(n);
        let mut account = Account::new();
        let parts = [(Use::Control, us(5)), (Use::Data, us(20)), (Use::Control, us(7))];
        assert_eq!(account.begin(at(100), parts), at(132));
        let whole = Airtime { idle: us(110), data: us(20), control: us(12), ..Airtime::default() };
        assert_eq!(account.until(at(142)), whole);
        let half = Airtime { idle: us(100), data: us(3), control: us(5), ..Airtime::default() };
        assert_eq!(account.until(at(108)), half);
    }
}
