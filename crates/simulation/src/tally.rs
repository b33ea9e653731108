//! What is measured of a flow, whatever it consists of.

use crate::datagram::InterarrivalJitter;
use network::Histogram;
use tcp::{Limited, SenderStats};
use units::{Duration, Time};

/// What a row of the table `flows` is made from.
#[derive(Debug, Default)]
pub struct Tally {
    /// When it starts, jitter included.
    pub start: Time,
    /// When all it had to send was acknowledged.
    pub finish: Option<Time>,
    /// RTT samples since the end of the warm-up.
    pub rtt: Histogram,
    /// One-way delays since the end of the warm-up, if they are measured.
    pub one_way: Option<Box<OneWay>>,
    /// Counters when its measurement began and when it ended.
    pub begin: Option<Mark>,
    /// See `begin`.
    pub end: Option<Mark>,
}

impl Tally {
    /// Of a flow that starts at `start`.
    pub fn new(start: Time) -> Tally {
        Tally { start, ..Tally::default() }
    }
}

/// What is measured where datagrams arrive.
#[derive(Debug, Default)]
pub struct OneWay {
    /// How long they were on their way.
    pub delay: Histogram,
    /// By how much that differs from one to the next.
    pub jitter: InterarrivalJitter,
}

/// The counters of a flow at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
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
pub struct Trip {
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

/// What the viewer of a video has seen: a row of the table `videos`.
#[derive(Clone, Copy, Debug)]
pub struct Playback {
    /// From the beginning of the flow to the first picture; `None`: there was none.
    pub startup: Option<Duration>,
    /// Video that was played.
    pub played: Duration,
    /// Time for which the picture stood still after it had begun to move.
    pub stalled: Duration,
    /// How often it stood still.
    pub stalls: u32,
    /// Pieces that had arrived.
    pub chunks: u32,
    /// Sum of their bit rates.
    pub bitrates_bps: u64,
    /// How often the bit rate of a piece differed from that of the one before.
    pub switches: u32,
}
