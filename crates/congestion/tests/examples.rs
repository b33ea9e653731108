//! The example runs, for every algorithm of the registry.

// The example is a separate program. The test uses only its functions.
#[allow(dead_code, reason = "its main reads the command line")]
#[path = "../examples/bare_loop.rs"]
mod bare_loop;

use bare_loop::Connection;
use congestion::{build, descriptors};

/// Packets that an algorithm sends in 100 round trips.
fn sent(name: &str) -> u32 {
    let mut algorithm = build(name, &serde_json::Value::Null, 1).expect("defaults are valid");
    let mut connection = Connection::new();
    algorithm.on_established(&connection.path());
    (0..100).map(|_| connection.round_trip(&mut *algorithm).0).sum()
}

#[test]
fn the_bare_loop_runs_with_every_algorithm() {
    for descriptor in descriptors() {
        assert!(sent(descriptor.name) >= 100, "{} falls silent", descriptor.name);
    }
}

#[test]
fn cubic_keeps_the_bottleneck_of_the_bare_loop_busy() {
    assert!(sent("cubic") > 100 * 50);
}
