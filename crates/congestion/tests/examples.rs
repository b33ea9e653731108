//! The example runs, for every algorithm of the registry.

// The example is a program of its own; its functions are all that is wanted of it here.
#[allow(dead_code, reason = "its main reads the command line")]
#[path = "../examples/bare_loop.rs"]
mod bare_loop;

use bare_loop::Connection;
use congestion::{build, descriptors};

#[test]
fn the_bare_loop_keeps_a_bottleneck_busy_with_every_algorithm() {
    for descriptor in descriptors() {
        let mut algorithm = build(descriptor.name, &serde_json::Value::Null, 1).expect("defaults are valid");
        let mut connection = Connection::new();
        algorithm.on_established(&connection.path());
        let sent: u32 = (0..100).map(|_| connection.round_trip(&mut *algorithm).0).sum();
        assert!(sent > 100 * 25, "{} sent {sent} packets in 100 round trips of 50", descriptor.name);
    }
}
