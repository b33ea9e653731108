//! Program that runs the plan in a file, for measurements: `plan FILE [seed [from]]`. The program prints the packets
//! and the CPU time (only on Linux) of the part of the run after `from` seconds of simulated time.

use simulation::{Plan, Simulation};
use std::env::args;
use std::fs::{read_dir, read_to_string};
use units::Time;

/// CPU time of all threads so far in nanoseconds, from Linux's `schedstat` files; 0 on other systems.
fn cpu_ns() -> u64 {
    let threads = read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |text: String| text.split(' ').next().and_then(|first| first.parse::<u64>().ok());
    threads.filter_map(|thread| read_to_string(thread.path().join("schedstat")).ok().and_then(time)).sum()
}

/// Peak memory of the process in megabytes; 0 if the system does not report it.
fn peak_mb() -> f64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kibibytes.unwrap_or(0.0) * 1.024e-3
}

fn main() {
    let number =
        |n: usize, default: u64| args().nth(n).map_or(default, |text| text.parse().expect("a number"));
    let file = args().nth(1).expect("usage: plan FILE [seed [from]]");
    let plan = Plan::from_json(&read_to_string(&file).expect("a readable file")).expect("a valid plan");
    let from = Time::from_nanos(number(3, 0) * 1_000_000_000);
    let mut simulation = Simulation::new(plan, number(2, 1)).expect("a valid plan");
    while simulation.advance(from) < from {}
    let (before_ns, before) = (cpu_ns(), simulation.data_packets());
    let results = simulation.finish();
    println!(
        "{{\"data_packets\": {}, \"packet_hops\": {}, \"cpu_s\": {}, \"peak_mb\": {}}}",
        results.data_packets - before,
        results.packet_hops,
        (cpu_ns() - before_ns) as f64 / 1e9,
        peak_mb()
    );
}
