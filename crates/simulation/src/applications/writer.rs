//! An application that writes at a constant rate, always or in active periods, into a send buffer of limited size.

use super::application::{Application, FlowStart, Planned, Sockets, StreamState};
use crate::periods::Periods;
use crate::plan::declared::as_declared;
use crate::plan::range::Check;
use params::params;
use units::{Duration, Rng, Time};

params! {
    /// Writes of equal size, always or in active periods. The socket accepts writes that fit into its send buffer.
    #[derive(PartialEq, Eq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<WritesSettings>)]
    pub struct WritesSettings {
        /// Rate of payload in active periods; null: unlimited.
        rate_bps: Option<u64> = None, "bit/s", 1.0..=1e18;
        /// Payload of each write.
        write_bytes: u32, "bytes", 1.0..=1e9;
        /// Periods of activity and silence; null: always active.
        periods: Option<Periods> = None, "";
        /// Whether a write that does not fit is discarded; otherwise the application waits until it fits.
        drops: bool = false, "";
    }
}

/// Application that writes at a constant rate while it is active. A write that does not fit is discarded, or the
/// application waits. Writes that would have been due during a wait or a silent period are skipped.
#[derive(Debug)]
pub struct Writer {
    write: u64,
    /// Time between two writes; `None`: unlimited data in active periods.
    interval: Option<Duration>,
    /// Periods of activity, with their random numbers.
    periods: Option<(Periods, Rng)>,
    /// Maximum unacknowledged bytes in the send buffer, sent or not; `None`: no limit.
    buffer: Option<u64>,
    drops: bool,
    active: bool,
    /// End of the current active or silent period.
    turn: Time,
    next_write: Time,
    offered: u64,
    refused: u64,
    blocked: bool,
    connection: Option<u32>,
}

impl Planned for Writer {
    type Settings = WritesSettings;
    const TITLE: &'static str = "One stream of bytes that the application writes at its own pace";
    const IS_MANY: bool = false;

    fn check(settings: &WritesSettings, path: &str, _: u64) -> Check {
        settings.periods.map_or(Ok(()), |periods| periods.check(&format!("{path}.periods")))
    }

    fn new(settings: &WritesSettings, flow: &FlowStart<'_>) -> Writer {
        let nanos = |rate: u64| (u64::from(settings.write_bytes) * 8_000_000_000 / rate).max(1);
        Writer {
            write: settings.write_bytes.into(),
            interval: settings.rate_bps.map(|rate| Duration::from_nanos(nanos(rate))),
            periods: settings.periods.map(|periods| (periods, flow.rng("periods"))),
            buffer: flow.send_buffer_bytes,
            drops: settings.drops,
            active: false,
            turn: flow.at,
            next_write: Time::NEVER,
            offered: 0,
            refused: 0,
            blocked: false,
            connection: None,
        }
    }
}

impl Writer {
    /// Switches between activity and silence.
    fn change(&mut self, stream: StreamState) {
        let at = self.turn;
        self.active = !self.active;
        self.blocked = false;
        let length = |(periods, rng): &mut (Periods, Rng)| {
            if self.active { periods.activity(rng) } else { periods.silence(rng) }
        };
        self.turn = self.periods.as_mut().map_or(Time::NEVER, |periods| at + length(periods));
        let begins = self.active && self.interval.is_some();
        self.next_write = if begins { at } else { Time::NEVER };
        if !self.active && self.interval.is_none() {
            self.offered = stream.sent_bytes; // data offered without limit and not yet sent are withdrawn
        }
    }

    fn fits(&self, stream: StreamState) -> bool {
        self.buffer.is_none_or(|buffer| self.offered + self.write <= stream.acked_bytes + buffer)
    }

    fn write(&mut self, now: Time, stream: StreamState) {
        let fits = self.fits(stream);
        self.blocked = !fits && !self.drops;
        if self.blocked {
            self.next_write = Time::NEVER;
            return;
        }
        *(if fits { &mut self.offered } else { &mut self.refused }) += self.write;
        self.next_write = self.interval.map_or(Time::NEVER, |interval| now + interval);
    }

