//! HyStart as in Linux and in ns-3, and HyStart++ (RFC 9406): rules that end slow start before the window
//! overshoots.

use crate::{Ack, Path};
use units::{Duration, Time};

/// Whether slow start should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Continue slow start.
    NotYet,
    /// End slow start: the present window becomes the slow-start threshold.
    Now,
}

/// RTT growth within a round that indicates a queue: an eighth of the base RTT, but at least 4 ms and at most 16
/// ms. RFC 9406 section 4.2 (RttThresh); Linux `HYSTART_DELAY_THRESH`.
fn delay_threshold(base: Duration) -> Duration {
    (base / 8).clamp(Duration::from_millis(4), Duration::from_millis(16))
}

/// Thresholds at which HyStart ends slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    /// An ACK train of half the base RTT (the whole base RTT if the flow is paced), or RTT growth by an eighth of
    /// the base RTT.
    #[default]
    Linux,
    /// An ACK train of the whole base RTT, or RTT growth by the whole base RTT (ns-3 `TcpCubic::HystartUpdate`).
    Ns3,
}

/// HyStart: ends slow start when the ACK train of a round lasts half the base RTT, or when the smallest of eight RTTs
/// of a round shows a queue (`hystart_update` in `tcp_cubic.c`).
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    rule: Rule,
    found: bool,
    round_start: Time,
    round_end: u64,
    last_ack: Time,
    round_rtt: Option<Duration>,
    samples: u32,
}

impl HyStart {
    pub(crate) fn new(rule: Rule) -> HyStart {
        HyStart { rule, ..HyStart::default() }
    }

    /// Smallest window at which slow start may end, packets.
    /// Linux `hystart_low_window`.
    const LOW_WINDOW: u32 = 16;
    /// RTT samples in a round before HyStart tests the delay.
    /// RFC 9406 section 4.2 (N_RTT_SAMPLE); Linux `HYSTART_MIN_SAMPLES`.
    const MIN_SAMPLES: u32 = 8;
    /// Longest gap between the ACKs of a train.
    /// Linux `hystart_ack_delta_us`.
    const TRAIN_GAP: Duration = Duration::from_millis(2);

    /// Linux `bictcp_hystart_reset`.
    fn start_round(&mut self, now: Time, next: u64) {
        self.round_start = now;
        self.last_ack = now;
        self.round_end = next;
        self.round_rtt = None;
        self.samples = 0;
    }

    /// Restart the detection of the end of slow start after a timeout.
    /// Linux `bictcp_hystart_reset`.
    pub(crate) fn restart(&mut self, path: &Path) {
        self.found = false;
        self.start_round(path.now, path.next);
    }

    /// Process an RTT sample; `base` is the smallest RTT so far. Rounds are counted from the first sample on, even
    /// while the window is below `LOW_WINDOW`, so that the first train tested is complete (Linux since 6.14).
    /// Linux `hystart_update`.
    pub(crate) fn on_rtt(
        &mut self,
        rtt: Duration,
        base: Duration,
        cwnd: u32,
        ack: &Ack,
        path: &Path,
    ) -> Exit {
        if self.found {
            return Exit::NotYet;
        }
        if ack.una > self.round_end {
            self.start_round(path.now, path.next);
        }
        if cwnd < Self::LOW_WINDOW {
            return Exit::NotYet;
        }
        self.found = self.train_is_long(base, path) | self.delay_has_grown(rtt, base);
        if self.found { Exit::Now } else { Exit::NotYet }
    }

    /// Linux `hystart_update`.
    fn train_is_long(&mut self, base: Duration, path: &Path) -> bool {
        if path.now.since(self.last_ack) > Self::TRAIN_GAP {
            return false;
        }
        self.last_ack = path.now;
        let longest = match self.rule {
            Rule::Linux if path.paced => base + burst_allowance(path),
            Rule::Linux => (base + burst_allowance(path)) / 2,
            Rule::Ns3 => base,
        };
        path.now.since(self.round_start) > longest
    }

    /// Linux `hystart_update`.
    fn delay_has_grown(&mut self, rtt: Duration, base: Duration) -> bool {
        let smallest = self.round_rtt.map_or(rtt, |r| r.min(rtt));
        self.round_rtt = Some(smallest);
        if self.samples < Self::MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        smallest > base + self.rule.threshold(base)
    }
}

