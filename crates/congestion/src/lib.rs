#![doc = include_str!("../README.md")]

mod catalogue;
mod congestion_control;
mod delay;
mod event;
mod filter;
mod hystart;
pub mod kit;
mod registry;
mod rtt_scaling;
#[cfg(test)]
mod test_drive;
#[cfg(test)]
mod test_support;
mod window;
#[macro_use]
mod window_algorithm;

mod algorithms;
mod bbr;

pub use catalogue::{BuildError, build, descriptors};
pub use congestion_control::CongestionControl;
pub use event::{
    Ack, CaState, Congestion, Control, EcnMode, LostPacket, PACING_SHIFT, Path, RateSample, Recovery, Sent,
    Traits, Undo,
};
pub use filter::WindowedMax;
pub use params::{ParamSpec, Preset};
pub use registry::Descriptor;
pub use units::{Probe, Reading};
pub use window::Window;
pub use window_algorithm::WindowAlgorithm;
