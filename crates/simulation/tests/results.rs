//! Results of runs, compared with values computed by hand.

use crate::common::{first, flow, link, plan, run, single};
use serde_json::json;

#[test]
fn ten_packets_to_an_empty_path() {
    // SYN and SYN-ACK take one round trip. Then an ACK and ten packets of 1514 bytes follow at 10 Mbit/s, 1.2112 ms
    // each, and the ACK of the last packet. The 66 bytes of this ACK take no time on the unlimited reverse route.
    let mut plan = single("reno", 1_000);
    plan["flows"][0]["bytes"] = json!(14_480);
    plan["flows"][0]["tcp"]["ack_every"] = json!(1);
    plan["flows"][0]["tcp"]["delayed_ack_timeout"] = json!(40_000_000);
    let results = run(&plan, 1);
    let syn_ns = 74.0 * 800.0 + 40e6;
    let ack_ns = 66.0 * 800.0;
    let data_ns = ack_ns + 10.0 * 1_211_200.0 + 40e6;
    assert_eq!(first(&results.flows, "fct_s"), (syn_ns + data_ns) / 1e9);
    assert_eq!(first(&results.flows, "end_s"), (syn_ns + data_ns) / 1e9);
    assert_eq!(first(&results.flows, "delivered_bytes"), 14_480.0);
    assert_eq!(first(&results.flows, "goodput_bps"), 8.0 * 14_480.0 / first(&results.flows, "fct_s"));
    assert_eq!(first(&results.flows, "wire_bps"), 8.0 * 15_140.0 / first(&results.flows, "fct_s"));
    assert_eq!(first(&results.flows, "sent_packets"), 10.0);
    assert_eq!(first(&results.links_summary, "forwarded_packets"), 12.0);
    assert_eq!(first(&results.links_summary, "backlog_max_packets"), 10.0);
    let busy_ns = 74.0 * 800.0 + ack_ns + 10.0 * 1_211_200.0;
    assert_eq!(first(&results.links_summary, "utilisation"), busy_ns / 1e9);
    // The n-th data packet waits for the ACK and n data packets; SYN and ACK do not wait. In total, 12 packets wait
    // for 45 times 1.2112 ms and ten times the transmission time of the ACK.
    let waited_ns = 10.0 * ack_ns + 45.0 * 1_211_200.0;
    assert_eq!(first(&results.links_summary, "sojourn_mean_s"), waited_ns / 12.0 / 1e9);
    assert_eq!(results.data_packets, 10);
    assert_eq!(results.packet_hops, 23);
}

#[test]
fn a_flow_of_a_size_is_a_transfer() {
    let mut plan = single("reno", 1_000);
    plan["flows"][0]["bytes"] = json!(14_480);
    let results = run(&plan, 1);
    let transfers = &results.transfers;
    for column in ["start_s", "end_s", "delivered_bytes", "sent_packets", "retransmitted_packets", "fct_s"] {
        assert_eq!(transfers.numbers(column), results.flows.numbers(column), "{column}");
    }
    assert_eq!(first(transfers, "bytes"), 14_480.0);
    // Two round trips of 40 ms, and ten packets of 1514 bytes at 10 Mbit/s.
    assert!((first(transfers, "ideal_s") - (0.08 + 0.012_112)).abs() < 1e-12);
    assert!(first(transfers, "fct_s") >= first(transfers, "ideal_s"));
}

#[test]
fn a_transfer_that_does_not_finish_ends_with_the_run() {
    let mut plan = single("reno", 1_000);
    plan["flows"][0]["bytes"] = json!(14_480_000);
    let results = run(&plan, 1);
    assert_eq!(first(&results.transfers, "end_s"), 1.0);
    assert!(first(&results.transfers, "fct_s").is_nan());
    assert!(first(&results.transfers, "delivered_bytes") < 14_480_000.0);
}

#[test]
fn an_endless_flow_is_no_transfer() {
    assert!(run(&single("reno", 1_000), 1).transfers.numbers("bytes").is_empty());
}

