//! Flows of an experiment.

use crate::link::table;
use crate::router::Router;
use congestion::CongestionControl;
use serde_json::Value;
use simulation::External;
use simulation::applications::Application;
use simulation::plan::{CcaPlan, FlowPlan, Options, PlanError, ReroutePlan, WorkloadPlan};
use std::sync::Arc;
use units::{Bytes, Duration, Time};

type MakeAlgorithm = Arc<dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync>;
type MakeApplication = Arc<dyn Fn(Time, u64) -> Box<dyn Application> + Send + Sync>;

/// A flow from one node to another: an application and its connections.
#[derive(Clone)]
pub struct Flow {
    plan: FlowPlan,
    pub(crate) from: String,
    pub(crate) to: String,
    via: Vec<String>,
    /// Changes of the flow's route: time, and the nodes on the new route.
    reroutes: Vec<(Time, Vec<String>)>,
    algorithm: Option<Algorithm>,
    application: Option<MakeApplication>,
}

#[derive(Clone)]
enum Algorithm {
    /// An algorithm of the registry, with its parameters.
    Named(String, Value),
    Own(MakeAlgorithm),
}

impl Flow {
    /// Creates an endless transfer with CUBIC from the start of the run, with the transport [options](Options) of
    /// Linux.
    pub fn new(name: &str, from: &str, to: &str) -> Flow {
        let plan = FlowPlan {
            name: name.to_owned(),
            stream: name.to_owned(),
            cca: None,
            start_ns: 0,
            start_jitter_ns: 0,
            stop_ns: None,
            bytes: None,
            application: Vec::new(),
            workload: None,
            forward: Vec::new(),
            reverse: Vec::new(),
            reroutes: Vec::new(),
            upload: false,
            dscp: 0,
            hosts: None,
            relayed: None,
            tcp: Options::default(),
        };
        Flow {
            plan,
            from: from.to_owned(),
            to: to.to_owned(),
            via: Vec::new(),
            reroutes: Vec::new(),
            algorithm: None,
            application: None,
        }
    }

    /// Sets an algorithm of the registry with its parameters, for example `algorithm("bbr3", json!({}))`.
    pub fn algorithm(mut self, kind: &str, params: Value) -> Flow {
        self.algorithm = Some(Algorithm::Named(kind.to_owned(), params));
        self
    }

    /// Sets your own algorithm. `make` builds the algorithm from a seed for its random numbers, once per connection.
    pub fn own_algorithm(
        mut self,
        make: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Flow {
        self.algorithm = Some(Algorithm::Own(Arc::new(make)));
        self
    }

    /// Sets an application of the registry, which replaces the endless transfer.
    pub fn workload(mut self, workload: WorkloadPlan) -> Flow {
        self.plan.workload = Some(workload);
        self.application = None;
        self
    }

    /// Sets your own application. `make` builds the application from the start time of the flow and a seed for its
    /// random numbers.
    pub fn own_application(
        mut self,
        make: impl Fn(Time, u64) -> Box<dyn Application> + Send + Sync + 'static,
    ) -> Flow {
        self.application = Some(Arc::new(make));
        self
    }

    /// Sets the amount of payload to transfer.
    pub fn size(mut self, size: Bytes) -> Flow {
        self.plan.bytes = Some(size.get());
        self
    }

    /// Sets the time at which the application starts.
    pub fn start(mut self, at: Time) -> Flow {
        self.plan.start_ns = at.as_nanos();
        self
    }

    /// Sets the width of the interval after [`start`](Self::start) from which the start time is drawn.
    pub fn start_jitter(mut self, jitter: Duration) -> Flow {
        self.plan.start_jitter_ns = jitter.as_nanos();
        self
    }

    /// Sets the time at which the application stops.
    pub fn stop(mut self, at: Time) -> Flow {
        self.plan.stop_ns = Some(at.as_nanos());
        self
    }

    /// Sets nodes on the route of the flow. Data pass these nodes in this order, and ACKs pass them in reverse order.
    pub fn via(mut self, nodes: &[&str]) -> Flow {
        self.via = nodes.iter().map(|&node| node.to_owned()).collect();
        self
    }

    /// Adds a change of the flow's route: from the time `at` on, the route passes the nodes `via`. Changes must be in
    /// the order of time. Packets that have already passed the fork of the two routes stay on the old route.
    pub fn reroute(mut self, at: Time, via: &[&str]) -> Flow {
        self.reroutes.push((at, via.iter().map(|&node| node.to_owned()).collect()));
        self
    }

    /// Sets the differentiated services code point of data and ACKs.
    pub fn dscp(mut self, dscp: u8) -> Flow {
        self.plan.dscp = dscp;
        self
    }

    /// Sets the options of the transport.
    pub fn transport(mut self, transport: Options) -> Flow {
        self.plan.tcp = transport;
        self
    }

    /// Makes the plan of the flow at `path`, between the hosts with these indices. The caller's own parts are
    /// registered in `external`.
    pub(crate) fn plan(
        &self,
        path: &str,
        hosts: [u32; 2],
        router: &Router<'_>,
        external: &mut External,
    ) -> Result<FlowPlan, PlanError> {
        let mut plan = self.plan.clone();
        plan.hosts = Some(hosts);
        [plan.forward, plan.reverse] = self.routes(path, &self.via, router)?;
        for (n, (at, via)) in self.reroutes.iter().enumerate() {
            let [forward, reverse] = self.routes(&format!("{path}.reroutes[{n}]"), via, router)?;
            let (forward, reverse) = (Some(forward), Some(reverse));
            plan.reroutes.push(ReroutePlan { at_ns: at.as_nanos(), forward, reverse });
        }
        plan.cca = self.cca(path, external)?;
        if let Some(make) = self.application.clone() {
            let name = self.own_name();
            plan.workload = Some(WorkloadPlan::External { name: name.clone() });
            external.application(&name, move |start, seed| make(start, seed));
        }
        Ok(plan)
    }

    /// Forward and reverse route through these nodes.
    fn routes(&self, path: &str, via: &[String], router: &Router<'_>) -> Result<[Vec<u32>; 2], PlanError> {
        let stops = || [&self.from].into_iter().chain(via).chain([&self.to]).map(String::as_str);
        let back: Vec<&str> = stops().collect();
        Ok([
            router.route(&format!("{path}.forward"), stops())?,
            router.route(&format!("{path}.reverse"), back.into_iter().rev())?,
        ])
    }

    /// The algorithm that was set. The default is CUBIC, or no algorithm for datagrams.
    fn cca(&self, path: &str, external: &mut External) -> Result<Option<CcaPlan>, PlanError> {
        let (kind, params) = match &self.algorithm {
            None if matches!(self.plan.workload, Some(WorkloadPlan::Datagrams(_))) => return Ok(None),
            None => ("cubic".to_owned(), &Value::Null),
            Some(Algorithm::Named(kind, params)) => (kind.clone(), params),
            Some(Algorithm::Own(make)) => {
                let (kind, make) = (self.own_name(), make.clone());
                external.algorithm(&kind, move |seed| make(seed));
                (kind, &Value::Null)
            }
        };
        Ok(Some(CcaPlan { kind, params: table(&format!("{path}.cca.params"), params)? }))
    }

    /// Name that the plan uses for the caller's own algorithm or application of this flow.
    fn own_name(&self) -> String {
        format!("rust:{}", self.plan.name)
    }
}
