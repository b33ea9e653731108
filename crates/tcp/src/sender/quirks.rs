//! Behaviours that differ from those of Linux as it is released, to measure their effect. All of them are off by default.
//!
//! ns-3 3.40 let BBR flows starve where Linux does not, and Google's kernel with BBRv3 counts what is in flight in a way of
//! its own. Each switch here is one of their behaviours, named for what it does, so that a run can have one of them without
//! the others.

use super::Sender;
use super::limits::Limit;
use super::scoreboard::{APP_LIMITED, BURST_HEAD, LOST, RETRANSMITTED, Record, SACKED};
use congestion::{CaState, RateSample};
use units::{Duration, Time};

/// Where the interval of a delivery-rate sample begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateSampling {
    /// When the packet that is sampled left, or when the last delivery before it was known (Linux).
    #[default]
    Linux,
    /// Where the sample before began, or at the start of the simulation if that one was invalid. A sample lives on
    /// until a packet is delivered that left after more had been delivered (ns-3 3.40).
    Ns3_40,
}

/// What becomes of a sample whose interval is shorter than the smallest RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidSamples {
    /// It says nothing of the bandwidth (Linux).
    #[default]
    Discarded,
    /// It ends rounds as a valid one does, and has the rate of the last valid one (ns-3 3.40).
    Repeated,
}

/// What is sent again in recovery when nothing is known to be lost and there is nothing new to send: rule 3 of
/// `NextSeg` in RFC 6675.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rescue {
    /// Nothing (Linux).
    #[default]
    None,
    /// What is missing below the highest packet selectively acknowledged (RFC 6675).
    Rfc6675,
    /// Whatever is outstanding (ns-3 3.40).
    Unbounded,
}

/// What a sender looks like whose send buffer is all in flight, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullSendBuffer {
    /// Limited by the application: low samples say nothing of the network (Linux).
    #[default]
    AppLimited,
    /// Limited by the network: the application has written all that it may (ns-3).
    NetworkLimited,
}

/// What a sender looks like that has sent all its application has written, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleApplication {
    /// Limited by the application, as Linux asks before it takes what the application writes.
    #[default]
    AppLimited,
    /// Limited by the network, as in ns-3, which asks afterwards: a write of a segment or more then waits to be sent.
    NetworkLimited,
}

/// How proportional rate reduction counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proportion {
    /// What is delivered (RFC 9937 section 6).
    #[default]
    Rfc9937,
    /// An ACK that only reports selectively for one packet more, as if nothing were reported, and what it multiplies in 32
    /// bits (ns-3 3.44 `TcpPrrRecovery::DoRecovery`).
    Ns3,
}

/// What was in flight when a packet left that is lost, for algorithms that ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LostInFlight {
    /// What was counted when it left.
    #[default]
    Counted,
    /// Less those of its burst before it that have been acknowledged selectively, if the burst before has been, too: what is
    /// moved from the head of a burst into the one before is taken from the count of the rest (`tcp_shifted_skb` of Google's
    /// kernel with BBRv3).
    Shifted,
}

/// Which of the behaviours are on; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Where the interval of a sample begins.
    pub rate_sampling: RateSampling,
    /// What becomes of a sample with an impossible interval.
    pub invalid_samples: InvalidSamples,
    /// What is sent again in recovery for want of anything else.
    pub rescue: Rescue,
    /// Whether samples count that a full send buffer has kept low.
    pub full_send_buffer: FullSendBuffer,
    /// Whether samples count that an application has kept low which writes too little.
    pub idle_application: IdleApplication,
    /// How proportional rate reduction counts.
    pub prr: Proportion,
    /// What was in flight when a lost packet left.
    pub lost_in_flight: LostInFlight,
}

/// The sample that is carried over from one ACK to the next.
#[derive(Debug)]
pub(super) struct Carried {
    quirks: Quirks,
    prior_delivered: u32,
    /// `None` after an invalid sample.
    prior_time: Option<Time>,
    interval: Duration,
    app_limited: bool,
    /// Packets and interval of the last valid sample.
    valid: Option<(u32, Duration)>,
}

impl Carried {
    /// The memory that `quirks` need, if they need any.
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

    /// Makes of Linux's sample what ns-3 would have made of the same ACK.
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

impl Sender {
    /// What was in flight when a lost packet left.
    pub(super) fn in_flight_before_loss(&self, seq: u32) -> u32 {
        let counted = self.board.get(seq).in_flight;
        match self.config.quirks.lost_in_flight {
            LostInFlight::Counted => counted,
            LostInFlight::Shifted => counted.saturating_sub(self.shifted_away(seq)),
        }
    }

    /// Packets before this one in its burst that have been moved into the burst before.
    fn shifted_away(&self, seq: u32) -> u32 {
        let mut head = seq;
        while head > self.board.una && !self.board.get(head).is(BURST_HEAD) {
            head -= 1;
        }
        let moved = head > self.board.una && (head - 1..seq).all(|before| self.board.get(before).is(SACKED));
        if moved { seq - head } else { 0 }
    }

    /// `limit` forbids to send anything new: sends one outstanding packet again, if the rule for that says so.
    pub(super) fn rescue(&mut self, now: Time, limit: Limit, out: &mut Vec<crate::Segment>) -> bool {
        let nothing_new = matches!(limit, Limit::Application | Limit::SendBuffer);
        if !nothing_new || self.recovery.state != CaState::Recovery {
            return false;
        }
        let end = match self.config.quirks.rescue {
            Rescue::None => return false,
            Rescue::Rfc6675 => self.board.highest_sacked(),
            Rescue::Unbounded => self.board.next,
        };
        let outstanding = |&seq: &u32| self.board.get(seq).flags & (SACKED | LOST | RETRANSMITTED) == 0;
        let Some(seq) = (self.rescued.max(self.board.una)..end).find(outstanding) else { return false };
        self.rescued = seq + 1; // what lies below is delivered, on its way again, or known to be lost
        self.retransmit(now, seq, 1, out);
        self.recovery.sent += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate::Delivery;
    use super::*;

    const MIN_RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Samples of packets with the given times of sending and of delivery, each alone in its ACK.
    fn samples(quirks: Quirks, packets: &[(u64, u64)]) -> Vec<RateSample> {
        let mut delivery = Delivery::with_quirks(quirks);
        let mut events: Vec<_> = packets.iter().flat_map(|&(sent, back)| [(sent, back), (back, 0)]).collect();
        events.sort_unstable();
        let (mut records, mut found) = (std::collections::VecDeque::new(), Vec::new());
        for (time, back) in events {
            if back > 0 {
                let mut record = Record::new(at(time), 1448, 0);
                delivery.stamp(&mut record, records.len() as u32);
                records.push_back(record);
            } else if let Some(record) = records.pop_front() {
                delivery.delivered += 1;
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

    // Two packets a round trip apart, and one that is reported 1 ms after it left.
    const SPURIOUS: [(u64, u64); 4] = [(1_000, 1_100), (1_100, 1_200), (1_201, 1_202), (1_203, 1_303)];

    #[test]
    fn linux_discards_what_came_back_faster_than_light() {
        assert_eq!(intervals(Quirks::default(), &SPURIOUS), [Some(100), Some(100), None, Some(100)]);
    }

    #[test]
    fn a_carried_interval_makes_a_spurious_sample_valid() {
        let found = intervals(ns3(InvalidSamples::Discarded), &SPURIOUS);
        assert_eq!(found[2], Some(102), "since the sample before began, and so not shorter than the RTT");
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
