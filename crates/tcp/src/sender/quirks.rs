//! Deviations from released Linux, to measure their effect. All deviations are off by default.
//!
//! BBR flows starve in ns-3 3.40 in some cases in which BBR flows do not starve in Linux. Google's kernel with
//! BBRv3 counts packets in flight differently. Each field of [`Quirks`] selects one such behaviour, independently
//! of the other fields.

use super::record::{APP_LIMITED, Record};
use congestion::RateSample;
use serde::{Deserialize, Serialize};
use units::{Duration, Time};

/// Start of the interval of a delivery-rate sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSampling {
    /// The interval starts at the transmission of the sampled packet, or at the last delivery known at that time
    /// (Linux).
    #[default]
    Linux,
    /// The interval starts where the preceding sample started, or at the start of the simulation if the preceding
    /// sample was invalid. A sample ends with the ACK of a packet that was sent after the count of delivered
    /// packets had risen above its value at the start of the sample (ns-3 3.40).
    #[serde(rename = "ns3_3.40")]
    Ns3_40,
}

/// Treatment of a sample whose interval is shorter than the smallest RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidSamples {
    /// The sample is not used as a bandwidth sample (Linux).
    #[default]
    Discarded,
    /// The sample ends rounds like a valid sample, and has the rate of the last valid sample (ns-3 3.40).
    Repeated,
}

/// Packets that recovery retransmits when no packet is marked lost and there is no new data (rule 3 of `NextSeg`
/// in RFC 6675).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rescue {
    /// No packets (Linux).
    #[default]
    None,
    /// Unacknowledged packets below the highest SACKed packet (RFC 6675).
    Rfc6675,
    /// All outstanding packets (ns-3 3.40).
    Unbounded,
}

/// Classification of a sender whose whole send buffer is in flight while its window is not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FullSendBuffer {
    /// Limited by the application: rate samples are marked app-limited (Linux).
    #[default]
    AppLimited,
    /// Limited by the network, because the application has written as much as the send buffer accepts (ns-3).
    NetworkLimited,
}

/// Classification of a sender that has sent all written data while its window is not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleApplication {
    /// Limited by the application: Linux checks before the application's next write.
    #[default]
    AppLimited,
    /// Limited by the network: ns-3 checks after the application's next write, when at least one segment is ready
    /// to be sent.
    NetworkLimited,
}

/// Arithmetic of proportional rate reduction (PRR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proportion {
    /// The reduction counts delivered data, as in RFC 9937 section 6.
    #[default]
    Rfc9937,
    /// A duplicate ACK counts one packet more than it SACKs, although the RFC adds this packet only without SACK, and
    /// products have 32 bits (ns-3 3.44 `TcpPrrRecovery::DoRecovery`).
    Ns3,
}

/// Packets in flight when a lost packet was sent, as reported to algorithms that use this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LostInFlight {
    /// All packets in flight when the lost packet was sent.
    #[default]
    Counted,
    /// Packets in flight when the lost packet was sent, minus the earlier packets of its burst. The earlier packets are
    /// subtracted only if they and the last packet of the preceding burst are SACKed. Google's kernel with BBRv3 moves
    /// the earlier packets into the preceding burst and subtracts them from the count of the remaining burst
    /// (`tcp_shifted_skb`).
    Shifted,
}

/// Deviations from Linux; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Start of the interval of a delivery-rate sample.
    pub rate_sampling: RateSampling,
    /// Treatment of a rate sample whose interval is shorter than the smallest RTT.
    pub invalid_samples: InvalidSamples,
    /// Rescue retransmissions in recovery.
    pub rescue: Rescue,
    /// Whether samples are app-limited while the send buffer is full.
    pub full_send_buffer: FullSendBuffer,
    /// Whether samples are app-limited while the sender has sent everything that the application has written.
    pub idle_application: IdleApplication,
    /// Arithmetic of proportional rate reduction.
    pub prr: Proportion,
    /// Packets in flight when a lost packet was sent.
    pub lost_in_flight: LostInFlight,
}

/// The rate sample that ns-3 continues from one ACK to the next.
#[derive(Debug)]
pub(super) struct Carried {
    quirks: Quirks,
    prior_delivered: u32,
    /// Start of the interval of the next sample; `None` after an invalid sample.
    prior_time: Option<Time>,
    interval: Duration,
    app_limited: bool,
    /// Packets and interval of the last valid sample.
    valid: Option<(u32, Duration)>,
}

impl Carried {
    /// State for the samples of ns-3; `None` if `quirks` selects the samples of Linux.
    pub fn new(quirks: Quirks) -> Option<Box<Carried>> {
        let Quirks { rate_sampling, invalid_samples, .. } = quirks;
        let linux = (RateSampling::default(), InvalidSamples::default());
        ((rate_sampling, invalid_samples) != linux).then(|| {
            Box::new(Carried {
                quirks,
                prior_delivered: 0,
                prior_time: None,
                interval: Duration::ZERO,
                app_limited: false,
                valid: None,
            })
        })
    }

