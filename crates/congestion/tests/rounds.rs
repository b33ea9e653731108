//! Algorithms judged without a network: one line per round trip, reviewed as snapshots.
//!
//! The path is ideal: 40 ms, 1448-byte packets, a bottleneck of 50 packets per round trip with a buffer of as many
//! again. Every packet of a round is acknowledged in the next while the next is being sent, so that a whole window is
//! in flight at any time; what does not fit the buffer is lost.

use congestion::{
    Ack, CaState, Congestion, CongestionControl, Path, RateSample, Recovery, build, descriptors,
};
use std::fmt::Write;
use units::{Duration, Rate, Time};

const BDP: u32 = 50;
const RTT: Duration = Duration::from_millis(40);
const ROUNDS: u32 = 40;

struct Rounds {
    now: Time,
    delivered: u64,
    lost: u64,
    rtt: Duration,
    in_flight: u32,
}

impl Rounds {
    fn path(&self, state: CaState) -> Path {
        Path {
            now: self.now,
            mss: 1448,
            state,
            srtt: Some(self.rtt),
            min_rtt: Some(RTT),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            delivered_time: self.now,
            lost: self.lost,
            cwnd_limited: true,
            app_limited: false,
            next_departure: self.now,
            paced: true,
            pacing_rate: Rate::from_bits_per_sec(20_000_000),
            max_burst_bytes: 65_215,
        }
    }

    /// One round trip: a window is sent, queues, and is acknowledged packet by packet.
    fn run(&mut self, algorithm: &mut dyn CongestionControl) -> u32 {
        let sent = allowed(algorithm, self.rtt);
        let dropped = sent.saturating_sub(2 * BDP);
        let arrived = sent - dropped;
        self.rtt = RTT * u64::from(arrived.max(BDP)) / u64::from(BDP);
        self.in_flight = sent;
        let (start, before) = (self.now, self.delivered);
        let reduce = dropped > 0 && algorithm.traits().recovery == Recovery::Transport;
        if dropped > 0 {
            algorithm.on_congestion(Congestion::Loss, &self.path(CaState::Open));
        }
        let state = if dropped > 0 { CaState::Recovery } else { CaState::Open };
        for n in 1..=arrived {
            self.now = start + self.rtt * u64::from(n) / u64::from(arrived);
            self.delivered += 1;
            let lost = if n == 1 { dropped } else { 0 };
            self.lost += u64::from(lost);
            algorithm.on_ack(&self.ack(n, lost, start, before, sent, !reduce), &self.path(state));
        }
        if dropped > 0 {
            algorithm.on_recovery_exit(&self.path(CaState::Open));
        }
        if reduce {
            algorithm.set_cwnd(algorithm.control().ssthresh);
        }
        dropped
    }

    fn ack(&self, n: u32, lost: u32, start: Time, before: u64, sent: u32, may_grow: bool) -> Ack {
        let sample = RateSample {
            delivered: n,
            interval: Some(self.now.since(start)),
            app_limited: false,
            prior_delivered: before,
            lost,
            marked: 0,
            tx_in_flight: sent,
        };
        Ack {
            acked: 1,
            cumulative: 1,
            lost,
            marked: 0,
            rtt: Some(self.rtt),
            one_way_delay: Some(self.rtt - RTT / 2),
            delayed: false,
            prior_state: CaState::Open,
            prior_in_flight: sent,
            may_grow,
            advanced: true,
            una: self.delivered,
            rate: (n == sent.min(2 * BDP)).then_some(sample),
            acks_probe: false,
        }
    }
}

/// What a round may send: the window, or what pacing lets go in one RTT.
fn allowed(algorithm: &dyn CongestionControl, rtt: Duration) -> u32 {
    let control = algorithm.control();
    let paced = control.pacing_rate.map_or(u64::MAX, |r| {
        let bytes = u128::from(r.bytes_per_sec()) * u128::from(rtt.as_nanos()) / 1_000_000_000;
        (bytes / 1448).max(1).min(u128::from(u32::MAX)) as u64
    });
    u64::from(control.cwnd).min(paced) as u32
}

fn table(name: &str) -> String {
    let mut algorithm = build(name, &serde_json::Value::Null, 1).unwrap();
    let mut rounds = Rounds { now: Time::ZERO, delivered: 1, lost: 0, rtt: RTT, in_flight: 0 };
    algorithm.on_established(&rounds.path(CaState::Open));
    let mut text = String::from("round  sent  lost  rtt_ms  cwnd  ssthresh\n");
    for round in 0..ROUNDS {
        let sent = allowed(&*algorithm, rounds.rtt);
        let lost = rounds.run(&mut *algorithm);
        let (rtt, control) = (rounds.rtt.as_micros() / 1_000, algorithm.control());
        let ssthresh =
            if control.ssthresh == u32::MAX { "-".to_owned() } else { control.ssthresh.to_string() };
        writeln!(text, "{round:>5} {sent:>5} {lost:>5} {rtt:>7} {:>5} {ssthresh:>9}", control.cwnd).unwrap();
    }
    text
}

#[test]
fn every_algorithm_goes_its_way() {
    for descriptor in descriptors() {
        insta::assert_snapshot!(descriptor.name, table(descriptor.name));
    }
}
