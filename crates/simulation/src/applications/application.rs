//! The interface between applications and connections: calls in both directions and visible state.

use super::playback::Playback;
use crate::plan::range::{Check, refuse};
use params::Params;
use units::{Rng, Time};

/// An application opens connections, writes data or starts transfers, is called when a transfer is complete, and closes
/// connections. An application never sees a packet.
pub trait Application: Send {
    /// Time of the application's next turn.
    fn next(&self) -> Time;

    /// Runs everything that is due at `now`.
    fn run(&mut self, now: Time, sockets: &mut Sockets);

    /// Called when the transfer that the application started on a connection is complete.
    fn done(&mut self, _now: Time, connection: u32, sockets: &mut Sockets) {
        sockets.close(connection);
    }

    /// Called at the end of the flow: the application must not start more transfers. Transfers in progress are
    /// completed, unless the application closes their stream.
    fn stop(&mut self, _sockets: &mut Sockets) {}

    /// Whether the application has one connection that lasts as long as the flow.
    fn is_stream(&self) -> bool {
        false
    }

    /// Whether the application waits for room in the send buffer. Acknowledgements then give the application a turn.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Bytes that the application discarded because the send buffer was full.
    fn refused_bytes(&self) -> u64 {
        0
    }

    /// State of the player at `now`, if the application is a video.
    fn playback(&self, _now: Time) -> Option<Playback> {
        None
    }
}

/// An application that plans can name: its settings, checks and constructor.
pub trait Planned: Application + Sized {
    /// Settings of the application in a plan, except the kind.
    type Settings: Params;
    /// One line that describes the application.
    const TITLE: &'static str;
    /// Publication that the application follows; empty if the application follows no publication.
    const SOURCE: &'static str = "";
    /// Whether the application opens and closes connections during the run; otherwise one connection lasts as long as
    /// the flow.
    const IS_MANY: bool = true;

    /// Rejects settings that their declared ranges do not reject. `path` is the path of the workload in the plan.
    /// `span_ns` is the longest run time of the workload.
    ///
    /// # Errors
    /// If settings contradict each other, or a part of a setting is out of range.
    fn check(_settings: &Self::Settings, _path: &str, _span_ns: u64) -> Check {
        Ok(())
    }

    /// Builds the application of a flow.
    fn new(settings: &Self::Settings, flow: &FlowStart<'_>) -> Self;
}

/// Maximum of the expected number of transfers of a flow.
const MOST_TRANSFERS: f64 = 1e7;

/// Rejects a workload that is expected to have more transfers than fit into memory. `path` is the path of the workload,
/// which has an interval.
///
/// # Errors
/// If more than 10^7 transfers are `expected`.
pub fn bounded(path: &str, expected: f64) -> Check {
    if expected > MOST_TRANSFERS {
        refuse!(
            format!("{path}.interval_ns"),
            "{expected:.0} arrivals are more than {MOST_TRANSFERS:.0}; use a longer interval"
        );
    }
    Ok(())
}

/// Properties of a flow that its application may use.
#[derive(Clone, Copy, Debug)]
pub struct FlowStart<'a> {
    /// Start time of the flow.
    pub at: Time,
    /// Seed of the run.
    pub seed: u64,
    /// Name of the random stream of the flow.
    pub stream: &'a str,
    /// Maximum unacknowledged bytes that a connection accepts from its application, sent or not; `None`: no limit.
    pub send_buffer_bytes: Option<u64>,
}

impl FlowStart<'_> {
    /// Random numbers of the flow for the purpose `what`.
    pub fn rng(&self, what: &str) -> Rng {
        Rng::stream(self.seed, &format!("{what}/{}", self.stream))
    }
}

/// Calls of an application. The calls are carried out in order at the end of the application's turn.
#[derive(Debug, Default)]
pub struct Sockets {
    /// State of the connection, for applications whose one connection lasts as long as the flow.
    pub stream: StreamState,
    /// Connections opened so far.
    opened: u32,
    list: Vec<Order>,
}

/// State of the connection of a stream, as its application sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamState {
    /// Payload sent at least once.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload that the previous flow has delivered, if this flow relays that payload.
    pub fed_bytes: u64,
}

/// One call of an application. Connections are identified by the number that [`Sockets::open`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Opens a connection for data from the flow's sender to its receiver, with `requests` also in the opposite
    /// direction.
    Open {
        /// Number of the connection.
        connection: u32,
        /// Whether the receiver sends requests.
        requests: bool,
    },
    /// Makes data available to send on a connection.
    Write {
        /// Number of the connection.
        connection: u32,
        /// Payload since the connection was opened; `None`: unlimited.
        bytes: Option<u64>,
    },
    /// Starts a transfer on a connection that has none in progress.
    Transfer {
        /// Number of the connection.
        connection: u32,
        /// The transfer.
        job: Job,
    },
    /// Closes a connection: a FIN follows the data that were written. A stream stops after these data without a FIN.
    Close {
        /// Number of the connection.
        connection: u32,
    },
}

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Payload from the flow's sender to its receiver.
    pub bytes: u64,
    /// Payload of the receiver's request; 0: no request.
    pub request: u64,
    /// Number of the web page that the transfer belongs to, counted from 1; 0: no page.
    pub page: u32,
}

impl Job {
    /// A transfer of `bytes` bytes without a request and without a page.
    pub fn unasked(bytes: u64) -> Job {
        Job { bytes, request: 0, page: 0 }
    }
}

impl Sockets {
    /// Opens a connection and returns its number, counted from 1.
    pub fn open(&mut self, requests: bool) -> u32 {
        self.opened += 1;
        self.list.push(Order::Open { connection: self.opened, requests });
        self.opened
    }

    /// Makes `bytes` of data available to send, counted since the connection was opened; `None`: unlimited.
    pub fn write(&mut self, connection: u32, bytes: Option<u64>) {
        self.list.push(Order::Write { connection, bytes });
    }

    /// Starts a transfer.
    pub fn transfer(&mut self, connection: u32, job: Job) {
        self.list.push(Order::Transfer { connection, job });
    }

    /// Closes a connection after all data that were written or requested on the connection.
    pub fn close(&mut self, connection: u32) {
        self.list.push(Order::Close { connection });
    }

    /// Moves all calls into a list.
    pub fn take(&mut self, into: &mut Vec<Order>) {
        into.append(&mut self.list);
    }
}
