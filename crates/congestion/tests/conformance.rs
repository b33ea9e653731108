//! What every algorithm must do whatever happens to it: run over the whole registry.

use congestion::{
    Ack, CaState, Congestion, CongestionControl, LostPacket, Path, RateSample, Recovery, Sent, Undo, build,
    descriptors,
};
use proptest::prelude::*;
use units::{Duration, Rate, Time};

/// One thing that may happen, in any order.
#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u32, lost: u32, rtt_us: Option<u64>, rate: bool, app_limited: bool, used: bool },
    Congestion(u8),
    Undo,
    Exit,
    Send { idle: bool },
    SetCwnd(u32),
    Restart(u32),
    Pass { us: u64 },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (0u32..200, 0u32..50, prop::option::of(1u64..2_000_000), any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(acked, lost, rtt_us, rate, app_limited, used)| Event::Ack {
                acked, lost, rtt_us, rate, app_limited, used
            }),
        1 => (0u8..6).prop_map(Event::Congestion),
        1 => Just(Event::Undo),
        1 => Just(Event::Exit),
        2 => any::<bool>().prop_map(|idle| Event::Send { idle }),
        1 => (0u32..100_000).prop_map(Event::SetCwnd),
        1 => (0u32..100_000).prop_map(Event::Restart),
        4 => (0u64..3_000_000).prop_map(|us| Event::Pass { us }),
    ]
}

/// A transport that does nothing but keep its books straight.
struct Transport {
    now: Time,
    delivered: u64,
    lost: u64,
    state: CaState,
    in_flight: u32,
}

impl Transport {
    fn new() -> Transport {
        Transport { now: Time::ZERO, delivered: 1, lost: 0, state: CaState::Open, in_flight: 10 }
    }

    fn path(&self, used: bool) -> Path {
        let rtt = Duration::from_millis(40);
        Path {
            now: self.now,
            mss: 1448,
            state: self.state,
            srtt: Some(rtt),
            min_rtt: Some(rtt),
            in_flight: self.in_flight,
            packets_out: self.in_flight,
            next: self.delivered + u64::from(self.in_flight),
            delivered: self.delivered,
            delivered_time: self.now,
            lost: self.lost,
            cwnd_limited: used,
            app_limited: false,
            next_departure: self.now,
            paced: true,
            pacing_rate: Rate::from_bits_per_sec(20_000_000),
            max_burst_bytes: 65_215,
        }
    }

    fn apply(&mut self, algorithm: &mut dyn CongestionControl, event: &Event) {
        match *event {
            Event::Ack { acked, lost, rtt_us, rate, app_limited, used } => {
                self.ack(algorithm, acked, lost, rtt_us, rate.then_some(app_limited), used);
            }
            Event::Congestion(kind) => {
                let (cause, state) = match kind {
                    0 => (Congestion::Loss, CaState::Recovery),
                    1 => (Congestion::Ecn, CaState::Cwr),
                    2 => (Congestion::Delay, CaState::Cwr),
                    3 => (Congestion::TailLoss { app_limited: false }, CaState::Open),
                    _ => (Congestion::Timeout { first: kind == 4 }, CaState::Loss),
                };
                algorithm.on_congestion(cause, &self.path(true));
                self.state = state;
            }
            Event::Undo => {
                let undo = Undo { prior_cwnd: 30, prior_ssthresh: 20 };
                algorithm.on_undo(&undo, &self.path(true));
                self.state = CaState::Open;
            }
            Event::Exit => {
                self.state = CaState::Open;
                algorithm.on_recovery_exit(&self.path(true));
            }
            Event::Send { idle } => {
                let sent = Sent { packets: 2, from_idle: idle, gap: Duration::from_millis(3) };
                algorithm.on_send(&sent, &self.path(true));
            }
            Event::SetCwnd(cwnd) => algorithm.set_cwnd(cwnd),
            Event::Restart(cwnd) => algorithm.restart(cwnd),
            Event::Pass { us } => self.now += Duration::from_micros(us),
        }
    }

    fn ack(
        &mut self,
        algorithm: &mut dyn CongestionControl,
        acked: u32,
        lost: u32,
        rtt_us: Option<u64>,
        rate: Option<bool>,
        used: bool,
    ) {
        let prior_delivered = self.delivered.saturating_sub(u64::from(self.in_flight));
        self.delivered += u64::from(acked);
        self.report_losses(algorithm, lost);
        let sample = rate.map(|app_limited| RateSample {
            delivered: acked,
            interval: (rtt_us != Some(1)).then(|| Duration::from_micros(rtt_us.unwrap_or(40_000))),
            app_limited,
            prior_delivered,
            lost,
            marked: 0,
            tx_in_flight: self.in_flight,
        });
        let ack = Ack {
            acked,
            cumulative: acked,
            lost,
            marked: 0,
            rtt: rtt_us.map(Duration::from_micros),
            one_way_delay: rtt_us.map(|us| Duration::from_micros(us / 2)),
            delayed: false,
            prior_state: self.state,
            prior_in_flight: self.in_flight,
            may_grow: self.state < CaState::Cwr || self.state == CaState::Loss,
            advanced: acked > 0,
            una: self.delivered,
            rate: sample,
            acks_probe: false,
        };
        algorithm.on_ack(&ack, &self.path(used));
        self.in_flight = algorithm.control().cwnd.min(10_000);
    }
}

