//! The sending half of a connection.
//!
//! One file per concern; the order within an ACK is in `ack.rs`:
//! scoreboard → RTT → RACK → recovery state → rate sample → congestion control → retransmit, transmit.

mod ack;
mod closing;
mod cwnd_validation;
mod duplicates;
mod early;
mod ecn_marks;
mod host;
mod limits;
mod opening;
mod output;
mod pacing;
mod probe;
mod progress;
mod proportion;
mod quirks;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod scoreboard;
mod timers;
mod undo;
mod write_queue;

pub use duplicates::LossDetection;
pub use host::{Nic, Pacing};
pub use limits::Limited;
pub use quirks::{
    FullSendBuffer, IdleApplication, InvalidSamples, LostInFlight, Proportion, Quirks, RateSampling, Rescue,
};
pub use write_queue::{SendBuffer, SendMemory};

use crate::numbered::Numbered;
use crate::segment::stamp;
use crate::{Feedback, SackBlocks, Segment};
use closing::Fin;
use congestion::{CaState, CongestionControl, Control, PACING_SHIFT, Path, Traits};
use cwnd_validation::WindowUsage;
use ecn_marks::Marks;
use host::HostQueue;
use limits::Limits;
use opening::Opening;
use pacing::Pacer;
use probe::TailProbe;
use rack::Rack;
use rate::Delivery;
use recovery::Episode;
use rtt::RttEstimator;
use scoreboard::Scoreboard;
use std::ops::AddAssign;
use timers::Timer;
use units::{Duration, Rate, Time};
use write_queue::WriteQueue;

/// Settings of a sender.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Bytes of intermittent options, by which `mss` is already reduced. Rates are computed without them (Linux
    /// `mss_cache`).
    pub option_bytes: u32,
    /// Initial window, packets.
    pub initial_window: u32,
    /// Bytes the application has to send; `None`: unlimited.
    pub data: Option<u64>,
    /// Limit of unacknowledged data in the socket.
    pub send_buffer: SendBuffer,
    /// The layer that paces, and the algorithms that are paced.
    pub pacing: Pacing,
    /// The NIC of the host, if it reports departures; `None`: nothing waits in the host.
    pub nic: Option<Nic>,
    /// Bytes of the largest burst passed to the network at once (segmentation offload); 0: single packets.
    pub max_burst_bytes: u32,
    /// Limit of a burst, and of data in the host: 2^-n seconds at the pacing rate (`sk_pacing_shift`).
    pub pacing_shift: u32,
    /// Smallest burst in packets, if data and window allow (sysctl tcp_min_tso_segs; 2 in Linux). The algorithm may
    /// ask for more.
    pub min_burst: u32,
    /// ECN feedback by the receiver.
    pub ecn: Feedback,
    /// Method of loss detection.
    pub loss_detection: LossDetection,
    /// Least difference between the retransmission timeout and the smoothed RTT (`rto_min` of a route).
    pub min_rto: Duration,
    /// Whether to probe for losses at the end of a flight (sysctl tcp_early_retrans).
    pub tail_loss_probe: bool,
    /// Whether to undo a reduction that turns out to be spurious.
    pub undo: bool,
    /// Deviations from Linux.
    pub quirks: Quirks,
    /// Whether the scoreboard saves memory at the cost of time. Never changes results.
    pub lean_records: bool,
}

impl Default for SenderConfig {
    /// Linux on Ethernet, with unlimited data.
    fn default() -> SenderConfig {
        SenderConfig {
            mss: 1448,
            option_bytes: 0,
            initial_window: 10,
            data: None,
            send_buffer: SendBuffer::Unlimited,
            pacing: Pacing::Auto,
            nic: None,
            max_burst_bytes: 65_536,
            pacing_shift: PACING_SHIFT,
            min_burst: 1,
            ecn: Feedback::Off,
            loss_detection: LossDetection::default(),
            min_rto: rtt::MIN_RTO,
            tail_loss_probe: true,
            undo: true,
            quirks: Quirks::default(),
            lean_records: false,
        }
    }
}

