//! The check of all registered algorithms with one script, for the fuzz target and the property test.

use super::{Script, judge};
use crate::{ParamSpec, build, descriptors};
use serde_json::{Map, Value, json};

/// Check every algorithm of the registry with a script read from `bytes`. If the first byte modulo 4 is 3,
/// further bytes select for each parameter its default or a bound of its range. Otherwise every parameter has its
/// default.
///
/// # Errors
/// The first invariant that is violated, with the algorithm, its parameters and the events.
pub fn judge_registry(bytes: &[u8]) -> Result<(), String> {
    let (extreme, bytes) = bytes.split_first().map_or((0, bytes), |(&first, rest)| (first, rest));
    let script = Script::from_bytes(bytes);
    for descriptor in descriptors() {
        let params = if extreme % 4 == 3 { extremes(&(descriptor.params)(), bytes) } else { Value::Null };
        if build(descriptor.name, &params, 1).is_err() {
            continue; // the registry rejects this combination of parameters
        }
        let make = || build(descriptor.name, &params, 1).expect("it was built before");
        judge(&make, &script).map_err(|broken| {
            let events = &script.events[..=broken.event];
            format!("{} {params}: {broken}\nmss {}, events: {events:#?}", descriptor.name, script.mss)
        })?;
    }
    Ok(())
}

/// Select for each parameter its default, a bound of its range, or the other value of a Boolean.
fn extremes(specs: &[ParamSpec], bytes: &[u8]) -> Value {
    let choose = |n: usize| bytes.get(n % bytes.len().max(1)).map_or(0, |byte| (byte >> (n % 4)) % 3);
    let chosen = specs.iter().enumerate().filter_map(|(n, spec)| {
        let value = match (choose(n), spec.range, &spec.default) {
            (0, ..) => return None,
            (_, _, Value::Bool(on)) => json!(!on),
            (side, Some((low, high)), default) => {
                let bound = if side == 1 { low } else { high };
                if default.is_f64() { json!(bound) } else { json!(bound as u64) }
            }
            _ => return None,
        };
        Some((spec.name.to_owned(), value))
    });
    Value::Object(chosen.collect::<Map<_, _>>())
}
