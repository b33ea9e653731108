//! Makes the connections of a flow, all alike.

use super::connection::Connection;
use crate::plan::{FlowPlan, PlanError};
use crate::transport::{Transport, Wire};
use congestion::CongestionControl;
use serde_json::Value;
use units::Rng;

/// Knows how the connections of a flow are set up.
pub struct Maker {
    kind: String,
    params: Value,
    /// Where the seeds of algorithms come from.
    seeds: Rng,
    transport: Transport,
}

impl Maker {
    /// For the flow that `plan` describes, number `n` of the plan.
    ///
    /// # Errors
    /// If its algorithm is not one of the registry.
    pub fn new(plan: &FlowPlan, n: u32, seed: u64) -> Result<Maker, PlanError> {
        let path = format!("flows[{n}]");
        let Some(cca) = &plan.cca else {
            return Err(PlanError::new(format!("{path}.cca"), "a connection needs one"));
        };
        if cca.is_brought() {
            let problem = "an algorithm of one's own drives single connections only, not those of a workload";
            return Err(PlanError::new(format!("{path}.cca"), problem));
        }
        let mode = plan.build_cca(&path, cca, 0)?.traits().ecn;
        let mut transport = Transport::new(plan, mode);
        transport.sender.data = Some(0);
        Ok(Maker {
            kind: cca.kind.clone(),
            params: Value::Object(cca.params.clone()),
            seeds: Rng::stream(seed, &format!("cca/{}", plan.stream)),
            transport,
        })
    }

    /// A connection that is not open yet.
    pub fn connection(&mut self, number: u32, requests: bool) -> Connection {
        let sender = self.algorithm();
        let requester = requests.then(|| self.algorithm());
        Connection::new(number, &self.transport, sender, requester)
    }

    fn algorithm(&mut self) -> Box<dyn CongestionControl> {
        let seed = self.seeds.next_u64();
        congestion::build(&self.kind, &self.params, seed).expect("it was built when the plan was checked")
    }

    /// What surrounds segments.
    pub fn wire(&self) -> Wire {
        self.transport.wire
    }

    /// Payload of a full segment.
    pub fn mss(&self) -> u32 {
        self.transport.sender.mss
    }
}
