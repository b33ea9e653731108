//! A TCP sender and a TCP receiver that behave like Linux, without sockets, clocks or packets on a wire.
//!
//! Both are sans-IO state machines: they are told what arrived and what time it is, they push what they send
//! into a vector, and they say when they want to be called again. Numbers are per packet, as in the Linux
//! scoreboard: packet `n` is the n-th segment of the connection, whatever its length.
//!
//! Sources: Linux 6.18 `net/ipv4/tcp_{input,output,recovery,rate,timer,cong}.c` for behaviour; RFC 5681, 5682
//! (F-RTO), 6298 (RTO), 6675 and 2018/2883 (SACK, DSACK), 8985 (RACK-TLP), 9937 (PRR), 7661 (window validation),
//! 3168, 8257 and 9768 (ECN).

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
    FullSendBuffer, InvalidSamples, Limited, Pacing, Quirks, RateSampling, Rescue, Sender, SenderConfig,
    SenderStats, Snapshot,
};
