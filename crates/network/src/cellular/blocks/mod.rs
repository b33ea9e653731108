//! Transport blocks: how much so many resource blocks carry.

mod lte;
mod nr;

pub use lte::Lte;
pub use nr::Nr;

use std::cell::OnceCell;

/// Subcarriers of a resource block: TS 36.211 6.2.3, TS 38.211 4.4.4.1.
const SUBCARRIERS: u64 = 12;

/// A modulation and coding scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// Bits of information per symbol of a subcarrier and layer.
    pub efficiency: f64,
    /// Largest code block in bits.
    pub code_block: u64,
}

/// Headers that packets have in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Bytes of a block.
    pub block: u64,
    /// Bytes of each piece of a packet in it.
    pub piece: u64,
    /// Bytes of a packet (PDCP).
    pub packet: u64,
}

/// A generation of cellular networks: how large its blocks are.
pub trait Generation: Send + 'static {
    /// One line that says what a cell of it is.
    const TITLE: &'static str;
    /// Its specifications.
    const SOURCE: &'static str;
    /// Headers in its blocks.
    const HEADERS: Headers;
    /// The largest numerology it has.
    const NUMEROLOGY: u64;
    /// Resource blocks of its widest carrier.
    const RESOURCE_BLOCKS: u64;
    /// Layers at most.
    const LAYERS: u64;
    /// How many schemes it has; they are numbered from 0.
    const SCHEMES: u64;

    /// A scheme by its number.
    fn scheme(mcs: u64) -> Scheme;

    /// Bits of a transport block over so many resource blocks of a slot, all layers together.
    fn bits(mcs: u64, resource_blocks: u64, symbols: u64, layers: u64) -> u64;
}

/// The sizes of blocks in bytes, for each number of symbols and each scheme. Those of a scheme are worked out when it is
/// first used, as most runs use few.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Numbers of symbols that occur.
    symbols: Vec<u64>,
    schemes: u64,
    resource_blocks: u64,
    layers: u64,
    /// [`Generation::bits`].
    bits: fn(u64, u64, u64, u64) -> u64,
    /// Block sizes of each number of symbols and scheme; entry n - 1 is that of n resource blocks.
    rows: Vec<OnceCell<Box<[u32]>>>,
}

impl Sizes {
    /// Of schemes below `schemes` over up to so many resource blocks.
    pub fn new<G: Generation>(symbols: Vec<u64>, schemes: u64, resource_blocks: u64, layers: u64) -> Sizes {
        let rows = vec![OnceCell::new(); symbols.len() * schemes as usize];
        Sizes { symbols, schemes, resource_blocks, layers, bits: G::bits, rows }
    }

    /// By number of resource blocks, from one on.
    fn row(&self, mcs: u64, symbols: u64) -> &[u32] {
        let place = self.symbols.partition_point(|&known| known < symbols);
        self.rows[place * self.schemes as usize + mcs as usize].get_or_init(|| {
            (1..=self.resource_blocks)
                .map(|n| ((self.bits)(mcs, n, self.symbols[place], self.layers) / 8) as u32)
                .collect()
        })
    }

    /// The highest scheme.
    pub fn highest(&self) -> u64 {
        self.schemes - 1
    }

    /// Bytes that so many resource blocks carry, at least one.
    pub fn bytes(&self, mcs: u64, symbols: u64, resource_blocks: u64) -> u64 {
        self.row(mcs, symbols)[resource_blocks as usize - 1].into()
    }

    /// The least number of resource blocks that carry so many bytes; more than there are if none do.
    pub fn needed(&self, mcs: u64, symbols: u64, bytes: u64) -> u64 {
        self.row(mcs, symbols).partition_point(|&size| u64::from(size) < bytes) as u64 + 1
    }
}
