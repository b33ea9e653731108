//! The table `videos`: one row per flow that plays a video.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::applications::Playback;
use units::{Duration, Time};

table! {
    /// Playback of a video.
    pub struct VideoRow, one row per "flow that plays a video; all columns are of the whole run, the warm-up included" {
        /// name
        flow: FlowName, "";
        /// time from the start of the flow to the first picture; null if there was none
        startup_s: Option<Duration>, "s";
        /// playing time of the video until the end of the run
        played_s: Duration, "s";
        /// total time of stalls after the first picture (rebuffering)
        stalled_s: Duration, "s";
        /// number of stalls
        stalls: u32, "1";
        /// chunks that arrived completely
        chunks: u32, "1";
        /// mean bit rate of these chunks; null if there was none
        bitrate_bps: f64, "bit/s";
        /// number of chunks whose bit rate differs from that of the previous chunk
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
