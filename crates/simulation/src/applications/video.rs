//! Adaptive streaming of a video in chunks, each available at several bit rates.

use super::application::{Application, FlowStart, Job, Planned, Sockets};
use super::playback::Playback;
use crate::plan::declared::as_declared;
use crate::plan::range::{Check, LONGEST_NS, refuse, within};
use params::params;
use units::{Duration, Time};

/// Highest bit rate.
const MOST_BITRATE: u64 = 1_000_000_000_000;
/// Number of past chunks that the rate rule averages.
const REMEMBERED: usize = 5;
/// Share of the buffer below which the buffer rule chooses the lowest rate. This share and [`UPPER`] are the 90 s and
/// 216 s of a buffer of 240 s in the publication of BBA-0. The shares refer to the largest buffer level at a request,
/// which is one chunk below the full buffer, so that the highest rate can be reached.
const RESERVOIR: f64 = 0.375;
/// Share of the buffer from which the buffer rule chooses the highest rate.
const UPPER: f64 = 0.9;

params! {
    /// A video and its player.
    #[derive(PartialEq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<VideoSettings>)]
    pub struct VideoSettings {
        /// The ladder: available bit rates, ascending.
        bitrates_bps: Vec<u64>, "bit/s";
        /// Playing time of a chunk.
        chunk_ns: u64 = 4_000_000_000, "ns", 1e6..=1e15, example = 4_000_000_000;
        /// Size of the buffer in playing time.
        buffer_ns: u64 = 30_000_000_000, "ns", 1.0..=1e15, example = 30_000_000_000;
        /// Buffered playing time required to start playback, at first and after every stall.
        startup_ns: u64 = 4_000_000_000, "ns", 0.0..=1e15, example = 4_000_000_000;
        /// Choice of the next chunk's bit rate: by throughput ("rate") or by buffer level ("buffer").
        rule: BitrateRule, "";
        /// Payload of a request.
        request_bytes: u64 = 400, "bytes", 1.0..=1e15, example = 400;
    }
}

/// Rule by which the bit rate of the next chunk is chosen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BitrateRule {
    /// Rate rule: a share of the throughput of the last chunks.
    Rate {
        /// Maximum bit rate as a share of the throughput of the last chunks.
        safety: f64,
    },
    /// Buffer rule: BBA-0.
    Buffer {},
}

impl Default for BitrateRule {
    fn default() -> BitrateRule {
        BitrateRule::Buffer {}
    }
}

/// A player with a buffer.
pub struct Video {
    settings: VideoSettings,
    start: Time,
    next: Time,
    connection: Option<u32>,
    /// Time at which the chunk in progress was requested.
    asked: Time,
    /// Index of the bit rate of the chunk in progress, or of the last chunk.
    rate: usize,
    /// Throughput of the last chunks in bits per second.
    samples: Vec<f64>,
    /// Playing time in the buffer at `since`.
    buffer: Duration,
    since: Time,
    playing: bool,
    seen: Playback,
}

impl Planned for Video {
    type Settings = VideoSettings;
    const TITLE: &'static str = "A viewer of a video in chunks, each at a bit rate that the player chooses";
    const SOURCE: &'static str = "BBA-0: T. Huang et al., SIGCOMM 2014";

    fn check(settings: &VideoSettings, path: &str, _: u64) -> Check {
        if settings.bitrates_bps.is_empty() {
            refuse!(format!("{path}.bitrates_bps"), "no bit rate is given; name at least one");
        }
        let mut last = 0;
        for (n, &rate) in settings.bitrates_bps.iter().enumerate() {
            within(format!("{path}.bitrates_bps[{n}]"), rate, last + 1..=MOST_BITRATE)?;
            last = rate;
        }
        within(format!("{path}.buffer_ns"), settings.buffer_ns, settings.chunk_ns..=LONGEST_NS)?;
        within(format!("{path}.startup_ns"), settings.startup_ns, 0..=settings.buffer_ns)?;
        match settings.rule {
            BitrateRule::Rate { safety } => within(format!("{path}.rule.safety"), safety, 0.01..=10.0),
            BitrateRule::Buffer {} => Ok(()),
        }
    }

