//! The conformance kit for algorithms written in Python.

use crate::controller::Controller;
use crate::errors::{Failure, Identity};
use congestion::CongestionControl;
use congestion::kit::{self, Script, rounds};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use units::Time;

const NAME: &str = "the algorithm";
const FLOW: &str = "the conformance kit";

fn make(factory: &Bound<'_, PyAny>) -> Box<dyn CongestionControl> {
    let made = factory.call0().and_then(|object| Controller::new(&object, NAME, FLOW));
    Box::new(made.unwrap_or_else(|error| {
        let (controller, flow) = (NAME.to_owned(), FLOW.to_owned());
        resume_unwind(Box::new(Failure { controller, flow, event: "__init__", time: Time::ZERO, error }))
    }))
}

/// Plays events read from any bytes to an algorithm; says which invariant breaks, if any does.
#[pyfunction]
pub fn judge(factory: &Bound<'_, PyAny>, script: &[u8]) -> PyResult<Option<String>> {
    let script = Script::from_bytes(script);
    let judged = Identity::new("", 0).guard(|| kit::judge(&|| make(factory), &script))?;
    Ok(judged.err().map(|broken| format!("{broken}; the event: {:?}", script.events[broken.event])))
}

/// Round trips of an algorithm on an ideal path, one line each.
#[pyfunction]
pub fn round_trips(factory: &Bound<'_, PyAny>, count: usize) -> PyResult<String> {
    Identity::new("", 0).guard(|| rounds::table(&mut *make(factory), count))
}
