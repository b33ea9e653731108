//! The table `videos`: one row per flow that plays a video.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::applications::Playback;
use units::{Duration, Time};

table! {
    /// What the viewer of a video has seen.
    pub struct VideoRow, one row per "flow that plays a video; all columns are of the whole run, the warm-up included" {
        /// name
        flow: FlowName, "";
        /// from its start to the first picture; null if there was none
        startup_s: Option<Duration>, "s";
        /// video that was played
        played_s: Duration, "s";
        /// time for which the picture stood still after it had begun to move (rebuffering)
        stalled_s: Duration, "s";
        /// how often it stood still
        stalls: u32, "1";
        /// pieces that arrived whole
        chunks: u32, "1";
        /// mean of their bit rates; null if there was none
        bitrate_bps: f64, "bit/s";
        /// how often a piece had another bit rate than the one before
        switches: u32, "1";
    }
}

impl Made for VideoRow {
    fn rows(run: &mut Finished<'_>) -> Rows<VideoRow> {
        let end = Time::from_nanos(run.plan.duration_ns);
        let viewed = (0u32..).zip(run.flows).filter_map(|(n, flow)| Some((n, flow.playback(end)?)));
        let row = |(n, video): (u32, Playback)| VideoRow {
            flow: FlowName(n),
            startup_s: video.startup,
            played_s: video.played,
            stalled_s: video.stalled,
            stalls: video.stalls,
            chunks: video.chunks,
            bitrate_bps: video.bitrates_bps as f64 / f64::from(video.chunks),
            switches: video.switches,
        };
        viewed.map(row).collect()
    }
}
