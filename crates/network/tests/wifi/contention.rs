//! Saturated stations compared with Bianchi's model, and with an exact model that has one event per access.

use super::saturated::{carried, cell, mbps, number, up, within};
use serde_json::{Value, json};
use units::{Duration, Rng, Time};

/// Durations in microseconds of HE20 MCS 5, with single packets or aggregates of 30.
#[derive(Clone, Copy)]
struct Access {
    mpdus: f64,
    success: f64,
    collision: f64,
}

const SLOT: f64 = 9.0;
const AIFS: f64 = 16.0 + 3.0 * SLOT;
const WAIT_AFTER_ERROR: f64 = 16.0 + 44.0;
const SINGLE: Access = access(1.0, 44.0 + 14.0 * 13.6, 28.0);
const AGGREGATED: Access = access(30.0, 44.0 + 396.0 * 13.6, 32.0);

const fn access(mpdus: f64, ppdu: f64, answer: f64) -> Access {
    Access { mpdus, success: ppdu + 16.0 + answer, collision: ppdu + WAIT_AFTER_ERROR }
}

fn params(stations: usize, single: bool) -> Value {
    let window = if single { 1 } else { 64 };
    json!({ "width_mhz": 20, "streams": 1, "station_mcs": vec![5; stations], "max_ampdu_mpdus": window })
}

/// Contention windows of the first try and of seven retries: the smallest window, doubled at most six times. The
/// window is then reset.
const WINDOWS: [f64; 8] = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0, 1_024.0];

/// Throughput in Mbit/s by Bianchi (IEEE JSAC 18(3), 2000), with a limit of retries (Wu et al., INFOCOM 2002). As in
/// these models, the counters of EDCA count a busy period as one slot.
fn bianchi(stations: usize, access: Access) -> f64 {
    let n = stations as f64;
    // Probability that a station transmits in a slot, if a transmission collides with probability p.
    let transmits = |p: f64| {
        let tries: Vec<f64> = (0..8).map(|i| p.powi(i)).collect();
        let slots = tries.iter().zip(WINDOWS).map(|(there, window)| there * (window + 1.0) / 2.0);
        tries.iter().sum::<f64>() / slots.sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let tau: f64 = (low + high) / 2.0;
        let p = 1.0 - (1.0 - tau).powf(n - 1.0);
        if transmits(p) > tau { low = tau } else { high = tau }
    }
    let tau = low;
    let any = 1.0 - (1.0 - tau).powf(n);
    let one = n * tau * (1.0 - tau).powf(n - 1.0);
    let mean = (1.0 - any) * SLOT + one * (access.success + AIFS) + (any - one) * (access.collision + AIFS);
    one * access.mpdus * 11_776.0 / mean
}

/// Throughput without Bianchi's assumption of independence: each station has a counter, and each access is one event.
fn exact(stations: usize, access: Access, time_us: f64, seed: u64) -> f64 {
    let mut rng = Rng::stream(seed, "exact");
    let mut failures = vec![0; stations];
    let mut counters: Vec<u32> = (0..stations).map(|_| rng.below(16)).collect();
    let (mut now, mut delivered) = (0.0, 0.0);
    while now < time_us {
        let least = counters.iter().copied().min().unwrap();
        let alone = counters.iter().filter(|&&counter| counter == least).count() == 1;
        now += AIFS + f64::from(least) * SLOT + if alone { access.success } else { access.collision };
        delivered += if alone { access.mpdus } else { 0.0 };
        for (counter, failed) in counters.iter_mut().zip(&mut failures) {
            if *counter == least {
                *failed = if alone { 0 } else { (*failed + 1) % WINDOWS.len() };
                *counter = rng.below(WINDOWS[*failed] as u32);
            } else {
                *counter -= least + 1; // the boundary at which another station transmits counts
            }
        }
    }
    delivered * 11_776.0 / now
}

/// Throughput of saturated uplinks in Mbit/s, averaged over seeds.
fn native(stations: usize, single: bool, seconds: u64, seeds: u64) -> f64 {
    let time = Duration::from_secs(seconds);
    let runs = (1..=seeds).map(|seed| {
        let packets = carried(&mut *cell(&params(stations, single), seed), &up(stations), time);
        mbps(packets.iter().sum(), time)
    });
    runs.sum::<f64>() / seeds as f64
}

