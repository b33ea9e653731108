//! What may happen to packets on a link besides queueing, sending, delaying and losing them.
//!
//! Adding an impairment is one file beside this one and one line in the list below. A link may have one of each kind, and
//! they act in the order of the list, whatever the order in which they are given.

use crate::{Dice, StreamId};
use units::Time;

params::family! {
    /// An impairment of a link.
    pub enum Impairment("impairment", &Dice) as Effect {
        "ack_filter" => ack_filter::AckFilter,
        "jitter" => jitter::Jitter,
        "arq" => arq::Arq,
        "aggregation" => aggregation::Aggregation,
        "reordering" => reordering::Reordering,
        "duplication" => duplication::Duplication,
    }
}

/// What an impairment does: a method for every place that a packet passes on a link, of which most impairments have one.
pub trait Effect {
    /// What others must know of it.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// A packet of a stream reaches the queue: true if it is dropped there. Asked if its properties say that it filters.
    fn filters(&mut self, _stream: StreamId, _is_plain_ack: bool) -> bool {
        false
    }

    /// When a packet reaches the far end whose transmission ended at `finish` and that would be there at `arrival`; not before
    /// that. Asked in the order in which packets leave.
    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        arrival
    }

    /// A packet reaches the far end: true if a copy of it arrives right behind it. Asked if its properties say that it copies.
    fn copies(&mut self) -> bool {
        false
    }
}

/// Which of the assumptions that hold for a plain link an impairment breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Packets may be dropped before they reach the queue.
    pub filters: bool,
    /// Packets may arrive in another order than that of their departures.
    pub reorders: bool,
    /// Packets may arrive twice.
    pub copies: bool,
}

impl Properties {
    /// That of several impairments.
    pub(crate) fn combined(all: &[Impairment]) -> Properties {
        all.iter().map(|one| one.properties()).fold(Properties::default(), |a, b| Properties {
            filters: a.filters || b.filters,
            reorders: a.reorders || b.reorders,
            copies: a.copies || b.copies,
        })
    }
}

impl Impairment {
    /// Its place in the order in which impairments act.
    pub(crate) fn place(&self) -> usize {
        Impairment::descriptors().iter().take_while(|known| known.name != self.kind()).count()
    }
}
