#![doc = include_str!("../README.md")]

mod experiment;
mod flow;
mod graph;
mod link;
mod router;
mod run;

pub use experiment::Experiment;
pub use flow::Flow;
pub use graph::Network;
pub use link::Link;
pub use run::{FlowResult, Run};

pub use serde_json::json;
pub use simulation::applications::{Application, Job, Playback, Sockets, StreamState};
pub use simulation::plan::{self, Plan, PlanError};
pub use simulation::samples::{LinkRow, SampleRecorder, SeriesRow};
pub use simulation::{Column, External, Payload, Results, Simulation, Table};

/// Algorithms without a transport: the trait, its events, the registry and the conformance kit.
pub use congestion;
/// Packets, queue disciplines, links, media, and the conformance kit of elements.
pub use network;
/// Time, rates, sizes, and reproducible randomness.
pub use units;
