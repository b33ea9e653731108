//! ACK filter: a middlebox that drops a part of the ACKs.

use super::{Effect, Properties};
use crate::{Dice, StreamId};
use params::{Entry, params};
use std::collections::BTreeMap;

params! {
    /// Parameters of an ACK filter.
    pub struct Params {
        /// The filter passes one plain ACK of each flow per this number of plain ACKs, and drops all others. A plain
        /// ACK reports only progress, without SACK or ECN marks. CAKE has an `ack_filter` of its own, which drops ACKs
        /// that wait in its queue.
        every: u32, "packets", 2..=1_000_000, example = 4;
    }
}

/// Lets one in `every` plain ACKs of a stream pass and drops all others. Plain ACKs only report progress. Plain ACKs
/// have no selective acknowledgements and no marks.
#[derive(Clone, Debug)]
pub struct AckFilter {
    every: u32,
    /// Plain ACKs since the last plain ACK that passed. The counts are in a map, as stream identifiers may be large and
    /// sparse.
    seen: BTreeMap<StreamId, u32>,
}

impl Effect for AckFilter {
    fn properties(&self) -> Properties {
        Properties { filters: true, ..Properties::default() }
    }

    fn filters(&mut self, stream: StreamId, is_plain_ack: bool) -> bool {
        if !is_plain_ack {
            return false;
        }
        let seen = self.seen.entry(stream).or_default();
        *seen += 1;
        let passes = *seen >= self.every;
        if passes {
            self.seen.remove(&stream);
        }
        !passes
    }
}

impl Entry<&Dice> for AckFilter {
    type Params = Params;
    const TITLE: &'static str = "A middlebox drops all but every n-th of the plain ACKs of each flow";
    const SOURCE: &'static str = "RFC 3449, section 5.2.1: the ACKs of an asymmetric path";

    fn new(params: Params, _: &Dice) -> AckFilter {
        AckFilter { every: params.every, seen: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(every: u32) -> AckFilter {
        AckFilter::new(Params { every }, &Dice::new(1, "test"))
    }

    #[test]
    fn every_third_plain_ack_of_each_flow_passes_and_every_other_packet() {
        let mut filter = filter(3);
        let mut passes = |flow, plain| !filter.filters(StreamId(flow), plain);
        assert_eq!([0; 7].map(|_| passes(0, true)), [false, false, true, false, false, true, false]);
        assert!(passes(0, false) && !passes(1, true) && !passes(0, true));
        assert!(passes(0, true));
    }

    #[test]
    fn flows_of_which_nothing_was_dropped_since_the_last_one_that_passed_take_no_memory() {
        let mut filter = filter(2);
        (0..1_000).map(|n| StreamId(u32::MAX - n)).for_each(|flow| {
            assert!(filter.filters(flow, true) && !filter.filters(flow, true));
        });
        assert!(filter.seen.is_empty());
    }
}
