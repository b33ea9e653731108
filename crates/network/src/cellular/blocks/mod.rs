//! Sizes of transport blocks.

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

/// Sizes of the headers in a block, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Bytes per transport block.
    pub block: u64,
    /// Bytes per piece of a packet.
    pub piece: u64,
    /// Bytes per packet (PDCP).
    pub packet: u64,
}

/// A generation of cellular networks, which determines the sizes of transport blocks.
pub trait Generation: Send + 'static {
    /// One line that describes a cell of this generation.
    const TITLE: &'static str;
    /// The 3GPP specifications of this generation.
    const SOURCE: &'static str;
    /// Sizes of the headers in transport blocks.
    const HEADERS: Headers;
    /// Highest numerology.
    const NUMEROLOGY: u64;
    /// Resource blocks of the widest carrier.
    const RESOURCE_BLOCKS: u64;
    /// Maximum number of layers.
    const LAYERS: u64;
    /// Number of schemes. Scheme indices begin at 0.
    const SCHEMES: u64;

    /// The scheme with index `mcs`.
    fn scheme(mcs: u64) -> Scheme;

    /// Bits of a transport block on `resource_blocks` resource blocks of a slot, over all layers.
    fn bits(mcs: u64, resource_blocks: u64, symbols: u64, layers: u64) -> u64;
}

/// Sizes of blocks in bytes, for each number of symbols and each scheme. The sizes of a scheme are computed when the
/// scheme is first used, as most runs use few schemes.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// The numbers of symbols that slots have, sorted.
    symbols: Vec<u64>,
    schemes: u64,
    resource_blocks: u64,
    layers: u64,
    /// The function [`Generation::bits`].
    bits: fn(u64, u64, u64, u64) -> u64,
    /// Block sizes of each number of symbols and scheme. Entry n - 1 of a row is for n resource blocks.
    rows: Vec<OnceCell<Box<[u32]>>>,
}

impl Sizes {
    /// Create the sizes of the schemes with indices below `schemes`, on up to `resource_blocks` resource blocks.
    pub fn new<G: Generation>(symbols: Vec<u64>, schemes: u64, resource_blocks: u64, layers: u64) -> Sizes {
        let rows = vec![OnceCell::new(); symbols.len() * schemes as usize];
        Sizes { symbols, schemes, resource_blocks, layers, bits: G::bits, rows }
    }

    /// Block sizes of a scheme. Entry n - 1 is for n resource blocks.
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

    /// Bytes of a block on `resource_blocks` resource blocks, of which there is at least one.
    pub fn bytes(&self, mcs: u64, symbols: u64, resource_blocks: u64) -> u64 {
        self.row(mcs, symbols)[resource_blocks as usize - 1].into()
    }

    /// The smallest number of resource blocks for `bytes` bytes. If all resource blocks together are too few, the
    /// result is their number plus one.
    pub fn needed(&self, mcs: u64, symbols: u64, bytes: u64) -> u64 {
        self.row(mcs, symbols).partition_point(|&size| u64::from(size) < bytes) as u64 + 1
    }
}
