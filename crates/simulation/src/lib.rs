#![doc = include_str!("../README.md")]

mod actors;
pub mod applications;
mod controllers;
mod end_marker;
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

/// Version of the model, which changes whenever the results of a plan may change.
pub const MODEL_VERSION: &str = "10";

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
    /// If the plan is invalid.
    pub fn new(plan: Plan, seed: u64) -> Result<Simulation, PlanError> {
        Simulation::with(plan, seed, External::default())
    }

    /// Builds a simulation like [`new`](Self::new), with algorithms that the caller provides.
    ///
    /// # Errors
    /// If the plan is invalid, or one of the algorithms cannot be built.
    pub fn with_controllers(
        plan: Plan,
        seed: u64,
        controllers: &Controllers,
    ) -> Result<Simulation, PlanError> {
        let mut external = External::default();
        external.controllers(controllers.clone());
        Simulation::executed(plan, seed, external, Execution::default())
    }

    /// Builds a simulation like [`new`](Self::new), with parts that the caller provides.
    ///
    /// # Errors
    /// If the plan is invalid, a part that the plan names is missing, or there is a recorder without a sampling
    /// interval.
    pub fn with(plan: Plan, seed: u64, external: External) -> Result<Simulation, PlanError> {
        Simulation::executed(plan, seed, external, Execution::default())
    }

    /// Builds a simulation like [`with`](Self::with), in a given execution mode, which never changes results.
    ///
    /// # Errors
    /// See [`with`](Self::with).
    pub fn executed(
        plan: Plan,
        seed: u64,
        mut external: External,
        execution: Execution,
    ) -> Result<Simulation, PlanError> {
        plan.check()?;
        let samples = external.take_recorder();
        if samples.is_some() && plan.record.interval_ns.is_none() {
            return Err(PlanError::new("record.interval_ns", "missing; a recorder needs samples"));
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

    /// Whether the simulation is executed in windows. Plan and links must permit windows. Windows must also be
    /// requested, or be faster than execution in the order of events.
    pub fn is_in_windows(&self) -> bool {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.is_in_windows(),
            AnyEngine::Columns(engine) => engine.is_in_windows(),
        }
    }

    /// Runs all events up to and including `until`, but not beyond the end of the plan. Returns the time reached, which
    /// is earlier than `until` if the work takes more than about ten milliseconds. Call `advance` again if the time
    /// reached is earlier than `until`. The number of calls never changes results.
    pub fn advance(&mut self, until: Time) -> Time {
        match &mut self.engine {
            AnyEngine::Silent(engine) => engine.advance(until),
            AnyEngine::Columns(engine) => engine.advance(until),
        }
    }

    /// Data packets sent so far, over all flows.
    pub fn data_packets(&self) -> u64 {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.data_packets(),
            AnyEngine::Columns(engine) => engine.data_packets(),
        }
    }

    /// Rows so far of the tables whose size cannot be computed in advance. The memory of these tables grows during the
    /// run.
    pub fn grown(&self) -> Grown {
        match &self.engine {
            AnyEngine::Silent(engine) => engine.grown(),
            AnyEngine::Columns(engine) => engine.grown(),
        }
    }

    /// Runs to the end of the plan and returns the results.
    pub fn finish(self) -> Results {
        match self.engine {
            AnyEngine::Silent(engine) => engine.finish(),
            AnyEngine::Columns(engine) => engine.finish(),
        }
    }
}
