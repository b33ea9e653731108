//! The first study as a whole process: `p1 [algorithm [flows [seconds [queue packets]]]]`.

#[path = "../benches/study/mod.rs"]
mod study;

use simulation::{Plan, Simulation};
use std::env::args;

fn main() {
    let number =
        |n: usize, default: u64| args().nth(n).map_or(default, |text| text.parse().expect("a number"));
    let cca = args().nth(1).unwrap_or_else(|| "bbr1".to_owned());
    let (flows, seconds, queue) = (number(2, 16), number(3, 50), number(4, 5_000));
    let plan = Plan::from_json(&study::plan(&cca, flows as u32, seconds, queue, None)).expect("a valid plan");
    let results = Simulation::new(plan, 1).expect("a valid plan").finish();
    let goodput: f64 = results.flows.numbers("goodput_bps").iter().sum();
    println!(
        "{} data packets, {} hops, {:.1} Mbit/s",
        results.data_packets,
        results.packet_hops,
        goodput / 1e6
    );
}
