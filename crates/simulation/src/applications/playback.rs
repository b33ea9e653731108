//! Statistics of the playback of a video: start, stalls, bit rates.

use units::Duration;

/// Playback of a video so far: a row of the table `videos`.
#[derive(Clone, Copy, Debug)]
pub struct Playback {
    /// Time from the start of the flow to the first picture; `None`: playback has not begun.
    pub startup: Option<Duration>,
    /// Playing time so far.
    pub played: Duration,
    /// Total time of stalls after the first picture.
    pub stalled: Duration,
    /// Number of stalls.
    pub stalls: u32,
    /// Chunks that have arrived.
    pub chunks: u32,
    /// Sum of the bit rates of these chunks.
    pub bitrates_bps: u64,
    /// Number of chunks whose bit rate differs from that of the previous chunk.
    pub switches: u32,
}
