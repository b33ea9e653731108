//! The factory that builds all connections of a flow with the same configuration.

use super::connection::{Connection, Opposite};
use super::transport::{Headers, Transport};
use crate::controllers::Controllers;
use crate::plan::{Plan, PlanError, Relays};
use congestion::CongestionControl;
use network::Direction;
use std::panic::resume_unwind;
use std::sync::Arc;
use tcp::ReceiveBuffer;
use units::{Bytes, Rng, Time};

/// Number of flows above which senders use lean packet records. Lean records save memory but cost time.
const MANY_FLOWS: usize = 2_000;

/// Builds the connections of a flow.
pub struct ConnectionFactory {
    plan: Arc<Plan>,
    /// Index of the flow in the plan.
    flow: usize,
    controllers: Controllers,
    /// Source of seeds for the algorithms.
    seeds: Rng,
    /// The algorithm of the first connection.
    first: Option<Box<dyn CongestionControl>>,
    transport: Transport,
}

/// Failure to build the algorithm of a later connection, although the algorithm of the first connection could be built.
/// This value is the payload of a panic without a message.
#[derive(Clone, Debug)]
pub struct AlgorithmFailure {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Name of the flow.
    pub flow: String,
    /// Simulated time.
    pub time: Time,
    /// The problem.
    pub problem: String,
}

impl ConnectionFactory {
    /// The factory of the flow with index `flow` in the plan. `controllers` builds algorithms that are not in the
    /// registry.
    ///
    /// # Errors
    /// If the algorithm of the flow cannot be built.
    pub fn new(
        plan: &Arc<Plan>,
        flow: usize,
        seed: u64,
        relays: &Relays,
        controllers: &Controllers,
    ) -> Result<ConnectionFactory, PlanError> {
        let of_flow = &plan.flows[flow];
        let small_queues = of_flow.tcp.small_queues.unwrap_or(true);
        let interfaces = [Direction::Forward, Direction::Backward]
            .map(|direction| plan.interface(of_flow, direction).filter(|_| small_queues));
        let merges = of_flow.forward.last().is_some_and(|&hop| plan.is_station_queue(hop));
        let mut seeds = Rng::stream(seed, &format!("cca/{}", of_flow.stream));
        let first = of_flow.make_cca(&format!("flows[{flow}]"), seeds.next_u64(), controllers)?;
        let mut transport = Transport::new(of_flow, interfaces, merges, first.traits().ecn);
        transport.measures_in_order = plan.record.in_order;
        transport.sender.lean_records = plan.flows.len() > MANY_FLOWS;
        if let Some(bytes) = relays.buffer_bytes(flow as u32) {
            transport.receiver.buffer = ReceiveBuffer::Unread(Bytes::new(bytes));
        }
        Ok(ConnectionFactory {
            plan: plan.clone(),
            flow,
            controllers: controllers.clone(),
            seeds,
            transport,
            first: Some(first),
        })
    }

    /// A connection that is not open yet. `requests`: the receiver sends requests; `closes`: the connection ends before
    /// the flow.
    pub fn connection(&mut self, now: Time, number: u32, requests: bool, closes: bool) -> Connection {
        let sender = self.algorithm(now);
        let opposite = (requests || closes).then(|| Opposite {
            requests,
            algorithm: if requests { self.algorithm(now) } else { any_algorithm() },
        });
        Connection::new(number, &self.transport, sender, opposite)
    }

    fn algorithm(&mut self, now: Time) -> Box<dyn CongestionControl> {
        if let Some(first) = self.first.take() {
            return first;
        }
        let flow = &self.plan.flows[self.flow];
        let made = flow.make_cca("", self.seeds.next_u64(), &self.controllers);
        made.unwrap_or_else(|error| {
            let (algorithm, flow) = (flow.algorithm().to_owned(), flow.name.clone());
            resume_unwind(Box::new(AlgorithmFailure { algorithm, flow, time: now, problem: error.message }))
        })
    }

    /// Headers and interfaces of the connections' packets.
    pub fn wrapping(&self) -> Wrapping {
        let Transport { sender, requester, headers, .. } = &self.transport;
        let has_nic = [sender.nic.is_some(), requester.nic.is_some()];
        Wrapping { headers: *headers, mss: sender.mss, has_nic }
    }
}

/// Properties of a flow that are needed to make packets from segments.
#[derive(Clone, Copy)]
pub struct Wrapping {
    /// Headers around segments.
    pub headers: Headers,
    /// Payload of a full segment.
    pub mss: u32,
    /// Whether each end sends through a network interface that reports departures.
    pub has_nic: [bool; 2],
}

/// An algorithm for a direction that carries no data, only a FIN.
fn any_algorithm() -> Box<dyn CongestionControl> {
    congestion::build("reno", &serde_json::Value::Null, 0).expect("Reno is in the registry")
}