impl Transport {
    /// Every lost packet is told of, if the algorithm wants to know, before the ACK.
    fn report_losses(&mut self, algorithm: &mut dyn CongestionControl, lost: u32) {
        for i in 1..=lost {
            self.lost += 1;
            if algorithm.traits().watches_losses {
                let packet = LostPacket {
                    number: self.delivered + u64::from(i),
                    tx_in_flight: self.in_flight,
                    lost: i,
                    app_limited: false,
                };
                algorithm.on_lost(&packet, &self.path(true));
            }
        }
    }
}

fn fresh(name: &str) -> Box<dyn CongestionControl> {
    let mut algorithm = build(name, &serde_json::Value::Null, 1).expect("defaults are valid");
    algorithm.on_established(&Transport::new().path(true));
    algorithm
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_that_happens_breaks_an_algorithm(events in prop::collection::vec(event(), 1..200)) {
        for descriptor in descriptors() {
            let (mut algorithm, mut transport) = (fresh(descriptor.name), Transport::new());
            for event in &events {
                transport.apply(&mut *algorithm, event);
                let control = algorithm.control();
                prop_assert!(control.cwnd >= 1, "{}: cwnd 0 after {event:?}", descriptor.name);
                prop_assert!(control.ssthresh >= 2, "{}: ssthresh {} after {event:?}", descriptor.name, control.ssthresh);
                prop_assert!(control.pacing_rate.is_none_or(|r| r.bits_per_sec() > 0 || transport.delivered < 100));
                prop_assert_eq!(control, algorithm.control(), "control is not pure: {}", descriptor.name);
            }
        }
    }

    #[test]
    fn the_same_seed_and_events_give_the_same_outcome(events in prop::collection::vec(event(), 1..100)) {
        for descriptor in descriptors() {
            let run = || {
                let (mut algorithm, mut transport) = (fresh(descriptor.name), Transport::new());
                events.iter().for_each(|event| transport.apply(&mut *algorithm, event));
                algorithm.control()
            };
            prop_assert_eq!(run(), run());
        }
    }

    #[test]
    fn an_unused_window_does_not_grow(acks in prop::collection::vec((1u32..50, 1_000u64..100_000), 1..100)) {
        for descriptor in descriptors() {
            let mut algorithm = fresh(descriptor.name);
            let traits = algorithm.traits();
            if traits.recovery == Recovery::Algorithm || traits.grows_unused {
                continue; // a model-based window follows the model, which application-limited samples do not move
            }
            let (mut transport, before) = (Transport::new(), algorithm.control().cwnd);
            for &(acked, rtt) in &acks {
                transport.ack(&mut *algorithm, acked, 0, Some(rtt), Some(true), false);
                transport.now += Duration::from_micros(rtt);
            }
            prop_assert!(algorithm.control().cwnd <= before, "{}", descriptor.name);
        }
    }

    #[test]
    fn undo_restores_at_least_the_window_that_was(cwnd in 4u32..10_000) {
        for descriptor in descriptors() {
            let (mut algorithm, transport) = (fresh(descriptor.name), Transport::new());
            if algorithm.traits().recovery == Recovery::Algorithm {
                continue; // restores its window when recovery ends
            }
            algorithm.set_cwnd(cwnd);
            let before = algorithm.control();
            let prior_ssthresh = before.ssthresh.max(cwnd / 2 + cwnd / 4);
            algorithm.on_congestion(Congestion::Loss, &transport.path(true));
            algorithm.set_cwnd(algorithm.control().ssthresh);
            algorithm.on_undo(&Undo { prior_cwnd: cwnd, prior_ssthresh }, &transport.path(true));
            prop_assert!(algorithm.control().cwnd >= cwnd, "{}", descriptor.name);
            prop_assert!(algorithm.control().ssthresh >= prior_ssthresh, "{}", descriptor.name);
        }
    }
}

#[test]
fn names_and_aliases_are_unique_and_described() {
    let mut names: Vec<&str> = Vec::new();
    for d in descriptors() {
        names.push(d.name);
        names.extend(d.aliases);
        assert!(!d.title.is_empty() && !d.source.is_empty(), "{} lacks a title or a source", d.name);
        for spec in (d.params)() {
            assert!(!spec.doc.is_empty(), "{}.{} is not documented", d.name, spec.name);
        }
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn bad_parameters_are_refused_with_a_reason() {
    let refuse = |name: &str, params: serde_json::Value, word: &str| {
        let error = build(name, &params, 1).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse("reno", serde_json::json!({"beta": 2.0}), "out of range");
    refuse("reno", serde_json::json!({"bta": 0.5}), "bta");
    refuse("cubic", serde_json::json!({"hystart": "maybe"}), "linux");
    refuse("cubik", serde_json::json!({}), "unknown algorithm");
}

#[test]
fn every_preset_can_be_built() {
    for d in descriptors() {
        for preset in d.presets {
            let built = build(d.name, &serde_json::json!({ "preset": preset.name }), 1);
            assert!(built.is_ok(), "{} {}: {}", d.name, preset.name, built.err().unwrap());
        }
    }
}
