//! Shares of packets and resource blocks that the users of a cell get.

use super::driver::{SIZE, cell, lte, number, passing, steady, us};
use serde_json::json;
use units::{Duration, Time};

const END: Time = Time::from_nanos(10_000_000_000);

/// Numbers of packets and resource blocks of each user in ten seconds if all users are saturated.
fn shares(mcs: &[u64], scheduler: &str) -> (Vec<f64>, Vec<f64>) {
    let mut made = cell("lte", &lte(mcs, json!({ "scheduler": scheduler })), Some(100_000));
    let ports: Vec<u16> = (0..mcs.len() as u16).map(|user| 2 * user).collect();
    let left = passing(&mut *made, steady(&ports, us(1), Duration::from_micros(150), END), SIZE, END);
    let packets = ports.iter().map(|&port| left.iter().filter(|p| p.port == port).count() as f64);
    let blocks = ports.iter().map(|&port| number(&*made, port, END, "resource_blocks"));
    (packets.collect(), blocks.collect())
}

fn are_equal(found: &[f64], what: &str) {
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!(found.iter().all(|each| (each / mean - 1.0).abs() < 0.01), "{what}: {found:?}");
}

#[test]
fn equal_users_get_equal_shares() {
    for scheduler in ["round_robin", "proportional_fair"] {
        for users in [2, 5] {
            are_equal(&shares(&vec![28; users], scheduler).0, scheduler);
        }
    }
}

#[test]
fn unequal_users_get_equal_resource_blocks() {
    for scheduler in ["round_robin", "proportional_fair"] {
        let (packets, blocks) = shares(&[28, 15, 4], scheduler);
        are_equal(&blocks, scheduler);
        assert!(packets[0] > 2.0 * packets[1] && packets[1] > 3.0 * packets[2], "{packets:?}");
    }
}

#[test]
fn who_wants_little_gets_it_and_others_get_the_rest() {
    let mut made = cell("lte", &lte(&[28, 28], json!({})), Some(100_000));
    let mut arrivals = steady(&[0], us(1), Duration::from_micros(100), END);
    arrivals.extend(steady(&[2], us(2), Duration::from_millis(5), END));
    arrivals.sort_by_key(|p| p.at);
    let left = passing(&mut *made, arrivals, SIZE, END);
    let thin: Vec<_> = left.iter().filter(|p| p.port == 2).collect();
    let delay = |p: &&&super::driver::Passage| p.at.since(us(2 + 5_000 * u64::from(p.number)));
    assert!(thin.len() > 1_990 && thin.iter().all(|p| delay(&p) <= Duration::from_micros(4_000)));
    let rest = left.iter().filter(|p| p.port == 0).count() as f64;
    assert!((rest + 2_000.0) / 65_800.0 > 0.99, "{rest}");
}

#[test]
fn background_users_take_what_they_compete_for() {
    // If four background users always have something to send, a fifth of the slots is left. If background users have
    // something to send half of the time, more than a fifth of the slots is left. Proportional fairness would favour
    // users that return after a pause.
    let carried = |more: serde_json::Value| {
        let mut made = cell("lte", &lte(&[28], more), Some(100_000));
        passing(&mut *made, steady(&[0], us(1), Duration::from_micros(150), END), SIZE, END).len() as f64
    };
    let alone = carried(json!({}));
    let always = carried(json!({ "background_users": 4, "background_load": 1.0 }));
    assert!((always / alone - 0.2).abs() < 0.002, "{always} of {alone}");
    // The mean of 1 / (1 + n) if n of four background users are busy: the sum of C(4, n) / 16 / (1 + n).
    let expected = (0..=4).map(|n| [1.0, 4.0, 6.0, 4.0, 1.0][n] / 16.0 / (1.0 + n as f64)).sum::<f64>();
    let half = carried(
        json!({ "background_users": 4, "background_load": 0.5, "background_burst_ns": 20_000_000, "scheduler": "round_robin" }),
    );
    assert!((half / alone / expected - 1.0).abs() < 0.06, "{half} of {alone}");
}