impl SenderConfig {
    /// Payload of a segment without intermittent options, used for rates and memory.
    fn largest_segment(&self) -> u32 {
        self.mss + self.option_bytes
    }
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Data packets retransmitted.
    pub retransmitted_packets: u64,
    /// Packets marked lost (rightly or not).
    pub lost_packets: u64,
    /// Packets that the receiver has reported as CE-marked.
    pub marked_packets: u64,
    /// Payload bytes cumulatively acknowledged.
    pub acked_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

impl AddAssign for SenderStats {
    fn add_assign(&mut self, other: SenderStats) {
        self.sent_packets += other.sent_packets;
        self.sent_bytes += other.sent_bytes;
        self.retransmitted_packets += other.retransmitted_packets;
        self.lost_packets += other.lost_packets;
        self.marked_packets += other.marked_packets;
        self.acked_bytes += other.acked_bytes;
        self.timeouts += other.timeouts;
    }
}

/// The state of a sender at one moment, for traces.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Pacing rate, if the flow is paced.
    pub pacing_rate: Option<Rate>,
    /// The last delivery-rate sample, payload.
    pub delivery_rate: Option<Rate>,
    /// State of loss recovery.
    pub state: CaState,
}

/// The sending half of a connection. Its methods take the time and what has arrived, and push the segments that it
/// sends.
///
/// The fields that every ACK needs come first, in the order of use: with thousands of connections, fetching them takes
/// most of the time.
#[repr(C, align(64))]
pub struct Sender {
    algorithm: Box<dyn CongestionControl>,
    control: Control,
    traits: Traits,
    established: bool,
    fin: Fin,
    last_echo: u32,
    /// One past the highest byte the receiver's window allows.
    window_end: u64,
    last_send: Time,
    board: Scoreboard,
    delivery: Delivery,
    rack: Rack,
    rtt: RttEstimator,
    recovery: Episode,
    pacer: Pacer,
    timer: Timer,
    usage: WindowUsage,
    probe: TailProbe,
    marks: Marks,
    queue: WriteQueue,
    last_rtt: Option<Duration>,
    stats: SenderStats,
    limits: Limits,
    config: SenderConfig,
    host: HostQueue,
    /// SACK blocks of the preceding ACK, all of which are in the scoreboard.
    known_sacks: SackBlocks,
    scratch: Vec<(u32, u32)>,
    /// Packets that the receiver has reported as duplicates.
    duplicates: u64,
    /// Packets below were already examined by loss detection with duplicate ACKs.
    settled: u32,
    /// Packets below were already examined for rescue retransmissions.
    rescued: u32,
    /// Zero-window probes since the window closed.
    window_probes: u32,
    opening: Opening,
    /// When each retransmitted packet was first sent, microseconds modulo 2^32; `None`: not recorded.
    first_us: Option<Numbered<u32>>,
}

impl Sender {
    /// A sender that has not opened its connection yet.
    ///
    /// # Panics
    /// If the MSS is 0 or above 65,535, the initial window is 0, or the send buffer is smaller than one MSS:
    /// no packet could ever be sent.
    pub fn new(config: SenderConfig, mut algorithm: Box<dyn CongestionControl>) -> Sender {
        assert!((1..=65_535).contains(&config.mss), "MSS {}", config.mss);
        assert!(config.initial_window > 0, "an initial window of 0");
        if let SendBuffer::Payload(least) = config.send_buffer {
            assert!(least.get() >= u64::from(config.mss), "a send buffer below one MSS");
        }
        algorithm.set_cwnd(config.initial_window);
        let traits = algorithm.traits();
        Sender {
            pacer: pacer(traits, config.pacing),
            host: HostQueue::new(config.pacing == Pacing::Fq),
            control: algorithm.control(),
            opening: Opening::default(),
            first_us: None,
            established: false,
            fin: Fin::default(),
            window_end: 0,
            board: Scoreboard::new(config.lean_records),
            queue: WriteQueue::new(config.send_buffer, config.mss, config.largest_segment()),
            rtt: RttEstimator::new(config.min_rto),
            rack: Rack::new(config.loss_detection),
            delivery: Delivery::with_quirks(config.quirks),
            recovery: Episode::default(),
            probe: TailProbe::default(),
            usage: WindowUsage::default(),
            timer: Timer::default(),
            limits: Limits::default(),
            last_send: Time::ZERO,
            last_rtt: None,
            last_echo: 0,
            duplicates: 0,
            stats: SenderStats::default(),
            marks: Marks::default(),
            scratch: Vec::new(),
            known_sacks: SackBlocks::default(),
            settled: 0,
            rescued: 0,
            window_probes: 0,
            config,
            algorithm,
            traits,
        }
    }

