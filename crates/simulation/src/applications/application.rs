//! The interface between applications and connections: what an application sees of them, and what it can do.

use super::playback::Playback;
use crate::plan::range::{Check, refuse};
use units::{Rng, Time};

/// Opens connections, writes, is told when a transfer is complete, and closes. It never sees a packet.
pub trait Application: Send {
    /// When it wants to run.
    fn next(&self) -> Time;

    /// Does what is due.
    fn run(&mut self, now: Time, sockets: &mut Sockets);

    /// The transfer that it started on a connection is complete.
    fn done(&mut self, _now: Time, connection: u32, sockets: &mut Sockets) {
        sockets.close(connection);
    }

    /// It may start nothing more. Transfers that go on are completed, unless they are those of a stream that it closes.
    fn stop(&mut self, _sockets: &mut Sockets) {}

    /// It has one connection, which lasts as long as the flow does.
    fn is_stream(&self) -> bool {
        false
    }

    /// It runs as soon as an acknowledgement makes room in the send buffer.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Bytes that it lost because the send buffer was full.
    fn refused_bytes(&self) -> u64 {
        0
    }

    /// What its viewer has seen by `now`, if it plays something.
    fn playback(&self, _now: Time) -> Option<Playback> {
        None
    }
}

/// An application that plans can name: what they say of it, what may be wrong with that, and how to make it.
pub trait Planned: Application + Sized {
    /// What a plan says of it, besides its kind.
    type Plan;
    /// One line that says what it is.
    const TITLE: &'static str;
    /// The source that it follows; empty if there is none.
    const SOURCE: &'static str = "";
    /// It opens and closes connections in the course of the run; otherwise it has one, as long as the flow lasts.
    const IS_MANY: bool = true;

    /// Refuses numbers that make no sense; `path` is the workload's, `span_ns` how long it works at most.
    ///
    /// # Errors
    /// If there is one.
    fn check(plan: &Self::Plan, path: &str, span_ns: u64) -> Check;

    /// Makes the one of a flow.
    fn new(plan: &Self::Plan, flow: &FlowStart<'_>) -> Self;
}

/// Most transfers that a flow may be expected to make.
const MOST_TRANSFERS: f64 = 1e7;

/// Refuses more transfers than fit in memory; `path` is the workload's, which has an interval.
///
/// # Errors
/// If so many are expected.
pub fn bounded(path: &str, expected: f64) -> Check {
    if expected > MOST_TRANSFERS {
        refuse!(
            format!("{path}.interval_ns"),
            "{expected:.0} arrivals are more than {MOST_TRANSFERS:.0}; let them come less often"
        );
    }
    Ok(())
}

/// What an application is told of its flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowStart<'a> {
    /// When it starts.
    pub at: Time,
    /// Of the run.
    pub seed: u64,
    /// Names the random numbers of the flow.
    pub stream: &'a str,
    /// Most bytes that a connection holds until they are acknowledged; `None`: no limit.
    pub send_buffer_bytes: Option<u64>,
}

impl FlowStart<'_> {
    /// Random numbers of the flow, for one use.
    pub fn rng(&self, what: &str) -> Rng {
        Rng::stream(self.seed, &format!("{what}/{}", self.stream))
    }
}

/// The calls of an application. They are carried out when its turn ends, in order.
#[derive(Debug, Default)]
pub struct Sockets {
    /// What has become of a stream, for applications that have one.
    pub stream: StreamState,
    /// Connections opened so far.
    opened: u32,
    list: Vec<Order>,
}

/// What an application may know of the connection that is its stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamState {
    /// Payload sent at least once.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload that has come to be passed on, if its data are those of another connection.
    pub fed_bytes: u64,
}

/// One call of an application. Connections have the numbers that [`Sockets::open`] gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A connection for data from the flow's sender to its receiver; with `requests` the other way, too.
    Open {
        /// Its number.
        connection: u32,
        /// The receiver sends requests.
        requests: bool,
    },
    /// There is so much to send over a connection.
    Write {
        /// Over which.
        connection: u32,
        /// Payload since it was opened; `None`: there is always more.
        bytes: Option<u64>,
    },
    /// A transfer over a connection that has none at present.
    Transfer {
        /// Over which.
        connection: u32,
        /// What to transfer.
        job: Job,
    },
    /// Nothing more over a connection than was written: a FIN follows that. A stream ends there, without one.
    Close {
        /// Which.
        connection: u32,
    },
}

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Payload from the flow's sender to its receiver.
    pub bytes: u64,
    /// Payload of the receiver's request; 0 where there is none.
    pub request: u64,
    /// The page that it belongs to, from 1; 0 where there are no pages.
    pub page: u32,
}

impl Job {
    /// So many bytes without a request, of no page.
    pub fn unasked(bytes: u64) -> Job {
        Job { bytes, request: 0, page: 0 }
    }
}

impl Sockets {
    /// Opens a connection; returns its number, counted from 1.
    pub fn open(&mut self, requests: bool) -> u32 {
        self.opened += 1;
        self.list.push(Order::Open { connection: self.opened, requests });
        self.opened
    }

    /// There is so much to send since the connection was opened; `None`: always more.
    pub fn write(&mut self, connection: u32, bytes: Option<u64>) {
        self.list.push(Order::Write { connection, bytes });
    }

    /// Starts a transfer.
    pub fn transfer(&mut self, connection: u32, job: Job) {
        self.list.push(Order::Transfer { connection, job });
    }

    /// Closes a connection, at once or when all that was asked of it is done.
    pub fn close(&mut self, connection: u32) {
        self.list.push(Order::Close { connection });
    }

    /// Takes all calls.
    pub fn take(&mut self, into: &mut Vec<Order>) {
        into.append(&mut self.list);
    }
}
