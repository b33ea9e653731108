//! Sums of counters over connections.

use super::connection::Connection;
use tcp::{Limited, SenderStats};
use units::Time;

/// Counters of several connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Counters of the senders.
    pub stats: SenderStats,
    /// Time spent limited by each cause.
    pub limited: Limited,
}

impl Totals {
    /// Adds the counters of a connection at `now`.
    pub fn add(&mut self, connection: &Connection, now: Time) {
        self.delivered_bytes += connection.delivered();
        self.stats += *connection.sender().stats();
        self.limited += connection.sender().limited(now);
    }
}
