//! Delivery-rate sampling (Linux `tcp_rate.c`; draft-ietf-ccwg-bbr section 4.1).
//!
//! A sample belongs to the most recently sent packet that an ACK delivers. The rate is the number of packets delivered
//! since the sampled packet was sent, divided by the longer of two intervals: the time in which these packets were
//! sent, and the time in which they were acknowledged.

use super::ecn_marks::{Marks, Report};
use super::quirks::{Carried, Quirks};
use super::record::{APP_LIMITED, Record};
use crate::feedback::Feedback;
use congestion::RateSample;
use units::{Duration, Time};

/// The connection's delivery counters.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// Packets delivered since the start.
    delivered: u64,
    /// When `delivered` last changed.
    delivered_time: Time,
    /// Packets reported CE-marked since the start.
    marked: u64,
    /// Packets marked lost since the start.
    lost: u64,
    /// Send time of the most recently delivered packet. The send interval of the next sample begins at this time.
    flight_start: Time,
    /// Value of `delivered` until which samples are app-limited, if the application has paused.
    app_limited_until: Option<u64>,
    /// Packets and interval of the last bandwidth sample, for traces.
    last_rate: Option<(u32, Duration)>,
    /// The rate sample that continues from one ACK to the next, as in ns-3; `None` with the samples of Linux.
    carried: Option<Box<Carried>>,
    marks: Marks,
}

/// Send time and number of the packet to sample, which is the most recently sent packet that an ACK delivers. The
/// record of this packet stays in the ring until the next packet is sent.
pub(super) type Newest = Option<(Time, u32)>;

impl Delivery {
    /// Build counters at zero.
    pub fn new(quirks: Quirks, feedback: Feedback) -> Delivery {
        Delivery { carried: Carried::new(quirks), marks: Marks::new(feedback), ..Delivery::default() }
    }

    /// Start the counters when the handshake is complete. The SYN counts as delivered, as in Linux.
    pub fn open(&mut self, now: Time) {
        self.delivered = 1;
        self.delivered_time = now;
    }

    /// Packets delivered since the start.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When [`delivered`](Self::delivered) last changed.
    #[inline]
    pub fn delivered_time(&self) -> Time {
        self.delivered_time
    }

    /// Packets reported CE-marked since the start.
    #[inline]
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Packets marked lost since the start.
    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets and interval of the last bandwidth sample, for traces.
    pub fn last_rate(&self) -> Option<(u32, Duration)> {
        self.last_rate
    }

    /// Count packets as delivered.
    #[inline]
    pub fn count(&mut self, packets: u64) {
        self.delivered += packets;
    }

    /// Count a packet as lost.
    #[inline]
    pub fn count_lost(&mut self) {
        self.lost += 1;
    }

    /// Whether `count` is the receiver's last known count of marked packets.
    #[inline]
    pub fn knows_marks(&self, count: u16) -> bool {
        self.marks.is_known(count)
    }

    /// Note the timestamp of a segment of the other end.
    pub fn note_stamp(&mut self, stamp: u32) {
        self.marks.note_stamp(stamp);
    }

    /// Whether the marks in an ACK that delivers nothing may be old.
    #[inline]
    pub fn marks_may_be_old(&self, timestamps: bool) -> bool {
        self.marks.may_be_old(timestamps)
    }

    /// Read the marks in an ACK that no later ACK has overtaken. `prior`: packets delivered before this ACK. Return
    /// `None` without ECN.
    #[inline]
    pub fn read_marks(&mut self, count: u16, ece: bool, prior: u64) -> Option<Report> {
        if self.marks.reports_none(count) {
            return None;
        }
        let report = self.marks.read(count, ece, (self.delivered - prior) as u32);
        self.marked += u64::from(report.marked);
        Some(report)
    }

    /// Write the delivery counters into the record of a packet about to be sent. Must be called before the packet
    /// counts as outstanding.
    pub fn stamp(&mut self, record: &mut Record, packets_out: u32) {
        if packets_out == 0 {
            // The condition is not `in_flight == 0`: packets marked lost must not shorten the sample.
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

    /// Account for packet `seq`, which this ACK delivers for the first time. `newest`: the most recently sent
    /// packet that the ACK has delivered so far.
    #[inline]
    pub fn sample(&mut self, seq: u32, sent: Time, newest: &mut Newest) {
        if newest.is_none_or(|newest| (sent, seq) > newest) {
            *newest = Some((sent, seq));
            self.flight_start = sent;
        }
    }

    /// Finish an ACK that newly delivered `delivered` packets. Return the rate sample, if a packet was sampled.
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
        // An interval shorter than the smallest RTT is invalid: the ACK was for the original of a retransmitted packet.
        // The times are compared in microseconds.
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

    /// Mark packets sent from now on as app-limited, until the packets now in flight are delivered.
    pub fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// Whether packets sent now are app-limited.
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
