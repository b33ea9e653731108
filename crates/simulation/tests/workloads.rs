//! Flows of many connections.

use crate::common::{first, flow, link, plan, run, simulation};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Plan, Results};
use units::Time;

const RATE: u64 = 20_000_000;
const RTT_S: f64 = 0.04;

/// A bottleneck of 20 Mbit/s and 40 ms with flows of these workloads.
fn working(duration_ms: u64, workloads: &[Value]) -> Value {
    let links = vec![link("there", Some(RATE), 20_000_000, Some(100)), link("back", None, 20_000_000, None)];
    let flows = workloads.iter().enumerate().map(|(n, workload)| {
        let mut flow = flow(&format!("flow {n}"), "cubic", &[0], &[1]);
        flow["workload"] = workload.clone();
        flow
    });
    plan(duration_ms, links, flows.collect())
}

fn poisson(interval_ms: f64, sizes: Value) -> Value {
    json!({ "kind": "poisson", "interval_ns": interval_ms * 1e6, "sizes": sizes })
}

fn request_response(request: u64, response: Value, think_ms: u64) -> Value {
    let think = constant(think_ms * 1_000_000);
    json!({ "kind": "request_response", "request": constant(request), "response": response, "think": think })
}

fn web(objects: u64, connections: u32, sizes: Value, think_ms: u64) -> Value {
    json!({
        "kind": "web", "think": constant(think_ms * 1_000_000), "objects": constant(objects), "sizes": sizes,
        "connections": connections, "request_bytes": 400,
    })
}

fn video(bitrates_bps: &[u64], rule: Value) -> Value {
    json!({
        "kind": "video", "bitrates_bps": bitrates_bps, "chunk_ns": 2_000_000_000u64, "request_bytes": 400,
        "buffer_ns": 20_000_000_000u64, "startup_ns": 2_000_000_000u64, "rule": rule,
    })
}

fn by_rate() -> Value {
    json!({ "kind": "rate", "safety": 0.9 })
}

fn constant(value: u64) -> Value {
    json!({ "kind": "constant", "value": value })
}

/// Checks properties of every transfer of every workload.
fn check_transfers(results: &Results) {
    let table = &results.transfers;
    let [start, end, bytes, delivered, fct, ideal] =
        ["start_s", "end_s", "bytes", "delivered_bytes", "fct_s", "ideal_s"].map(|name| table.numbers(name));
    for n in 0..start.len() {
        assert!(delivered[n] <= bytes[n], "transfer {n} delivered {} of {}", delivered[n], bytes[n]);
        assert!(end[n] >= start[n]);
        if !fct[n].is_nan() {
            assert_eq!(delivered[n], bytes[n], "transfer {n} is complete");
            assert!((end[n] - start[n] - fct[n]).abs() < 1e-9);
            assert!(fct[n] >= ideal[n] - 1e-12, "transfer {n} took {}, not at least {}", fct[n], ideal[n]);
        }
    }
    let flows = results.flows.numbers("delivered_bytes").iter().sum::<f64>();
    assert_eq!(delivered.iter().sum::<f64>(), flows, "transfers deliver the payload that flows deliver");
}

#[test]
fn a_single_arrival_behaves_as_a_flow_of_that_size() {
    let mut bulk = working(2_000, &[Value::Null]);
    let transfers = run(&working(2_000, &[poisson(1_500.0, constant(100_000))]), 3).transfers;
    assert_eq!(transfers.numbers("number"), [1.0], "one arrival");
    bulk["flows"][0]["bytes"] = json!(100_000);
    bulk["flows"][0]["start_ns"] = json!((first(&transfers, "start_s") * 1e9).round() as u64);
    let alone = run(&bulk, 3).transfers;
    for column in ["fct_s", "bytes", "delivered_bytes", "sent_packets", "retransmitted_packets", "ideal_s"] {
        assert_eq!(transfers.numbers(column), alone.numbers(column), "{column}");
    }
}

