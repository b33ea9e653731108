//! Time that the sender spends limited by each cause: application, receiver, window (after Linux `tcp_chrono`).

use std::ops::AddAssign;
use units::{Duration, Time};

/// The cause that keeps the sender from sending more at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit {
    /// The congestion window is full.
    Cwnd,
    /// Pacing allows the next departure only in the future.
    Pacing,
    /// The queues of the host hold the largest allowed number of bytes of the connection.
    Host,
    /// The application has no data to send, or the connection is not open yet.
    #[default]
    Application,
    /// The receiver's window is full.
    Receiver,
    /// The send buffer is full of unacknowledged data.
    SendBuffer,
    /// The sender has closed, and all data is acknowledged. No more time is counted.
    Over,
}

impl Limit {
    /// Whether nothing is left to send.
    pub fn is_lack_of_data(self) -> bool {
        matches!(self, Limit::Application | Limit::SendBuffer | Limit::Over)
    }
}

/// Time spent limited by each cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limited {
    /// Limited by the congestion window.
    pub cwnd: Duration,
    /// Limited by pacing, or by the queues of the host.
    pub pacing: Duration,
    /// Limited by the application, which has no data to send.
    pub application: Duration,
    /// Limited by the receiver's window.
    pub receiver: Duration,
    /// Limited by the send buffer.
    pub send_buffer: Duration,
}

impl Limited {
    /// Sum of all causes: how long the sender has been open.
    pub fn total(&self) -> Duration {
        self.cwnd + self.pacing + self.application + self.receiver + self.send_buffer
    }
}

impl AddAssign for Limited {
    fn add_assign(&mut self, other: Limited) {
        self.cwnd = self.cwnd + other.cwnd;
        self.pacing = self.pacing + other.pacing;
        self.application = self.application + other.application;
        self.receiver = self.receiver + other.receiver;
        self.send_buffer = self.send_buffer + other.send_buffer;
    }
}

/// The present limiting cause, and the time spent limited by each cause.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Limits {
    current: Limit,
    /// Time at which the present cause began to limit; `NEVER` before the sender is open.
    since: Time,
    spent: Limited,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { current: Limit::default(), since: Time::NEVER, spent: Limited::default() }
    }
}

impl Limits {
    pub fn start(&mut self, now: Time) {
        self.since = now;
    }

    pub fn switch(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.spent = self.up_to(now);
            self.since = now;
            self.current = limit;
        }
    }

    pub fn is_pacing(&self) -> bool {
        self.current == Limit::Pacing
    }

    pub fn up_to(&self, now: Time) -> Limited {
        let mut spent = self.spent;
        let account = match self.current {
            Limit::Cwnd => &mut spent.cwnd,
            Limit::Pacing | Limit::Host => &mut spent.pacing,
            Limit::Application => &mut spent.application,
            Limit::Receiver => &mut spent.receiver,
            Limit::SendBuffer => &mut spent.send_buffer,
            Limit::Over => return spent,
        };
        *account = *account + now.since(self.since);
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_spends_no_time_before_it_is_open() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut limits = Limits::default();
        assert_eq!(limits.up_to(at(1_000)).total(), Duration::ZERO);
        limits.start(at(2_000));
        assert_eq!(limits.up_to(at(2_500)).application, Duration::from_millis(500));
    }
}
