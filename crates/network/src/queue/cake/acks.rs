//! The ACK filter: an arriving ACK replaces a waiting ACK that has become redundant.

use crate::StreamId;
use crate::queue::fifo::Fifo;
use serde::{Deserialize, Serialize};

/// Mode of the ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckFilter {
    /// No ACK is dropped.
    #[default]
    #[serde(rename = "no-ack-filter")]
    Off,
    /// The last of several redundant ACKs is not dropped.
    #[serde(rename = "ack-filter")]
    Conservative,
    /// Redundant ACKs are dropped. The last redundant ACK is dropped only if it directly precedes the ACK that makes it
    /// redundant.
    #[serde(rename = "ack-filter-aggressive")]
    Aggressive,
}

/// The filter, and the function that recognises redundant ACKs, which is `None` until it is set.
pub(super) struct Filter<P> {
    aggressive: bool,
    redundant: Option<fn(&P, &P) -> bool>,
}

// Not derived, as a derived implementation would require a payload that implements Clone.
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

    /// Index of the packet to drop after the last packet has joined the queue, if any.
    /// Source: Linux `cake_ack_filter`.
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