    /// A player that requests the first chunk when the flow starts.
    fn new(settings: &VideoSettings, flow: &FlowStart<'_>) -> Video {
        let zero = Duration::ZERO;
        Video {
            settings: settings.clone(),
            start: flow.at,
            next: flow.at,
            connection: None,
            asked: flow.at,
            rate: 0,
            samples: Vec::with_capacity(REMEMBERED),
            buffer: zero,
            since: flow.at,
            playing: false,
            seen: Playback {
                startup: None,
                played: zero,
                stalled: zero,
                stalls: 0,
                chunks: 0,
                bitrates_bps: 0,
                switches: 0,
            },
        }
    }
}

impl Video {
    fn chunk(&self) -> Duration {
        Duration::from_nanos(self.settings.chunk_ns)
    }

    /// Plays up to `now`: the buffer drains, and playback stalls when it is empty.
    fn play(&mut self, now: Time) {
        let span = now.since(self.since);
        self.since = self.since.max(now);
        if !self.playing {
            self.seen.stalled = self.seen.stalled + self.seen.startup.map_or(Duration::ZERO, |_| span);
            return;
        }
        let played = span.min(self.buffer);
        self.buffer = self.buffer - played;
        self.seen.played = self.seen.played + played;
        if played < span {
            self.playing = false;
            self.seen.stalls += 1;
            self.seen.stalled = self.seen.stalled + (span - played);
        }
    }

    /// Chooses the bit rate of the next chunk, as an index.
    fn choose(&self) -> usize {
        match self.settings.rule {
            BitrateRule::Rate { safety } => self.by_rate(safety),
            BitrateRule::Buffer {} => self.by_buffer(),
        }
    }

    /// The highest bit rate that is at most `safety` times the harmonic mean of the last chunks' throughput.
    fn by_rate(&self, safety: f64) -> usize {
        let inverse: f64 = self.samples.iter().map(|rate| 1.0 / rate).sum();
        let expected = safety * self.samples.len() as f64 / inverse; // NaN before the first chunk, which gives the lowest rate
        self.settings.bitrates_bps.iter().rposition(|&rate| rate as f64 <= expected).unwrap_or(0)
    }

    /// The bit rate of BBA-0: the buffer level maps linearly to a rate. The bit rate changes only when this rate
    /// reaches the next available bit rate above or below the current bit rate.
    fn by_buffer(&self) -> usize {
        let rates = &self.settings.bitrates_bps;
        let (lowest, highest) = (rates[0] as f64, rates[rates.len() - 1] as f64);
        let most = self.settings.buffer_ns - self.settings.chunk_ns;
        let share = self.buffer.as_nanos() as f64 / most as f64; // NaN at the start if the buffer holds one chunk
        let along = ((share - RESERVOIR) / (UPPER - RESERVOIR)).clamp(0.0, 1.0);
        let wanted = lowest + along * (highest - lowest);
        let above = rates.get(self.rate + 1).copied().unwrap_or(u64::MAX) as f64;
        let below = self.rate.checked_sub(1).map_or(0.0, |lower| rates[lower] as f64);
        if along == 0.0 {
            0
        } else if wanted >= above || along == 1.0 {
            rates.iter().rposition(|&rate| rate as f64 <= wanted).unwrap_or(0)
        } else if wanted <= below {
            rates.iter().position(|&rate| rate as f64 > wanted).unwrap_or(0)
        } else {
            self.rate
        }
    }
}

