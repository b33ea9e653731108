//! The conformance kit applied to every element, and to faulty elements.

mod faulty;
mod shared;

use crate::common::limits::limits;
use network::kit::{Script, Tag, judge};
use network::queue::{self, QueueDiscipline};
use network::{
    Dice, Element, Impairment, Impairments, Link, LinkConfig, Loss, Opportunities, SamplingTimes, medium,
};
use params::Descriptor;
use proptest::prelude::*;
use serde_json::{Value, json};
use units::{Duration, Probe, Rate, Reading, Time};

const BITS: u64 = 20_000_000;

/// A queue with limits small enough to be reached.
fn tight(kind: &str) -> Box<dyn QueueDiscipline<Tag>> {
    let params = match kind {
        "drop_tail" => json!({ "packets": 20 }),
        "tbf" => json!({ "packets": 20, "rate_bps": 5_000_000, "burst_bytes": 3000 }),
        "police" => json!({ "packets": 20, "rate_bps": 5_000_000, "burst_bytes": 30_000 }),
        "step" => json!({ "limit": 20, "mark_packets": 3, "mark_ms": 2.0 }),
        "red" => json!({ "limit": 30_000, "ecn": true, "adaptive": true }),
        "cake" => json!({ "memlimit_bytes": 20 * 1514, "bandwidth_bps": 5_000_000, "rtt_ms": 20.0 }),
        "dualpi2" => json!({ "limit": 20, "target_ms": 2.0 }),
        "fq" => json!({ "limit": 10, "flow_limit": 6, "maxrate_bps": 2_000_000, "ce_threshold_ms": 3.0 }),
        "codel" | "fq_codel" | "pie" | "fq_pie" => json!({ "limit": 20, "target_ms": 1.0, "ecn": true }),
        _ => limits(kind),
    };
    queue::build(kind, &params, 7).unwrap()
}

fn kinds() -> Vec<&'static str> {
    queue::descriptors().iter().map(|queue| queue.name).collect()
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn config(sampling: SamplingTimes, impairments: Impairments) -> LinkConfig {
    let loss = Loss::build("bernoulli", &json!({ "probability": 0.1 }), &Dice::new(1, "test")).ok();
    LinkConfig { rate: Rate::from_bits_per_sec(BITS), delay: ms(3), loss, sampling, impairments }
}

/// Impairments that consist of a single impairment of the registry.
fn alone(kind: &str, params: &Value) -> Impairments {
    let each = vec![Impairment::build(kind, params, &Dice::new(1, "test")).unwrap()];
    Impairments { each, ..Impairments::default() }
}

/// The parameters that have an example, each with its example as the value.
fn examples(found: &Descriptor) -> Value {
    let params = (found.params)().into_iter().filter(|param| !param.example.is_null());
    params.map(|param| (param.name, param.example)).collect()
}

/// All effects of a link besides queueing, transmission and delay, one at a time.
fn impairments() -> Vec<Impairments> {
    let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
    let none = Impairments::default;
    let rates =
        [(5, BITS / 2), (9, 0), (12, 2 * BITS)].map(|(ms, bits)| (at(ms), Rate::from_bits_per_sec(bits)));
    let times = [1, 1, 4].map(ms).to_vec();
    let changes = [
        none(),
        Impairments { rates: rates.to_vec(), ..none() },
        Impairments { delays: vec![(at(4), ms(1)), (at(8), ms(6))], ..none() },
        Impairments { opportunities: Some(Opportunities::new(times, 1_514, true, Duration::ZERO)), ..none() },
    ];
    let jitter = |reorder| json!({ "spread_ns": 2_000_000, "shape": "normal", "reorder": reorder });
    let each = Impairment::descriptors().iter().map(|found| match found.name {
        "ack_filter" => alone(found.name, &json!({ "every": 3 })),
        "jitter" => alone(found.name, &jitter(false)),
        "arq" => alone(found.name, &json!({ "probability": 0.3, "delay_ns": 2_000_000 })),
        "aggregation" => alone(found.name, &json!({ "slot_ns": 2_000_000 })),
        "reordering" => alone(found.name, &json!({ "every": 3, "extra_ns": 3_000_000 })),
        "duplicate" => alone(found.name, &json!({ "probability": 0.2 })),
        _ => alone(found.name, &examples(found)),
    });
    each.chain(changes).chain([alone("jitter", &jitter(true))]).collect()
}