    /// Runs until `now` and returns the bytes written since the start; `None`: unlimited.
    fn offer(&mut self, now: Time, stream: StreamState) -> Option<u64> {
        while self.next() <= now {
            if self.turn <= self.next_write {
                self.change(stream);
            } else {
                self.write(self.next_write, stream);
            }
        }
        if self.blocked {
            self.write(now, stream);
        }
        (self.interval.is_some() || !self.active).then_some(self.offered)
    }
}

impl Application for Writer {
    fn next(&self) -> Time {
        self.turn.min(self.next_write)
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        let connection = *self.connection.get_or_insert_with(|| sockets.open(false));
        let offered = self.offer(now, sockets.stream);
        sockets.write(connection, offered);
    }

    fn stop(&mut self, sockets: &mut Sockets) {
        self.connection.into_iter().for_each(|connection| sockets.close(connection));
    }

    fn is_stream(&self) -> bool {
        true
    }

    fn is_blocked(&self) -> bool {
        self.blocked
    }

    fn refused_bytes(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(at_ns: u64, send_buffer_bytes: Option<u64>) -> FlowStart<'static> {
        FlowStart { at: Time::from_nanos(at_ns), seed: 1, stream: "test", send_buffer_bytes }
    }

    /// A writer of 100 bytes every microsecond, from 1 us on.
    fn writer(periods: Option<(u64, u64)>, buffer: Option<u64>, drops: bool) -> Writer {
        let periods = periods.map(|(on_ns, off_ns)| Periods { on_ns, off_ns, exponential: false });
        let plan = WritesSettings { rate_bps: Some(800_000_000), write_bytes: 100, periods, drops };
        Writer::new(&plan, &start(1_000, buffer))
    }

    /// Runs all turns until `nanos`, with `acked_bytes` acknowledged.
    fn offered(writer: &mut Writer, nanos: u64, acked_bytes: u64) -> u64 {
        let stream = StreamState { sent_bytes: acked_bytes, acked_bytes, fed_bytes: 0 };
        writer.offer(Time::from_nanos(nanos), stream).expect("a limit")
    }

    #[test]
    fn it_writes_at_its_start_and_at_every_interval() {
        let mut writer = writer(None, None, false);
        assert_eq!(writer.next(), Time::from_nanos(1_000));
        assert_eq!(
            [1_000, 1_999, 2_000, 10_500].map(|at| offered(&mut writer, at, 0)),
            [100, 100, 200, 1_000]
        );
    }

    #[test]
    fn it_rests_between_times_of_activity() {
        let mut writer = writer(Some((2_000, 5_000)), None, false);
        // The writer is active in [1, 3), [8, 10) and [15, 17) microseconds.
        assert_eq!([3_000, 7_999, 8_000, 20_000].map(|at| offered(&mut writer, at, 0)), [200, 200, 300, 600]);
    }

    #[test]
    fn a_full_buffer_loses_what_a_dropping_application_writes() {
        let mut writer = writer(None, Some(300), true);
        assert_eq!(offered(&mut writer, 10_000, 0), 300);
        assert_eq!((writer.refused_bytes(), writer.is_blocked()), (700, false));
        assert_eq!(offered(&mut writer, 11_000, 100), 400);
    }

    #[test]
    fn a_full_buffer_blocks_an_application_that_waits_and_then_keeps_its_pace() {
        let mut writer = writer(None, Some(300), false);
        assert_eq!(offered(&mut writer, 10_000, 0), 300);
        assert_eq!((writer.refused_bytes(), writer.is_blocked(), writer.next()), (0, true, Time::NEVER));
        assert_eq!(offered(&mut writer, 10_500, 100), 400);
        assert_eq!(writer.next(), Time::from_nanos(11_500));
    }

    #[test]
    fn without_a_rate_there_is_always_more_while_it_is_active() {
        let periods = Some(Periods { on_ns: 1_000, off_ns: 1_000, exponential: false });
        let plan = WritesSettings { rate_bps: None, write_bytes: 100, periods, drops: false };
        let mut writer = Writer::new(&plan, &start(0, Some(300)));
        let stream = |sent_bytes| StreamState { sent_bytes, acked_bytes: 0, fed_bytes: 0 };
        assert_eq!(writer.offer(Time::ZERO, stream(0)), None);
        assert_eq!(writer.offer(Time::from_nanos(1_000), stream(2_345)), Some(2_345));
        assert_eq!(writer.offer(Time::from_nanos(2_000), stream(2_345)), None);
    }
}
