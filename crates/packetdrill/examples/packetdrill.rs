//! Plays scripts and prints a line for each: `cargo run --example packetdrill -- FILE...`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    for name in std::env::args().skip(1) {
        let path = Path::new(&name);
        let defaults = std::fs::read_to_string(path.with_file_name("defaults.sh")).unwrap_or_default();
        let outcome = packetdrill::play(&std::fs::read_to_string(path)?, &defaults);
        let detail =
            outcome.difference.map(|d| format!("{}; seen: {}", d.expected, d.seen)).or(outcome.reason);
        let line = outcome.line.map(|line| format!(" line {line}:")).unwrap_or_default();
        let (packets, assertions) = (outcome.packets, outcome.assertions);
        println!(
            "{name}\t{}\t{packets}\t{assertions}\t{line} {}",
            outcome.verdict,
            detail.unwrap_or_default()
        );
    }
    Ok(())
}
