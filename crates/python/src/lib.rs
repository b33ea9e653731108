//! The Python module `fullpipe._native`: conversions and exceptions, no logic.

mod catalogue;
mod cellular;
mod controller;
mod errors;
mod events;
mod kit;
mod packetdrill;
mod plan_types;
mod samples;
mod streams;
mod tables;
mod wifi;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simulation::{Controllers, Execution, External, MODEL_VERSION, Plan, SCHEMA_VERSION};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Time;

/// A simulation that can be run in steps.
#[pyclass(module = "fullpipe._native", frozen)]
struct Simulation {
    /// The simulation; `None` while it runs, once finished, and after a panic.
    inner: Mutex<Option<simulation::Simulation>>,
    duration_ns: u64,
    identity: errors::Identity,
    samples: Option<samples::Samples>,
}

#[pymethods]
impl Simulation {
    /// Build everything that the plan (JSON) describes. All randomness comes from the seed. `controllers` has a
    /// factory, called with parameters and a seed, for every kind with a colon in it. `threads` is the maximum number
    /// of threads. It never changes results. With `samples`, the method `sampled` returns samples during the run.
    /// Releases the GIL.
    #[new]
    #[pyo3(signature = (plan_json, seed, controllers = None, threads = 1, samples = false))]
    fn new(
        py: Python<'_>,
        plan_json: &str,
        seed: u64,
        controllers: Option<Py<PyDict>>,
        threads: usize,
        samples: bool,
    ) -> PyResult<Simulation> {
        py.detach(|| {
            let plan = Plan::from_json(plan_json).map_err(errors::plan_error)?;
            let identity = errors::Identity::new(plan_json, seed);
            let duration_ns = plan.duration_ns;
            let samples = samples.then(|| samples::Samples::new(&plan));
            let make: Controllers =
                Arc::new(move |flow, seed| controller::make(controllers.as_ref(), flow, seed));
            let built = identity.guard(|| {
                let mut external = External::default();
                external.controllers(make);
                if let Some(samples) = &samples {
                    external.recorder(samples.recorder());
                }
                simulation::Simulation::executed(plan, seed, external, Execution::Auto { threads })
            })?;
            let inner = Mutex::new(Some(built.map_err(errors::plan_error)?));
            Ok(Simulation { inner, duration_ns, identity, samples })
        })
    }

    /// Simulated time of the whole run in nanoseconds.
    #[getter]
    fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// Number of captured packets so far. A packet counts once per capture point.
    #[getter]
    fn captured(&self) -> usize {
        self.slot().as_ref().map_or(0, |simulation| simulation.grown().packets)
    }

    /// Number of recorded values of internal variables so far.
    #[getter]
    fn observed(&self) -> usize {
        self.slot().as_ref().map_or(0, |simulation| simulation.grown().variables)
    }

    /// Run up to and including `until_ns` and return the simulated time reached, which is earlier if the work takes
    /// more than about ten milliseconds. Releases the GIL.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<u64> {
        let mut running = self.take()?;
        let identity = &self.identity;
        let (running, reached) = py.detach(|| {
            identity.guard(move || {
                let reached = running.advance(Time::from_nanos(until_ns));
                (running, reached)
            })
        })?;
        *self.slot() = Some(running);
        Ok(reached.as_nanos())
    }

    /// Tables "series" and "links" with the samples since the last call, each as a stream of Arrow IPC. Tables without
    /// rows are left out. Both tables are left out if the simulation was built without `samples`.
    fn sampled(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let taken = self.samples.as_ref().map(|samples| py.detach(|| samples.taken())).transpose();
        tables::bytes(py, taken.map_err(|error| tables::failed(&error))?.unwrap_or_default())
    }

    /// Run to the end and return the tables with rows, each as a stream of Arrow IPC. The simulation cannot be used
    /// afterwards. Releases the GIL.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let running = self.take()?;
        let identity = &self.identity;
        let encoded = py.detach(|| identity.guard(move || tables::Encoded::new(running.finish())))?;
        encoded.map_err(|error| tables::failed(&error))?.into_dict(py)
    }
}

impl Simulation {
    /// Takes the simulation out, so that no inconsistent state remains after a panic.
    fn take(&self) -> PyResult<simulation::Simulation> {
        self.slot().take().ok_or_else(|| errors::used_up(&self.identity))
    }

    /// Locks the simulation, only briefly and never while simulating, so that the lock cannot be poisoned.
    fn slot(&self) -> MutexGuard<'_, Option<simulation::Simulation>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The JSON Schema of a plan.
#[pyfunction]
fn plan_schema() -> String {
    Plan::schema().to_string()
}

/// Describe the tables of a run.
#[pyfunction(name = "tables")]
fn table_schemas(py: Python<'_>) -> PyResult<Py<PyAny>> {
    tables::schema(py)
}

/// Describe all registered names, by family.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Py<PyAny>> {
    catalogue::registry(py)
}

/// Native module of the simulator.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("MODEL_VERSION", MODEL_VERSION)?;
    module.add("MAX_ROWS", simulation::plan::MAX_ROWS)?;
    module.add("SCHEMA_VERSION", SCHEMA_VERSION)?;
    module.add("SOURCES", env!("FULLPIPE_SOURCES"))?;
    module.add("COMMIT", env!("FULLPIPE_COMMIT"))?;
    module.add("ALGORITHMS", env!("FULLPIPE_ALGORITHMS"))?;
    module.add("PROFILE", env!("FULLPIPE_PROFILE"))?;
    // The symbol that the C header declares is exported by this library.
    module.add("CONGESTION_HEADER", capi::HEADER)?;
    module.add("PlanError", module.py().get_type::<errors::PlanError>())?;
    module.add("SimulationPanic", module.py().get_type::<errors::SimulationPanic>())?;
    module.add_class::<Simulation>()?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Episode>()?;
    module.add_class::<events::LostPacket>()?;
    module.add_class::<events::Path>()?;
    module.add_class::<events::RateSample>()?;
    module.add_class::<events::Sent>()?;
    module.add_class::<events::Undo>()?;
    module.add_function(wrap_pyfunction!(kit::judge, module)?)?;
    module.add_function(wrap_pyfunction!(kit::round_trips, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill_judge, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill_plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan_schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(table_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(streams::columns, module)?)?;
    module.add_function(wrap_pyfunction!(streams::joined, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream, module)?)?;
    module.add_function(wrap_pyfunction!(cellular::cellular, module)?)?;
    module.add_function(wrap_pyfunction!(cellular::cellular_rate_bps, module)?)?;
    module.add_function(wrap_pyfunction!(wifi::wifi, module)?)?;
    module.add_function(wrap_pyfunction!(wifi::wifi_rate_bps, module)?)
}
