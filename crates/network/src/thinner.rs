//! A middlebox that thins out acknowledgements.

use std::collections::BTreeMap;

/// Lets every so many of the thin packets of a flow pass, and drops the others (RFC 3449, section 5.2.1: the ACKs of a
/// path whose other direction is narrow). Which packets are thin, a caller says: those that only repeat and extend what
/// others of their flow say.
#[derive(Clone, Debug)]
pub(crate) struct Thinner<P> {
    every: u32,
    is_thin: fn(&P) -> bool,
    /// Thin packets since the last one that passed, of flows that have had any: their numbers may be large and many.
    seen: BTreeMap<u32, u32>,
}

impl<P> Thinner<P> {
    pub fn new(every: u32, is_thin: fn(&P) -> bool) -> Thinner<P> {
        Thinner { every, is_thin, seen: BTreeMap::new() }
    }

    /// The packet is one of those to be dropped.
    pub fn drops(&mut self, flow: u32, payload: &P) -> bool {
        if !(self.is_thin)(payload) {
            return false;
        }
        let seen = self.seen.entry(flow).or_default();
        *seen += 1;
        let passes = *seen >= self.every;
        if passes {
            self.seen.remove(&flow);
        }
        !passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_thin_packet_of_each_flow_passes_and_every_other_packet() {
        let mut thinner = Thinner::new(3, |&thin: &bool| thin);
        let mut passes = |flow, thin| !thinner.drops(flow, &thin);
        assert_eq!([0; 7].map(|_| passes(0, true)), [false, false, true, false, false, true, false]);
        assert!(passes(0, false) && !passes(1, true) && !passes(0, true));
        assert!(passes(0, true));
    }

    #[test]
    fn flows_of_which_nothing_was_dropped_since_the_last_one_that_passed_take_no_memory() {
        let mut thinner = Thinner::new(2, |&thin: &bool| thin);
        (0..1_000).map(|n| u32::MAX - n).for_each(|flow| {
            assert!(thinner.drops(flow, &true) && !thinner.drops(flow, &true));
        });
        assert!(thinner.seen.is_empty());
    }
}
