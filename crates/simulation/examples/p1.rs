//! Program that runs the dumbbell of the first study (P1). Usage: `p1 [algorithm [flows [seconds [queue packets
//! [events|windows|auto [threads]]]]]]`.

#[path = "../benches/study/mod.rs"]
mod study;

use simulation::{Execution, External, Plan, Simulation};
use std::env::args;

fn main() {
    let number =
        |n: usize, default: u64| args().nth(n).map_or(default, |text| text.parse().expect("a number"));
    let cca = args().nth(1).unwrap_or_else(|| "bbr1".to_owned());
    let (flows, seconds, queue) = (number(2, 16), number(3, 50), number(4, 5_000));
    let plan = Plan::from_json(&study::plan(&cca, flows as u32, seconds, queue, None)).expect("a valid plan");
    let threads = number(6, 1) as usize;
    let execution = match args().nth(5).as_deref() {
        None | Some("auto") => Execution::Auto { threads },
        Some("windows") => Execution::Windows { threads },
        Some("events") => Execution::Events,
        Some(other) => panic!("\"{other}\" is no execution: events, windows or auto"),
    };
    let built = Simulation::executed(plan, 1, External::default(), execution);
    let results = built.expect("a valid plan").finish();
    let goodput: f64 = results.flows.numbers("goodput_bps").iter().sum();
    println!(
        "{} data packets, {} hops, {:.1} Mbit/s",
        results.data_packets,
        results.packet_hops,
        goodput / 1e6
    );
}
