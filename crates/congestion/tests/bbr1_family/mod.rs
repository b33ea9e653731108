//! BBRv1 and its descendants, ACK by ACK. Each test checks a property that a specification requires. Properties that
//! need a network are in `tests/theory/test_bbr1_family.py`.

mod ad_bbr;
mod bbq;
mod bbr1;
mod da_bbr;

use congestion::kit::ideal;
use congestion::{Ack, CaState, CongestionControl, Path, Probe, RateSample, Reading, build};
use serde_json::Value;
use units::{Duration, Time};

/// RTT of the empty path, microseconds.
const RTPROP_US: u64 = 20_000;
/// Time between two packets from the bottleneck, microseconds: 116 Mbit/s.
const GAP_US: u64 = 100;
/// Packets in one bandwidth-delay product.
const BDP: f64 = 200.0;

/// A sender in a closed loop. ACKs arrive as fast as the bottleneck, the pacing rate and the window allow, with an RTT
/// of `rtt_us`.
struct Loop {
    algorithm: Box<dyn CongestionControl>,
    now: Time,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    /// RTT of the handshake, microseconds.
    rtprop_us: u64,
    rtt_us: u64,
    state: CaState,
    app_limited: bool,
    delayed: bool,
}

impl Loop {
    fn new(name: &str, params: Value) -> Loop {
        Loop::with(build(name, &params, 1).expect("valid parameters"), RTPROP_US)
    }

    fn with(algorithm: Box<dyn CongestionControl>, rtprop_us: u64) -> Loop {
        let mut sender = Loop {
            algorithm,
            now: Time::ZERO,
            delivered: 1,
            lost: 0,
            in_flight: 10,
            rtprop_us,
            rtt_us: rtprop_us,
            state: CaState::Open,
            app_limited: false,
            delayed: false,
        };
        let path = sender.path();
        sender.algorithm.on_established(&path);
        sender
    }

    /// Build a sender and run it until it is in the state `name`.
    fn in_state(algorithm: &str, params: Value, name: &str) -> Loop {
        let mut sender = Loop::new(algorithm, params);
        sender.run_until(name);
        sender
    }

    fn path(&self) -> Path {
        let rtt = Duration::from_micros(self.rtt_us);
        Path {
            state: self.state,
            srtt: Some(rtt),
            min_rtt: Some(Duration::from_micros(self.rtt_us.min(self.rtprop_us))),
            in_flight: self.in_flight,
            delivered: self.delivered,
            lost: self.lost,
            app_limited: self.app_limited,
            ..ideal::path(self.now)
        }
    }

    /// Time until the next ACK, microseconds: the longest of the gaps between packets that the bottleneck, pacing
    /// and the window set.
    fn gap_us(&self) -> u64 {
        let control = self.algorithm.control();
        let paced = control.pacing_rate.map_or(0, |rate| 1_448_000_000 / rate.bytes_per_sec().max(1) / 1_000);
        GAP_US.max(paced).max(self.rtt_us / u64::from(control.cwnd))
    }

    /// Process an ACK of one packet.
    fn ack(&mut self) {
        let gap = self.gap_us();
        self.now += Duration::from_micros(gap);
        let prior_in_flight = self.in_flight;
        self.in_flight = (self.rtt_us / gap).max(1) as u32;
        self.ack_of(Duration::from_micros(gap), prior_in_flight, 0);
    }

    /// Process an ACK of one packet with a rate sample of one packet per `interval`.
    fn ack_of(&mut self, interval: Duration, prior_in_flight: u32, lost: u32) {
        self.delivered += 1;
        self.lost += u64::from(lost);
        let sample = RateSample {
            app_limited: self.app_limited,
            prior_delivered: self.delivered.saturating_sub(u64::from(self.in_flight)),
            ..ideal::sample(1, interval)
        };
        let ack = Ack {
            lost,
            rtt: Some(Duration::from_micros(self.rtt_us)),
            delayed: self.delayed,
            prior_in_flight,
            rate: Some(sample),
            ..ideal::ack(1)
        };
        let path = self.path();
        self.algorithm.on_ack(&ack, &path);
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_micros((seconds * 1e6) as u64);
        while self.now < end {
            self.ack();
        }
    }

    /// Run until the state is `name`. Return the elapsed time in seconds.
    fn run_until(&mut self, name: &str) -> f64 {
        let start = self.now;
        while self.state_name() != name {
            assert!(self.now.since(start) < Duration::from_secs(60), "{name} never came");
            self.ack();
        }
        self.now.since(start).as_secs_f64()
    }

    fn readings(&self) -> Vec<(&'static str, Reading)> {
        let mut found = Vec::new();
        self.algorithm.observe(&mut Probe::new(&mut |name, reading| found.push((name, reading))));
        found
    }

    fn state_name(&self) -> &'static str {
        let state = self.readings().into_iter().find_map(|(_, reading)| match reading {
            Reading::State(name) => Some(name),
            Reading::Number(..) => None,
        });
        state.expect("a state")
    }

    fn see(&self, variable: &str) -> f64 {
        let number = self.readings().into_iter().find_map(|(name, reading)| match reading {
            Reading::Number(value, _) if name == variable => Some(value),
            _ => None,
        });
        number.unwrap_or_else(|| panic!("no variable {variable}"))
    }

    /// Pacing rate divided by the bandwidth estimate.
    fn pace(&self) -> f64 {
        self.see("pacing_rate") / (self.see("bw") * 8.0 * f64::from(ideal::MSS))
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.algorithm.control().cwnd)
    }

    /// Size of a burst in packets. The window has room for three such bursts beyond the BDP.
    fn burst(&self) -> f64 {
        let rate = self.algorithm.control().pacing_rate.expect("paced").bytes_per_sec();
        (rate / 1024 / u64::from(ideal::MSS)).max(2) as f64
    }
}
