//! Impairments: effects of a link on packets besides queueing, transmission, delay and loss.
//!
//! To add an impairment, add a file to this folder and a line to the list below. A link may have one impairment of
//! each kind. Impairments act in the order of the list, whatever their order in the scenario.

use crate::{Dice, StreamId};
use units::Time;

params::family! {
    /// An impairment of a link.
    pub enum Impairment("impairment", &Dice) as Effect {
        "ack_filter" => ack_filter::AckFilter,
        "jitter" => jitter::Jitter,
        "wifi_jitter" => wifi_jitter::WifiJitter,
        "recorded_jitter" => recorded_jitter::RecordedJitter,
        "arq" => arq::Arq,
        "aggregation" => aggregation::Aggregation,
        "reordering" => reordering::Reordering,
        "duplicate" => duplication::Duplication,
    }
}

/// Effect of an impairment. The trait has one method for each stage of a packet's way through a link. Most impairments
/// implement one method of this trait.
pub trait Effect {
    /// Whether the impairment drops, reorders or copies packets.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Whether a packet that reaches the queue is dropped before it enters the queue. Called only if
    /// [`Properties::filters`] is set.
    fn filters(&mut self, _stream: StreamId, _is_plain_ack: bool) -> bool {
        false
    }

    /// The time at which a packet reaches the far end, at or after `arrival`. The transmission of the packet ended at
    /// `finish`. Without this impairment the packet would arrive at `arrival`. Called in the order of departures.
    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        arrival
    }

    /// Whether a packet that reaches the far end is duplicated, with the copy immediately after it. Called only if
    /// [`Properties::copies`] is set.
    fn copies(&mut self) -> bool {
        false
    }
}

/// Effects of an impairment that are impossible on a link without impairments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Whether packets may be dropped before they reach the queue.
    pub filters: bool,
    /// Whether packets may arrive in an order that differs from the order of departures.
    pub reorders: bool,
    /// Whether packets may arrive twice.
    pub copies: bool,
}

impl Properties {
    /// The properties of a link with several impairments.
    pub(crate) fn combined(all: &[Impairment]) -> Properties {
        all.iter().map(|one| one.properties()).fold(Properties::default(), |a, b| Properties {
            filters: a.filters || b.filters,
            reorders: a.reorders || b.reorders,
            copies: a.copies || b.copies,
        })
    }
}

impl Impairment {
    /// Index in the order in which impairments act.
    pub(crate) fn place(&self) -> usize {
        Impairment::descriptors().iter().take_while(|known| known.name != self.kind()).count()
    }
}
