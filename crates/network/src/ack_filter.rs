//! A middlebox that drops a part of the acknowledgements (an ACK filter).

use std::collections::BTreeMap;

/// Lets every so many of the plain ACKs of a stream pass, and drops the others (RFC 3449, section 5.2.1: the ACKs of a
/// path whose other direction is narrow). Which packets are plain ACKs, a caller says: those that only repeat and extend what
/// others of their flow say.
#[derive(Clone, Debug)]
pub(crate) struct AckFilter<P> {
    every: u32,
    is_plain: fn(&P) -> bool,
    /// Plain ACKs since the last one that passed, of flows that have had any: their numbers may be large and many.
    seen: BTreeMap<u32, u32>,
}

impl<P> AckFilter<P> {
    pub fn new(every: u32, is_plain: fn(&P) -> bool) -> AckFilter<P> {
        AckFilter { every, is_plain, seen: BTreeMap::new() }
    }

    /// The packet is one of those to be dropped.
    pub fn drops(&mut self, stream: u32, payload: &P) -> bool {
        if !(self.is_plain)(payload) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_thin_packet_of_each_flow_passes_and_every_other_packet() {
        let mut ack_filter = AckFilter::new(3, |&thin: &bool| thin);
        let mut passes = |flow, thin| !ack_filter.drops(flow, &thin);
        assert_eq!([0; 7].map(|_| passes(0, true)), [false, false, true, false, false, true, false]);
        assert!(passes(0, false) && !passes(1, true) && !passes(0, true));
        assert!(passes(0, true));
    }

    #[test]
    fn flows_of_which_nothing_was_dropped_since_the_last_one_that_passed_take_no_memory() {
        let mut ack_filter = AckFilter::new(2, |&thin: &bool| thin);
        (0..1_000).map(|n| u32::MAX - n).for_each(|flow| {
            assert!(ack_filter.drops(flow, &true) && !ack_filter.drops(flow, &true));
        });
        assert!(ack_filter.seen.is_empty());
    }
}
