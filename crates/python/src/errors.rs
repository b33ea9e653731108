//! Rust errors as Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{create_exception, import_exception};
use simulation::AlgorithmFailure;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Time;

create_exception!(
    fullpipe._native,
    PlanError,
    PyValueError,
    "A plan that cannot be simulated. `path` is the place of the error, `message` the problem and what to write instead."
);
create_exception!(
    fullpipe._native,
    SimulationPanic,
    PyRuntimeError,
    "The simulator violated one of its own invariants. `digest` and `seed` identify the run."
);

import_exception!(fullpipe.errors, ControllerError);

/// Exception that an algorithm written in Python has raised. The exception passes through the simulator as a panic
/// without a message.
pub struct Failure {
    /// Name of the algorithm.
    pub controller: String,
    /// Name of the flow.
    pub flow: String,
    /// Method that raised the exception.
    pub event: &'static str,
    /// Simulated time.
    pub time: Time,
    /// The exception.
    pub error: PyErr,
}

impl Failure {
    /// The exception to raise. A keyboard interrupt is raised unchanged, as the algorithm has not caused it.
    fn raised(self) -> PyErr {
        Python::attach(|py| {
            if self.error.is_instance_of::<PyKeyboardInterrupt>(py) {
                return self.error;
            }
            let Failure { controller, flow, event, time, error } = self;
            let time_s = time.as_secs_f64();
            let message = format!("{controller} of flow {flow} failed at {time_s:.9} s in {event}: {error}");
            let raised = ControllerError::new_err((message, controller, flow, event, time_s));
            raised.set_cause(py, Some(error));
            raised
        })
    }
}

/// The exception for an algorithm that could not be built for a later connection of its flow.
fn not_made(failure: AlgorithmFailure) -> PyErr {
    let AlgorithmFailure { algorithm, flow, time, problem } = failure;
    let time_s = time.as_secs_f64();
    let message = format!("{algorithm} of flow {flow} could not be built at {time_s:.9} s: {problem}");
    ControllerError::new_err((message, algorithm, flow, "__init__", time_s))
}

/// The exception for a failure of an algorithm in a library.
fn of_a_library(failure: capi::Failure) -> PyErr {
    let capi::Failure { algorithm, flow, event, time, problem } = failure;
    let time_s = time.as_secs_f64();
    let message = format!("{algorithm} of flow {flow} failed at {time_s:.9} s in {event}: {problem}");
    ControllerError::new_err((message, algorithm, flow, event, time_s))
}

/// A `PlanError` with its attributes.
pub fn plan_error(error: simulation::PlanError) -> PyErr {
    let raised = PlanError::new_err(error.to_string());
    Python::attach(|py| {
        let value = raised.value(py);
        let each = error.clone().each().into_iter().map(|one| (one.path, one.message));
        let set = value.setattr("path", error.path).and_then(|()| value.setattr("message", error.message));
        let set = set.and_then(|()| value.setattr("problems", each.collect::<Vec<_>>()));
        set.map_or_else(|problem| problem, |()| raised.clone_ref(py))
    })
}

/// Identity of a run, for error reports.
pub struct Identity {
    digest: String,
    seed: u64,
}

impl Identity {
    /// The run of this plan with this seed.
    pub fn new(plan_json: &str, seed: u64) -> Identity {
        // FNV-1a, 64 bits: the digest identifies a plan in a report and needs no security.
        let hash = plan_json
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Identity { digest: format!("{hash:016x}"), seed }
    }

    /// Runs `work` and converts a panic to an exception that identifies the run.
    ///
    /// `work` owns everything that it changes, so that no inconsistent state survives a panic.
    pub fn guard<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Failure>() {
            Ok(failure) => failure.raised(),
            Err(payload) => match payload.downcast::<AlgorithmFailure>() {
                Ok(failure) => not_made(*failure),
                Err(payload) => match payload.downcast::<capi::Failure>() {
                    Ok(failure) => of_a_library(*failure),
                    Err(payload) => self.panic(&*payload),
                },
            },
        })
    }

    fn panic(&self, payload: &(dyn Any + Send)) -> PyErr {
        let text = payload.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let Identity { digest, seed } = self;
        let report = format!("the simulator panicked: {text} (plan {digest}, seed {seed}); please report it");
        let raised = SimulationPanic::new_err(report);
        Python::attach(|py| {
            let value = raised.value(py);
            let set = value.setattr("digest", digest).and_then(|()| value.setattr("seed", seed));
            set.map_or_else(|problem| problem, |()| raised.clone_ref(py))
        })
    }
}

/// The exception for a simulation that is finished, has panicked, or runs in another thread.
pub fn used_up(identity: &Identity) -> PyErr {
    let Identity { digest, seed } = identity;
    PyRuntimeError::new_err(format!(
        "this simulation (plan {digest}, seed {seed}) is finished or running; build a new one"
    ))
}