#[test]
fn arrivals_come_at_the_rate_asked_for() {
    let results = run(&working(100_000, &[poisson(50.0, constant(10_000))]), 1);
    let starts = results.transfers.numbers("start_s");
    assert!((1_850..2_150).contains(&starts.len()), "{} arrivals, not 2000", starts.len());
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let variation = variance.sqrt() / mean; // 1 for exponentially distributed times
    assert!((0.93..1.07).contains(&variation), "{variation}");
    check_transfers(&results);
}

#[test]
fn the_row_of_a_flow_adds_up_its_connections() {
    let results = run(&working(20_000, &[poisson(100.0, constant(50_000))]), 1);
    check_transfers(&results);
    let sum = |column: &str| results.transfers.numbers(column).iter().sum::<f64>();
    assert_eq!(first(&results.flows, "sent_packets"), sum("sent_packets"));
    assert_eq!(first(&results.flows, "retransmitted_packets"), sum("retransmitted_packets"));
    assert_eq!(results.data_packets as f64, sum("sent_packets"));
    assert!(first(&results.flows, "rtt_min_s") >= RTT_S);
    assert!(first(&results.flows, "fct_s").is_nan());
    let causes = ["cwnd", "pacing", "application", "receiver", "send_buffer"];
    let shares: f64 = causes.iter().map(|cause| first(&results.flows, &format!("limited_{cause}"))).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn a_flow_that_stops_begins_nothing_more_and_ends_with_its_last_transfer() {
    let mut plan = working(20_000, &[poisson(200.0, constant(200_000))]);
    plan["flows"][0]["stop_ns"] = json!(5_000_000_000u64);
    let results = run(&plan, 1);
    let [starts, ends] = ["start_s", "end_s"].map(|name| results.transfers.numbers(name));
    assert!(starts.iter().all(|&start| start < 5.0));
    assert!(results.transfers.numbers("fct_s").iter().all(|fct| !fct.is_nan()), "all transfers are complete");
    let last = ends.iter().copied().fold(5.0, f64::max);
    assert_eq!(first(&results.flows, "end_s"), last);
}

#[test]
fn another_flow_does_not_shift_the_arrivals_of_the_first() {
    let workload = poisson(100.0, json!({ "kind": "exponential", "mean": 20_000.0 }));
    let alone = run(&working(5_000, std::slice::from_ref(&workload)), 7);
    let both = run(&working(5_000, &[workload.clone(), workload]), 7);
    let of_first = alone.transfers.numbers("start_s").len();
    for column in ["start_s", "bytes"] {
        assert_eq!(alone.transfers.numbers(column), both.transfers.numbers(column)[..of_first], "{column}");
    }
}

#[test]
fn a_request_and_its_answer_take_two_round_trips_at_first_and_one_later() {
    let mut plan = working(1_000, &[request_response(100, constant(1_000), 100)]);
    plan["flows"][0]["tcp"]["ack_every"] = json!(1);
    plan["flows"][0]["tcp"]["delayed_ack_timeout"] = json!(40_000_000);
    let times = run(&plan, 1).transfers.numbers("fct_s");
    // The forward link has 20 Mbit/s and the reverse link is unlimited. Only packets of 66, 74 or 1066 bytes on the
    // forward link take time.
    let [small, syn, answer] = [66.0, 74.0, 1_066.0].map(|bytes: f64| bytes * 8.0 / RATE as f64);
    assert!((times[0] - (2.0 * RTT_S + syn + small + answer)).abs() < 1e-9, "{}", times[0]);
    for later in &times[1..times.len() - 1] {
        // A server that acknowledges every packet sends the acknowledgement before its response.
        assert!((later - (RTT_S + answer + small)).abs() < 1e-9, "{later}");
    }
}

#[test]
fn the_ideal_is_a_bound_on_links_that_get_better() {
    let mut plan = working(6_000, &[request_response(100, constant(60_000), 10)]);
    plan["links"][0]["changes"] =
        json!([{ "at_ns": 2_000_000_000u64, "rate_bps": 100_000_000, "delay_ns": 5_000_000, "loss": null }]);
    plan["links"][1]["markov_channel"] = json!({
        "from_ns": 3_000_000_000u64, "mean_ns": 500_000_000, "neighbours": false,
        "states": [
            { "at_ns": 0, "rate_bps": null, "delay_ns": 20_000_000, "loss": null },
            { "at_ns": 0, "rate_bps": null, "delay_ns": 1_000_000, "loss": null },
        ],
    });
    let results = run(&plan, 1);
    check_transfers(&results);
    let [times, ideals] = ["fct_s", "ideal_s"].map(|name| results.transfers.numbers(name));
    let closest = times.iter().zip(&ideals).map(|(time, ideal)| time / ideal).fold(f64::INFINITY, f64::min);
    assert!(closest < 1.5, "the fastest transfer is close to its ideal time: {closest}");
}

#[test]
fn requests_go_against_the_data() {
    let plan = working(3_000, &[request_response(200_000, constant(1_000), 0)]);
    let results = run(&plan, 1);
    check_transfers(&results);
    let forwarded = results.links_summary.numbers("forwarded_bytes");
    assert!(forwarded[1] > 20.0 * forwarded[0], "{forwarded:?}");
}

#[test]
fn an_answer_waits_for_its_request() {
    let mut plan = working(3_000, &[request_response(50_000, constant(1_000), 0)]);
    plan["links"][1]["rate_bps"] = json!(1_000_000);
    let times = run(&plan, 1).transfers.numbers("fct_s");
    assert!(times.iter().filter(|time| !time.is_nan()).all(|&time| time > 0.4 + RTT_S), "{times:?}");
}

#[test]
fn a_page_is_its_document_first_and_then_its_objects_in_parallel() {
    let results = run(&working(20_000, &[web(10, 4, constant(30_000), 500)]), 1);
    check_transfers(&results);
    let [page, connection, start, end] =
        ["page", "connection", "start_s", "end_s"].map(|name| results.transfers.numbers(name));
    let of = |n: f64| (0..page.len()).filter(move |&row| page[row] == n);
    assert_eq!((of.clone())(1.0).count(), 10);
    let first: Vec<usize> = (of.clone())(1.0).collect();
    assert!(first[1..].iter().all(|&row| start[row] >= end[first[0]]), "objects come after the document");
    assert_eq!(first.iter().map(|&row| connection[row] as u32).max(), Some(4));
    let second = of(2.0).next().expect("a second page");
    let last = first.iter().map(|&row| end[row]).fold(0.0, f64::max);
    assert!(
        (start[second] - last - 0.5).abs() < 1e-9,
        "the second page begins half a second after the first page is complete"
    );
}

#[test]
fn a_video_that_fits_is_watched_without_a_stop() {
    for rule in [by_rate(), json!({ "kind": "buffer" })] {
        let results = run(&working(60_000, &[video(&[1_000_000, 4_000_000, 8_000_000], rule)]), 1);
        check_transfers(&results);
        assert_eq!(first(&results.videos, "stalls"), 0.0);
        let [startup, played] = ["startup_s", "played_s"].map(|name| first(&results.videos, name));
        assert!((startup + played - 60.0).abs() < 1e-9, "{startup} {played}");
        assert!(first(&results.videos, "bitrate_bps") > 4e6);
        assert_eq!(
            first(&results.videos, "chunks"),
            results.transfers.numbers("fct_s").iter().filter(|t| !t.is_nan()).count() as f64
        );
    }
}

#[test]
fn a_video_of_a_single_rate_that_does_not_fit_stands_still_for_the_rest_of_the_time() {
    let results = run(&working(60_000, &[video(&[40_000_000], by_rate())]), 1);
    let [startup, played, stalled] =
        ["startup_s", "played_s", "stalled_s"].map(|name| first(&results.videos, name));
    assert!((startup + played + stalled - 60.0).abs() < 1e-9);
    assert!(stalled > 25.0, "the video needs twice the rate of the link: {stalled}");
    assert_eq!(first(&results.videos, "switches"), 0.0);
}

#[test]
fn only_a_video_has_a_row_in_videos() {
    assert!(run(&working(1_000, &[web(3, 2, constant(1_000), 100)]), 1).videos.numbers("chunks").is_empty());
}

fn some_sizes() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..300_000).prop_map(constant),
        (1.0f64..100_000.0).prop_map(|mean| json!({ "kind": "exponential", "mean": mean })),
        (1.0f64..100_000.0, 0.0f64..3.0)
            .prop_map(|(mean, sigma)| json!({ "kind": "lognormal", "mean": mean, "sigma": sigma })),
        (0.5f64..3.0)
            .prop_map(|shape| json!({ "kind": "pareto", "shape": shape, "low": 100.0, "high": 1e6 })),
        Just(json!({ "kind": "cdf", "points": [[1.0, 0.1], [2_000.0, 0.6], [1e6, 1.0]] })),
    ]
}