/// Scripts of up to 150 packets.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..450)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_link_with_any_queue_conforms(bytes in bytes()) {
        let script = Script::from_bytes(&bytes);
        for kind in kinds() {
            for make in [Link::new, Link::replaying] {
                let link = |sampling| -> Box<dyn Element<Tag>> {
                    Box::new(make(config(sampling, Impairments::default()), tight(kind)))
                };
                let judged = judge(&link, &script);
                prop_assert!(judged.is_ok(), "{kind}: {}", judged.unwrap_err());
            }
        }
    }

    #[test]
    fn a_device_below_any_queue_conforms(bytes in bytes()) {
        let script = Script::from_bytes(&bytes);
        for kind in kinds() {
            let link = |sampling| -> Box<dyn Element<Tag>> {
                let queue = Box::new(queue::Device::new(tight(kind), 3));
                Box::new(Link::new(config(sampling, Impairments::default()), queue))
            };
            let judged = judge(&link, &script);
            prop_assert!(judged.is_ok(), "{kind}: {}", judged.unwrap_err());
        }
    }

    #[test]
    fn a_link_with_any_impairment_conforms(bytes in bytes()) {
        let script = Script::from_bytes(&bytes);
        for n in 0..impairments().len() {
            for kind in ["drop_tail", "codel"] {
                let link = |sampling| -> Box<dyn Element<Tag>> {
                    Box::new(Link::new(config(sampling, impairments().swap_remove(n)), tight(kind)))
                };
                let judged = judge(&link, &script);
                prop_assert!(judged.is_ok(), "impairment {n}, {kind}: {}", judged.unwrap_err());
            }
        }
    }

    #[test]
    fn every_medium_with_any_queues_conforms(
        bytes in bytes(),
        which in proptest::collection::vec(any::<proptest::sample::Index>(), 1..6),
        turn in prop_oneof![1u64..100, 1_000u64..10_000],
        (grant, overhead, delay) in (0u64..5_000_000, prop_oneof![Just(0), 1u64..500_000], 0u64..5_000_000),
    ) {
        let script = Script::from_bytes(&bytes);
        let params = |medium: &str| match medium {
            "shared" => json!({
                "rate_bps": BITS, "turn_bytes": turn, "grant_delay_ns": grant, "overhead_ns": overhead,
                "delay_ns": delay,
            }),
            "wifi" => json!({
                "station_mcs": vec![turn % 12; which.len()], "station_errors": vec![0.2; which.len()],
                "retries": grant % 3, "rts": overhead == 0, "delay_ns": delay / 1_000,
            }),
            "lte" | "nr" => json!({
                "resource_blocks": turn % 100 + 1, "user_mcs": vec![turn % 28; which.len()],
                "user_errors": vec![0.2; which.len()], "harq_tries": grant % 3 + 1,
                "rlc": if overhead == 0 { "am" } else { "um" }, "delay_ns": delay,
            }),
            other => panic!("{other} has no case"),
        };
        // A cell has two ports for each station or user.
        let times = |medium: &str| if medium == "shared" { 1 } else { 2 };
        for medium in medium::descriptors() {
            let make = |sampling| {
                let which = which.iter().cycle().take(times(medium.name) * which.len());
                let queues = which.map(|which| tight(kinds()[which.index(kinds().len())])).collect();
                medium::build(medium.name, &params(medium.name), queues, sampling, 7).unwrap()
            };
            let judged = judge(&make, &script);
            prop_assert!(judged.is_ok(), "{}: {}", medium.name, judged.unwrap_err());
        }
    }
}
