//! The sending half of a connection.
//!
//! [`Sender`] coordinates parts. Each part owns its state, and only the methods of the part change that state:
//!
//! | part | state |
//! |---|---|
//! | `window` | the congestion window: the algorithm, its decisions, the use of the window |
//! | `connection` | handshake and FIN |
//! | `board` | outstanding packets, and whether each packet is SACKed, marked lost, retransmitted |
//! | `delivery` | delivery counters, rate samples, ECN marks |
//! | `rack` | loss detection, and the reordering observed |
//! | `rtt` | smoothed and smallest RTT, retransmission timeout |
//! | `recovery` | the congestion episode: its undo, its reduction, a tail loss probe |
//! | `departures` | pacing, the queues of the host, the limiting cause |
//! | `timer` | the retransmission timer |
//! | `queue` | written data, the send buffer, the receiver's window |
//!
//! The methods of `Sender` connect the parts. Methods for opening, closing and observation are in this file,
//! other methods in `ack.rs`, `recovery.rs`, `losses.rs`, `output.rs` and `timeouts.rs`. The order within an ACK
//! is in `ack.rs`: scoreboard → RTT → RACK → recovery state → rate sample → congestion control → retransmit,
//! transmit.
//!
//! Opening a connection follows RFC 9293 section 3.5 (Linux `tcp_connect`, `tcp_rcv_synsent_state_process`,
//! `tcp_rcv_state_process`): actively with a SYN, or passively with a SYN-ACK.

mod ack;
mod config;
mod connection;
mod delivery;
mod departures;
mod early;
mod ecn_marks;
mod episode;
mod host;
mod limits;
mod losses;
mod output;
mod pacing;
mod probe;
mod quirks;
mod rack;
mod record;
mod recovery;
mod reduction;
mod ring;
mod rtt;
mod sacked;
mod scoreboard;
mod stats;
mod summary;
mod timeouts;
mod timer;
mod window;
mod write_queue;

pub use config::{LossDetection, Nic, Pacing, SendBuffer, SendMemory, SenderConfig};
pub use limits::Limited;
pub use quirks::{
    FullSendBuffer, IdleApplication, InvalidSamples, LostInFlight, Proportion, Quirks, RateSampling, Rescue,
};
pub use stats::{Counters, SenderStats, Snapshot};

use crate::feedback::Feedback;
use crate::segment::{Segment, stamp};
use crate::wheel::Wheel;
use congestion::{CongestionControl, Path};
use connection::Connection;
use delivery::Delivery;
use departures::Departures;
use episode::Episode;
use limits::Limit;
use pacing::GSO_MAX_BYTES;
use rack::Rack;
use rtt::RttEstimator;
use scoreboard::Scoreboard;
use timer::Timer;
use units::{Duration, Rate, Time};
use window::Window;
use write_queue::WriteQueue;

/// The sending half of a connection. The methods take the time and the arriving segment, and append the segments
/// that the sender sends to `out`.
///
/// The parts that every ACK needs come first, in the order of use: with thousands of connections, fetching these parts
/// from memory takes most of the time.
#[repr(C, align(64))]
pub struct Sender {
    window: Window,
    connection: Connection,
    board: Scoreboard,
    delivery: Delivery,
    rack: Rack,
    rtt: RttEstimator,
    recovery: Episode,
    timer: Timer,
    departures: Departures,
    queue: WriteQueue,
    stats: SenderStats,
    config: SenderConfig,
}

impl Sender {
    /// A sender that has not opened its connection yet.
    ///
    /// # Panics
    /// If the MSS is 0 or above 65,535, the initial window is 0, or the send buffer is smaller than one MSS,
    /// because no packet could be sent.
    pub fn new(config: SenderConfig, algorithm: Box<dyn CongestionControl>) -> Sender {
        assert!((1..=65_535).contains(&config.mss), "MSS {}", config.mss);
        assert!(config.initial_window > 0, "an initial window of 0");
        if let SendBuffer::Payload(least) = config.send_buffer {
            assert!(least.get() >= u64::from(config.mss), "a send buffer below one MSS");
        }
        let window = Window::new(algorithm, config.initial_window);
        Sender {
            connection: Connection::default(),
            board: Scoreboard::new(config.lean_records),
            delivery: Delivery::new(config.quirks, config.ecn),
            rack: Rack::new(config.loss_detection),
            rtt: RttEstimator::new(config.min_rto),
            recovery: Episode::new(&config),
            timer: Timer::new(Wheel::new(config.tick)),
            departures: Departures::new(&config, window.traits()),
            queue: WriteQueue::new(&config),
            stats: SenderStats::default(),
            window,
            config,
        }
    }

