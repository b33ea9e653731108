//! Blocks that have been sent, and the packets in them: repeated until decoded, released in order.

use crate::{Packet, Ring};
use std::collections::VecDeque;
use units::{Duration, Time};

/// What becomes of a block that was not decoded in its last try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Acknowledged: it is sent again after a status report (TS 36.322 5.2, TS 38.322 5.3).
    Am,
    /// Unacknowledged: it is lost.
    Um,
}

/// When a block goes again, and for how long what is behind one that is lost waits.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// From the start of a try to the earliest start of the next.
    pub round_trip: Duration,
    /// Tries by HARQ.
    pub tries: u64,
    /// Above HARQ.
    pub mode: Mode,
    /// From the end of the last try until the block goes again, acknowledged.
    pub retransmission: Duration,
    /// Unacknowledged: t-Reordering.
    pub reordering: Duration,
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It may go again.
    Due(Time),
    Decoded(Time),
    /// Since then.
    Lost(Time),
}

/// A transport block, from its first try until what it carries is released.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its scheme.
    pub mcs: u64,
    /// Its size.
    pub bytes: u64,
    /// Packets whose last piece it carries.
    pub ends: u32,
    /// Its last piece is not the last one of a packet.
    pub splits: bool,
    /// Tries since it was made or sent again by RLC.
    pub tries: u64,
    /// Ratios of its tries, added up.
    pub heard: f64,
    fate: Fate,
}

impl Block {
    /// Before its first try.
    pub fn new(mcs: u64, bytes: u64, ends: u32, splits: bool) -> Block {
        Block { mcs, bytes, ends, splits, tries: 0, heard: 0.0, fate: Fate::Due(Time::ZERO) }
    }
}

/// What leaves the window.
#[derive(Clone, Copy, Debug)]
pub enum Leaving<P> {
    /// A packet is handed up at a time.
    Released(Packet<P>, Time),
    /// One was lost with a block, which was known then.
    Lost(Packet<P>, Time),
}

/// The blocks of a port that are not released, oldest first, and the packets in them.
pub struct Window<P> {
    rules: Rules,
    blocks: VecDeque<Block>,
    /// Packets that end in them.
    packets: Ring<Packet<P>>,
    /// Nothing is released before.
    released: Time,
    /// The packet that goes on in the first block has lost a piece.
    broken: bool,
    /// Packets of the first block that have left.
    left: u32,
}

impl<P: Copy> Window<P> {
    /// An empty one.
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

    /// How many blocks are in it.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The last piece of a packet goes into the next block.
    pub fn carry(&mut self, packet: Packet<P>) {
        self.packets.push(packet);
    }

    /// The block after all others; its number until the next one leaves.
    pub fn push(&mut self, block: Block) -> usize {
        self.blocks.push_back(block);
        self.blocks.len() - 1
    }

    /// The block that may go again first, and from when on.
    pub fn due(&self) -> Option<(usize, Time)> {
        let due = |(n, block): (usize, &Block)| match block.fate {
            Fate::Due(at) => Some((n, at)),
            _ => None,
        };
        self.blocks.iter().enumerate().filter_map(due).min_by_key(|&(n, at)| (at, n))
    }

    /// One of its blocks.
    pub fn block(&self, n: usize) -> Block {
        self.blocks[n]
    }

    /// A try of a block began at `start`, and is known at `end` to have been decoded or not. True if it is lost with the
    /// packets that [end in it](Self::ending_in).
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

    /// The packets whose last piece a block carries, but for those that have left.
    pub fn ending_in(&self, n: usize) -> impl Iterator<Item = &Packet<P>> {
        let before: u32 = self.blocks.iter().take(n).map(|block| block.ends).sum();
        self.packets.iter().skip(before.saturating_sub(self.left) as usize).take(self.blocks[n].ends as usize)
    }

    /// The packets that have not been handed up and are not lost leave it, in order, and it is empty.
    pub fn withdraw(&mut self, into: &mut Vec<Packet<P>>) {
        for Block { ends, fate, .. } in self.blocks.drain(..) {
            for _ in std::mem::take(&mut self.left)..ends {
                let packet = self.packets.pop().copied();
                into.extend(packet.filter(|_| !matches!(fate, Fate::Lost(_))));
            }
        }
        self.broken = false;
    }

    /// What leaves next, in order, by what is known.
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
                    // The receiver notices with the first block behind that it decodes. Own: it does not give up before HARQ does.
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
