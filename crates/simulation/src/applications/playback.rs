//! Statistics of the playback of a video: start, stalls, bit rates.

use units::Duration;

/// What the viewer of a video has seen: a row of the table `videos`.
#[derive(Clone, Copy, Debug)]
pub struct Playback {
    /// From the beginning of the flow to the first picture; `None`: there was none.
    pub startup: Option<Duration>,
    /// Video that was played.
    pub played: Duration,
    /// Time for which the picture stood still after it had begun to move.
    pub stalled: Duration,
    /// How often it stood still.
    pub stalls: u32,
    /// Pieces that had arrived.
    pub chunks: u32,
    /// Sum of their bit rates.
    pub bitrates_bps: u64,
    /// How often the bit rate of a piece differed from that of the one before.
    pub switches: u32,
}
