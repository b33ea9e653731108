//! Limits small enough to be met, of any queue.

use network::queue::descriptors;
use params::Role;
use serde_json::{Value, json};

/// Its limits in packets are 20, those in bytes 30 kB.
pub fn limits(kind: &str) -> Value {
    let found = descriptors().iter().find(|queue| queue.name == kind).expect("a queue of the registry");
    let limits = (found.params)().into_iter().filter(|param| param.role == Some(Role::Limit));
    limits.map(|param| (param.name, json!(if param.unit == "bytes" { 30_000 } else { 20 }))).collect()
}
