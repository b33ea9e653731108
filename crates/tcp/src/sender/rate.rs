//! Delivery-rate sampling (Linux `tcp_rate.c`; draft-ietf-ccwg-bbr section 4.1).
//!
//! A sample spans the most recently sent packet that an ACK delivers: how much was delivered since that
//! packet left, over the longer of the time it took to send that much and the time it took to ACK it.

use super::quirks::{Carried, Quirks};
use super::scoreboard::{APP_LIMITED, Record};
use congestion::RateSample;
use units::{Duration, Time};

/// The connection's delivery counters.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// Packets delivered since the start.
    pub delivered: u64,
    /// When `delivered` last changed.
    pub delivered_time: Time,
    /// Packets reported CE-marked since the start.
    pub marked: u64,
    /// Packets deemed lost since the start.
    pub lost: u64,
    /// When the packet most recently delivered was sent: the flight in the sample begins there.
    flight_start: Time,
    /// `delivered` beyond which the pause of the application has left the path, if there was one.
    app_limited_until: Option<u64>,
    /// Packets and time of the last sample of the bandwidth, for traces.
    pub last_rate: Option<(u32, Duration)>,
    /// What is carried over from one ACK to the next, on stacks that do so.
    carried: Option<Box<Carried>>,
}

/// The most recently sent of the packets that an ACK delivers: when it was sent, and its number. The sample is about that
/// one, whose record stays in its place until something is sent.
pub(super) type Newest = Option<(Time, u32)>;

impl Delivery {
    /// Counters at zero.
    pub fn with_quirks(quirks: Quirks) -> Delivery {
        Delivery { carried: Carried::new(quirks), ..Delivery::default() }
    }

    /// Stamps a packet about to be sent. Call before it counts as outstanding.
    pub fn stamp(&mut self, record: &mut Record, packets_out: u32) {
        if packets_out == 0 {
            // Not "nothing in flight": loss marks must not shorten the sample.
            self.flight_start = record.sent;
            self.delivered_time = record.sent;
        }
        record.flight_start = self.flight_start;
        record.delivered_time = self.delivered_time;
        record.delivered = self.delivered as u32;
        record.lost = self.lost as u32;
        record.marked = self.marked as u32;
        record.flags = (record.flags & !APP_LIMITED) | if self.is_app_limited() { APP_LIMITED } else { 0 };
    }

    /// Packet `seq` was delivered for the first time: it is sampled if it is the most recently sent one so far.
    #[inline]
    pub fn sample(&mut self, seq: u32, sent: Time, newest: &mut Newest) {
        if newest.is_none_or(|newest| (sent, seq) > newest) {
            *newest = Some((sent, seq));
            self.flight_start = sent;
        }
    }

    /// Ends an ACK that newly delivered `delivered` packets; the sample, if a packet was sampled.
    #[inline(always)] // called for every ACK
    pub fn finish(
        &mut self,
        now: Time,
        delivered: u32,
        sampled: Option<&Record>,
        min_rtt: Option<Duration>,
    ) -> Option<RateSample> {
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        if delivered > 0 {
            self.delivered_time = now;
        }
        let record = sampled?;
        let interval = record.send_elapsed().max(now.since(record.delivered_time));
        // Faster than light: the ACK of a retransmission's original. Counted in microseconds.
        let faster = |min: Duration| interval < min && interval.as_micros() < min.as_micros();
        let impossible = interval == Duration::ZERO || min_rtt.is_some_and(faster);
        let mut sample = RateSample {
            delivered: (self.delivered as u32).wrapping_sub(record.delivered),
            interval: (!impossible).then_some(interval),
            app_limited: record.is(APP_LIMITED),
            prior_delivered: u64::from(record.delivered),
            lost: (self.lost as u32).wrapping_sub(record.lost),
            marked: (self.marked as u32).wrapping_sub(record.marked),
            tx_in_flight: record.in_flight,
        };
        if let Some(carried) = &mut self.carried {
            carried.rewrite(&mut sample, now, record, min_rtt);
        }
        if let Some(interval) = sample.interval {
            self.last_rate = Some((sample.delivered, interval));
        }
        Some(sample)
    }

    /// Everything sent from now until what is in flight is delivered was not limited by the network.
    pub fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// Packets sent now count as application-limited.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_shorter_than_the_smallest_rtt_has_counts_but_no_interval() {
        let mut delivery = Delivery::default();
        let mut record = Record::new(Time::ZERO, 1448, 0);
        delivery.stamp(&mut record, 0);
        delivery.delivered = 3;
        delivery.lost = 2;
        delivery.sample(0, record.sent, &mut None);
        let now = Time::ZERO + Duration::from_millis(10);
        let min_rtt = Some(Duration::from_millis(40));
        let sample = delivery.finish(now, 3, Some(&record), min_rtt).expect("a sample");
        assert_eq!((sample.delivered, sample.lost, sample.interval), (3, 2, None));
    }
}
