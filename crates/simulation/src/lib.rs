#![doc = include_str!("../README.md")]

mod actors;
pub mod applications;
mod controllers;
mod engine;
mod execution;
mod external;
mod hosts;
mod island;
mod links;
mod media;
mod net;
mod payload;
mod periods;
pub mod plan;
mod record;
mod rivals;
mod route_control;
mod routes;
pub mod samples;
mod schedule;
mod tables;
mod windows;
mod world;

pub use actors::ActorId;
pub use controllers::Controllers;
pub use execution::Execution;
pub use external::{External, Queue};
pub use hosts::AlgorithmFailure;
pub use payload::Payload;
pub use plan::{FlowPlan, Plan, PlanError};
pub use schedule::Schedule;
pub use tables::{
    Column, ColumnSchema, Kind, Names, Results, Rows, SCHEMA_VERSION, Table, TableSchema, schema,
};

use engine::Engine;
use network::Streams;
pub use record::Grown;
use record::{Columns, Silent};
use tables::packets::Capture;
use units::Time;

/// Changes whenever the results of some plan may.
pub const MODEL_VERSION: &str = "9";

/// A simulation that can be run in steps.
pub struct Simulation {
    engine: AnyEngine,
}

enum AnyEngine {
    Silent(Box<Engine<Silent>>),
    Columns(Box<Engine<Columns>>),
}

impl Simulation {
    /// Builds everything that `plan` describes. All randomness comes from `seed`.
    ///
    /// # Errors
    /// If the plan makes no sense.
    pub fn new(plan: Plan, seed: u64) -> Result<Simulation, PlanError> {
        Simulation::with(plan, seed, External::default())
    }

    /// As [`new`](Self::new), with algorithms that the caller provides.
    ///
    /// # Errors
    /// If the plan makes no sense, or one of the algorithms cannot be made.
    pub fn with_controllers(
        plan: Plan,
        seed: u64,
        controllers: &Controllers,
    ) -> Result<Simulation, PlanError> {
        let mut external = External::default();
        external.controllers(controllers.clone());
        Simulation::executed(plan, seed, external, Execution::default())
    }

    /// As [`new`](Self::new), with parts that the caller provides.
    ///
    /// # Errors
    /// If the plan makes no sense, a part that it names is missing, or there is a recorder and no interval of samples.
    pub fn with(plan: Plan, seed: u64, external: External) -> Result<Simulation, PlanError> {
        Simulation::executed(plan, seed, external, Execution::default())
    }

    /// As [`with`](Self::with), executed as told. Same results each way.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn executed(
        plan: Plan,
        seed: u64,
        mut external: External,
        execution: Execution,
    ) -> Result<Simulation, PlanError> {
        plan.check()?;
        let samples = external.take_recorder();
        if samples.is_some() && plan.record.interval_ns.is_none() {
            return Err(PlanError::new("record.interval_ns", "missing; a recorder is told of samples"));
        }
        let captures = !plan.record.packets.is_empty();
        let engine = if plan.record.interval_ns.is_some() || captures {
            let (hops, streams) = (plan.hop_names(), Streams::for_flows(plan.flows.len()));
            let capture = captures.then(|| Capture::new(&plan.record.packets, &hops, streams));
            let recorder = Columns { samples, ..Columns::new(plan.record.variables, capture) };
            AnyEngine::Columns(Box::new(Engine::new(plan, seed, execution, recorder, external)?))
        } else {
            AnyEngine::Silent(Box::new(Engine::new(plan, seed, execution, Silent, external)?))
        };
        Ok(Simulation { engine })
    }

    /// It is executed in windows: plan and links permit it, and it was wanted or pays.
    pub fn is_in_windows(&self) -> bool {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.is_in_windows(),
            AnyEngine::Columns(engine) => engine.is_in_windows(),
        }
    }

    /// Runs everything up to and including `until`, but not beyond the end of the plan. Returns the time reached, which
    /// is earlier if there is more to do than in some ten milliseconds: call it again. Stepping never changes results.
    pub fn advance(&mut self, until: Time) -> Time {
        match &mut self.engine {
            AnyEngine::Silent(engine) => engine.advance(until),
            AnyEngine::Columns(engine) => engine.advance(until),
        }
    }

    /// Data packets that all flows have sent by now.
    pub fn data_packets(&self) -> u64 {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.data_packets(),
            AnyEngine::Columns(engine) => engine.data_packets(),
        }
    }

    /// How many rows there are by now of those that cannot be counted beforehand: what takes memory.
    pub fn grown(&self) -> Grown {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.grown(),
            AnyEngine::Columns(engine) => engine.grown(),
        }
    }

    /// Runs to the end of the plan and sums up.
    pub fn finish(self) -> Results {
        match self.engine {
            AnyEngine::Silent(engine) => engine.finish(),
            AnyEngine::Columns(engine) => engine.finish(),
        }
    }
}