    /// Turn Linux's sample into the sample that ns-3 would take from the same ACK.
    pub fn rewrite(
        &mut self,
        sample: &mut RateSample,
        now: Time,
        record: &Record,
        min_rtt: Option<Duration>,
    ) {
        if self.quirks.rate_sampling == RateSampling::Ns3_40 {
            self.carry_over(sample, now, record, min_rtt);
        }
        if sample.interval.is_some() {
            self.valid = sample.interval.map(|interval| (sample.delivered, interval));
        } else if let (InvalidSamples::Repeated, Some((delivered, interval))) =
            (self.quirks.invalid_samples, self.valid)
        {
            sample.delivered = delivered;
            sample.interval = Some(interval);
        }
    }

    fn carry_over(&mut self, sample: &mut RateSample, now: Time, record: &Record, min_rtt: Option<Duration>) {
        let delivered = record.delivered.wrapping_add(sample.delivered);
        if record.delivered > self.prior_delivered {
            let ack_elapsed = now.since(self.prior_time.unwrap_or(Time::ZERO));
            self.interval = record.send_elapsed().max(ack_elapsed);
            self.prior_delivered = record.delivered;
            self.prior_time = Some(record.delivered_time);
            self.app_limited = record.is(APP_LIMITED);
        }
        let possible = min_rtt.is_none_or(|min| self.interval >= min);
        if !possible {
            self.prior_time = None;
        }
        sample.delivered = delivered.wrapping_sub(self.prior_delivered);
        sample.prior_delivered = u64::from(self.prior_delivered);
        sample.app_limited = self.app_limited;
        sample.interval = self.prior_time.map(|_| self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::Delivery;
    use super::*;
    use crate::feedback::Feedback;

    const MIN_RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Return the rate samples of packets with the given times of sending and of delivery. Each packet has its
    /// own ACK.
    fn samples(quirks: Quirks, packets: &[(u64, u64)]) -> Vec<RateSample> {
        let mut delivery = Delivery::new(quirks, Feedback::Off);
        let mut events: Vec<_> = packets.iter().flat_map(|&(sent, back)| [(sent, back), (back, 0)]).collect();
        events.sort_unstable();
        let (mut records, mut found) = (std::collections::VecDeque::new(), Vec::new());
        for (time, back) in events {
            if back > 0 {
                let mut record = Record::new(at(time), 1448, 0);
                delivery.stamp(&mut record, records.len() as u32);
                records.push_back(record);
            } else if let Some(record) = records.pop_front() {
                delivery.count(1);
                delivery.sample(0, record.sent, &mut None);
                found.extend(delivery.finish(at(time), 1, Some(&record), Some(MIN_RTT)));
            }
        }
        found
    }

    fn intervals(quirks: Quirks, packets: &[(u64, u64)]) -> Vec<Option<u64>> {
        samples(quirks, packets).iter().map(|s| s.interval.map(|i| i.as_micros() / 1_000)).collect()
    }

    fn ns3(invalid_samples: InvalidSamples) -> Quirks {
        Quirks { rate_sampling: RateSampling::Ns3_40, invalid_samples, ..Quirks::default() }
    }

    // Send time and delivery time of each packet in milliseconds. The RTT is 100 ms, except for the third packet,
    // which is delivered 1 ms after it was sent.
    const SPURIOUS: [(u64, u64); 4] = [(1_000, 1_100), (1_100, 1_200), (1_201, 1_202), (1_203, 1_303)];

    #[test]
    fn linux_discards_what_came_back_faster_than_light() {
        assert_eq!(intervals(Quirks::default(), &SPURIOUS), [Some(100), Some(100), None, Some(100)]);
    }

    #[test]
    fn a_carried_interval_makes_a_spurious_sample_valid() {
        let found = intervals(ns3(InvalidSamples::Discarded), &SPURIOUS);
        assert_eq!(
            found[2],
            Some(102),
            "the interval starts with the preceding sample, so it is not shorter than the RTT"
        );
    }

    #[test]
    fn after_an_invalid_sample_the_interval_begins_with_the_simulation() {
        let again = [(1_000, 1_100), (1_100, 1_200), (1_201, 1_202), (1_203, 1_204), (1_205, 1_305)];
        let found = intervals(ns3(InvalidSamples::Discarded), &again);
        assert_eq!(found[3..], [None, Some(1_305)]);
    }

    #[test]
    fn a_repeated_sample_has_the_last_valid_rate_and_a_round_of_its_own() {
        let quirks = Quirks { invalid_samples: InvalidSamples::Repeated, ..Quirks::default() };
        let found = samples(quirks, &SPURIOUS);
        assert_eq!((found[2].delivered, found[2].interval), (found[1].delivered, found[1].interval));
        assert!(found[2].prior_delivered > found[1].prior_delivered);
    }
}
