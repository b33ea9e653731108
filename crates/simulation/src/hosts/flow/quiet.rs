//! A flow to which nothing happens but what its connection does by itself.

use super::Flow;
use crate::hosts::transport::Headers;
use network::{Direction, Histogram, RouteId, SamplingTimes, StreamId};
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
    /// Samples of the RTT.
    pub rtt: Rtts<'a>,
}

/// Takes samples of the RTT.
pub struct Rtts<'a> {
    samples: &'a mut Histogram,
    sampling: SamplingTimes,
}

impl Rtts<'_> {
    /// Takes one, if it is measured.
    #[inline]
    pub fn record(&mut self, now: Time, rtt: Duration) {
        if self.sampling.measures(now) {
            self.samples.record(rtt);
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
        let rtt = Rtts { samples: &mut self.stats.rtt, sampling: self.sampling };
        Some(Quiet { sender, receiver, headers: self.wrapping.headers, streams, rtt })
    }
}
