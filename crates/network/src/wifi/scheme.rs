//! A modulation and coding scheme with its number of spatial streams, as a station uses it.

use super::estimate::Estimate;
use super::noise;
use super::phy::{Channel, Coding, Mode, Standard};
use super::timing::Control;

/// A modulation and coding scheme on one channel.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// MCS index, which begins at 0 for each number of streams.
    pub mcs: u64,
    /// Spatial streams.
    pub streams: u64,
    /// Rate and durations.
    pub mode: Mode,
    /// Control frames around the data.
    pub control: Control,
    /// Maximum bytes of an aggregate.
    pub most_bytes: u64,
    /// Estimate of the airtime of a packet.
    pub estimate: Estimate,
    coding: Coding,
}

impl Scheme {
    /// Create a scheme on a channel. `allowed` limits the bytes of an aggregate.
    pub fn new(channel: Channel, streams: u64, mcs: u64, control: Control, allowed: u64) -> Scheme {
        let mode = Mode::new(channel, streams, mcs);
        let most_bytes = allowed.min(mode.most_bytes());
        let estimate = Estimate::new(mode.rate(), streams, channel.standard == Standard::Ax);
        Scheme { mcs, streams, mode, control, most_bytes, estimate, coding: Coding::of_mcs(mcs) }
    }

    /// Probability of a bit error. Own choice: streams share the transmit power, and do not interfere with each other.
    pub fn bit_error(&self, snr_db: f64) -> f64 {
        self.coding.bit_error(noise::ratio(snr_db) / self.streams as f64)
    }

    /// The lowest signal-to-noise ratio in dB at which the bit error probability is at most `bit_error`.
    pub fn least_snr_db(&self, bit_error: f64) -> f64 {
        self.coding.least_snr_db(bit_error) + 10.0 * (self.streams as f64).log10()
    }
}
