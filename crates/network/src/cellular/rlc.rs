//! Blocks that have been sent, with the packets in them. Blocks are retransmitted until decoded; packets are released
//! in order.

use crate::{Packet, Ring};
use std::collections::VecDeque;
use units::{Duration, Time};

/// Handling of a block whose last HARQ try has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Acknowledged: the block is retransmitted after a status report (TS 36.322 5.2, TS 38.322 5.3).
    Am,
    /// Unacknowledged: the block is lost.
    Um,
}

/// Delays and limits of HARQ and RLC.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Minimum time from the start of a try to the start of the next try.
    pub round_trip: Duration,
    /// Maximum HARQ tries of a block.
    pub tries: u64,
    /// RLC mode.
    pub mode: Mode,
    /// Time from the end of the last HARQ try until a block is retransmitted in acknowledged mode.
    pub retransmission: Duration,
    /// Time for which blocks after a lost block are held in unacknowledged mode: t-Reordering.
    pub reordering: Duration,
}

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The block may be sent or retransmitted from this time on.
    Due(Time),
    Decoded(Time),
    /// The block has been lost since this time.
    Lost(Time),
}

/// A transport block, from its first try until its packets are released.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Index of the scheme of the block.
    pub mcs: u64,
    /// Size of the block.
    pub bytes: u64,
    /// Number of packets whose last piece is in the block.
    pub ends: u32,
    /// Whether the block ends with a piece that is not the last piece of its packet.
    pub splits: bool,
    /// HARQ tries of the block. RLC retransmission resets the number.
    pub tries: u64,
    /// Sum of the signal-to-noise ratios of the tries, as power ratios.
    pub heard: f64,
    fate: Fate,
}

impl Block {
    /// Create a block before its first try.
    pub fn new(mcs: u64, bytes: u64, ends: u32, splits: bool) -> Block {
        Block { mcs, bytes, ends, splits, tries: 0, heard: 0.0, fate: Fate::Due(Time::ZERO) }
    }
}

/// A packet that leaves the window.
#[derive(Clone, Copy, Debug)]
pub enum Leaving<P> {
    /// A packet and the time at which the receiver releases it.
    Released(Packet<P>, Time),
    /// A packet that is lost because a block with a piece of the packet is lost, and the time at which the loss
    /// becomes known.
    Lost(Packet<P>, Time),
}

/// The blocks of a port that have not been released, oldest first, and the packets that end in them.
pub struct Window<P> {
    rules: Rules,
    blocks: VecDeque<Block>,
    /// Packets whose last piece is in one of the blocks.
    packets: Ring<Packet<P>>,
    /// Time before which no packet is released.
    released: Time,
    /// Whether the first block begins with the rest of a packet of which an earlier piece was lost.
    broken: bool,
    /// Number of packets of the first block that have left the window.
    left: u32,
}

impl<P: Copy> Window<P> {
    /// Create an empty window.
    pub fn new(rules: Rules) -> Window<P> {
        Window {
            rules,
            blocks: VecDeque::new(),
            packets: Ring::new(),
            released: Time::ZERO,
            broken: false,
            left: 0,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Put the last piece of a packet into the block that is pushed next.
    pub fn carry(&mut self, packet: Packet<P>) {
        self.packets.push(packet);
    }

    /// Append a block. Return the index of the block, which is valid until the first block leaves.
    pub fn push(&mut self, block: Block) -> usize {
        self.blocks.push_back(block);
        self.blocks.len() - 1
    }

    /// The index of the block that may be sent first, and the time from which it may be sent.
    pub fn due(&self) -> Option<(usize, Time)> {
        let due = |(n, block): (usize, &Block)| match block.fate {
            Fate::Due(at) => Some((n, at)),
            _ => None,
        };
        self.blocks.iter().enumerate().filter_map(due).min_by_key(|&(n, at)| (at, n))
    }

    /// Copy of the block with index `n`.
    pub fn block(&self, n: usize) -> Block {
        self.blocks[n]
    }

    /// Record a try of a block that began at `start` and whose outcome becomes known at `end`. Return whether the block
    /// is lost. The packets that [end in a lost block](Self::ending_in) are lost, too.
    pub fn tried(&mut self, n: usize, (decoded, heard): (bool, f64), start: Time, end: Time) -> bool {
        let Rules { round_trip, tries, mode, retransmission, .. } = self.rules;
        let block = &mut self.blocks[n];
        (block.tries, block.heard) = (block.tries + 1, heard);
        block.fate = match mode {
            _ if decoded => Fate::Decoded(end),
            _ if block.tries < tries => Fate::Due(start + round_trip),
            Mode::Am => {
                (block.tries, block.heard) = (0, 0.0);
                Fate::Due(end + retransmission)
            }
            Mode::Um => Fate::Lost(end),
        };
        matches!(block.fate, Fate::Lost(_))
    }

    /// The packets whose last piece is in a block, except packets that have left the window.
    pub fn ending_in(&self, n: usize) -> impl Iterator<Item = &Packet<P>> {
        let before: u32 = self.blocks.iter().take(n).map(|block| block.ends).sum();
        self.packets.iter().skip(before.saturating_sub(self.left) as usize).take(self.blocks[n].ends as usize)
    }

    /// Move to `into`, in order, the packets that are neither released nor lost, and empty the window.
    pub fn withdraw(&mut self, into: &mut Vec<Packet<P>>) {
        for Block { ends, fate, .. } in self.blocks.drain(..) {
            for _ in std::mem::take(&mut self.left)..ends {
                let packet = self.packets.pop().copied();
                into.extend(packet.filter(|_| !matches!(fate, Fate::Lost(_))));
            }
        }
        self.broken = false;
    }

    /// Remove and return, in order, the next packet that is released or lost.
    pub fn release(&mut self) -> Option<Leaving<P>> {
        loop {
            let &block = self.blocks.front()?;
            match block.fate {
                Fate::Due(_) => return None,
                Fate::Decoded(at) if self.left < block.ends => {
                    self.left += 1;
                    let packet = *self.packets.pop()?;
                    if std::mem::replace(&mut self.broken, false) {
                        return Some(Leaving::Lost(packet, at));
                    }
                    self.released = self.released.max(at);
                    return Some(Leaving::Released(packet, self.released));
                }
                Fate::Decoded(at) => self.released = self.released.max(at),
                Fate::Lost(known) => {
                    // The receiver detects the loss with the first later block that it decodes. Own choice: the
                    // receiver does not give up a block before HARQ does.
                    let noticed = self.blocks.iter().filter_map(|block| match block.fate {
                        Fate::Decoded(at) => Some(at),
                        _ => None,
                    });
                    let until = noticed.min()? + self.rules.reordering;
                    self.released = self.released.max(until).max(known);
                    (0..block.ends).for_each(|_| {
                        self.packets.pop();
                    });
                    self.broken = block.splits;
                }
            }
            self.left = 0;
            self.blocks.pop_front();
        }
    }
}
