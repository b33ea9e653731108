//! Scripts: sequences of arrivals, made from bytes.

use super::run::Tag;
use crate::{Ecn, Packet, PortId, StreamId};
use units::{Duration, Time};

/// A packet that reaches an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of the arrival.
    pub at: Time,
    /// The port of the arrival, modulo the number of ports of the element.
    pub port: PortId,
    /// The packet. The payload of the packet is its index in the script.
    pub packet: Packet<Tag>,
}

/// Arrivals in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The arrivals.
    pub arrivals: Vec<Arrival>,
    /// Seed of the extra calls.
    pub seed: u64,
}

impl Script {
    /// Parse a script with three bytes per arrival. Gaps between arrivals range from zero to a few milliseconds, on a
    /// logarithmic scale. The ECN bits and the DSCP of a packet depend on its flow.
    pub fn from_bytes(bytes: &[u8]) -> Script {
        let mut now = Time::ZERO;
        let arrivals = (0..).zip(bytes.chunks_exact(3)).map(|(number, three)| {
            let [gap, who, size] = [three[0], three[1], three[2]].map(u64::from);
            now += Duration::from_nanos((gap % 16) << (gap / 16 + 4)); // up to 7.9 ms
            let flow = (who / 8 % 5) as u32;
            let packet = Packet {
                stream: StreamId(flow),
                size: (40 + size * 6) as u16,
                ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][flow as usize % 3],
                dscp: [0, 46, 8, 34, 1][flow as usize],
                payload: number,
            };
            Arrival { at: now, port: PortId((who % 8) as u16), packet }
        });
        let arrivals = arrivals.collect();
        let seed = bytes.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        Script { arrivals, seed }
    }

    /// The time of the last arrival.
    pub fn end(&self) -> Time {
        self.arrivals.last().map_or(Time::ZERO, |last| last.at)
    }
}
