//! Aggregates of MPDUs (A-MPDU; IEEE 802.11-2020, 10.12 and 9.7.1).

/// Bytes that an MPDU adds to an IP packet: MAC header of QoS data with three addresses (9.3.2.1: 26), LLC and SNAP (8),
/// frame check sequence (4). Not encrypted.
const AROUND_IP: u64 = 26 + 8 + 4;
/// Of the header of an Ethernet frame, which packets have on their way elsewhere ([`Packet::size`](crate::Packet)).
const ETHERNET_HEADER: u64 = 14;
/// Length and check of each MPDU in an aggregate: 9.7.1.
const DELIMITER: u64 = 4;
/// Subframes but the last are padded to a multiple of this: 9.7.1.
const PADDING: u64 = 4;

/// Bytes of the MPDU that carries a packet with so many bytes on a wire.
pub fn mpdu_bytes(size: u16) -> u64 {
    u64::from(size).saturating_sub(ETHERNET_HEADER) + AROUND_IP
}

/// The MPDUs of one PPDU, by their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggregate {
    /// How many.
    pub mpdus: usize,
    /// Their bytes with delimiters and the padding between them.
    bytes: u64,
}

impl Aggregate {
    /// Adds a packet with so many bytes on a wire, unless the aggregate would be longer than `most` bytes. The first one is
    /// always taken. Where does its subframe begin?
    pub fn add(&mut self, size: u16, most: u64) -> Option<u64> {
        if !self.fits(size, most) {
            return None;
        }
        let begin = self.bytes.next_multiple_of(PADDING);
        (self.mpdus, self.bytes) = (self.mpdus + 1, self.with(size));
        Some(begin)
    }

    /// With a packet of so many bytes it would not be longer than `most` bytes, or that would be the first.
    pub fn fits(&self, size: u16, most: u64) -> bool {
        self.mpdus == 0 || self.with(size) <= most
    }

    /// Its bytes with such a packet.
    fn with(&self, size: u16) -> u64 {
        let begin = self.bytes.next_multiple_of(PADDING);
        begin + DELIMITER + mpdu_bytes(size)
    }

    /// Bytes of the PPDU. A lone MPDU of 802.11n is sent as it is (`bare`); VHT and HE PPDUs always hold an A-MPDU
    /// (21.3.2, 27.3.2).
    pub fn psdu(&self, bare: bool) -> u64 {
        if bare && self.mpdus == 1 { self.bytes - DELIMITER } else { self.bytes }
    }

    /// It is acknowledged by an ACK: a lone MPDU asks for no block ACK (10.25.6.1; as `WifiDefaultAckManager` of ns-3 does).
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
        aggregate.add(9_000, 100); // larger than what is allowed, but alone
        assert_eq!([false, true].map(|bare| aggregate.psdu(bare)), [9_028, 9_024]);
        assert!(aggregate.is_lone());
    }
}