    /// Send the SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.departures.open(now);
        self.send_opening(now, out);
    }

    /// Answer a SYN that has the timestamp `echo` with a SYN-ACK, which opens the direction of this sender, too.
    /// `window` is the window of the receiver at this end.
    pub fn accept(&mut self, now: Time, echo: u32, window: u32, out: &mut Vec<Segment>) {
        if self.connection.is_established() {
            return; // a late SYN
        }
        if self.connection.answer(echo, window) {
            self.departures.open(now);
        }
        self.send_opening(now, out);
    }

    /// Answer a SYN-ACK, which may be a retransmission.
    pub fn confirm(&mut self, now: Time, out: &mut Vec<Segment>) {
        out.push(Segment::HandshakeAck { stamp: stamp(now), echo: 0, window: 0 });
    }

    /// Send the SYN or the SYN-ACK.
    fn send_opening(&mut self, now: Time, out: &mut Vec<Segment>) {
        out.push(self.connection.opening_segment(stamp(now)));
        self.departures.note_send(now);
        self.timer.arm_retransmission(now, self.rtt.rto(), Duration::ZERO);
    }

    pub(super) fn on_opening_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.stats.timeouts += 1;
        if self.connection.repeat_opening() {
            self.rtt.back_off();
        }
        self.send_opening(now, out);
    }

    /// Continue the handshake. An ACK of any kind completes the handshake at the passive end
    /// (`tcp_synack_rtt_meas`).
    #[cold]
    pub(super) fn shake_hands(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        match (*segment, self.connection.is_passive()) {
            (Segment::SynAck { echo, window, .. }, false) => {
                self.establish(now, echo, window);
                self.confirm(now, out);
            }
            (Segment::HandshakeAck { echo, window, .. } | Segment::Ack { echo, window, .. }, true) => {
                self.establish(now, echo, window);
            }
            _ => return,
        }
        // An application writes after its connection has opened, and closes after it has written, so the FIN follows
        // the data.
        let closes = self.connection.withhold_fin();
        self.push(now, out);
        if closes {
            self.connection.close();
            self.push(now, out);
        }
    }

    fn establish(&mut self, now: Time, echo: u32, window: u32) {
        self.connection.establish();
        self.timer.disarm();
        self.rtt = RttEstimator::new(self.config.min_rto); // forget the back-off
        match self.opening_rtt(now, echo) {
            Some(rtt) => self.rtt.learn(now, rtt, rtt, false, self.board.una(), self.board.next()),
            None => self.rtt.fall_back(),
        }
        if self.connection.begins_with_one_packet(self.config.timestamps.then_some(echo)) {
            self.window.set_cwnd(1);
        }
        self.queue.open(window);
        self.delivery.open(now);
        self.window.confirm(now);
        let path = self.path(now);
        self.window.on_established(&path);
        self.departures.restart_pacing(&self.config, self.window.traits());
        self.update_pacing_rate();
        self.expand_send_buffer();
    }

    /// RTT of the handshake. If the SYN or SYN-ACK was sent more than once, only the echoed timestamp tells it.
    fn opening_rtt(&self, now: Time, echo: u32) -> Option<Duration> {
        if !self.connection.was_opening_repeated() {
            return Some(self.departures.idle(now));
        }
        let echoed_ms = u64::from(stamp(now).saturating_sub(echo).max(1));
        self.config.timestamps.then(|| Duration::from_millis(echoed_ms))
    }

    /// Set the bytes that the application has written so far (`None`: unlimited data), and send as much of this
    /// data as all limits allow.
    pub fn offer(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Segment>) {
        if bytes > self.queue.data() || bytes.is_none() {
            self.check_app_limited();
        }
        self.queue.offer(bytes);
        self.push(now, out);
    }

    /// Close after the data written so far: a FIN follows that data.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.connection.close() {
            self.queue.end_at(self.board.next_bytes());
            self.push(now, out);
        }
    }

    /// Send no new data and no FIN from now on; lost packets are still retransmitted.
    pub fn stop(&mut self, now: Time) {
        self.queue.stop(self.board.next_bytes());
        self.connection.withhold_fin();
        if !self.connection.is_established() {
            self.timer.disarm();
        }
        if !self.departures.is_limited_by_pacing() {
            self.departures.limit(now, Limit::Application); // lost packets may still wait for pacing
        }
    }

    /// Process an arriving segment and send the packets that it allows.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        self.rtt.forget_last();
        let established = self.connection.is_established();
        match segment {
            Segment::Ack { .. } if established => self.on_ack(now, segment, out),
            _ if !established => self.shake_hands(now, segment, out),
            _ => {}
        }
    }

    /// Note the timestamp of a segment of the other end before it is processed. An ACK that delivers nothing reports AccECN
    /// marks only if its timestamp is later than those before it. Without this call, every timestamp counts as later.
    pub fn note_timestamp(&mut self, stamp: u32) {
        self.delivery.note_stamp(stamp);
    }

    /// Record that a packet of `bytes` has left the NIC, or was dropped there, and send the packets that may now be
    /// sent (`tcp_wfree`, `tcp_tsq_write`). True if the sender was waiting for the departure.
    pub fn on_left_host(&mut self, now: Time, bytes: u32, out: &mut Vec<Segment>) -> bool {
        let goes_on = self.departures.left_host(bytes) && self.connection.is_established();
        if goes_on {
            self.retransmit_lost(now, out);
            self.push(now, out);
        }
        goes_on
    }

    /// Count a packet without data that the connection has passed to the NIC.
    pub fn on_sent_beside(&mut self, bytes: u32) {
        self.departures.count_bare(bytes);
    }

    /// Whether a cumulative acknowledgement of `ack` would be new.
    pub fn awaits(&self, ack: u32) -> bool {
        ack > self.board.una() || !self.connection.is_established()
    }

    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.connection.is_established()
    }

    /// Smoothed RTT; `None` before the first RTT sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// The retransmission timeout.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// Record from now on when retransmitted packets were first sent.
    pub fn keep_first_transmissions(&mut self) {
        self.board.keep_first_transmissions();
    }

    /// Time of the first transmission of a packet, microseconds modulo 2^32. `None` if these times are not recorded, or
    /// if the packet was not retransmitted. The time is available only until the packet is acknowledged.
    pub fn first_sent_us(&self, seq: u32) -> Option<u32> {
        self.board.first_us(seq)
    }

    /// Bytes that the application has written into the send buffer.
    pub fn written_bytes(&self) -> u64 {
        self.queue.written()
    }

    /// Payload bytes sent at least once.
    pub fn sent_once_bytes(&self) -> u64 {
        self.board.next_bytes()
    }

    /// Packet records in memory.
    pub fn records(&self) -> usize {
        self.board.records()
    }

    /// Whether all data of the application is acknowledged.
    pub fn is_done(&self) -> bool {
        self.queue.data().is_some_and(|total| self.board.una_bytes() >= total)
    }

    /// Whether the application has closed.
    pub fn is_closing(&self) -> bool {
        self.connection.is_closing()
    }

    /// Whether the FIN and all data are acknowledged.
    pub fn is_closed(&self) -> bool {
        self.connection.is_fin_sent() && self.board.packets_out() == 0
    }

    /// The sample that the last `on_segment` added to the smoothed RTT, if any.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.rtt.last()
    }

    /// Counters since the start.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Time spent limited by each cause, up to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.departures.limited(now)
    }

    /// The algorithm, for observation.
    pub fn algorithm(&self) -> &dyn CongestionControl {
        self.window.algorithm()
    }

    /// The state at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.window.cwnd(),
            in_flight: self.board.in_flight(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            pacing_rate: self.departures.is_paced().then(|| self.departures.rate()),
            delivery_rate: self.delivery.last_rate().map(|(packets, interval)| {
                let bits = u128::from(packets) * u128::from(self.config.largest_segment()) * 8_000_000_000;
                Rate::from_bits_per_sec((bits / u128::from(interval.as_nanos())) as u64)
            }),
            state: self.recovery.state(),
        }
    }

    /// The counters at this moment.
    pub fn counters(&self) -> Counters {
        Counters {
            cwnd: self.window.cwnd(),
            ssthresh: self.window.control().ssthresh,
            state: self.recovery.state(),
            unacked: self.board.packets_out(),
            sacked: self.board.sacked_out(),
            lost: self.board.lost_out(),
            retrans: self.board.retrans_out(),
            reordering: self.rack.reordering(),
        }
    }

    /// State of the path and of the sender that the algorithm can read.
    fn path(&self, now: Time) -> Path {
        Path {
            now,
            mss: self.config.largest_segment(),
            state: self.recovery.state(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: self.board.in_flight(),
            packets_out: self.board.packets_out(),
            next: u64::from(self.board.next()),
            delivered: self.delivery.delivered(),
            delivered_time: self.delivery.delivered_time(),
            lost: self.delivery.lost(),
            marked: self.delivery.marked(),
            ecn: self.config.ecn != Feedback::Off,
            cwnd_limited: self.window.is_limit(),
            app_limited: self.delivery.is_app_limited(),
            next_departure: self.departures.next_departure(),
            paced: self.departures.is_paced(),
            pacing_rate: self.departures.rate(),
            max_burst_bytes: GSO_MAX_BYTES,
            pacing_shift: self.config.pacing_shift,
        }
    }
}
