//! A network, its flows, and for how long they run.

use crate::{Flow, Network, Run};
use simulation::plan::{Plan, PlanError, RecordPlan};
use simulation::samples::SampleRecorder;
use simulation::{External, Simulation};
use std::collections::BTreeMap;
use units::Duration;

/// What to simulate. The same experiment and the same seed give the same results.
#[derive(Clone)]
pub struct Experiment {
    network: Network,
    flows: Vec<Flow>,
    duration: Duration,
    warmup: Duration,
    record: RecordPlan,
}

impl Experiment {
    /// A run of this length over a network, without a flow as yet.
    pub fn new(network: Network, duration: Duration) -> Experiment {
        let record = RecordPlan { interval_ns: None, variables: false, packets: Vec::new(), in_order: false };
        Experiment { network, flows: Vec::new(), duration, warmup: Duration::ZERO, record }
    }

    /// One more flow.
    pub fn flow(mut self, flow: Flow) -> Experiment {
        self.flows.push(flow);
        self
    }

    /// Summaries cover what happens after this time.
    pub fn warmup(mut self, warmup: Duration) -> Experiment {
        self.warmup = warmup;
        self
    }

    /// Sample flows and links so often.
    pub fn sample_every(mut self, interval: Duration) -> Experiment {
        self.record.interval_ns = Some(interval.as_nanos());
        self
    }

    /// Sample the internal variables of algorithms and queues, too.
    pub fn variables(mut self) -> Experiment {
        self.record.variables = true;
        self
    }

    /// The plan, as Python and its JSON know it. It holds the names of parts of the caller's own, not the parts.
    ///
    /// # Errors
    /// If no route leads from one end of a flow to the other, or a value makes no sense.
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

    /// A simulation that can be run in steps.
    ///
    /// # Errors
    /// As for [`plan`](Self::plan).
    pub fn simulation(&self, seed: u64) -> Result<Simulation, PlanError> {
        let mut external = External::default();
        let plan = self.assemble(&mut external)?;
        Simulation::with(plan, seed, external)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As for [`plan`](Self::plan).
    pub fn run(&self, seed: u64) -> Result<Run, PlanError> {
        self.simulation(seed).map(|simulation| Run::new(simulation.finish()))
    }

    /// Runs to the end and hands every sample of a flow or a link to `recorder` as it is taken.
    ///
    /// # Errors
    /// As for [`plan`](Self::plan), or if there is no interval of samples.
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