fn meets_bianchi(stations: impl IntoIterator<Item = usize>, seconds: u64, seeds: u64) {
    for n in stations {
        let found = native(n, true, seconds, seeds);
        println!("{n} stations: {found:.3} of {:.3}", bianchi(n, SINGLE));
        within(found, bianchi(n, SINGLE), 0.01, &format!("{n} stations"));
    }
}

fn aggregates_meet_both(seconds: u64, seeds: u64) {
    for n in [2, 5, 10] {
        let found = native(n, false, seconds, seeds);
        let model =
            (1..=seeds).map(|seed| exact(n, AGGREGATED, seconds as f64 * 1e6, 100 + seed)).sum::<f64>()
                / seeds as f64;
        println!("{n} stations: {found:.3}, exact {model:.3}, Bianchi {:.3}", bianchi(n, AGGREGATED));
        within(found, model, 0.01, &format!("{n} stations, exact"));
        within(found, bianchi(n, AGGREGATED), 0.015, &format!("{n} stations, Bianchi"));
    }
}

#[test]
fn packets_by_themselves_meet_bianchi() {
    meets_bianchi([2, 5, 10, 25, 50], 10, 2);
}

#[test]
#[ignore = "long: make test-long"]
fn packets_by_themselves_meet_bianchi_everywhere() {
    meets_bianchi(2..=50, 10, 20);
}

#[test]
fn aggregates_of_thirty_meet_the_exact_model_and_bianchi() {
    aggregates_meet_both(60, 4);
}

#[test]
#[ignore = "long: make test-long"]
fn aggregates_of_thirty_meet_the_exact_model_and_bianchi_over_twenty_seeds() {
    aggregates_meet_both(30, 20);
}

#[test]
fn a_request_after_every_missing_block_ack_costs_several_percent() {
    let time = Duration::from_secs(30);
    let total = |bar: bool| {
        let mut all = params(10, false);
        all["bar"] = json!(bar);
        let packets: u64 = carried(&mut *cell(&all, 1), &up(10), time).iter().sum();
        mbps(packets, time)
    };
    let share = total(true) / total(false);
    assert!((0.86..0.95).contains(&share), "{share}"); // an independent model: 45.8 and 49.9 Mbit/s
}

#[test]
fn after_a_collision_the_sender_of_the_short_frame_goes_first() {
    // When a short frame collides with a long frame, the ACK timeout of the short frame is over when the long frame
    // ends. The sender of the short frame therefore gets more than half of the next accesses. After a collision,
    // short frames wait hardly longer than the long frame takes.
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5, 5], "max_ampdu_mpdus": 64 });
    let mut element = cell(&params, 1);
    let end = Time::from_nanos(60_000_000_000);
    let time = Duration::from_secs(60);
    let equal = carried(&mut *element, &[1, 3], time);
    within(equal[1] as f64, equal[3] as f64, 0.05, "equal frames");
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5, 5], "station_streams": [1, 8],
        "max_ampdu_bytes": 40_000, "max_ampdu_mpdus": 64 });
    let mut element = cell(&params, 1);
    carried(&mut *element, &[1, 3], time);
    let [long, short] = [1, 3].map(|port| number(&*element, port, end, "ppdus"));
    assert!(short > 1.02 * long, "{short} short PPDUs, {long} long PPDUs");
}

#[test]
fn one_contender_never_collides() {
    let mut one = cell(&json!({ "station_mcs": [5, 3, 1] }), 1);
    carried(&mut *one, &[0, 2, 4], Duration::from_secs(5));
    let now = Time::from_nanos(5_000_000_000);
    assert_eq!([0, 2, 4].map(|port| number(&*one, port, now, "collisions")), [0.0; 3]);
    let mut two = cell(&json!({ "station_mcs": [5] }), 1);
    carried(&mut *two, &[0, 1], Duration::from_secs(5));
    assert!(number(&*two, 0, now, "collisions") > 10.0);
}

#[test]
fn rts_makes_collisions_cheap() {
    let time = Duration::from_secs(20);
    let total = |rts: bool| {
        let mut all = params(10, false);
        all["rts"] = json!(rts);
        let packets: u64 = carried(&mut *cell(&all, 1), &up(10), time).iter().sum();
        mbps(packets, time)
    };
    assert!(total(true) > 1.15 * total(false), "{} of {}", total(true), total(false));
}