#[test]
fn a_long_flow_fills_the_pipe() {
    for cca in ["reno", "cubic", "bbr1"] {
        let mut plan = single(cca, 20_000);
        plan["warmup_ns"] = json!(5_000_000_000u64);
        let results = run(&plan, 1);
        let goodput = first(&results.flows, "goodput_bps");
        let most = 10e6 * 1448.0 / 1514.0;
        assert!((0.93 * most..=1.001 * most).contains(&goodput), "{cca}: {goodput}");
        let utilisation = first(&results.links_summary, "utilisation");
        assert!((0.93..=1.0).contains(&utilisation), "{cca}: {utilisation}");
        let rtt = first(&results.flows, "rtt_min_s");
        assert!(rtt >= 0.0412, "{cca}: {rtt}"); // 40 ms and one transmission
    }
}

#[test]
fn limits_add_up_to_the_active_time() {
    let results = run(&single("cubic", 5_000), 1);
    let causes = ["cwnd", "pacing", "application", "receiver", "send_buffer"];
    let sum: f64 = causes.iter().map(|cause| first(&results.flows, &format!("limited_{cause}"))).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn a_flow_that_stops_is_measured_until_then() {
    let mut plan = single("cubic", 4_000);
    plan["flows"][0]["start_ns"] = json!(1_000_000_000u64);
    plan["flows"][0]["stop_ns"] = json!(3_000_000_000u64);
    let results = run(&plan, 1);
    assert_eq!(first(&results.flows, "start_s"), 1.0);
    assert_eq!(first(&results.flows, "end_s"), 3.0);
    assert!(first(&results.flows, "fct_s").is_nan());
    let goodput = first(&results.flows, "goodput_bps");
    assert_eq!(goodput, first(&results.flows, "delivered_bytes") * 8.0 / 2.0);
}

#[test]
fn samples_come_at_multiples_of_the_interval() {
    let mut plan = single("cubic", 1_050);
    plan["record"]["interval_ns"] = json!(100_000_000);
    plan["warmup_ns"] = json!(333_000_000);
    let results = run(&plan, 1);
    let times: Vec<u64> = results.series.numbers("time_s").iter().map(|s| (s * 1e9).round() as u64).collect();
    assert_eq!(times, (1..=10).map(|n| n * 100_000_000).collect::<Vec<_>>());
    assert_eq!(results.links.numbers("time_s").len(), 20);
}

#[test]
fn samples_add_up_to_the_summary() {
    let mut plan = single("cubic", 5_000);
    plan["record"]["interval_ns"] = json!(10_000_000);
    plan["links"][0]["loss"] = json!({ "kind": "bernoulli", "probability": 0.01 });
    let results = run(&plan, 1);
    let bits: f64 = results.series.numbers("goodput_bps").iter().map(|bps| bps * 0.01).sum();
    assert!((bits / 8.0 - first(&results.flows, "delivered_bytes")).abs() < 1.0);
    let link = |name: &str| results.links.numbers(name).into_iter().step_by(2).collect::<Vec<_>>();
    assert_eq!(link("dropped_packets").iter().sum::<f64>(), first(&results.links_summary, "dropped_packets"));
    let mean = link("utilisation").iter().sum::<f64>() / 500.0;
    assert!((mean - first(&results.links_summary, "utilisation")).abs() < 1e-9);
    assert!(link("utilisation").iter().all(|u| (0.0..=1.0).contains(u)));
    assert!(
        link("backlog_packets").iter().all(|&n| n <= first(&results.links_summary, "backlog_max_packets"))
    );
}

#[test]
fn the_queue_obeys_littles_law() {
    let mut plan = single("reno", 60_000);
    plan["record"]["interval_ns"] = json!(1_000_000);
    let results = run(&plan, 1);
    let backlog: Vec<f64> = results.links.numbers("backlog_packets").into_iter().step_by(2).collect();
    let mean_backlog = backlog.iter().sum::<f64>() / backlog.len() as f64;
    let arrivals_per_s = first(&results.links_summary, "forwarded_packets") / 60.0;
    let by_law = arrivals_per_s * first(&results.links_summary, "sojourn_mean_s");
    assert!((mean_backlog / by_law - 1.0).abs() < 0.01, "{mean_backlog} {by_law}");
}

#[test]
fn jitter_draws_the_start_by_name() {
    let links = || vec![link("there", None, 1_000_000, None), link("back", None, 1_000_000, None)];
    let jittery = |name: &str| {
        let mut flow = flow(name, "reno", &[0], &[1]);
        flow["start_jitter_ns"] = json!(1_000_000_000u64);
        flow["bytes"] = json!(1_000);
        flow
    };
    let starts = |flows, seed| run(&plan(2_000, links(), flows), seed).flows.numbers("start_s");
    let alone = starts(vec![jittery("a")], 1);
    assert!((0.0..1.0).contains(&alone[0]));
    assert_eq!(starts(vec![jittery("b"), jittery("a")], 1)[1], alone[0]);
    assert_ne!(starts(vec![jittery("a")], 2), alone);
}

#[test]
fn random_loss_strikes_as_often_as_it_should() {
    let mut plan = single("bbr1", 30_000);
    plan["links"][0]["loss"] = json!({ "kind": "bernoulli", "probability": 0.02 });
    plan["links"][0]["queue"]["packets"] = json!(null);
    let results = run(&plan, 1);
    let dropped = first(&results.links_summary, "dropped_packets");
    let passed = first(&results.links_summary, "forwarded_packets");
    let share = dropped / (dropped + passed);
    assert!((share - 0.02).abs() < 0.004, "{share}"); // about 24,000 packets: three standard deviations are 0.003
}

/// The texts of a column.
fn labels(table: &simulation::Table, name: &str) -> Vec<String> {
    match table.column(name) {
        Some(simulation::Column::Label { codes, names }) => {
            codes.iter().map(|&code| names[code as usize].clone()).collect()
        }
        _ => panic!("no labels"),
    }
}

#[test]
fn states_change_at_exact_times_with_all_variables() {
    let mut plan = single("bbr1", 1_000);
    plan["record"] = json!({ "interval_ns": 500_000_000, "variables": true });
    let variables = run(&plan, 1).variables;
    let (times, states, names) =
        (variables.numbers("time_s"), labels(&variables, "state"), labels(&variables, "name"));
    let mut seen: Vec<&str> = states.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
    seen.dedup();
    assert_eq!(seen[..3], ["Startup", "Drain", "ProbeBW:Cruise"]);
    let drain = states.iter().position(|s| s == "Drain").map(|row| times[row]);
    let drain = drain.expect("a row with the state Drain");
    assert!(drain % 0.5 > 1e-6, "{drain}"); // the change is between two samples
    let beside: Vec<&str> =
        times.iter().zip(&names).filter(|row| *row.0 == drain).map(|row| row.1.as_str()).collect();
    assert!(beside.contains(&"cwnd") && beside.contains(&"pacing_gain"), "{beside:?}");
}

#[test]
fn a_capture_has_the_handshake_and_every_byte_at_its_time() {
    // Ten full packets and a short packet on an empty path, as in the first test.
    let mut plan = single("reno", 1_000);
    plan["flows"][0]["bytes"] = json!(14_580);
    plan["flows"][0]["tcp"]["ack_every"] = json!(1);
    plan["flows"][0]["tcp"]["delayed_ack_timeout"] = json!(40_000_000);
    plan["record"]["packets"] = json!(["sender", "there"]);
    let packets = run(&plan, 1).packets;
    let (kinds, points) = (labels(&packets, "kind"), labels(&packets, "point"));
    let (times, seqs) = (packets.numbers("time_ns"), packets.numbers("seq"));
    let rows = |point: &str, kind: &str| {
        (0..kinds.len()).filter(|&n| points[n] == point && kinds[n] == kind).collect::<Vec<_>>()
    };
    let opening = ["syn", "syn_ack", "handshake_ack"].map(|kind| rows("sender", kind).len());
    assert_eq!(opening, [1, 1, 1]);
    let (sent, passed) = (rows("sender", "data"), rows("there", "data"));
    assert_eq!((sent.len(), passed.len(), rows("sender", "ack").len()), (11, 11, 11));
    assert_eq!(seqs[sent[10]], 14_480.0);
    assert_eq!(packets.numbers("len")[sent[10]], 100.0);
    assert_eq!(packets.numbers("ack")[rows("sender", "ack")[10]], 14_580.0);
    assert_eq!(times[passed[0]] - times[sent[0]], 52_800.0 + 1_211_200.0 + 20e6); // transmission of the ACK and the packet, and 20 ms
    // The SYN took 59,200 ns and 20 ms; the SYN-ACK left at 20.0592 ms, and the data echo its timestamp.
    assert_eq!(packets.numbers("ts_val")[rows("sender", "syn_ack")[0]], 20.0);
    assert_eq!(packets.numbers("ts_ecr")[sent[0]], 20.0);
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn a_capture_counts_bytes_in_what_packets_carry_beside_the_accecn_option() {
    let mut plan = single("reno", 1_000);
    plan["flows"][0]["bytes"] = json!(14_360);
    plan["flows"][0]["tcp"]["ecn"] = json!("accecn");
    plan["record"]["packets"] = json!(["sender"]);
    let packets = run(&plan, 1).packets;
    let ends: Vec<f64> =
        packets.numbers("seq").iter().zip(&packets.numbers("len")).map(|(a, b)| a + b).collect();
    assert_eq!(ends.iter().copied().fold(0.0, f64::max), 14_360.0);
    assert_eq!(packets.numbers("ack").iter().copied().fold(0.0, f64::max), 14_360.0);
}

#[test]
fn an_application_keeps_its_pace_and_its_silence() {
    // 1 Mbit/s of payload from 1 s on, nothing from 3 s on, and unlimited data from 4 s on.
    let mut plan = single("cubic", 5_000);
    plan["flows"][0]["application"] = json!([
        { "at_ns": 0, "rate_bps": 0 },
        { "at_ns": 1_000_000_000, "rate_bps": 1_000_000 },
        { "at_ns": 3_000_000_000u64, "rate_bps": 0 },
        { "at_ns": 4_000_000_000u64, "rate_bps": null },
    ]);
    plan["record"]["interval_ns"] = json!(1_000_000_000);
    let goodput = run(&plan, 1).series.numbers("goodput_bps");
    assert_eq!(goodput[0], 0.0);
    assert!((0.95e6..1.02e6).contains(&goodput[1]) && (0.98e6..1.05e6).contains(&goodput[2]), "{goodput:?}");
    assert!(goodput[3] < 0.05e6 && goodput[4] > 7e6, "{goodput:?}");
}

#[test]
fn a_link_changes_its_rate_and_its_loss_when_the_plan_says_so() {
    let mut plan = single("bbr1", 6_000);
    plan["links"][0]["changes"] = json!([
        { "at_ns": 2_000_000_000u64, "rate_bps": 5_000_000, "loss": null },
        { "at_ns": 4_000_000_000u64, "rate_bps": null, "loss": { "kind": "periodic", "every": 10 } },
    ]);
    plan["record"]["interval_ns"] = json!(2_000_000_000);
    let links = run(&plan, 1).links;
    let (dropped, used) = (links.numbers("dropped_packets"), links.numbers("utilisation"));
    assert!(used.iter().step_by(2).all(|share| *share > 0.9), "{used:?}");
    assert!(dropped[4] > 50.0, "{dropped:?}");
}

#[test]
fn packets_leave_a_slotted_link_in_batches() {
    let mut plan = single("reno", 2_000);
    plan["links"][0]["impairments"] = json!([{ "kind": "aggregation", "slot_ns": 5_000_000 }]);
    plan["record"]["packets"] = json!(["there"]);
    let packets = run(&plan, 1).packets;
    let times = packets.numbers("time_ns");
    assert!(times.len() > 100 && times.iter().all(|time| time % 5e6 == 0.0));
}

#[test]
fn reordering_loses_nothing() {
    let mut plan = single("reno", 3_000);
    plan["flows"][0]["bytes"] = json!(1_448_000);
    plan["links"][0]["queue"]["packets"] = json!(null);
    plan["links"][0]["impairments"] = json!([{ "kind": "reordering", "every": 100, "extra_ns": 15_000_000 }]);
    plan["record"]["packets"] = json!(["receiver"]);
    let results = run(&plan, 1);
    let seqs = results.packets.numbers("seq");
    assert!(seqs.windows(2).any(|pair| pair[1] > 0.0 && pair[1] < pair[0]));
    assert_eq!(first(&results.flows, "delivered_bytes"), 1_448_000.0);
    assert_eq!(first(&results.links_summary, "dropped_packets"), 0.0);
}

#[test]
fn a_rerouted_flow_leaves_the_old_link_and_what_is_past_the_fork_finishes_on_it() {
    // Access link, then 20 ms over link 1 until 1 s, then the faster link 2 (5 ms) until 2 s, then link 1 again.
    let links = vec![
        link("access", Some(100_000_000), 1_000_000, None),
        link("slow", Some(10_000_000), 20_000_000, Some(100)),
        link("fast", Some(10_000_000), 5_000_000, Some(100)),
        link("back", None, 10_000_000, None),
    ];
    let mut plan = plan(3_000, links, vec![flow("only", "reno", &[0, 1], &[3])]);
    plan["flows"][0]["reroutes"] = json!([
        { "at_ns": 1_000_000_000u64, "forward": [0, 2], "reverse": null },
        { "at_ns": 2_000_000_000u64, "forward": [0, 1], "reverse": null },
    ]);
    plan["record"]["interval_ns"] = json!(500_000_000);
    plan["record"]["packets"] = json!(["slow", "fast"]);
    let results = run(&plan, 1);
    let (points, times) = (labels(&results.packets, "point"), results.packets.numbers("time_ns"));
    let on =
        |link: &str| points.iter().zip(&times).filter(|p| p.0 == link).map(|p| p.1 / 1e9).collect::<Vec<_>>();
    assert!(on("fast").iter().all(|&t| (1.005..2.2).contains(&t)));
    assert!(!on("slow").iter().any(|&t| (1.3..2.02).contains(&t)));
    assert!(on("slow").iter().any(|&t| (1.0..1.2).contains(&t)), "the queue of the old link empties");
}

/// One connection over 10 Mbit/s and 40 ms with an application that writes at a constant rate.
fn writing(rate_bps: u64, drops: bool, send_buffer_bytes: Option<u64>) -> serde_json::Value {
    let mut plan = single("cubic", 10_000);
    plan["flows"][0]["workload"] = json!({
        "kind": "writes", "rate_bps": rate_bps, "write_bytes": 1_000, "periods": null, "drops": drops,
    });
    plan["flows"][0]["tcp"]["send_buffer"] = json!(send_buffer_bytes);
    plan
}

#[test]
fn an_application_that_writes_less_than_the_path_carries_gets_its_rate() {
    let flows = run(&writing(2_000_000, true, Some(100_000)), 1).flows;
    assert_eq!(first(&flows, "refused_bytes"), 0.0);
    let goodput = first(&flows, "goodput_bps");
    assert!((1.97e6..=2.0e6).contains(&goodput), "{goodput}");
}

#[test]
fn a_dropping_application_loses_what_neither_path_nor_buffer_takes() {
    let flows = run(&writing(20_000_000, true, Some(100_000)), 1).flows;
    let written = 10.0 * 20e6 / 8.0;
    let (delivered, refused) = (first(&flows, "delivered_bytes"), first(&flows, "refused_bytes"));
    let kept = written - delivered - refused;
    assert!((0.0..=101_000.0).contains(&kept) && refused > 1e7, "{delivered} {refused}");
}

#[test]
fn a_blocking_application_loses_nothing_and_keeps_the_path_as_full() {
    let blocking = run(&writing(20_000_000, false, Some(100_000)), 1).flows;
    let dropping = run(&writing(20_000_000, true, Some(100_000)), 1).flows;
    assert_eq!(first(&blocking, "refused_bytes"), 0.0);
    let ratio = first(&blocking, "goodput_bps") / first(&dropping, "goodput_bps");
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn an_application_that_rests_sends_half_of_the_time() {
    let mut plan = single("cubic", 10_000);
    plan["flows"][0]["workload"] = json!({
        "kind": "writes", "rate_bps": null, "write_bytes": 1_448, "drops": false,
        "periods": { "on_ns": 1_000_000_000, "off_ns": 1_000_000_000, "exponential": false },
    });
    plan["record"]["interval_ns"] = json!(1_000_000_000);
    let goodput = run(&plan, 1).series.numbers("goodput_bps");
    // Data in flight or lost at the start of a silent period arrives during that period: a full path and queue hold
    // 1.15 Mbit.
    assert!(goodput.iter().step_by(2).skip(1).all(|&bps| bps > 8e6), "{goodput:?}");
    assert!(goodput.iter().skip(1).step_by(2).all(|&bps| bps < 2e6), "{goodput:?}");
}
