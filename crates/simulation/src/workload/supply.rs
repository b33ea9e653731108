//! Who hands out the data of a single connection.

use units::Time;

/// An application that hands data out at its own pace.
pub trait Supply: Send {
    /// When it wants to run.
    fn next(&self) -> Time;

    /// What it has handed out by `now`, in bytes since the start; `None`: there is always more.
    fn run(&mut self, now: Time, socket: Socket) -> Option<u64>;

    /// It runs as soon as an acknowledgement makes room in the send buffer.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Bytes that it lost because the send buffer was full.
    fn refused_bytes(&self) -> u64 {
        0
    }
}

/// What an application may know of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Socket {
    /// Payload sent at least once.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
}
