//! Two flows share a bottleneck with CoDel. Prints the goodput and the mean RTT of each flow.

use fullpipe::units::{Duration, Rate};
use fullpipe::{Experiment, Flow, Link, Network, PlanError, json};

fn main() -> Result<(), PlanError> {
    let bottleneck = Link::new(Rate::from_bits_per_sec(100_000_000), Duration::from_millis(10))
        .queue("codel", json!({ "target_ms": 5 }));
    let network = Network::dumbbell(2, bottleneck, Duration::from_millis(2));
    let run = Experiment::new(network, Duration::from_secs(10))
        .warmup(Duration::from_secs(2))
        .flow(Flow::new("cubic", "sender 0", "receiver 0").algorithm("cubic", json!({})))
        .flow(Flow::new("bbr", "sender 1", "receiver 1").algorithm("bbr3", json!({})))
        .run(1)?;
    for flow in run.flows() {
        let rtt = flow.rtt_mean().map_or_else(|| "none".to_owned(), |rtt| rtt.to_string());
        println!(
            "{:8} goodput {:>6.2} Mbit/s, mean RTT {rtt}",
            flow.name(),
            flow.goodput().bits_per_sec() as f64 / 1e6
        );
    }
    Ok(())
}
