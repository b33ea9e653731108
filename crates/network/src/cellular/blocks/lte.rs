//! LTE: transport blocks without filler bits.

use super::{Generation, Headers, SUBCARRIERS, Scheme};

/// Spectral efficiency by channel quality, from CQI 2 on: TS 36.213 table 7.2.3-1, with code rates as multiples of
/// 1/1024.
const CQI: [f64; 14] = [
    2.0 * 120.0,
    2.0 * 193.0,
    2.0 * 308.0,
    2.0 * 449.0,
    2.0 * 602.0,
    4.0 * 378.0,
    4.0 * 490.0,
    4.0 * 616.0,
    6.0 * 466.0,
    6.0 * 567.0,
    6.0 * 666.0,
    6.0 * 772.0,
    6.0 * 873.0,
    6.0 * 948.0,
];

/// The first schemes with 16-QAM and with 64-QAM. Each of the two schemes has the same block sizes as the scheme before
/// it (TS 36.213 table 7.1.7.1-1).
const REPEATED: [u64; 2] = [10, 17];

/// Bits of the shortest code block, of the largest code block, and of a checksum (CRC) of a code block or transport
/// block: TS 36.212 5.1.1, 5.1.2.
const SHORTEST: u64 = 40;
const CODE_BLOCK: u64 = 6_144;
const CHECK: u64 = 24;

/// Resource elements of a resource block that carry no data: three control symbols, and the reference signals of two
/// antennas. The block sizes of the highest scheme assume one control symbol, and the reference signals of one antenna
/// for two ports: R1-081483, *Conveying MCS and TB size via PDCCH*.
const OVERHEAD: u64 = 48;
const OVERHEAD_AT_PEAK: u64 = 32;
const PEAK: u64 = 26;

/// LTE with up to 64-QAM.
pub struct Lte;

/// Row of an MCS in the table of transport block sizes.
fn row(mcs: u64) -> u64 {
    mcs - REPEATED.iter().filter(|&&first| mcs >= first).count() as u64
}

/// Spectral efficiency of a row: the efficiency of a channel quality, or the mean of the efficiencies of two
/// neighbouring channel qualities.
fn efficiency(row: u64) -> f64 {
    let of = |n: u64| CQI[n as usize] / 1_024.0;
    if row.is_multiple_of(2) { of(row / 2) } else { (of(row / 2) + of(row / 2 + 1)) / 2.0 }
}

/// The longest code block of at most `bits` bits that the interleaver supports: TS 36.212 table 5.1.3-3.
fn interleaved(bits: u64) -> u64 {
    let step = match bits {
        ..512 => 8,
        512..1_024 => 16,
        1_024..2_048 => 32,
        _ => 64,
    };
    (bits / step * step).clamp(SHORTEST, CODE_BLOCK)
}

/// The largest transport block of at most `bits` bits without filler bits; 0 if `bits` is too small for any block.
fn filled(bits: u64) -> u64 {
    if bits < SHORTEST - CHECK {
        return 0;
    }
    let all = bits + CHECK;
    if all <= CODE_BLOCK {
        return interleaved(all) - CHECK;
    }
    let payload = CODE_BLOCK - CHECK;
    let blocks = all.div_ceil(payload);
    let fewer = (blocks - 1) * payload; // the size with one code block less, if all code blocks are full
    (blocks * (interleaved(all / blocks + CHECK) - CHECK)).max(fewer) - CHECK
}

impl Generation for Lte {
    const TITLE: &'static str = "LTE cell: a base station schedules its users on resource blocks of 1 ms";
    const SOURCE: &'static str = "3GPP TS 36.211, 36.213, 36.321, 36.322 and 36.323";
    /// Bytes of headers: MAC subheader and header of the RLC PDU; length indicator; PDCP with 12-bit sequence numbers:
    /// TS 36.321 6.1.2, TS 36.322 6.2.1, TS 36.323 6.2.3. Own choice: each length indicator of 12 bits takes two bytes.
    const HEADERS: Headers = Headers { block: 3, piece: 2, packet: 2 };
    const NUMEROLOGY: u64 = 0;
    const RESOURCE_BLOCKS: u64 = 100;
    const LAYERS: u64 = 4;
    const SCHEMES: u64 = 29;

    fn scheme(mcs: u64) -> Scheme {
        Scheme { efficiency: efficiency(row(mcs)), code_block: CODE_BLOCK }
    }

    /// Bits that the spectral efficiency permits, rounded down to a size without filler bits. There is one block per
    /// layer.
    fn bits(mcs: u64, resource_blocks: u64, symbols: u64, layers: u64) -> u64 {
        let row = row(mcs);
        let overhead = if row == PEAK { OVERHEAD_AT_PEAK } else { OVERHEAD };
        let elements = (SUBCARRIERS * symbols).saturating_sub(overhead) * resource_blocks;
        layers * filled((elements as f64 * efficiency(row)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_that_of_the_specification() {
        assert_eq!(Lte::bits(28, 100, 14, 1), 75_376); // TS 36.213 table 7.1.7.2.1-1
        assert_eq!(Lte::bits(28, 100, 14, 2), 150_752);
    }

    /// TS 36.213 table 7.1.7.2.1-1, at 100 resource blocks.
    const AT_100: [u64; 27] = [
        2_792, 3_624, 4_584, 5_736, 7_224, 8_760, 10_296, 12_216, 14_112, 15_840, 17_568, 19_848, 22_920,
        25_456, 28_336, 30_576, 32_856, 36_696, 39_232, 43_816, 46_888, 51_024, 55_056, 57_336, 61_664,
        63_776, 75_376,
    ];

    #[test]
    fn sizes_are_those_of_the_table_to_a_few_hundredths() {
        for mcs in 0..Lte::SCHEMES {
            let (found, said) = (Lte::bits(mcs, 100, 14, 1) as f64, AT_100[row(mcs) as usize] as f64);
            assert!((found / said - 1.0).abs() < 0.023, "MCS {mcs}: {found} of {said}");
        }
    }

    #[test]
    fn more_carries_no_less() {
        for mcs in 0..Lte::SCHEMES {
            let sizes: Vec<u64> = (1..=100).map(|n| Lte::bits(mcs, n, 14, 1)).collect();
            assert!(sizes.windows(2).all(|pair| pair[0] <= pair[1]), "MCS {mcs}");
            assert!(sizes.iter().all(|bits| bits % 8 == 0));
        }
    }
}
