//! A flow to which nothing happens but what its connection does by itself.

use super::Flow;
use crate::hosts::connection::End;
use crate::hosts::stats::FlowStats;
use crate::hosts::transport::Headers;
use network::{Direction, RouteId, SamplingTimes, StreamId};
use tcp::{Receiver, Sender};
use units::{Duration, Time};

/// The two ends of the only connection of a flow whose application has no turn for a while, and what surrounds them.
pub struct Quiet<'a> {
    /// The end that has data.
    pub sender: &'a mut Sender,
    /// The other end.
    pub receiver: &'a mut Receiver,
    /// What surrounds their segments.
    pub headers: Headers,
    /// The streams there and back.
    pub streams: [StreamId; 2],
    /// Samples of packets that arrive.
    pub samples: Samples<'a>,
}

/// Takes samples of packets that arrive.
pub struct Samples<'a> {
    stats: &'a mut FlowStats,
    sampling: SamplingTimes,
}

impl Samples<'_> {
    /// Takes one at an end, if it is measured.
    #[inline]
    pub fn record(&mut self, end: End, now: Time, sample: Duration) {
        if self.sampling.measures(now) {
            self.stats.samples(end).record(sample);
        }
    }
}

impl Flow {
    /// What it is before `until`, if until then segments that arrive and timers of its connection are all that matters: its
    /// application neither has a turn nor waits for acknowledgements, and nothing that leaves tells its host.
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

    /// Records what its ends have left to do together in the time in which it was quiet.
    #[inline]
    pub fn after_quiet(&mut self) {
        if let Some(connection) = self.connections.single_mut() {
            connection.settle(&self.sampling);
        }
    }
}
