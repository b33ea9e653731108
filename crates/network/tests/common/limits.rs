//! Parameters of queues with limits small enough to be reached.

use network::queue::descriptors;
use params::Role;
use serde_json::{Value, json};

/// Parameters with limits of 20 packets and 30 kB.
pub fn limits(kind: &str) -> Value {
    let found = descriptors().iter().find(|queue| queue.name == kind).expect("a queue of the registry");
    let limits = (found.params)().into_iter().filter(|param| param.role == Some(Role::Limit));
    limits.map(|param| (param.name, json!(if param.unit == "bytes" { 30_000 } else { 20 }))).collect()
}