impl Application for Video {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        self.play(now);
        let rate = self.choose();
        self.seen.switches += u32::from(rate != self.rate && self.seen.chunks > 0);
        (self.rate, self.asked, self.next) = (rate, now, Time::NEVER);
        let bits = u128::from(self.settings.bitrates_bps[rate]) * u128::from(self.settings.chunk_ns);
        let bytes = ((bits / 8_000_000_000) as u64).max(1);
        let connection = *self.connection.get_or_insert_with(|| sockets.open(true));
        sockets.transfer(connection, Job { bytes, request: self.settings.request_bytes, page: 0 });
    }

    fn done(&mut self, now: Time, _: u32, _: &mut Sockets) {
        self.play(now);
        let bitrate = self.settings.bitrates_bps[self.rate];
        let took = now.since(self.asked).as_nanos().max(1);
        if self.samples.len() == REMEMBERED {
            self.samples.remove(0);
        }
        self.samples.push(bitrate as f64 * self.settings.chunk_ns as f64 / took as f64);
        self.seen.chunks += 1;
        self.seen.bitrates_bps += bitrate;
        self.buffer = self.buffer + self.chunk();
        if !self.playing && self.buffer.as_nanos() >= self.settings.startup_ns {
            self.playing = true;
            self.seen.startup = self.seen.startup.or(Some(now.since(self.start)));
        }
        // The next chunk is requested when the buffer has room for a chunk.
        let room = Duration::from_nanos(self.settings.buffer_ns).saturating_sub(self.chunk());
        self.next = now + self.buffer.saturating_sub(room);
    }

    fn playback(&self, now: Time) -> Option<Playback> {
        let mut copy = Video { settings: self.settings.clone(), samples: Vec::new(), ..*self };
        copy.play(now);
        Some(copy.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn video(rule: BitrateRule) -> Video {
        let plan = VideoSettings {
            bitrates_bps: vec![1_000_000, 2_000_000, 4_000_000],
            chunk_ns: 2 * SECOND,
            buffer_ns: 42 * SECOND,
            startup_ns: 4 * SECOND,
            rule,
            request_bytes: 400,
        };
        Video::new(&plan, &FlowStart { at: Time::ZERO, seed: 1, stream: "test", send_buffer_bytes: None })
    }

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * SECOND)
    }

    /// Requests chunks as soon as possible. The chunks arrive at the times `arrivals_s`.
    fn watch(video: &mut Video, arrivals_s: &[u64]) {
        let mut sockets = Sockets::default();
        for &arrival in arrivals_s {
            video.run(video.next, &mut sockets);
            video.done(at(arrival), 1, &mut sockets);
        }
    }

    #[test]
    fn a_late_piece_stops_the_picture_until_there_is_enough_again() {
        let mut video = video(BitrateRule::Buffer {});
        // Two chunks arrive by 2 s and play until 6 s. Playback does not resume with the third chunk at 9 s, but with
        // the fourth chunk at 10 s.
        watch(&mut video, &[1, 2, 9, 10]);
        let seen = video.playback(at(12)).unwrap();
        assert_eq!(seen.startup, Some(Duration::from_nanos(2 * SECOND)));
        assert_eq!((seen.stalls, seen.stalled.as_nanos()), (1, 4 * SECOND));
        assert_eq!((seen.played.as_nanos(), seen.chunks), (6 * SECOND, 4));
    }

    #[test]
    fn the_buffer_never_holds_more_than_it_may() {
        let mut video = video(BitrateRule::Rate { safety: 0.9 });
        let mut sockets = Sockets::default();
        for _ in 0..200 {
            video.run(video.next, &mut sockets);
            video.done(video.since + Duration::from_millis(100), 1, &mut sockets);
            assert!(video.buffer.as_nanos() <= 42 * SECOND);
        }
        assert_eq!(video.playback(video.since).unwrap().stalls, 0);
    }

    #[test]
    fn the_rate_rule_takes_the_highest_that_the_last_pieces_bear() {
        let mut video = video(BitrateRule::Rate { safety: 0.9 });
        assert_eq!(video.choose(), 0, "nothing is known");
        for (samples, expected) in
            [(vec![4e6], 1), (vec![5e6], 2), (vec![1e6, 9e6], 0), (vec![2.0e6, 3.0e6], 1), (vec![1e5], 0)]
        {
            video.samples = samples;
            assert_eq!(video.choose(), expected, "{:?}", video.samples);
        }
    }

    #[test]
    fn the_buffer_rule_moves_by_whole_steps_only() {
        let mut video = video(BitrateRule::Buffer {});
        // The buffer holds at most 40 s at a request. From 15 s to 36 s in the buffer, the rate rises from 1 to 4
        // Mbit/s: it is 2 Mbit/s at 22 s.
        for (rate, buffer_s, expected) in [
            (0, 10, 0),
            (0, 21, 0),
            (0, 23, 1),
            (1, 35, 1),
            (1, 36, 2),
            (2, 30, 2),
            (2, 21, 1),
            (1, 16, 1),
            (1, 15, 0),
        ] {
            (video.rate, video.buffer) = (rate, Duration::from_nanos(buffer_s * SECOND));
            assert_eq!(video.choose(), expected, "{rate} at {buffer_s} s");
        }
    }
}
