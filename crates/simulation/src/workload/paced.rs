//! An application that hands the data of its one connection out at its own pace.

use super::supply::{Socket, Supply};
use crate::plan::FlowPlan;
use units::{Duration, Time};

/// Hands data out packet by packet, at a rate that changes at given times.
#[derive(Debug)]
pub struct Paced {
    /// Times and rates in bits per second (0: nothing, `None`: without limit), last first.
    later: Vec<(Time, Option<u64>)>,
    /// Payload of a full segment.
    mss: u32,
    interval: Duration,
    next_write: Time,
    /// Bytes handed out so far; `None`: without limit.
    offered: Option<u64>,
}

impl Paced {
    /// The application of a flow; none if it hands out everything at once.
    pub fn new(plan: &FlowPlan) -> Option<Paced> {
        let phases = plan.application.iter().rev();
        let later: Vec<_> = phases.map(|pace| (Time::from_nanos(pace.at_ns), pace.rate_bps)).collect();
        (!later.is_empty()).then_some(Paced {
            later,
            mss: plan.tcp.mss_bytes,
            interval: Duration::ZERO,
            next_write: Time::NEVER,
            offered: None,
        })
    }

    fn change_pace(&mut self, at: Time, rate: Option<u64>, sent: u64) {
        self.next_write = Time::NEVER;
        match rate {
            None => self.offered = None,
            Some(rate) => {
                // What was left of a limitless supply is taken back.
                self.offered = Some(self.offered.map_or(sent, |bytes| bytes.max(sent)));
                if let Some(nanos) = (u64::from(self.mss) * 8_000_000_000).checked_div(rate) {
                    self.next_write = at;
                    self.interval = Duration::from_nanos(nanos.max(1));
                }
            }
        }
    }
}

impl Supply for Paced {
    fn next(&self) -> Time {
        self.later.last().map_or(Time::NEVER, |phase| phase.0).min(self.next_write)
    }

    fn run(&mut self, now: Time, socket: Socket) -> Option<u64> {
        while let Some(&(at, rate)) = self.later.last().filter(|phase| phase.0 <= now) {
            self.later.pop();
            self.change_pace(at.max(now), rate, socket.sent_bytes);
        }
        while self.next_write <= now {
            self.offered = self.offered.map(|bytes| bytes + u64::from(self.mss));
            self.next_write += self.interval;
        }
        self.offered
    }
}
