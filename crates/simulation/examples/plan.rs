//! Runs the plan in a file as a whole process, to be measured: `plan FILE [seed]`.

use simulation::{Plan, Simulation};
use std::env::args;

fn main() {
    let file = args().nth(1).expect("usage: plan FILE [seed]");
    let seed = args().nth(2).map_or(1, |text| text.parse().expect("a number"));
    let text = std::fs::read_to_string(&file).expect("a readable file");
    let plan = Plan::from_json(&text).expect("a valid plan");
    let results = Simulation::new(plan, seed).expect("a valid plan").finish();
    println!("{{\"data_packets\": {}, \"packet_hops\": {}}}", results.data_packets, results.packet_hops);
}
