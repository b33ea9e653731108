//! Interframe spaces and control frames of a cell.

use super::phy::legacy;
use units::Duration;

/// Sizes of frames in bytes: 9.3.1.2 (RTS), 9.3.1.3 (CTS), 9.3.1.4 (ACK), 9.3.1.7 (compressed BlockAckReq), 9.3.1.8
/// (compressed BlockAck with a bitmap of 8 or 32 bytes) of IEEE 802.11-2020 and 2021.
const RTS: u64 = 20;
const CTS: u64 = 14;
const ACK: u64 = 14;
const BLOCK_ACK_REQUEST: u64 = 24;
const BLOCK_ACK: [u64; 2] = [32, 56];
/// The largest window for which the bitmap has 8 bytes: 9.3.1.8.
const SHORT_WINDOW: usize = 64;

/// Own choice: bytes of a typical beacon. The size depends on what the access point announces.
const BEACON: u64 = 150;
/// Detection time: a device does not detect a frame that began less than this time ago. aCCATime, Table 17-21.
pub const UNNOTICED: Duration = Duration::from_micros(4);
/// The lowest basic rate of OFDM: 17.2.3.3.
const LOWEST_BPS: u64 = 6_000_000;

/// Durations that all exchanges of a cell share.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Short interframe space.
    pub sifs: Duration,
    /// A backoff slot.
    pub slot: Duration,
    /// A beacon.
    pub beacon: Duration,
    /// Time by which EIFS is longer than the interframe space after a decoded frame (DIFS or AIFS): SIFS and an ACK at
    /// the lowest basic rate, 10.3.2.3.7. Devices wait for EIFS after a frame that they could not decode. The sender of
    /// the frame waits for the ACK timeout, which is 15 us shorter (SIFS, slot and 20 us, 10.3.2.9). In this model, the
    /// sender waits as long as the other devices, so that all devices count the same slots, as in Bianchi's model.
    pub after_error: Duration,
    /// Propagation delay.
    pub delay: Duration,
}

/// Control frames around the data of a station.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Acknowledgement of one MPDU.
    pub ack: Duration,
    /// Acknowledgement of an A-MPDU.
    pub block_ack: Duration,
    /// Request of a block ACK.
    pub request: Duration,
    /// Request to send.
    pub rts: Duration,
    /// Clear to send.
    pub cts: Duration,
}

impl Timing {
    /// Create the timing of a band.
    pub fn new(band_mhz: u64, delay: Duration) -> Timing {
        // aSIFSTime and aSlotTime: Table 17-21 (5 GHz); 18.4.5 and 19.4.4, with the short slot (2.4 GHz).
        let sifs = Duration::from_micros(if band_mhz < 5_000 { 10 } else { 16 });
        let slot = Duration::from_micros(9);
        Timing {
            sifs,
            slot,
            beacon: legacy(BEACON, LOWEST_BPS, band_mhz),
            after_error: sifs + legacy(ACK, LOWEST_BPS, band_mhz),
            delay,
        }
    }

    /// Duration of the answer to a frame: SIFS, the frame of the answer, and the propagation delay in both
    /// directions.
    pub fn answer(&self, frame: Duration) -> Duration {
        self.delay * 2 + self.sifs + frame
    }

    /// Duration of RTS and CTS with the SIFS that follows: 10.3.2.9.
    pub fn protection(&self, control: &Control) -> Duration {
        control.rts + self.answer(control.cts) + self.sifs
    }
}

impl Control {
    /// Create the control frames of a band at a rate. `window` is the block ACK window in MPDUs.
    pub fn new(band_mhz: u64, rate_bps: u64, window: usize) -> Control {
        let frame = |bytes| legacy(bytes, rate_bps, band_mhz);
        Control {
            ack: frame(ACK),
            block_ack: frame(BLOCK_ACK[usize::from(window > SHORT_WINDOW)]),
            request: frame(BLOCK_ACK_REQUEST),
            rts: frame(RTS),
            cts: frame(CTS),
        }
    }
}

/// Return the rate of control frames around data with an MCS, at most `most_bps`. The rate is the highest basic rate
/// that does not exceed the reference rate of the data: 10.6.6.5.2 and Table 10-10. The basic rates are the mandatory
/// rates: 17.2.3.3.
pub fn control_rate(mcs: u64, most_bps: u64) -> u64 {
    const REFERENCE: [u64; 7] =
        [6_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000];
    let reference = REFERENCE[(mcs as usize).min(REFERENCE.len() - 1)];
    let basic = [12_000_000, 24_000_000, most_bps];
    let fits = basic.into_iter().filter(|&rate| rate <= reference.min(most_bps));
    fits.max().unwrap_or(LOWEST_BPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_data_is_answered_slowly() {
        let mbps = |mcs, most: u64| control_rate(mcs, most * 1_000_000) / 1_000_000;
        assert_eq!([0, 1, 2, 3, 4, 11].map(|mcs| mbps(mcs, 24)), [6, 12, 12, 24, 24, 24]);
        assert_eq!([0, 3, 4, 11].map(|mcs| mbps(mcs, 54)), [6, 24, 24, 54]);
        assert_eq!([0, 3, 11].map(|mcs| mbps(mcs, 6)), [6, 6, 6]);
    }
}
