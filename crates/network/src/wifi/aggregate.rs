//! Aggregates of MPDUs (A-MPDU; IEEE 802.11-2020, 10.12 and 9.7.1).

/// Bytes that an MPDU adds to an IP packet, without encryption: MAC header of QoS data with three addresses (26;
/// 9.3.2.1), LLC and SNAP (8), frame check sequence (4).
const AROUND_IP: u64 = 26 + 8 + 4;
/// Bytes of the Ethernet header that [`Packet::size`](crate::Packet) includes but Wi-Fi does not send.
const ETHERNET_HEADER: u64 = 14;
/// Bytes of the delimiter before each MPDU of an aggregate: 9.7.1.
const DELIMITER: u64 = 4;
/// Every subframe except the last is padded to a multiple of this number of bytes: 9.7.1.
const PADDING: u64 = 4;

/// Bytes of the MPDU that carries a packet of `size` bytes.
pub fn mpdu_bytes(size: u16) -> u64 {
    u64::from(size).saturating_sub(ETHERNET_HEADER) + AROUND_IP
}

/// The MPDUs of one PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggregate {
    /// Number of MPDUs.
    pub mpdus: usize,
    /// Bytes, including delimiters and the padding between MPDUs.
    bytes: u64,
}

impl Aggregate {
    /// Add a packet of `size` bytes unless the aggregate would exceed `most` bytes. The first packet always fits.
    /// Return the offset at which the subframe of the packet begins.
    pub fn add(&mut self, size: u16, most: u64) -> Option<u64> {
        if !self.fits(size, most) {
            return None;
        }
        let begin = self.bytes.next_multiple_of(PADDING);
        (self.mpdus, self.bytes) = (self.mpdus + 1, self.with(size));
        Some(begin)
    }

    /// Whether the aggregate is empty, or would have at most `most` bytes with another packet of `size` bytes.
    pub fn fits(&self, size: u16, most: u64) -> bool {
        self.mpdus == 0 || self.with(size) <= most
    }

    /// Bytes of the aggregate with another packet of `size` bytes.
    fn with(&self, size: u16) -> u64 {
        let begin = self.bytes.next_multiple_of(PADDING);
        begin + DELIMITER + mpdu_bytes(size)
    }

    /// Bytes of the PPDU. A single MPDU of 802.11n has no delimiter (`bare`). VHT and HE PPDUs always contain an
    /// A-MPDU (21.3.2, 27.3.2).
    pub fn psdu(&self, bare: bool) -> u64 {
        if bare && self.mpdus == 1 { self.bytes - DELIMITER } else { self.bytes }
    }

    /// Whether a plain ACK acknowledges the PPDU. A single MPDU requests no block ACK (10.25.6.1; as in
    /// `WifiDefaultAckManager` of ns-3).
    pub fn is_lone(&self) -> bool {
        self.mpdus == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_1544_bytes_and_the_last_one_has_no_padding() {
        let mut aggregate = Aggregate::default();
        let begins: Vec<Option<u64>> = (0..4).map(|_| aggregate.add(1_514, 3 * 1_544)).collect();
        assert_eq!(begins, [Some(0), Some(1_544), Some(3_088), None]);
        assert_eq!((aggregate.mpdus, aggregate.psdu(false)), (3, 3 * 1_544 - 2));
    }

    #[test]
    fn a_lone_mpdu_needs_no_delimiter_in_a_bare_ppdu() {
        let mut aggregate = Aggregate::default();
        aggregate.add(9_000, 100); // larger than the limit, but first
        assert_eq!([false, true].map(|bare| aggregate.psdu(bare)), [9_028, 9_024]);
        assert!(aggregate.is_lone());
    }
}
