//! Memory of sockets in a plan.

use super::error::together;
use super::range::{Check, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::{LARGEST_BUFFER, ReceiveBuffer, ReceiveMemory, SendBuffer, SendMemory};
use units::Bytes;

/// Buffer memory of a socket, which grows with the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPlan {
    /// Size at the start.
    pub first_bytes: u64,
    /// Largest size.
    pub most_bytes: u64,
    /// Memory per packet in addition to its payload.
    pub per_packet_bytes: u64,
}

impl MemoryPlan {
    pub(super) fn check(&self, path: &str, mss: u64) -> Check {
        let field = |name: &str| format!("{path}.{name}");
        together([
            within(field("first_bytes"), self.first_bytes, mss..=LARGEST_BUFFER),
            within(field("most_bytes"), self.most_bytes, self.first_bytes..=LARGEST_BUFFER),
            within(field("per_packet_bytes"), self.per_packet_bytes, 0..=1 << 20),
        ])
    }

    fn sizes(self) -> [Bytes; 3] {
        [self.first_bytes, self.most_bytes, self.per_packet_bytes].map(Bytes::new)
    }

    /// Send buffer of this size.
    pub fn to_send(self) -> SendBuffer {
        let [first, most, per_packet] = self.sizes();
        SendBuffer::Memory(SendMemory { first, most, per_packet })
    }

    /// Receive buffer of this size.
    pub fn to_receive(self) -> ReceiveBuffer {
        let [first, most, per_packet] = self.sizes();
        ReceiveBuffer::Memory(ReceiveMemory { first, most, per_packet })
    }
}
