//! What travels between the two endpoints of a connection.

/// Up to three ranges of packet numbers `[start, end)`, most recent first (RFC 2018, room beside timestamps).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
}

impl SackBlocks {
    /// Adds a block behind those already there; a fourth one is left out.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(free) = self.blocks.iter_mut().find(|b| b.0 == b.1) {
            *free = (start, end);
        }
    }

    /// The blocks in the order they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks.iter().copied().take_while(|b| b.0 != b.1)
    }

    /// No block at all.
    pub fn is_empty(&self) -> bool {
        self.blocks[0].0 == self.blocks[0].1
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }
}

/// One TCP segment. Packets are numbered from 0; a packet is a full MSS except where the application ran dry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Opens the connection.
    Syn {
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
    },
    /// Answers `Syn`.
    SynAck {
        /// The `Syn`'s timestamp echoed.
        echo: u32,
        /// Receive window in bytes.
        window: u32,
    },
    /// Carries payload.
    Data {
        /// Packet number.
        seq: u32,
        /// Payload bytes.
        len: u16,
        /// Last packet of a burst of several (Linux sets PSH there, and receivers answer it at once).
        push: bool,
        /// The sender has reduced its window in answer to an echoed mark (RFC 3168 CWR).
        cwr: bool,
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
    },
    /// Acknowledges.
    Ack {
        /// Every packet below this number has arrived.
        ack: u32,
        /// Timestamp echoed (RFC 7323 rules).
        echo: u32,
        /// Receive window in bytes, from `ack` on.
        window: u32,
        /// CE-marked packets received so far, modulo 2^16.
        ce_count: u16,
        /// ECN-Echo (RFC 3168).
        ece: bool,
        /// The first block reports a duplicate (RFC 2883).
        dsack: bool,
        /// Selective acknowledgements.
        sacks: SackBlocks,
    },
}

impl Segment {
    /// Payload bytes.
    pub fn payload(&self) -> u16 {
        match self {
            Segment::Data { len, .. } => *len,
            _ => 0,
        }
    }
}
