//! Opportunities: the only times at which a link may send. Each opportunity carries a fixed number of bytes.
//!
//! Mahimahi's link shell replays a cellular link in this way (Netravali et al., USENIX ATC 2015). A trace of Mahimahi
//! has one line per opportunity of 1504 bytes. Several packets may share an opportunity, a packet that does not fit
//! continues in the next opportunity, and unused capacity is lost. The periodic frames of a radio can also be modelled
//! as opportunities.

use crate::server::Transmission;
use crate::trains::Trains;
use units::{Duration, Time};

/// Resolution of times: 1 ns.
const INSTANT: Duration = Duration::from_nanos(1);

/// Opportunities to send, once or in repeated rounds.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Times of the opportunities within a round.
    times: Vec<Duration>,
    /// Bytes per opportunity.
    bytes: u32,
    repeats: bool,
    /// Time within the first round at which the run begins.
    offset: Duration,
    /// Time from the beginning of the first round to the beginning of the current round.
    round: Duration,
    /// Index of the next opportunity.
    next: usize,
    /// Time of the current opportunity (`at`), and its bytes that are left (`left`).
    at: Time,
    left: u32,
    /// Recorded trains, which packets after a pause use.
    light: Option<Trains>,
    /// Whether the current opportunity belongs to a train.
    in_train: bool,
}

impl Opportunities {
    /// Create opportunities of `bytes` bytes at `times`, in order. A round ends with its last opportunity. If
    /// `repeats` is set, the next round then begins. The run begins `offset` after the beginning of the first round.
    ///
    /// # Panics
    /// If there are no opportunities, the last opportunity is at zero, or `bytes` is zero.
    pub fn new(times: Vec<Duration>, bytes: u32, repeats: bool, offset: Duration) -> Opportunities {
        let period = times.last().map_or(0, |last| last.as_nanos());
        assert!(period > 0 && bytes > 0, "{} opportunities of {bytes} bytes in {period} ns", times.len());
        let round = if repeats { offset.as_nanos() / period * period } else { 0 };
        let phase = Duration::from_nanos(offset.as_nanos() - round);
        let next = times.partition_point(|&time| time < phase);
        let round = Duration::from_nanos(round);
        let (at, left, light, in_train) = (Time::ZERO, 0, None, false);
        let mut made =
            Opportunities { times, bytes, repeats, offset, round, next, at, left, light, in_train };
        made.turn_round();
        made
    }

    /// Use these opportunities while the path is busy, and recorded trains for packets after a pause. Packets after a
    /// pause leave at the times of the packets of a train. When the train is used up, packets wait for these
    /// opportunities until the next pause. All packets are delayed by the delay of the train.
    #[must_use]
    pub fn with_trains(self, light: Trains) -> Opportunities {
        Opportunities { light: Some(light), ..self }
    }

    /// Earliest time at which the next packet may begin to leave.
    pub(crate) fn free_at(&self) -> Time {
        if self.left > 0 { self.at } else { self.next_time() }
    }

    /// Send `size` bytes from [`free_at`](Self::free_at) on.
    pub(crate) fn transmit(&mut self, size: u16) -> Transmission {
        let mut rest = u32::from(size);
        if self.in_train && self.left < rest.min(self.bytes) {
            self.left = 0; // a packet is not split within a train
        }
        let start = self.free_at();
        while rest > 0 && self.free_at() < Time::NEVER {
            if self.left == 0 {
                self.turn();
            }
            let sent = rest.min(self.left);
            rest -= sent;
            self.left -= sent;
        }
        Transmission { start, finish: if rest > 0 { Time::NEVER } else { self.at } }
    }

    /// Find the next opportunity for a packet that reaches the empty queue at `now`. The packet can use an opportunity
    /// at exactly `now` only if the opportunity belongs to a train.
    pub(crate) fn wake(&mut self, now: Time) {
        match &mut self.light {
            Some(trains) if trains.begins(now, self.at) => {
                trains.begin(now, self.at);
                self.left = 0;
            }
            Some(_) => {
                self.waste_before(now);
                if self.train().is_none() {
                    self.waste_before(now + INSTANT);
                }
            }
            None => self.waste_before(now + INSTANT),
        }
    }

    /// Skip the opportunities before `time`, which were not used.
    pub(crate) fn waste_before(&mut self, time: Time) {
        if self.at < time {
            self.left = 0;
        }
        while let Some(next) = self.train() {
            if next >= time {
                return;
            }
            self.advance();
        }
        let (behind, period) = (time.since(self.next_time()).as_nanos(), self.period());
        if self.repeats {
            self.round = self.round + Duration::from_nanos(behind / period * period); // skips whole rounds at once
        }
        while self.next_time() < time {
            self.advance();
        }
    }

    /// Bytes that could be sent after `from`, up to and including `to`.
    pub fn offered_bytes(&self, from: Time, to: Time) -> u64 {
        let passed = |time: Time| {
            let time = time.as_nanos() + self.offset.as_nanos();
            let (rounds, phase) =
                if self.repeats { (time / self.period(), time % self.period()) } else { (0, time) };
            // An opportunity at the beginning of a round is the last opportunity of the preceding round.
            let in_round = self.times.partition_point(|at| at.as_nanos() <= phase);
            u128::from(rounds) * self.times.len() as u128 + in_round as u128
        };
        let bytes = passed(to).saturating_sub(passed(from)) * u128::from(self.bytes);
        bytes.try_into().unwrap_or(u64::MAX)
    }

    /// Delay that packets have in addition to the delay of the link.
    pub(crate) fn delay(&self) -> Duration {
        self.light.as_ref().map_or(Duration::ZERO, Trains::delay)
    }

