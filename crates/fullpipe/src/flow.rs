//! Flows.

use congestion::CongestionControl;
use serde_json::Value;
use simulation::External;
use simulation::applications::Application;
use simulation::plan::{CcaPlan, FlowPlan, PlanError, TcpPlan, WorkloadPlan};
use std::sync::Arc;
use units::{Bytes, Time};

type MakeAlgorithm = Arc<dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync>;
type MakeApplication = Arc<dyn Fn(Time, u64) -> Box<dyn Application> + Send + Sync>;

/// A flow from one node to another: an application, and the connections below it.
#[derive(Clone)]
pub struct Flow {
    pub(crate) plan: FlowPlan,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) algorithm: Option<MakeAlgorithm>,
    pub(crate) application: Option<MakeApplication>,
}

impl Flow {
    /// An endless transfer with CUBIC from the beginning of the run, over a [transport like Linux's](TcpPlan::linux).
    pub fn new(name: &str, from: &str, to: &str) -> Flow {
        let plan = FlowPlan {
            name: name.to_owned(),
            stream: name.to_owned(),
            cca: Some(cca("cubic", serde_json::json!({}))),
            start_ns: 0,
            start_jitter_ns: 0,
            stop_ns: None,
            bytes: None,
            application: Vec::new(),
            workload: None,
            forward: Vec::new(),
            reverse: Vec::new(),
            reroutes: Vec::new(),
            dscp: 0,
            hosts: None,
            tcp: TcpPlan::linux(),
        };
        Flow { plan, from: from.to_owned(), to: to.to_owned(), algorithm: None, application: None }
    }

    /// An algorithm of the registry with its parameters, as in `algorithm("bbr3", json!({}))`.
    pub fn algorithm(mut self, kind: &str, params: Value) -> Flow {
        self.plan.cca = Some(cca(kind, params));
        self.algorithm = None;
        self
    }

    /// An algorithm that the registry does not have, made from the seed of its randomness, once for every connection.
    pub fn own_algorithm(
        mut self,
        make: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Flow {
        self.algorithm = Some(Arc::new(make));
        self
    }

    /// What the application does, in place of an endless transfer.
    pub fn workload(mut self, workload: WorkloadPlan) -> Flow {
        if matches!(workload, WorkloadPlan::Datagrams(_)) {
            self.plan.cca = None;
        }
        self.plan.workload = Some(workload);
        self
    }

    /// An application of one's own, made from the time at which the flow begins and the seed of its randomness.
    pub fn own_application(
        mut self,
        make: impl Fn(Time, u64) -> Box<dyn Application> + Send + Sync + 'static,
    ) -> Flow {
        self.application = Some(Arc::new(make));
        self
    }

    /// So much payload and no more.
    pub fn size(mut self, size: Bytes) -> Flow {
        self.plan.bytes = Some(size.get());
        self
    }

    /// When the application begins.
    pub fn start(mut self, at: Time) -> Flow {
        self.plan.start_ns = at.as_nanos();
        self
    }

    /// When the application stops.
    pub fn stop(mut self, at: Time) -> Flow {
        self.plan.stop_ns = Some(at.as_nanos());
        self
    }

    /// Other options of the transport.
    pub fn transport(mut self, transport: TcpPlan) -> Flow {
        self.plan.tcp = transport;
        self
    }

    /// The flow of the plan, `path`; parts of the caller's own go to `external`.
    pub(crate) fn plan(
        &self,
        path: &str,
        network: &crate::Network,
        external: &mut External,
    ) -> Result<FlowPlan, PlanError> {
        let mut plan = self.plan.clone();
        plan.forward = network.route(&format!("{path}.forward"), &self.from, &self.to)?;
        plan.reverse = network.route(&format!("{path}.reverse"), &self.to, &self.from)?;
        let kind = format!("rust:{}", plan.name);
        if let Some(make) = self.algorithm.clone() {
            plan.cca = Some(cca(&kind, serde_json::json!({})));
            external.algorithm(&kind, move |seed| make(seed));
        }
        if let Some(make) = self.application.clone() {
            plan.workload = Some(WorkloadPlan::External { name: kind.clone() });
            external.application(&kind, move |start, seed| make(start, seed));
        }
        Ok(plan)
    }
}

fn cca(kind: &str, params: Value) -> CcaPlan {
    CcaPlan { kind: kind.to_owned(), params: params.as_object().cloned().unwrap_or_default() }
}
