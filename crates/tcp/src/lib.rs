#![doc = include_str!("../README.md")]

mod endpoint;
mod feedback;
mod gro;
mod numbered;
mod options;
mod ranges;
mod receiver;
mod segment;
mod sender;
mod wheel;

pub use endpoint::Endpoint;
pub use feedback::Feedback;
pub use options::{EcnOption, Options};
pub use ranges::RangeSet;
pub use receiver::{
    AckPolicy, InOrder, LARGEST_BUFFER, ReceiveBuffer, ReceiveMemory, Receiver, ReceiverConfig,
};
pub use segment::{ACCECN_OPTION_BYTES, Riding, SackBlocks, Segment};
pub use sender::{
    Counters, FullSendBuffer, IdleApplication, InvalidSamples, Limited, LossDetection, LostInFlight, Nic,
    Pacing, Proportion, Quirks, RateSampling, Rescue, SendBuffer, SendMemory, Sender, SenderConfig,
    SenderStats, Snapshot,
};
