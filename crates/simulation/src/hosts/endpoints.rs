//! The ends of a flow: TCP connections under an application, or datagrams.

use super::connection::End;
use super::datagrams::Datagrams;
use super::flow::Flow;
use super::observer::Observer;
use super::outbox::Outbox;
use super::stats::{FlowStats, ProbeRecord, Transfer};
use crate::applications::Playback;
use crate::payload::Packet;
use crate::tables::series::SeriesRow;
use network::StreamId;
use units::Time;

/// Both ends of a flow.
#[expect(clippy::large_enum_variant, reason = "the common case is at hand, without a pointer to it")]
pub enum Endpoints {
    /// TCP connections.
    Tcp(Flow),
    /// Datagrams.
    Datagrams(Box<Datagrams>),
}

/// Calls the same method of a TCP flow or of a datagram flow.
macro_rules! either {
    ($endpoints:expr, $ends:ident => $call:expr) => {
        match $endpoints {
            Endpoints::Tcp($ends) => $call,
            Endpoints::Datagrams($ends) => $call,
        }
    };
}

impl Endpoints {
    /// Time of the next wake-up of an end.
    #[inline]
    pub fn next(&self, end: End) -> Time {
        match (self, end) {
            (Endpoints::Tcp(flow), _) => flow.next(end),
            (Endpoints::Datagrams(datagrams), End::Sender) => datagrams.next(),
            (Endpoints::Datagrams(_), End::Receiver) => Time::NEVER,
        }
    }

    /// Runs everything that is due at an end.
    pub fn run<R: Observer>(&mut self, end: End, out: &mut Outbox<'_, R>) {
        match self {
            Endpoints::Tcp(flow) => flow.run(end, out),
            Endpoints::Datagrams(datagrams) => datagrams.run(out),
        }
    }

    /// Processes a packet at the end of its route. Returns the end whose wake-up may have changed, and the time of that
    /// wake-up.
    #[inline]
    pub fn receive<R: Observer>(&mut self, packet: &Packet, out: &mut Outbox<'_, R>) -> (End, Time) {
        match self {
            Endpoints::Tcp(flow) => flow.receive(packet, out),
            Endpoints::Datagrams(datagrams) => {
                datagrams.receive(packet, out);
                (End::Sender, datagrams.next())
            }
        }
    }

    /// Called when a packet of `stream` has left the network interface of its host or was dropped there. Returns the
    /// end whose wake-up may have changed, and the time of that wake-up; `None` for datagrams, of which a host may
    /// queue any number.
    pub fn on_left_host<R: Observer>(
        &mut self,
        stream: StreamId,
        bytes: u16,
        out: &mut Outbox<'_, R>,
    ) -> Option<(End, Time)> {
        match self {
            Endpoints::Tcp(flow) => Some(flow.on_left_host(stream, bytes, out)),
            Endpoints::Datagrams(_) => None,
        }
    }

    /// The TCP flow; `None` if the flow sends datagrams.
    pub fn tcp(&self) -> Option<&Flow> {
        match self {
            Endpoints::Tcp(flow) => Some(flow),
            Endpoints::Datagrams(_) => None,
        }
    }

    /// Statistics so far.
    pub fn stats(&self) -> &FlowStats {
        either!(self, ends => ends.stats())
    }

    /// Data packets sent since the start of the run.
    pub fn sent_packets(&self) -> u64 {
        either!(self, ends => ends.sent_packets())
    }

    /// Payload delivered since the start of the run; in order if the flow is TCP.
    pub fn delivered_bytes(&self) -> u64 {
        either!(self, ends => ends.delivered_bytes())
    }

    /// Called at the end of the warm-up.
    pub fn on_warmup(&mut self, now: Time) {
        either!(self, ends => ends.on_warmup(now));
    }

    /// Called at the end of the run.
    pub fn on_end(&mut self, now: Time) {
        either!(self, ends => ends.on_end(now));
    }

    /// Returns a row of the table `series`: rates since the last sample and the current state.
    pub fn sample(&mut self, now: Time) -> SeriesRow {
        either!(self, ends => ends.sample(now))
    }

    /// Records of the flow's datagrams, in the order of departure; empty if datagrams are not recorded.
    pub fn probes(&self) -> &[ProbeRecord] {
        match self {
            Endpoints::Tcp(_) => &[],
            Endpoints::Datagrams(datagrams) => datagrams.probes(),
        }
    }

    /// Transfers of the flow, in the order in which they began.
    pub fn transfers(&self) -> &[Transfer] {
        self.tcp().map_or(&[], Flow::transfers)
    }

    /// State of the video player at `now`, if the application is a video.
    pub fn playback(&self, now: Time) -> Option<Playback> {
        self.tcp().and_then(|flow| flow.playback(now))
    }
}
