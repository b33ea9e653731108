//! When bursts may leave and how large they are (Linux internal pacing and `tcp_tso_autosize`).

use super::Sender;
use units::{Duration, Rate, Time};

/// Bytes of the largest burst Linux builds: 64 KiB less room for headers.
pub(super) const GSO_MAX_BYTES: u32 = 65_215;
/// The first packets of a connection are not paced (as `sch_fq` does).
const UNPACED_PACKETS: u64 = 10;
/// Microseconds of RTT per halving of the extra burst that very short paths get: 2^9.
const BURST_RTT_SHIFT: u32 = 9;

/// Paces departures.
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

    /// How long pacing holds back what would leave now: timeouts wait so much longer (Linux `tcp_pacing_delay`).
    pub fn delay(&self, now: Time) -> Duration {
        if self.enabled { self.next_departure.since(now) } else { Duration::ZERO }
    }

    /// A departure is not allowed yet.
    pub fn holds(&self, now: Time) -> bool {
        self.enabled && self.next_departure > now
    }

    /// A burst of `bytes` of payload leaves. Up to half its time is forgiven for having been sent late.
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
    /// Accounts for a burst just sent.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        self.pacer.depart(now, bytes, self.stats.sent_packets);
    }

    /// The rate to pace at: the algorithm's, or two windows per RTT in early slow start and 1.2 later.
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.control.pacing_rate {
            // No estimate is no reason never to send again: Linux does not pace at a rate of zero.
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
