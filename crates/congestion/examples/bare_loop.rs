//! The algorithms without fullpipe's transport: the calls that a QUIC stack or any other transport makes, in the order
//! in which it makes them.
//!
//! ```text
//! cargo run -p fullpipe-congestion --example bare_loop -- cubic
//! ```
//!
//! The stack has its own state (packets in flight, RTT, losses) and passes this state to the algorithm. All counts are
//! in packets. The network of this example is a formula: a bottleneck of 50 packets per 40 ms with a buffer of 50
//! packets, and one ACK per packet.

use congestion::{Ack, CaState, Congestion, CongestionControl, Path, RateSample, Recovery};
use units::{Duration, Rate, Time};

const MSS: u32 = 1200; // QUIC's smallest datagram, bytes
const BASE_RTT: Duration = Duration::from_millis(40);
const BDP: u32 = 50;
const BUFFER: u32 = 50;
const ROUNDS: u32 = 30;

/// State of one connection in a stack, as far as an algorithm needs it.
pub struct Connection {
    now: Time,
    srtt: Duration,
    min_rtt: Duration,
    in_flight: u32,
    delivered: u64,
    lost: u64,
    state: CaState,
}

impl Connection {
    /// A connection after its handshake.
    #[allow(clippy::new_without_default, reason = "an example shows no more than it needs")]
    pub fn new() -> Connection {
        Connection {
            now: Time::ZERO,
            srtt: BASE_RTT,
            min_rtt: BASE_RTT,
            in_flight: 0,
            delivered: 0,
            lost: 0,
            state: CaState::Open,
        }
    }

    /// State of the path, which is passed to the algorithm with every call. Packet numbers count data packets
    /// without gaps, as TCP's sequence numbers do.
    pub fn path(&self) -> Path {
        Path {
            now: self.now,
            mss: MSS,
            state: self.state,
            srtt: Some(self.srtt),
            min_rtt: Some(self.min_rtt),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            delivered_time: self.now,
            lost: self.lost,
            marked: 0,
            ecn: false,
            cwnd_limited: true, // unlimited data
            app_limited: false,
            next_departure: self.now,
            paced: true,
            pacing_rate: Rate::from_bits_per_sec(15_000_000),
            max_burst_bytes: 10 * MSS,
            pacing_shift: congestion::PACING_SHIFT,
        }
    }

    /// Send a window, lose the packets that do not fit, and process the ACKs. Return packets sent and lost.
    pub fn round_trip(&mut self, algorithm: &mut dyn CongestionControl) -> (u32, u32) {
        let sent = self.allowance(algorithm);
        let lost = sent.saturating_sub(BDP + BUFFER);
        let arrived = sent - lost;
        self.in_flight = sent;
        let rtt = BASE_RTT * u64::from(arrived.max(BDP)) / u64::from(BDP);
        let (start, delivered_before) = (self.now, self.delivered);
        if lost > 0 {
            self.lose(algorithm, lost);
        }
        for n in 1..=arrived {
            self.now = start + rtt * u64::from(n) / u64::from(arrived);
            self.srtt = (self.srtt * 7 + rtt) / 8;
            self.in_flight -= 1;
            self.delivered += 1;
            let sample = RateSample {
                delivered: n,
                interval: Some(self.now.since(start)),
                app_limited: false,
                prior_delivered: delivered_before,
                lost,
                marked: 0,
                tx_in_flight: sent,
            };
            let ack = Ack {
                acked: 1,
                cumulative: 1,
                rtt: Some(rtt),
                prior_state: self.state,
                prior_in_flight: self.in_flight + 1,
                may_grow: self.state == CaState::Open,
                advanced: true,
                una: self.delivered,
                rate: (n == arrived).then_some(sample),
                ..Ack::default()
            };
            algorithm.on_ack(&ack, &self.path());
        }
        if lost > 0 {
            self.recover(algorithm);
        }
        (sent, lost)
    }

    /// Packets of one RTT: the window, or fewer if a pacing rate allows fewer.
    fn allowance(&self, algorithm: &dyn CongestionControl) -> u32 {
        let control = algorithm.control();
        let paced = control.pacing_rate.map_or(f64::INFINITY, |rate| {
            rate.bytes_per_sec() as f64 * self.srtt.as_secs_f64() / f64::from(MSS)
        });
        f64::from(control.cwnd).min(paced).max(1.0) as u32
    }

    /// Begin an episode. An algorithm that leaves recovery to the transport only sets its slow-start threshold.
    fn lose(&mut self, algorithm: &mut dyn CongestionControl, lost: u32) {
        self.lost += u64::from(lost);
        self.in_flight -= lost;
        algorithm.on_congestion(Congestion::Loss, &self.path());
        self.state = CaState::Recovery;
    }

    /// End the episode. The stack must set the window to the slow-start threshold. This example sets the window
    /// immediately, as QUIC does (RFC 9002 section 7.3.2). TCP reduces the window gradually.
    fn recover(&mut self, algorithm: &mut dyn CongestionControl) {
        if algorithm.traits().recovery == Recovery::Transport {
            algorithm.set_cwnd(algorithm.control().ssthresh);
        }
        self.state = CaState::Open;
        algorithm.on_recovery_exit(&self.path());
    }
}

fn main() -> Result<(), congestion::BuildError> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cubic".to_owned());
    let mut algorithm = congestion::build(&name, &serde_json::Value::Null, 1)?;
    let mut connection = Connection::new();
    algorithm.on_established(&connection.path());
    println!("time_s  sent  lost  cwnd  pacing_mbps");
    for _ in 0..ROUNDS {
        let (sent, lost) = connection.round_trip(&mut *algorithm);
        let control = algorithm.control();
        let pacing =
            control.pacing_rate.map_or("-".to_owned(), |r| format!("{:.1}", r.bits_per_sec() as f64 / 1e6));
        println!(
            "{:>6.3} {sent:>5} {lost:>5} {:>5} {pacing:>12}",
            connection.now.as_secs_f64(),
            control.cwnd
        );
    }
    Ok(())
}
