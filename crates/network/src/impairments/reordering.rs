//! Reordering: delayed packets that later packets overtake.

use super::{Effect, Properties};
use crate::Dice;
use params::{Entry, params};
use units::{Duration, Time};

params! {
    /// Parameters of reordering.
    pub struct Params {
        /// Number of packets per delayed packet: exactly one packet in this number takes longer.
        every: u64, "packets", 1.0..=9.223_372_036_854_776e18, label = "packets per reordering", example = 100;
        /// Extra delay of each delayed packet.
        extra_ns: u64, "ns", 1.0..=3.6e12, label = "extra delay", example = 30_000_000;
        /// Time at which reordering begins.
        from_ns: u64 = 0, "ns", 0.0..=8.64e13;
        /// Time at which reordering ends. Left out: never.
        until_ns: Option<u64> = None, "ns", 0.0..=8.64e13;
    }
}

/// One in `every` packets takes longer on the wire, and later packets overtake it.
#[derive(Clone, Debug)]
pub struct Reordering {
    every: u64,
    extra: Duration,
    /// Start of the reordering: packets that leave earlier are not affected.
    from: Time,
    /// End of the reordering: packets that leave at this time or later are not affected.
    until: Time,
    /// Packets since the last packet that took longer.
    seen: u64,
}

impl Effect for Reordering {
    fn properties(&self) -> Properties {
        Properties { reorders: true, ..Properties::default() }
    }

    fn arrival(&mut self, finish: Time, arrival: Time) -> Time {
        if finish < self.from || finish >= self.until {
            return arrival;
        }
        self.seen = (self.seen + 1) % self.every;
        if self.seen == 0 { arrival + self.extra } else { arrival }
    }
}

impl Entry<&Dice> for Reordering {
    type Params = Params;
    const TITLE: &'static str =
        "Reordering: one of every n packets takes longer on the wire, and later packets overtake it";
    const SOURCE: &'static str = "";

    fn new(params: Params, _: &Dice) -> Reordering {
        Reordering {
            every: params.every,
            extra: Duration::from_nanos(params.extra_ns),
            from: Time::from_nanos(params.from_ns),
            until: params.until_ns.map_or(Time::NEVER, Time::from_nanos),
            seen: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_packet_between_two_times_takes_longer() {
        let params = Params { every: 2, extra_ns: 5, from_ns: 1, until_ns: Some(6) };
        let mut reordering = Reordering::new(params, &Dice::new(1, "test"));
        let at = Time::from_nanos;
        let arrivals: Vec<u64> = (0..8).map(|n| reordering.arrival(at(n), at(n)).as_nanos()).collect();
        assert_eq!(arrivals, [0, 1, 7, 3, 9, 5, 6, 7]);
    }
}
