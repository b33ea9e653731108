//! Noise and rate control: one saturated station of 802.11n at 20 MHz.

use super::saturated::{carried, cell, mbps, number, within};
use serde_json::{Value, json};
use units::{Duration, Time};

const TIME: Duration = Duration::from_secs(10);

fn station(rates: &str, mcs: u64, snr: &Value) -> Value {
    json!({ "standard": "802.11n", "width_mhz": 20, "streams": 1, "station_mcs": [mcs], "station_rates": [rates],
        "station_snr": [snr] })
}

/// Payload rate of a download in Mbit/s.
fn goodput(rates: &str, mcs: u64, snr: &Value) -> f64 {
    let mut cell = cell(&station(rates, mcs, snr), 1);
    mbps(carried(cell.as_mut(), &[0], TIME)[0], TIME)
}

/// Payload rate at the best fixed rate in Mbit/s.
fn best(snr: &Value) -> f64 {
    (0..8).map(|mcs| goodput("fixed", mcs, snr)).fold(0.0, f64::max)
}

#[test]
fn noise_takes_the_share_that_the_error_rate_says() {
    // MCS 4, 16-QAM 3/4: bit errors before decoding are (3/4) Q(sqrt(snr / 5)). The spectrum of the code begins at
    // distance 5. Packets have 1,538 bytes.
    let snr_db = 16.4;
    let snr = 10f64.powf(snr_db / 10.0);
    let raw = 0.375 * erfc((snr / 10.0).sqrt());
    let base = (4.0 * raw * (1.0 - raw)).sqrt();
    let weights = [42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0];
    let bit: f64 = (5..).zip(weights).map(|(d, weight)| weight * base.powi(d)).sum::<f64>() / 6.0;
    let arrives = (1.0 - bit).powi(8 * 1_538);
    assert!((0.5..0.95).contains(&arrives), "{arrives} says little");
    let mut cell = cell(&station("fixed", 4, &json!([snr_db, 0.0, 1.0])), 1);
    let carried = carried(cell.as_mut(), &[0], TIME)[0] as f64;
    let retries = number(cell.as_ref(), 0, Time::ZERO + TIME, "retries");
    within(carried / (carried + retries), arrives, 0.01, "share that arrives");
}

/// The complementary error function by its integral, in steps of 1e-4.
fn erfc(x: f64) -> f64 {
    let step = 1e-4;
    let inside: f64 = (0..(x / step) as u64).map(|n| (-((n as f64 + 0.5) * step).powi(2)).exp() * step).sum();
    1.0 - 2.0 / std::f64::consts::PI.sqrt() * inside
}

#[test]
fn ideal_rates_are_the_fastest_of_which_noise_takes_one_packet_in_eighty() {
    for snr_db in [8.0, 14.0, 20.0, 30.0] {
        let snr = json!([snr_db, 0.0, 1.0]);
        let share_lost = |mcs| {
            let mut cell = cell(&station("fixed", mcs, &snr), 1);
            let carried = carried(cell.as_mut(), &[0], TIME)[0] as f64;
            let retries = number(cell.as_ref(), 0, Time::ZERO + TIME, "retries");
            retries / (carried + retries)
        };
        // The threshold is the packet error probability at a bit error probability of 1e-6 and 1,538 bytes.
        let fastest = (0..8).rev().find(|&mcs| share_lost(mcs) < 1.0 - (-8.0 * 1_538.0 * 1e-6f64).exp());
        let expected = goodput("fixed", fastest.unwrap(), &snr);
        within(goodput("ideal", 7, &snr), expected, 1e-9, &format!("{snr_db} dB"));
    }
}

#[test]
fn without_noise_rates_are_the_highest() {
    let fixed = goodput("fixed", 7, &json!([]));
    within(goodput("ideal", 7, &json!([])), fixed, 1e-9, "ideal");
    let minstrel = goodput("minstrel", 7, &json!([])) / fixed;
    assert!((0.95..1.0).contains(&minstrel), "minstrel reaches {minstrel} of the highest rate");
}

#[test]
fn minstrel_finds_the_best_rate() {
    for snr_db in [8.0, 14.0, 17.0, 20.0, 30.0] {
        let snr = json!([snr_db, 0.0, 1.0]);
        let (minstrel, best) = (goodput("minstrel", 7, &snr), best(&snr));
        // Three samples in 50 ms, each with its own access, reduce the rate by up to 8 % at low rates.
        assert!(minstrel > 0.9 * best && minstrel <= 1.001 * best, "{snr_db} dB: {minstrel} of {best}");
    }
}

#[test]
fn minstrel_beats_any_fixed_rate_where_the_channel_changes() {
    let snr = json!([16.0, 6.0, 1.0]);
    let (minstrel, best) = (goodput("minstrel", 7, &snr), best(&snr));
    assert!(minstrel > best, "{minstrel} of {best}");
}
