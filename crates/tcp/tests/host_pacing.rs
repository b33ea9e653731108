//! Pacing by the transport and by `sch_fq` at the host. Both give the same departures, but with `sch_fq` the
//! departures are decided earlier.

use crate::pipe::{Pipe, config, seconds};
use tcp::{AckPolicy, Pacing, SenderConfig};
use units::{Duration, Time};

fn run(cca: &str, pacing: Pacing, data: Option<u64>) -> Pipe {
    let config = SenderConfig { pacing, data, ..config() };
    let mut p = Pipe::new(cca, config, AckPolicy::Linux, 20, 40, 66);
    p.run_until(seconds(10.0));
    p
}

/// Largest number of packets that leave within 2 ms, after the first second.
fn burstiness(p: &Pipe) -> usize {
    let times: Vec<Time> = p.sent.iter().map(|s| s.0).filter(|t| *t > seconds(1.0)).collect();
    let within =
        |i: usize| times[i..].iter().take_while(|t| t.since(times[i]) < Duration::from_millis(2)).count();
    (0..times.len()).map(within).max().unwrap()
}

#[test]
fn fq_paces_an_algorithm_that_does_not_ask_for_it() {
    assert!(burstiness(&run("cubic", Pacing::Fq, None)) <= burstiness(&run("cubic", Pacing::Always, None)));
}

#[test]
fn fq_delivers_as_much_as_pacing_by_the_transport() {
    for cca in ["cubic", "bbr1"] {
        let [fq, own] =
            [Pacing::Fq, Pacing::Always].map(|p| run(cca, p, None).receiver.delivered_bytes() as f64);
        assert!((fq / own - 1.0).abs() < 0.01, "{cca}: {fq} {own}");
    }
}

#[test]
fn what_fq_holds_is_delivered_when_the_application_has_finished() {
    let p = run("cubic", Pacing::Fq, Some(500 * 1448));
    assert!(p.sender.is_done());
    assert_eq!(p.receiver.delivered_bytes(), 500 * 1448);
}

#[test]
fn rtts_do_not_include_the_wait_in_the_host() {
    let p = run("bbr1", Pacing::Fq, None);
    assert_eq!(p.sender.snapshot().min_rtt, Some(Duration::from_millis(40)));
    assert!(p.sender.snapshot().srtt.unwrap() < Duration::from_millis(80));
}
