//! Statistics of a flow of any kind, from which rows of tables are made.

use super::connection::End;
use super::jitter::InterarrivalJitter;
use network::Histogram;
use tcp::{Limited, SenderStats};
use units::Time;

/// What a row of the table `flows` is made from.
#[derive(Debug, Default)]
pub struct FlowStats {
    /// When it starts, jitter included.
    pub start: Time,
    /// When all it had to send was acknowledged.
    pub finish: Option<Time>,
    /// RTT samples since the end of the warm-up.
    pub rtt: Histogram,
    /// One-way delays since the end of the warm-up: of datagrams, and of transmissions of payload.
    pub one_way: Histogram,
    /// Interarrival jitter of datagrams.
    pub jitter: Option<Box<InterarrivalJitter>>,
    /// Delays in order of payload since the end of the warm-up, if they are measured.
    pub in_order: Option<Box<Histogram>>,
    /// Counters when its measurement began and when it ended.
    pub begin: Option<CounterSnapshot>,
    /// See `begin`.
    pub end: Option<CounterSnapshot>,
}

impl FlowStats {
    /// Of a flow that starts at `start`.
    pub fn new(start: Time) -> FlowStats {
        FlowStats { start, ..FlowStats::default() }
    }

    /// Samples that an end takes of packets that arrive: of the RTT at the sender, of the one-way delay at the receiver.
    #[inline]
    pub fn samples(&mut self, end: End) -> &mut Histogram {
        match end {
            End::Sender => &mut self.rtt,
            End::Receiver => &mut self.one_way,
        }
    }

    /// Adds the delays in order of a connection.
    pub fn add_in_order(&mut self, delays: &Histogram) {
        let all = self.in_order.get_or_insert_default();
        **all = all.with(delays);
    }
}

/// The counters of a flow at one moment.
#[derive(Clone, Copy, Debug)]
pub struct CounterSnapshot {
    /// When.
    pub time: Time,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// All that was sent, every header included.
    pub wire_bytes: u64,
    /// Of the sender.
    pub stats: SenderStats,
    /// Payload that the application lost because the send buffer was full.
    pub refused_bytes: u64,
    /// Time spent limited by each cause.
    pub limited: Limited,
}

/// When a datagram passed: a row of the table `probes`. `NEVER`: not yet.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRecord {
    /// It left the sender.
    pub sent: Time,
    /// It reached the far end.
    pub arrived: Time,
    /// Its reply reached the sender.
    pub returned: Time,
}

/// One transfer: a row of the table `transfers`.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// In the order in which the transfers of its flow began, from 1.
    pub number: u32,
    /// In the order in which the connections of its flow were opened, from 1.
    pub connection: u32,
    /// The page that it belongs to, from 1; 0: none.
    pub page: u32,
    /// When it began.
    pub start: Time,
    /// When it had finished.
    pub finish: Option<Time>,
    /// When it had finished or was given up; `None`: it still goes on.
    pub end: Option<Time>,
    /// Payload to transfer.
    pub bytes: u64,
    /// Payload that arrived in order.
    pub delivered_bytes: u64,
    /// Data packets that were sent for it.
    pub sent_packets: u64,
    /// Those of them that were sent again.
    pub retransmitted_packets: u64,
    /// Round trips that no transfer of its kind can do without.
    pub round_trips: u32,
}
