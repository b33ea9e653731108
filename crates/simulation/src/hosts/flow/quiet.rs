//! A flow that has no events for a while except the segments and timers of its connection.

use super::Flow;
use crate::hosts::connection::End;
use crate::hosts::stats::FlowStats;
use crate::hosts::transport::Headers;
use network::{Direction, RouteId, SamplingTimes, StreamId};
use tcp::{Receiver, Sender};
use units::{Duration, Time};

/// The ends of the single connection of a flow whose application has no turn for a while, with headers and streams.
pub struct Quiet<'a> {
    /// The end that sends the data.
    pub sender: &'a mut Sender,
    /// The end that receives the data.
    pub receiver: &'a mut Receiver,
    /// Headers around segments.
    pub headers: Headers,
    /// Streams of data and of ACKs.
    pub streams: [StreamId; 2],
    /// Samples of arriving packets.
    pub samples: Samples<'a>,
}

/// Records samples of arriving packets.
pub struct Samples<'a> {
    stats: &'a mut FlowStats,
    sampling: SamplingTimes,
}

impl Samples<'_> {
    /// Records a sample of an end, unless `now` is outside the measured time.
    #[inline]
    pub fn record(&mut self, end: End, now: Time, sample: Duration) {
        if self.sampling.measures(now) {
            self.stats.samples(end).record(sample);
        }
    }
}

impl Flow {
    /// The ends of the connection, if its segments and timers are the only events of the flow before `until`. The
    /// application then has no turn and does not wait for acknowledgements, and no interface reports departures.
    pub fn quiet(&mut self, until: Time) -> Option<Quiet<'_>> {
        if !self.is_stream || self.blocked || self.due < until || self.wrapping.has_nic != [false; 2] {
            return None;
        }
        let streams = [Direction::Forward, Direction::Backward]
            .map(|direction| self.streams.stream(RouteId::new(self.number, direction), 0));
        let (sender, receiver) = self.connections.single_mut()?.plain_ends()?;
        let samples = Samples { stats: &mut self.stats, sampling: self.sampling };
        Some(Quiet { sender, receiver, headers: self.wrapping.headers, streams, samples })
    }

    /// Records in-order delays of payload that was retransmitted while the flow was quiet.
    #[inline]
    pub fn after_quiet(&mut self) {
        if let Some(connection) = self.connections.single_mut() {
            connection.settle(&self.sampling);
        }
    }
}
