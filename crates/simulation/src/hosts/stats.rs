//! Statistics of a TCP or datagram flow, from which rows of tables are made.

use super::connection::End;
use super::jitter::InterarrivalJitter;
use network::Histogram;
use tcp::{Limited, SenderStats};
use units::Time;

/// Source of a row of the table `flows`.
#[derive(Debug, Default)]
pub struct FlowStats {
    /// Start time, jitter included.
    pub start: Time,
    /// Time at which all data of the flow were acknowledged.
    pub finish: Option<Time>,
    /// RTT samples since the end of the warm-up.
    pub rtt: Histogram,
    /// One-way delays of datagrams and of transmissions of payload since the end of the warm-up.
    pub one_way: Histogram,
    /// Interarrival jitter of datagrams.
    pub jitter: Option<Box<InterarrivalJitter>>,
    /// Histogram of the in-order delays of payload since the end of the warm-up, if they are measured.
    pub in_order: Option<Box<Histogram>>,
    /// Counters at the start of the measurement.
    pub begin: Option<CounterSnapshot>,
    /// Counters at the end of the measurement.
    pub end: Option<CounterSnapshot>,
}

impl FlowStats {
    /// Statistics of a flow that starts at `start`.
    pub fn new(start: Time) -> FlowStats {
        FlowStats { start, ..FlowStats::default() }
    }

    /// Histogram of the samples of an end: RTTs at the sender, one-way delays at the receiver.
    #[inline]
    pub fn samples(&mut self, end: End) -> &mut Histogram {
        match end {
            End::Sender => &mut self.rtt,
            End::Receiver => &mut self.one_way,
        }
    }

    /// Adds the in-order delays of a connection.
    pub fn add_in_order(&mut self, delays: &Histogram) {
        let all = self.in_order.get_or_insert_default();
        **all = all.with(delays);
    }
}

/// Counters of a flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct CounterSnapshot {
    /// Time of the snapshot.
    pub time: Time,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Bytes sent, all headers included.
    pub wire_bytes: u64,
    /// Counters of the senders.
    pub stats: SenderStats,
    /// Payload that the application discarded because the send buffer was full.
    pub refused_bytes: u64,
    /// Time spent limited by each cause.
    pub limited: Limited,
}

/// Times of a datagram: a row of the table `probes`. `NEVER`: the event has not happened.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRecord {
    /// Departure from the sender.
    pub sent: Time,
    /// Arrival at the receiver.
    pub arrived: Time,
    /// Arrival of the reply at the sender.
    pub returned: Time,
}

/// One transfer: a row of the table `transfers`.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number from 1, in the order in which the flow's transfers began.
    pub number: u32,
    /// Number of the transfer's connection from 1, in the order in which the flow opened its connections.
    pub connection: u32,
    /// Number of the web page that the transfer belongs to, from 1; 0: no page.
    pub page: u32,
    /// Start time.
    pub start: Time,
    /// Time at which the transfer was complete.
    pub finish: Option<Time>,
    /// Time at which the transfer was complete or given up; `None`: in progress.
    pub end: Option<Time>,
    /// Payload to transfer.
    pub bytes: u64,
    /// Payload that arrived in order.
    pub delivered_bytes: u64,
    /// Data packets sent for the transfer.
    pub sent_packets: u64,
    /// Packets retransmitted for the transfer.
    pub retransmitted_packets: u64,
    /// Smallest number of round trips that the transfer can take: 2 if it is the first transfer of its connection, else
    /// 1.
    pub round_trips: u32,
}
