//! What a flow of the plan consists of.

use crate::flow::Flow;
use crate::payload::Packet;
use crate::tables::series::SeriesRow;
use crate::tally::{Playback, Tally, Transfer, Trip};
use units::Time;

/// Whatever sends and receives on the routes of a flow, other than one TCP connection: many of them, for example.
///
/// It has one wake-up for all that it does. Packets for it bear the number of its route; the stream that they belong to
/// is its own business ([`network::Packet::flow`]).
pub trait Traffic: Send {
    /// When it wants to run.
    fn next(&self) -> Time;

    /// Does what is due, and puts out what it sends. Harmless if nothing is.
    fn run(&mut self, now: Time, out: &mut Vec<Packet>);

    /// A packet reaches the end of its route.
    fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>);

    /// The warm-up is over.
    fn on_warmup(&mut self, now: Time);

    /// The run is over.
    fn on_end(&mut self, now: Time);

    /// What happened since the last sample, and where things stand.
    fn sample(&mut self, now: Time) -> SeriesRow;

    /// What was measured.
    fn tally(&self) -> &Tally;

    /// Data packets sent since the start of the run.
    fn sent_packets(&self) -> u64;

    /// Its datagrams, in the order in which they left, if they are wanted.
    fn trips(&self) -> &[Trip] {
        &[]
    }

    /// Its transfers, in the order in which they began.
    fn transfers(&self) -> Vec<Transfer> {
        Vec::new()
    }

    /// What a viewer has seen by `now`, if it plays a video.
    fn playback(&self, _now: Time) -> Option<Playback> {
        None
    }
}

/// What a flow of the plan consists of.
#[expect(clippy::large_enum_variant, reason = "the common case is at hand, without a pointer to it")]
pub enum Endpoints {
    /// One TCP connection.
    Connection(Flow),
    /// Anything else.
    Traffic(Box<dyn Traffic>),
}

impl Endpoints {
    /// The connection, if it is one.
    pub fn connection(&self) -> Option<&Flow> {
        match self {
            Endpoints::Connection(flow) => Some(flow),
            Endpoints::Traffic(_) => None,
        }
    }

    /// What was measured.
    pub fn tally(&self) -> &Tally {
        match self {
            Endpoints::Connection(flow) => &flow.tally,
            Endpoints::Traffic(traffic) => traffic.tally(),
        }
    }

    /// What a viewer has seen by `now`, if it plays a video.
    pub fn playback(&self, now: Time) -> Option<Playback> {
        match self {
            Endpoints::Connection(_) => None,
            Endpoints::Traffic(traffic) => traffic.playback(now),
        }
    }

    /// Data packets sent since the start of the run.
    pub fn sent_packets(&self) -> u64 {
        match self {
            Endpoints::Connection(flow) => flow.sender.stats().sent_packets,
            Endpoints::Traffic(traffic) => traffic.sent_packets(),
        }
    }

    /// Its datagrams, in the order in which they left, if they are wanted.
    pub fn trips(&self) -> &[Trip] {
        match self {
            Endpoints::Connection(_) => &[],
            Endpoints::Traffic(traffic) => traffic.trips(),
        }
    }

    /// Its transfers, in the order in which they began.
    pub fn transfers(&self) -> Vec<Transfer> {
        match self {
            Endpoints::Connection(flow) => flow.transfer().into_iter().collect(),
            Endpoints::Traffic(traffic) => traffic.transfers(),
        }
    }

    /// The warm-up is over.
    pub fn on_warmup(&mut self, now: Time) {
        match self {
            Endpoints::Connection(flow) => flow.on_warmup(now),
            Endpoints::Traffic(traffic) => traffic.on_warmup(now),
        }
    }

    /// The run is over.
    pub fn on_end(&mut self, now: Time) {
        match self {
            Endpoints::Connection(flow) => flow.on_end(now),
            Endpoints::Traffic(traffic) => traffic.on_end(now),
        }
    }

    /// What happened since the last sample, and where things stand.
    pub fn sample(&mut self, now: Time) -> SeriesRow {
        match self {
            Endpoints::Connection(flow) => flow.sample(now),
            Endpoints::Traffic(traffic) => traffic.sample(now),
        }
    }
}
