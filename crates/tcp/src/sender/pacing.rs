//! Departure times and sizes of bursts (Linux internal pacing and `tcp_tso_autosize`).

use super::config::SenderConfig;
use super::rtt::RttEstimator;
use congestion::Control;
use units::{Duration, Rate, Time};

/// Bytes of the largest burst that Linux builds: 64 KiB minus room for headers.
pub(super) const GSO_MAX_BYTES: u32 = 65_215;
/// Number of packets that leave unpaced at the start of a connection (as with `sch_fq`).
const UNPACED_PACKETS: u64 = 10;
/// On very short paths bursts are larger. The extra part halves for every 2^9 microseconds of RTT.
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

    /// Account for a burst of `bytes` of payload. If the burst leaves late, the next departure is earlier by this
    /// delay, but the time until it is at least half of the usual time.
    pub fn depart(&mut self, now: Time, bytes: u64, packets_sent: u64) {
        let before = self.next_departure;
        self.next_departure = before.max(now);
        if self.enabled && self.rate != Rate::UNLIMITED && packets_sent >= UNPACED_PACKETS {
            let time = self.rate.time_to_send(bytes);
            let late = self.next_departure.since(before);
            self.next_departure += time - late.min(time / 2);
        }
    }

    /// Set the pacing rate: the algorithm's rate, or two windows per RTT in early slow start and 1.2 windows per RTT
    /// later. `mss`: bytes per packet in the rate. `packets_out`: outstanding packets.
    pub fn set_rate(&mut self, control: &Control, rtt: &RttEstimator, mss: u32, packets_out: u32) {
        if let Some(rate) = control.pacing_rate {
            // A rate of zero means that the algorithm has no estimate. Linux then does not pace.
            self.rate = if rate == Rate::default() { Rate::UNLIMITED } else { rate };
            return;
        }
        let Some(srtt) = rtt.srtt() else { return };
        let percent = if control.cwnd < control.ssthresh / 2 { 200 } else { 120 };
        let packets = control.cwnd.max(packets_out);
        // The smoothed RTT counts in eighths of a microsecond, of which a second has 8 * 10^6. The product fits into 64 bits
        // for up to 25 million packets of 9 kB.
        let bytes = u64::from(mss) * u64::from(packets) * percent * (8_000_000 / 100);
        self.rate = Rate::from_bytes_per_sec(bytes / (srtt.as_nanos() / 125).max(1));
    }

    /// Packets per burst: by default the packets that the pacing rate sends in 1 ms, more on very short paths.
    pub fn burst_packets(&self, config: &SenderConfig, control: &Control, rtt: &RttEstimator) -> u32 {
        if config.max_burst_bytes < 2 * config.mss {
            return 1;
        }
        let largest = config.max_burst_bytes.min(GSO_MAX_BYTES);
        let mut bytes = (self.rate.bytes_per_sec() >> config.pacing_shift).min(u64::from(largest)) as u32;
        let shift = rtt.min().unwrap_or(Duration::MAX).as_micros() >> BURST_RTT_SHIFT;
        if shift < 32 {
            bytes = (bytes + (largest >> shift)).min(largest);
        }
        let smallest = control.min_burst.max(config.min_burst);
        (bytes / config.mss).min(control.max_burst).max(smallest)
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
    fn the_rate_follows_from_eighths_of_a_microsecond() {
        let mut rtt = RttEstimator::new(Duration::from_millis(200));
        for sample in [1_000, 1_003].map(Duration::from_micros) {
            rtt.learn(Time::ZERO, sample, sample, false, 0, 0);
        }
        let control = congestion::build("reno", &serde_json::Value::Null, 1).unwrap().control();
        let mut pacer = Pacer::new(true);
        pacer.set_rate(&control, &rtt, 1_000, 0);
        assert_eq!(pacer.rate().bytes_per_sec(), 16_000_000_000 * u64::from(control.cwnd) / 8_003);
    }

    #[test]
    fn half_of_a_late_departure_is_forgiven() {
        let mut pacer = Pacer { rate: Rate::from_bytes_per_sec(1_000_000), ..Pacer::new(true) };
        pacer.depart(Time::from_nanos(10_000_000), 1_000, 10);
        assert_eq!(pacer.next_departure(), Time::from_nanos(10_500_000));
    }
}
