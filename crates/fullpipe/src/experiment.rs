//! Experiments: a network, its flows, and the duration of the run.

use crate::{Flow, Network, Run};
use simulation::plan::{Plan, PlanError, RecordPlan};
use simulation::samples::SampleRecorder;
use simulation::{External, Simulation};
use std::collections::BTreeMap;
use units::Duration;

/// An experiment to simulate. The same experiment and seed give the same results.
#[derive(Clone)]
pub struct Experiment {
    network: Network,
    flows: Vec<Flow>,
    duration: Duration,
    warmup: Duration,
    record: RecordPlan,
}

impl Experiment {
    /// Creates an experiment of this duration on a network, without flows.
    pub fn new(network: Network, duration: Duration) -> Experiment {
        let record = RecordPlan { interval_ns: None, variables: false, packets: Vec::new(), in_order: false };
        Experiment { network, flows: Vec::new(), duration, warmup: Duration::ZERO, record }
    }

    /// Adds a flow.
    pub fn flow(mut self, flow: Flow) -> Experiment {
        self.flows.push(flow);
        self
    }

    /// Sets the warm-up, which summaries exclude.
    pub fn warmup(mut self, warmup: Duration) -> Experiment {
        self.warmup = warmup;
        self
    }

    /// Sets the sampling interval of flows and links.
    pub fn sample_every(mut self, interval: Duration) -> Experiment {
        self.record.interval_ns = Some(interval.as_nanos());
        self
    }

    /// Also samples internal variables of algorithms and queues.
    pub fn variables(mut self) -> Experiment {
        self.record.variables = true;
        self
    }

    /// Returns the plan, which the Python package reads as JSON. The plan has only the names of your own parts, not
    /// their code.
    ///
    /// # Errors
    /// If no route connects the two ends of a flow, or a value is invalid.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        let plan = self.assemble(&mut External::default())?;
        plan.check()?;
        Ok(plan)
    }

    fn assemble(&self, external: &mut External) -> Result<Plan, PlanError> {
        let (links, media) = self.network.plans(external)?;
        let router = self.network.router();
        let mut hosts = BTreeMap::new();
        let flows = self.flows.iter().enumerate().map(|(n, flow)| {
            let hosts = [&flow.from, &flow.to].map(|host| {
                let next = hosts.len() as u32;
                *hosts.entry(host).or_insert(next)
            });
            flow.plan(&format!("flows[{n}]"), hosts, &router, external)
        });
        let flows = flows.collect::<Result<_, _>>()?;
        let (duration_ns, warmup_ns) = (self.duration.as_nanos(), self.warmup.as_nanos());
        let (route_controllers, hand_overs, record) = (Vec::new(), Vec::new(), self.record.clone());
        Ok(Plan { duration_ns, warmup_ns, links, media, flows, route_controllers, hand_overs, record })
    }

    /// Creates a simulation that can be run in steps.
    ///
    /// # Errors
    /// See [`plan`](Self::plan).
    pub fn simulation(&self, seed: u64) -> Result<Simulation, PlanError> {
        let mut external = External::default();
        let plan = self.assemble(&mut external)?;
        Simulation::with(plan, seed, external)
    }

    /// Runs the experiment to its end.
    ///
    /// # Errors
    /// See [`plan`](Self::plan).
    pub fn run(&self, seed: u64) -> Result<Run, PlanError> {
        self.simulation(seed).map(|simulation| Run::new(simulation.finish()))
    }

    /// Runs the experiment to its end. During the run, every sample of a flow or a link is passed to `recorder`.
    ///
    /// # Errors See [`plan`](Self::plan). It is also an error if the experiment has no sampling interval.
    pub fn run_recording(
        &self,
        seed: u64,
        recorder: impl SampleRecorder + 'static,
    ) -> Result<Run, PlanError> {
        let mut external = External::default();
        let plan = self.assemble(&mut external)?;
        external.recorder(Box::new(recorder));
        Simulation::with(plan, seed, external).map(|simulation| Run::new(simulation.finish()))
    }
}
