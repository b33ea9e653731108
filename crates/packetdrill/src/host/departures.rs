//! Packets that the host under test has sent.

use crate::script::Packet;
use std::fmt;
use units::Time;

/// A packet that the host has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub at: Time,
    pub sent: Sent,
}

/// Contents of a packet that the host has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// SYN, or SYN-ACK if `answers`.
    Opening { answers: bool },
    /// Data, a FIN, or both.
    Data { bytes: (u64, u64), fin: bool, ack: Option<u64>, ace: u8 },
    /// Zero-window probe, which repeats the number of the last acknowledged byte.
    Probe { byte: u64 },
    /// ACK without data. The ACK of a handshake has no counter.
    Ack { ack: u64, sacks: Vec<(u64, u64)>, ece: bool, ace: Option<u8> },
    /// Answer of the host to a packet of a connection that is over.
    Reset { byte: u64 },
    /// Packet of a kernel, with all its fields.
    Wire(Packet),
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sent::Opening { answers: false } => f.write_str("S"),
            Sent::Opening { answers: true } => f.write_str("S. ack 1"),
            Sent::Data { bytes: (start, end), fin, ack, .. } => {
                let flags = if *fin { "F." } else { "." };
                write!(f, "{flags} {start}:{end}({})", end - start)?;
                ack.map_or(Ok(()), |ack| write!(f, " ack {ack}"))
            }
            Sent::Wire(packet) => f.write_str(&packet.text),
            Sent::Reset { byte } => write!(f, "R {byte}:{byte}(0)"),
            Sent::Probe { byte } => write!(f, ". {byte}:{byte}(0)"),
            Sent::Ack { ack, sacks, ace, .. } => {
                write!(f, ". ack {ack}")?;
                ace.map_or(Ok(()), |ace| write!(f, " ace {ace}"))?;
                sacks.iter().try_for_each(|(start, end)| write!(f, " sack {start}:{end}"))
            }
        }
    }
}
