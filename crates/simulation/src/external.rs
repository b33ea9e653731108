//! External parts: algorithms, queues, media and applications that the caller provides.

use crate::applications::Application;
use crate::controllers::{Controllers, no_external};
use crate::payload::Payload;
use crate::plan::{FlowPlan, PlanError};
use crate::samples::SampleRecorder;
use congestion::CongestionControl;
use network::{Element, QueueDiscipline, SamplingTimes};
use params::there_is;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// A queue discipline of a simulation.
pub type Queue = Box<dyn QueueDiscipline<Payload>>;

type MakeAlgorithm = Box<dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync>;
type MakeQueue = Box<dyn Fn(u64) -> Queue + Send + Sync>;
type MakeMedium = Box<dyn Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync>;
type MakeApplication = Box<dyn Fn(Time, u64) -> Box<dyn Application> + Send + Sync>;

/// Algorithms, queue disciplines, media and applications that no registry has, and a recorder of samples.
///
/// A plan refers to each part by a `kind` with a colon in it, such as `rust:mine`. A part must draw all of its
/// randomness from the seed passed to its constructor, so that the same plan and seed give the same results.
#[derive(Default)]
pub struct External {
    controllers: Option<Controllers>,
    algorithms: BTreeMap<String, MakeAlgorithm>,
    queues: BTreeMap<String, MakeQueue>,
    media: BTreeMap<String, MakeMedium>,
    applications: BTreeMap<String, MakeApplication>,
    recorder: Option<Box<dyn SampleRecorder>>,
}

impl External {
    /// Registers the algorithm `kind`. `make` builds the algorithm from a seed, once per connection.
    pub fn algorithm(
        &mut self,
        kind: &str,
        make: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) {
        self.algorithms.insert(kind.to_owned(), Box::new(make));
    }

    /// Registers the queue discipline `kind`. `make` builds the queue discipline from a seed.
    pub fn queue(&mut self, kind: &str, make: impl Fn(u64) -> Queue + Send + Sync + 'static) {
        self.queues.insert(kind.to_owned(), Box::new(make));
    }

    /// Registers the medium `kind`. `make` builds the medium from the queues of its ports, the times at which its
    /// counters are read, and a seed.
    pub fn medium(
        &mut self,
        kind: &str,
        make: impl Fn(Vec<Queue>, SamplingTimes, u64) -> Box<dyn Element<Payload>> + Send + Sync + 'static,
    ) {
        self.media.insert(kind.to_owned(), Box::new(make));
    }

    /// Registers the application `name`. `make` builds the application from the start time of its flow and a seed.
    pub fn application(
        &mut self,
        name: &str,
        make: impl Fn(Time, u64) -> Box<dyn Application> + Send + Sync + 'static,
    ) {
        self.applications.insert(name.to_owned(), Box::new(make));
    }

    /// Sets the recorder, which is called with each sample.
    pub fn recorder(&mut self, recorder: Box<dyn SampleRecorder>) {
        self.recorder = Some(recorder);
    }

    /// Sets the builder of all algorithms that are neither in the registry nor registered by
    /// [`algorithm`](Self::algorithm).
    pub fn controllers(&mut self, controllers: Controllers) {
        self.controllers = Some(controllers);
    }

    /// Takes the builder of external algorithms.
    pub(crate) fn take_controllers(&mut self) -> Controllers {
        let other = self.controllers.take().unwrap_or_else(no_external);
        let algorithms = std::mem::take(&mut self.algorithms);
        Arc::new(move |flow: &FlowPlan, seed| match algorithms.get(flow.algorithm()) {
            Some(make) => Ok(make(seed)),
            None => other(flow, seed),
        })
    }

    pub(crate) fn take_recorder(&mut self) -> Option<Box<dyn SampleRecorder>> {
        self.recorder.take()
    }

    pub(crate) fn make_queue(&self, kind: &str, path: &str, seed: u64) -> Result<Queue, PlanError> {
        named(&self.queues, kind, path).map(|make| make(seed))
    }

    pub(crate) fn make_medium(
        &self,
        kind: &str,
        path: &str,
        queues: Vec<Queue>,
        sampling: SamplingTimes,
        seed: u64,
    ) -> Result<Box<dyn Element<Payload>>, PlanError> {
        let ports = queues.len();
        let made = named(&self.media, kind, path)?(queues, sampling, seed);
        if made.ports() != ports {
            let message = format!("the medium has {} ports, but the plan has {ports}", made.ports());
            return Err(PlanError::new(path, message));
        }
        Ok(made)
    }

    pub(crate) fn make_application(
        &self,
        name: &str,
        path: &str,
        start: Time,
        seed: u64,
    ) -> Result<Box<dyn Application>, PlanError> {
        named(&self.applications, name, path).map(|make| make(start, seed))
    }
}

fn named<'a, T>(all: &'a BTreeMap<String, T>, name: &str, path: &str) -> Result<&'a T, PlanError> {
    all.get(name).ok_or_else(|| {
        let hint = there_is(all.keys().map(String::as_str));
        PlanError::new(path, format!("the caller provides no \"{name}\"{hint}"))
    })
}
