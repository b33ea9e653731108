#![doc = include_str!("../README.md")]

mod feedback;
mod gro;
mod ranges;
mod receiver;
mod segment;
mod sender;

pub use feedback::Feedback;
pub use ranges::RangeSet;
pub use receiver::{AckPolicy, Receiver, ReceiverConfig};
pub use segment::{SackBlocks, Segment};
pub use sender::{
    FullSendBuffer, InvalidSamples, Limited, Nic, Pacing, Quirks, RateSampling, Rescue, Sender, SenderConfig,
    SenderStats, Snapshot,
};
