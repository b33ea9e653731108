//! Interframe spaces and control frames of a cell.

use super::phy::legacy;
use units::Duration;

/// Bytes of frames: 9.3.1.2 (RTS), 9.3.1.3 (CTS), 9.3.1.4 (ACK), 9.3.1.7 (compressed BlockAckReq), 9.3.1.8 (compressed
/// BlockAck with a bitmap of 8 or 32 bytes) of IEEE 802.11-2020 and 2021.
const RTS: u64 = 20;
const CTS: u64 = 14;
const ACK: u64 = 14;
const BLOCK_ACK_REQUEST: u64 = 24;
const BLOCK_ACK: [u64; 2] = [32, 56];
/// The largest window whose bitmap has 8 bytes: 9.3.1.8.
const SHORT_WINDOW: usize = 64;

/// Own: a typical beacon. Its length depends on what the access point announces.
const BEACON: u64 = 150;
/// The lowest basic rate of OFDM: 17.2.3.3.
const LOWEST_BPS: u64 = 6_000_000;

/// Durations that all exchanges of a cell are made of.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Short interframe space.
    pub sifs: Duration,
    /// A backoff slot.
    pub slot: Duration,
    /// Acknowledgement of one MPDU.
    pub ack: Duration,
    /// Acknowledgement of an A-MPDU.
    pub block_ack: Duration,
    /// Request of a block ACK.
    pub block_ack_request: Duration,
    /// Request to send.
    pub rts: Duration,
    /// Clear to send.
    pub cts: Duration,
    /// A beacon.
    pub beacon: Duration,
    /// What EIFS is longer than an interframe space with SIFS: SIFS and an ACK at the lowest basic rate, 10.3.2.3.7. The
    /// stations whose frames collided wait until their ACK is overdue, which takes about as long (SIFS, slot and 20 us,
    /// 10.3.2.9): they are taken to wait as long as the others, so that all count the same slots.
    pub after_error: Duration,
    /// Propagation delay.
    pub delay: Duration,
}

impl Timing {
    /// Of a band, with control frames at a rate and a block ACK window of so many MPDUs.
    pub fn new(band_mhz: u64, control_bps: u64, window: usize, delay: Duration) -> Timing {
        // aSIFSTime and aSlotTime: Table 17-21 (5 GHz); 18.4.5 and 19.4.4, with the short slot (2.4 GHz).
        let sifs = Duration::from_micros(if band_mhz < 5_000 { 10 } else { 16 });
        let control = |bytes| legacy(bytes, control_bps, band_mhz);
        Timing {
            sifs,
            slot: Duration::from_micros(9),
            ack: control(ACK),
            block_ack: control(BLOCK_ACK[usize::from(window > SHORT_WINDOW)]),
            block_ack_request: control(BLOCK_ACK_REQUEST),
            rts: control(RTS),
            cts: control(CTS),
            beacon: legacy(BEACON, LOWEST_BPS, band_mhz),
            after_error: sifs + legacy(ACK, LOWEST_BPS, band_mhz),
            delay,
        }
    }

    /// What the answer to a frame takes: SIFS, the frame, and the way there and back.
    pub fn answer(&self, frame: Duration) -> Duration {
        self.delay * 2 + self.sifs + frame
    }

    /// RTS and CTS with the SIFS behind it: 10.3.2.9.
    pub fn protection(&self) -> Duration {
        self.rts + self.answer(self.cts) + self.sifs
    }
}