fn some_workload() -> impl Strategy<Value = Value> {
    prop_oneof![
        (10.0f64..500.0, some_sizes()).prop_map(|(interval, sizes)| poisson(interval, sizes)),
        (1u64..50_000, some_sizes(), 0u64..500)
            .prop_map(|(request, response, think)| request_response(request, response, think)),
        (1u64..20, 1u32..8, some_sizes(), 0u64..500).prop_map(|(objects, connections, sizes, think)| web(
            objects,
            connections,
            sizes,
            think
        )),
        proptest::bool::ANY.prop_map(|rate| {
            let rule = if rate { by_rate() } else { json!({ "kind": "buffer" }) };
            video(&[500_000, 3_000_000], rule)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Transfers conserve payload, respect their bounds and are deterministic for any steps of the run.
    #[test]
    fn random_workloads(
        workloads in proptest::collection::vec(some_workload(), 1..4),
        loss in prop_oneof![Just(0.0), 0.0f64..0.05],
        stop_ms in proptest::option::of(1u64..1_500),
        seed: u64,
    ) {
        let mut plan = working(1_500, &workloads);
        if loss > 0.0 {
            plan["links"][0]["loss"] = json!({ "kind": "bernoulli", "probability": loss });
            plan["links"][1]["loss"] = json!({ "kind": "bernoulli", "probability": loss });
        }
        plan["flows"][0]["stop_ns"] = json!(stop_ms.map(|ms| ms * 1_000_000));
        let results = run(&plan, seed);
        check_transfers(&results);
        let mut stepped = simulation(&plan, seed);
        (1..40).for_each(|n| { stepped.advance(Time::from_nanos(n * 37_777_777)); });
        prop_assert_eq!(&format!("{:?}", stepped.finish()), &format!("{results:?}"));
    }
}

#[test]
fn mistakes_are_refused() {
    let refusal = |workload: Value| {
        let plan = working(10_000, &[workload]);
        Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
    };
    for (workload, message) in [
        (poisson(1.0, constant(0)), "flows[0].workload.sizes.value: 0 is out of range"),
        (poisson(0.0, constant(1)), "flows[0].workload: interval_ns: 0 is out of range"),
        (poisson(1e-4, constant(1)), "100000000 arrivals are more than 10000000; use a longer interval"),
        (
            poisson(1.0, json!({ "kind": "pareto", "shape": 1.2, "low": 100.0, "high": 10.0 })),
            "flows[0].workload.sizes.high: 10 is out of range",
        ),
        (
            poisson(1.0, json!({ "kind": "cdf", "points": [[100.0, 0.5]] })),
            "flows[0].workload.sizes.points: the last share is 0.5; it must be 1",
        ),
        (
            poisson(1.0, json!({ "kind": "cdf", "points": [[100.0, 0.5], [50.0, 1.0]] })),
            "flows[0].workload.sizes.points[1][0]: 50 is out of range",
        ),
        (request_response(0, constant(1), 0), "flows[0].workload.request.value: 0 is out of range"),
        (web(0, 1, constant(1), 0), "flows[0].workload.objects.value: 0 is out of range"),
        (web(1, 0, constant(1), 0), "flows[0].workload: connections: 0 is out of range"),
        (video(&[], by_rate()), "flows[0].workload.bitrates_bps: no bit rate is given; name at least one"),
        (video(&[2, 2], by_rate()), "flows[0].workload.bitrates_bps[1]: 2 is out of range"),
        (json!({ "kind": "poison" }), "unknown variant `poison`"),
    ] {
        let refusal = refusal(workload);
        assert!(refusal.contains(message), "{refusal}");
    }
}
