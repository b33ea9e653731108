//! Departure times and sizes of bursts (Linux internal pacing and `tcp_tso_autosize`).

use super::Sender;
use units::{Duration, Rate, Time};

/// Bytes of the largest burst that Linux builds: 64 KiB less room for headers.
pub(super) const GSO_MAX_BYTES: u32 = 65_215;
/// Packets at the start of a connection that are not paced (as with `sch_fq`).
const UNPACED_PACKETS: u64 = 10;
/// RTT per halving of the extra burst of very short paths: 2^9 microseconds.
const BURST_RTT_SHIFT: u32 = 9;

/// Pacing of departures.
#[derive(Debug)]
pub(super) struct Pacer {
    enabled: bool,
    rate: Rate,
    next_departure: Time,
}

impl Pacer {
    pub fn new(enabled: bool) -> Pacer {
        Pacer { enabled, rate: Rate::UNLIMITED, next_departure: Time::ZERO }
    }

    pub fn enabled(&self) -> bool {
        self.enabled
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    pub fn next_departure(&self) -> Time {
        self.next_departure
    }

    /// Time until pacing allows the next departure, by which timeouts are extended (Linux `tcp_pacing_delay`).
    pub fn delay(&self, now: Time) -> Duration {
        if self.enabled { self.next_departure.since(now) } else { Duration::ZERO }
    }

    /// Whether pacing holds back the next departure.
    pub fn holds(&self, now: Time) -> bool {
        self.enabled && self.next_departure > now
    }

    /// Account for a burst of `bytes` of payload. If it is late, its time is shortened by the delay, at most by half.
    fn depart(&mut self, now: Time, bytes: u64, packets_sent: u64) {
        let before = self.next_departure;
        self.next_departure = before.max(now);
        if self.enabled && self.rate != Rate::UNLIMITED && packets_sent >= UNPACED_PACKETS {
            let time = self.rate.time_to_send(bytes);
            let late = self.next_departure.since(before);
            self.next_departure += time - late.min(time / 2);
        }
    }
}

impl Sender {
    /// Account for a burst just sent.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        self.pacer.depart(now, bytes, self.stats.sent_packets);
    }

    /// Set the pacing rate: the algorithm's, or two windows per RTT in early slow start and 1.2 later.
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.control.pacing_rate {
            // A rate of zero means that there is no estimate: Linux does not pace then.
            self.pacer.rate = if rate == Rate::default() { Rate::UNLIMITED } else { rate };
            return;
        }
        let Some(srtt) = self.rtt.srtt() else { return };
        let percent = if self.control.cwnd < self.control.ssthresh / 2 { 200 } else { 120 };
        let packets = self.control.cwnd.max(self.board.packets_out());
        // Bits times 10^6 microseconds, times percent / 100; 64 bits last up to 25 million packets of 9 kB.
        let bits = u64::from(self.config.largest_segment()) * u64::from(packets) * percent * 80_000;
        self.pacer.rate = Rate::from_bits_per_sec(bits / srtt.as_micros().max(1));
    }

    /// Packets per burst: by default a millisecond's worth at the pacing rate, more on very short paths.
    pub(super) fn burst_packets(&self) -> u32 {
        if self.config.max_burst_bytes < 2 * self.config.mss {
            return 1;
        }
        let largest = self.config.max_burst_bytes.min(GSO_MAX_BYTES);
        let mut bytes =
            (self.pacer.rate.bytes_per_sec() >> self.config.pacing_shift).min(u64::from(largest)) as u32;
        let shift = self.rtt.min().unwrap_or(Duration::MAX).as_micros() >> BURST_RTT_SHIFT;
        if shift < 32 {
            bytes = (bytes + (largest >> shift)).min(largest);
        }
        let smallest = self.control.min_burst.max(self.config.min_burst);
        (bytes / self.config.mss).min(self.control.max_burst).max(smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_packets_leave_at_once_and_then_one_per_interval() {
        let mut pacer = Pacer { rate: Rate::from_bytes_per_sec(1_000_000), ..Pacer::new(true) };
        pacer.depart(Time::ZERO, 1_000, 9);
        assert!(!pacer.holds(Time::ZERO));
        pacer.depart(Time::ZERO, 1_000, 10);
        assert_eq!(pacer.next_departure(), Time::from_nanos(1_000_000));
    }

    #[test]
    fn half_of_a_late_departure_is_forgiven() {
        let mut pacer = Pacer { rate: Rate::from_bytes_per_sec(1_000_000), ..Pacer::new(true) };
        pacer.depart(Time::from_nanos(10_000_000), 1_000, 10);
        assert_eq!(pacer.next_departure(), Time::from_nanos(10_500_000));
    }
}
