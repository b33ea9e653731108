//! The ACK filter: an arriving acknowledgement takes the place of one that waits and has become redundant.

use crate::StreamId;
use crate::queue::fifo::Fifo;
use serde::{Deserialize, Serialize};

/// How many acknowledgements are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckFilter {
    /// All.
    #[default]
    #[serde(rename = "no-ack-filter")]
    Off,
    /// Of redundant ones, the last.
    #[serde(rename = "ack-filter")]
    Conservative,
    /// No redundant one, if the one that makes it so stands right behind it.
    #[serde(rename = "ack-filter-aggressive")]
    Aggressive,
}

/// The filter, once it knows how to tell what is redundant.
pub(super) struct Filter<P> {
    aggressive: bool,
    redundant: Option<fn(&P, &P) -> bool>,
}

// Not derived, because that would ask for a payload that can be cloned.
impl<P> Clone for Filter<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Filter<P> {}

impl<P: Copy> Filter<P> {
    pub(super) fn new(choice: AckFilter) -> Option<Filter<P>> {
        let aggressive = choice == AckFilter::Aggressive;
        (choice != AckFilter::Off).then_some(Filter { aggressive, redundant: None })
    }

    pub(super) fn know(&mut self, redundant: fn(&P, &P) -> bool) {
        self.redundant = Some(redundant);
    }

    /// The place of the packet that may go, now that the last one has joined.
    /// Linux `cake_ack_filter`.
    pub(super) fn victim(&self, waiting: &Fifo<P>, stream: StreamId) -> Option<usize> {
        let redundant = self.redundant?;
        let others = (waiting.backlog().packets as usize).checked_sub(1)?;
        let newest = waiting.iter().nth(others)?;
        let mut found = waiting.iter().take(others).enumerate().filter_map(|(n, older)| {
            let same = older.packet.stream == stream;
            (same && redundant(&older.packet.payload, &newest.packet.payload)).then_some(n)
        });
        let (first, second) = (found.next()?, found.next());
        (second.is_some() || (self.aggressive && first + 1 == others)).then_some(first)
    }
}
