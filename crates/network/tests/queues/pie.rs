//! Tests of PIE.

use super::*;

#[test]
fn a_burst_of_150_ms_passes() {
    let (drops, _) = drive(&mut queue("pie", json!({})), |_| 2, Ecn::NotEct, 1000);
    assert!(drops[0] >= 150.0, "{}", drops[0]);
}

#[test]
fn an_unresponsive_overload_is_held_at_the_target() {
    // The load is 25 % above the rate: the probability must settle near one fifth, and the queueing delay near 15 ms.
    let mut queue = queue("pie", json!({}));
    let (drops, waits) = drive(&mut queue, |t| 1 + u64::from(t as u64 % 4 == 0), Ecn::NotEct, 100_000);
    let late = &waits[waits.len() / 2..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((mean - 15.0).abs() < 1.5, "{mean}");
    let share = drops.iter().filter(|&&t| t > 50_000.0).count() as f64 / 62_500.0;
    assert!((share - 0.2).abs() < 0.01, "{share}");
}

#[test]
fn drops_come_more_evenly_than_dice_would_have_it() {
    // The probabilities since the last drop must add up to 0.85. The standard deviation of gaps between independent
    // drops would be as large as their mean.
    let mut queue = queue("pie", json!({}));
    let (drops, _) = drive(&mut queue, |t| 1 + u64::from(t as u64 % 10 == 0), Ecn::NotEct, 50_000);
    let late: Vec<f64> = drops.into_iter().filter(|&t| t > 20_000.0).collect();
    let gaps: Vec<f64> = late.windows(2).map(|w| w[1] - w[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!(variance.sqrt() / mean < 0.6, "{}", variance.sqrt() / mean);
}