    /// Minimum of [`delay`](Self::delay) over all packets.
    pub(crate) fn min_delay(&self) -> Duration {
        self.light.as_ref().map_or(Duration::ZERO, Trains::min_delay)
    }

    /// Duration of a round in nanoseconds.
    fn period(&self) -> u64 {
        self.times.last().map_or(1, |last| last.as_nanos())
    }

    fn next_time(&self) -> Time {
        if let Some(next) = self.train() {
            return next;
        }
        let Some(&time) = self.times.get(self.next) else { return Time::NEVER };
        Time::ZERO + (self.round + time).saturating_sub(self.ahead())
    }

    /// Time of the next opportunity of the current train, if any is left.
    fn train(&self) -> Option<Time> {
        self.light.as_ref().and_then(Trains::next)
    }

    /// Time by which times of the recording exceed departure times: the offset, plus the delay because recorded times
    /// are arrival times.
    fn ahead(&self) -> Duration {
        self.offset + self.delay()
    }

    /// Make the next opportunity the current opportunity.
    fn turn(&mut self) {
        (self.at, self.left) = (self.next_time(), self.bytes);
        self.in_train = self.advance();
    }

    /// Skip the next opportunity. Return whether the opportunity belonged to a train.
    fn advance(&mut self) -> bool {
        if let Some(passed) = self.train() {
            self.light.iter_mut().for_each(Trains::advance);
            if self.train().is_none() {
                self.seek(passed + INSTANT);
            }
            return true;
        }
        self.next += 1;
        self.turn_round();
        false
    }

    /// Continue with the first opportunity at or after `time` that belongs to no train.
    fn seek(&mut self, time: Time) {
        let phase = time.as_nanos() + self.ahead().as_nanos();
        let round = if self.repeats { phase.saturating_sub(1) / self.period() * self.period() } else { 0 };
        self.next = self.times.partition_point(|time| time.as_nanos() < phase - round);
        self.round = Duration::from_nanos(round);
        self.turn_round();
    }

    fn turn_round(&mut self) {
        if let Some(&period) = self.times.last().filter(|_| self.repeats && self.next >= self.times.len()) {
            self.round = self.round + period;
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    fn trace(times: &[u64], repeats: bool, offset: u64) -> Opportunities {
        let times = times.iter().map(|&n| Duration::from_millis(n)).collect();
        Opportunities::new(times, 1504, repeats, Duration::from_millis(offset))
    }

    /// Departure times in ms of packets that all wait from the beginning.
    fn ends(mut trace: Opportunities, sizes: &[u16]) -> Vec<u64> {
        sizes.iter().map(|&size| trace.transmit(size).finish.as_millis()).collect()
    }

    #[test]
    fn an_opportunity_carries_1504_bytes_and_a_packet_that_does_not_fit_goes_on_in_the_next() {
        assert_eq!(ends(trace(&[1, 4, 9], true, 0), &[1504, 1504, 1504]), [1, 4, 9]);
        assert_eq!(ends(trace(&[1, 4, 9], true, 0), &[752, 752, 700]), [1, 1, 4]);
        assert_eq!(ends(trace(&[1, 4, 9], true, 0), &[1000, 1000, 1008, 1]), [1, 4, 4, 9]);
        assert_eq!(ends(trace(&[1, 4, 9], true, 0), &[4000]), [9]);
    }

    #[test]
    fn a_trace_begins_again_at_its_last_line() {
        assert_eq!(ends(trace(&[0, 2, 5], true, 0), &[1504; 7]), [0, 2, 5, 5, 7, 10, 10]);
    }

    #[test]
    fn a_trace_that_does_not_repeat_is_over() {
        assert_eq!(ends(trace(&[0, 2], false, 0), &[1504; 3]), [0, 2, Time::NEVER.as_millis()]);
        assert_eq!(ends(trace(&[0, 2], false, 0), &[4000]), [Time::NEVER.as_millis()]);
    }

    #[test]
    fn an_offset_begins_in_the_middle_of_a_round() {
        assert_eq!(ends(trace(&[1, 4, 9], true, 4), &[1504; 3]), [0, 5, 6]);
        assert_eq!(ends(trace(&[1, 4, 9], true, 23), &[1504; 2]), [4, 5]); // the run begins 5 ms into the third round
        assert_eq!(ends(trace(&[1, 4, 9], false, 20), &[1504]), [Time::NEVER.as_millis()]);
    }

    #[test]
    fn what_nobody_uses_is_lost() {
        let mut trace = trace(&[1, 4, 9], true, 0);
        trace.transmit(100);
        assert_eq!(trace.free_at(), ms(1));
        trace.waste_before(ms(4));
        assert_eq!(trace.free_at(), ms(4));
        trace.waste_before(ms(1_000_000));
        assert_eq!(trace.free_at(), ms(1_000_000)); // after 111,111 rounds and 1 ms
    }

    #[test]
    fn a_long_pause_and_short_rounds_take_no_time() {
        let day = Time::from_nanos(86_400_000_000_000);
        let mut trace = Opportunities::new(vec![Duration::from_nanos(1)], u32::MAX, true, Duration::ZERO);
        trace.waste_before(day);
        assert_eq!(trace.free_at(), day);
        assert_eq!(trace.offered_bytes(Time::ZERO, day), u64::MAX);
    }

    #[test]
    fn what_is_offered_is_counted_without_going_through_it() {
        let trace = trace(&[0, 2, 2, 5], true, 3);
        let count = |from, to| trace.offered_bytes(ms(from), ms(to)) / 1504;
        // The first round ends at 2 ms, and the second round begins at 2 ms. The following opportunities are at 4, 4,
        // 7, 7, 9 and 9 ms.
        assert_eq!([count(0, 1), count(0, 2), count(2, 4), count(0, 9), count(9, 9)], [0, 2, 2, 8, 0]);
    }
}