impl Rule {
    /// RTT growth within a round that indicates a queue.
    fn threshold(self, base: Duration) -> Duration {
        match self {
            Rule::Linux => delay_threshold(base),
            // ns-3 `TcpCubic::HystartDelayThresh`.
            Rule::Ns3 => base.clamp(Duration::from_millis(4), Duration::from_secs(1)),
        }
    }
}

/// Duration of four of the largest bursts, at most 1 ms. It is added to the length allowed for an ACK train,
/// because bursts of the sender make ACK trains longer. Linux `hystart_ack_delay`.
fn burst_allowance(path: &Path) -> Duration {
    path.pacing_rate.time_to_send(4 * u64::from(path.max_burst_bytes)).min(Duration::from_millis(1))
}

/// HyStart++ (RFC 9406 section 4.2): when the delay rises, the window grows at a quarter of the speed for five
/// rounds (conservative slow start, CSS). If the delay falls below its value at the start of CSS, slow start
/// resumes.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStartPlusPlus {
    stopped: bool,
    round_end: u64,
    last_round_rtt: Option<Duration>,
    round_rtt: Option<Duration>,
    samples: u32,
    css_baseline: Option<Duration>,
    css_rounds: u32,
    css_credit: u32,
}

impl HyStartPlusPlus {
    /// RFC 9406 section 4.2 (N_RTT_SAMPLE); Linux `HYSTART_MIN_SAMPLES`.
    const MIN_SAMPLES: u32 = 8;
    /// Divisor of growth in conservative slow start.
    /// RFC 9406 section 4.3.
    const CSS_GROWTH_DIVISOR: u32 = 4;
    /// Rounds of conservative slow start.
    /// RFC 9406 section 4.3.
    const CSS_ROUNDS: u32 = 5;
    /// Maximum number of packets that one ACK adds to the window of a sender without pacing.
    /// RFC 9406 section 4.3 (L).
    const UNPACED_LIMIT: u32 = 8;

    /// Disable HyStart++ permanently, because congestion has ended the first slow start.
    /// RFC 9406 section 4.2.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Process an ACK in slow start. Return by how many packets HyStart grows the window on this ACK, and whether slow
    /// start ends. RFC 9406 section 4.2.
    pub(crate) fn on_ack(&mut self, ack: &Ack, path: &Path) -> (u32, Exit) {
        if self.stopped {
            return (ack.acked, Exit::NotYet);
        }
        if let Some(rtt) = ack.rtt {
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |r| r.min(rtt)));
            self.samples += 1;
        }
        self.judge_delay();
        let credit = self.credit(ack.acked, path.paced);
        let exit = if ack.una >= self.round_end { self.end_round(path.next) } else { Exit::NotYet };
        (credit, exit)
    }

    /// RFC 9406 section 4.2.
    fn judge_delay(&mut self) {
        let (Some(current), true) = (self.round_rtt, self.samples >= Self::MIN_SAMPLES) else { return };
        match (self.css_baseline, self.last_round_rtt) {
            (Some(baseline), _) if current < baseline => self.css_baseline = None, // the RTT growth was not a queue
            (None, Some(last)) if current >= last + delay_threshold(last) => {
                self.css_baseline = Some(current);
                self.css_rounds = 0;
            }
            _ => {}
        }
    }

    /// RFC 9406 section 4.2.
    fn credit(&mut self, acked: u32, paced: bool) -> u32 {
        let acked = if paced { acked } else { acked.min(Self::UNPACED_LIMIT) };
        if self.css_baseline.is_none() {
            return acked;
        }
        self.css_credit += acked;
        let credit = self.css_credit / Self::CSS_GROWTH_DIVISOR;
        self.css_credit %= Self::CSS_GROWTH_DIVISOR;
        credit
    }

    /// RFC 9406 section 4.2.
    fn end_round(&mut self, next: u64) -> Exit {
        self.round_end = next;
        self.last_round_rtt = self.round_rtt.take();
        self.samples = 0;
        if self.css_baseline.is_some() {
            self.css_rounds += 1;
            if self.css_rounds >= Self::CSS_ROUNDS {
                self.stopped = true;
                return Exit::Now;
            }
        }
        Exit::NotYet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_ns3_a_queue_is_a_whole_rtt_and_at_most_a_second() {
        let [linux, ns3] = [Rule::Linux, Rule::Ns3].map(|rule| {
            [2, 40, 2_000].map(|base| rule.threshold(Duration::from_millis(base)).as_nanos() / 1_000_000)
        });
        assert_eq!(linux, [4, 5, 16]);
        assert_eq!(ns3, [4, 40, 1_000]);
    }
}
