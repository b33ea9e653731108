//! A cell under random traffic, in the conformance kit of elements.

use network::kit::{Script, judge};
use network::{medium, queue};
use proptest::prelude::*;
use serde_json::Value;

/// A medium with the same kind of queue at all ports.
pub struct Conditions<'a> {
    pub medium: &'a str,
    pub cell: &'a Value,
    pub ports: usize,
    pub queue: &'a (&'a str, Value),
}

/// Check every invariant of elements with the traffic that `bytes` encodes.
pub fn conforms(given: &Conditions<'_>, bytes: &[u8], seed: u64) -> Result<(), TestCaseError> {
    let (name, params) = given.queue;
    let make = |sampling| {
        let queues = (0..given.ports).map(|_| queue::build(name, params, 7).unwrap()).collect();
        medium::build(given.medium, given.cell, queues, sampling, seed).unwrap()
    };
    let judged = judge(&make, &Script::from_bytes(bytes));
    prop_assert!(judged.is_ok(), "{name}: {}", judged.unwrap_err());
    Ok(())
}

/// Random bytes that encode traffic.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..450)
}
