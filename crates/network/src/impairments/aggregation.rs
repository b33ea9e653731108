//! Aggregation: the far end delivers packets in batches.

use super::Effect;
use crate::Dice;
use params::{Entry, params};
use units::Time;

params! {
    /// Parameters of aggregation.
    pub struct Params {
        /// Packets are delivered only at multiples of this time, as on a radio link that aggregates packets.
        slot_ns: u64, "ns", 1.0..=3.6e12, example = 10_000_000;
    }
}

/// The far end delivers packets only at multiples of a period, in batches, like a radio link with aggregation.
#[derive(Clone, Debug)]
pub struct Aggregation {
    slot_ns: u64,
}

impl Effect for Aggregation {
    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        Time::from_nanos(arrival.as_nanos().div_ceil(self.slot_ns).saturating_mul(self.slot_ns))
    }
}

impl Entry<&Dice> for Aggregation {
    type Params = Params;
    const TITLE: &'static str =
        "Packets are delivered only at multiples of a time, as on a radio link with aggregation";
    const SOURCE: &'static str = "";

    fn new(params: Params, _: &Dice) -> Aggregation {
        Aggregation { slot_ns: params.slot_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_for_its_slot_unless_it_is_on_time() {
        let mut slots = Aggregation::new(Params { slot_ns: 10 }, &Dice::new(1, "test"));
        let mut arrival = |t| slots.arrival(Time::ZERO, Time::from_nanos(t)).as_nanos();
        assert_eq!([20, 21, 30].map(&mut arrival), [20, 30, 30]);
    }
}
