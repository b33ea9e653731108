//! NR: transport block sizes by the formula of TS 38.214 5.1.3.2.

use super::{Generation, Headers, SUBCARRIERS, Scheme};

/// Bits per symbol, and code rate as a multiple of 1/2048: TS 38.214 table 5.1.3.1-2, with 256-QAM.
const SCHEMES: [(u64, u64); 28] = [
    (2, 240),
    (2, 386),
    (2, 616),
    (2, 898),
    (2, 1_204),
    (4, 756),
    (4, 868),
    (4, 980),
    (4, 1_106),
    (4, 1_232),
    (4, 1_316),
    (6, 932),
    (6, 1_034),
    (6, 1_134),
    (6, 1_232),
    (6, 1_332),
    (6, 1_438),
    (6, 1_544),
    (6, 1_644),
    (6, 1_746),
    (8, 1_365),
    (8, 1_422),
    (8, 1_508),
    (8, 1_594),
    (8, 1_682),
    (8, 1_770),
    (8, 1_833),
    (8, 1_896),
];

/// Sizes of small blocks in bytes: TS 38.214 table 5.1.3.2-1.
const SMALL: [u64; 93] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 34, 36,
    38, 40, 42, 44, 46, 48, 51, 54, 57, 60, 63, 66, 69, 72, 76, 80, 84, 88, 92, 96, 101, 106, 111, 116, 123,
    129, 133, 141, 145, 149, 153, 157, 161, 165, 169, 177, 185, 193, 201, 209, 217, 225, 233, 241, 253, 261,
    269, 277, 285, 301, 309, 317, 325, 333, 341, 349, 357, 372, 388, 405, 421, 437, 453, 469, 478,
];

/// Bits of the largest small block, bits of a checksum, and, for each base graph, bits of the largest code block
/// without its checksum.
const MOST_SMALL: u64 = 3_824;
const CHECK: u64 = 24;
const CODE_BLOCK: u64 = 8_424;
const SLOW_CODE_BLOCK: u64 = 3_816;

/// Resource elements of a resource block that carry no data: one control symbol and one symbol of reference signals.
/// These two symbols are the overhead of 14 % in TS 38.306 4.1.2.
const OVERHEAD: u64 = 24;
/// Largest number of resource elements that count per resource block.
const MOST_ELEMENTS: u64 = 156;

/// NR with up to 256-QAM.
pub struct Nr;

/// The rounding step for `bits` bits: the power of two with `digits` fewer binary digits than `bits`.
fn step(bits: f64, digits: u32) -> u64 {
    1 << (bits.log2() as u32).saturating_sub(digits)
}

/// Bits of a block for about `information` bits. `rate` is the code rate as a multiple of 1/2048.
fn size(information: f64, rate: u64) -> u64 {
    if information <= MOST_SMALL as f64 {
        let step = step(information.max(1.0), 6).max(8);
        let bits = (information as u64 / step * step).max(CHECK);
        return 8 * SMALL.iter().copied().find(|&bytes| 8 * bytes >= bits).unwrap_or(MOST_SMALL / 8);
    }
    let step = step(information - CHECK as f64, 5);
    let bits = ((information - CHECK as f64) / step as f64).round() as u64 * step;
    let bits = bits.max(3_840) + CHECK;
    let blocks = match rate {
        ..=512 => bits.div_ceil(SLOW_CODE_BLOCK),
        _ if bits > CODE_BLOCK + CHECK => bits.div_ceil(CODE_BLOCK),
        _ => 1,
    };
    8 * blocks * bits.div_ceil(8 * blocks) - CHECK
}

impl Generation for Nr {
    const TITLE: &'static str = "NR cell: a base station schedules its users on resource blocks of a slot";
    const SOURCE: &'static str = "3GPP TS 38.211, 38.214, 38.321, 38.322 and 38.323";
    /// Bytes of headers: MAC subheader with a 16-bit length and header of an RLC PDU with 18-bit sequence numbers;
    /// PDCP with 18-bit sequence numbers: TS 38.321 6.1.2, TS 38.322 6.2.2.4, TS 38.323 6.2.2.3.
    const HEADERS: Headers = Headers { block: 0, piece: 6, packet: 3 };
    const NUMEROLOGY: u64 = 3;
    const RESOURCE_BLOCKS: u64 = 275;
    const LAYERS: u64 = 8;
    const SCHEMES: u64 = 28;

    fn scheme(mcs: u64) -> Scheme {
        let (bits, rate) = SCHEMES[mcs as usize];
        Scheme { efficiency: (bits * rate) as f64 / 2_048.0, code_block: CODE_BLOCK }
    }

    fn bits(mcs: u64, resource_blocks: u64, symbols: u64, layers: u64) -> u64 {
        let elements = (SUBCARRIERS * symbols).saturating_sub(OVERHEAD).min(MOST_ELEMENTS) * resource_blocks;
        if elements == 0 {
            return 0;
        }
        size((elements * layers) as f64 * Nr::scheme(mcs).efficiency, SCHEMES[mcs as usize].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_rate_is_that_of_ts_38_306() {
        // 4 layers × 8 bits × 948/1024 × 273 resource blocks × 12 subcarriers × 28 symbols per ms, less 14 %: 2,337
        // Mbit/s.
        let mbps = Nr::bits(27, 273, 14, 4) as f64 * 2_000.0 / 1e6;
        assert!((mbps / 2_337.0 - 1.0).abs() < 0.01, "{mbps}");
    }

    #[test]
    fn blocks_fill_their_code_blocks() {
        for mcs in 0..Nr::SCHEMES {
            for n in [1, 10, 51, 106, 273] {
                let bits = Nr::bits(mcs, n, 14, 1);
                assert_eq!(bits % 8, 0);
                let code_blocks = (bits + CHECK).div_ceil(CODE_BLOCK);
                assert!(
                    bits < CODE_BLOCK
                        || (bits + CHECK).is_multiple_of(8 * code_blocks)
                        || SCHEMES[mcs as usize].1 <= 512
                );
            }
        }
    }

    #[test]
    fn a_large_block_carries_what_its_code_rate_says_to_two_hundredths() {
        for mcs in 0..Nr::SCHEMES {
            for n in 40..=273 {
                let said = (144 * 4 * n) as f64 * Nr::scheme(mcs).efficiency;
                let found = Nr::bits(mcs, n, 14, 4) as f64;
                assert!((found / said - 1.0).abs() < 0.02, "MCS {mcs}, {n}: {found} of {said}");
            }
        }
    }
}