    /// Process an arriving segment and send what it allows.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        self.last_rtt = None;
        match segment {
            Segment::Ack { .. } if self.established => self.on_ack(now, segment, out),
            _ if !self.established => self.shake_hands(now, segment, out),
            _ => {}
        }
    }

    /// Whether a cumulative acknowledgement of `ack` would be new.
    pub fn awaits(&self, ack: u32) -> bool {
        ack > self.board.una || !self.established
    }

    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Smoothed RTT, once there was a sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// The retransmission timeout.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// Set the bytes that the application has written so far (`None`: unlimited), and send what that allows.
    pub fn offer(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        if bytes > self.config.data || bytes.is_none() {
            self.check_app_limited();
        }
        self.config.data = bytes;
        self.push(now, out);
    }

    /// Record from now on when retransmitted packets were first sent.
    pub fn keep_first_transmissions(&mut self) {
        self.first_us = Some(Numbered::default());
    }

    /// Time of the first transmission of a packet, microseconds modulo 2^32. `None` if these times are not recorded, or
    /// if the packet was not retransmitted. Valid only until the packet is acknowledged.
    pub fn first_sent_us(&self, seq: u32) -> Option<u32> {
        self.first_us.as_ref()?.get(seq)
    }

    /// Payload bytes sent at least once.
    pub fn sent_once_bytes(&self) -> u64 {
        self.board.next_bytes
    }

    /// Packet records in memory.
    pub fn records(&self) -> usize {
        self.board.records()
    }

    /// Send no new data and no FIN from now on; outstanding packets are still retransmitted if they are lost.
    pub fn stop(&mut self, now: Time) {
        self.config.data = Some(self.board.next_bytes);
        self.queue.is_full = false;
        if self.fin == Fin::Due {
            self.fin = Fin::Open;
        }
        if !self.established {
            self.timer.disarm();
        }
        if !self.limits.is_pacing() {
            self.limits.switch(now, limits::Limit::Application); // lost packets may still wait for pacing
        }
    }

    /// Whether all data of the application is acknowledged.
    pub fn is_done(&self) -> bool {
        self.config.data.is_some_and(|total| self.board.una_bytes >= total)
    }

    /// The sample that the last `on_segment` added to the smoothed RTT, if any.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.last_rtt
    }

    /// Counters since the start.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Time spent limited by each cause, up to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.limits.up_to(now)
    }

    /// The algorithm, for observation.
    pub fn algorithm(&self) -> &dyn CongestionControl {
        &*self.algorithm
    }

    /// The state at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.control.cwnd,
            in_flight: self.board.in_flight(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            pacing_rate: self.pacer.enabled().then(|| self.pacer.rate()),
            delivery_rate: self.delivery.last_rate.map(|(packets, interval)| {
                let bits = u128::from(packets) * u128::from(self.config.largest_segment()) * 8_000_000_000;
                Rate::from_bits_per_sec((bits / u128::from(interval.as_nanos())) as u64)
            }),
            state: self.recovery.state,
        }
    }

    /// The path as the algorithm sees it.
    fn path(&self, now: Time) -> Path {
        Path {
            now,
            mss: self.config.largest_segment(),
            state: self.recovery.state,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: self.board.in_flight(),
            packets_out: self.board.packets_out(),
            next: u64::from(self.board.next),
            delivered: self.delivery.delivered,
            delivered_time: self.delivery.delivered_time,
            lost: self.delivery.lost,
            marked: self.delivery.marked,
            ecn: self.config.ecn != Feedback::Off,
            cwnd_limited: self.is_cwnd_limited(),
            app_limited: self.delivery.is_app_limited(),
            next_departure: self.pacer.next_departure(),
            paced: self.pacer.enabled(),
            pacing_rate: self.pacer.rate(),
            max_burst_bytes: pacing::GSO_MAX_BYTES,
            pacing_shift: self.config.pacing_shift,
        }
    }

    fn refresh_control(&mut self) {
        self.control = self.algorithm.control();
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.algorithm.set_cwnd(cwnd);
        self.refresh_control();
    }
}

/// Build the pacer, enabled if the algorithm or the host asks for pacing.
fn pacer(traits: Traits, pacing: Pacing) -> Pacer {
    Pacer::new(traits.needs_pacing || pacing != Pacing::Auto)
}
