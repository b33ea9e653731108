//! Runs of an element with a script, and logs of the element's actions.

use super::script::Script;
use crate::{Counters, Element, Packet, PortId, SamplingTimes};
use units::{Duration, Rng, Time};

/// Payload of packets: their index in the script.
pub type Tag = u32;

/// A packet at the far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Time of the delivery.
    pub at: Time,
    /// Port at which the packet was delivered.
    pub port: PortId,
    /// The packet.
    pub packet: Packet<Tag>,
}

/// Actions of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Packets that the element delivered, in order.
    pub deliveries: Vec<Delivery>,
    /// Times at which the counters were read, and the counters of each port.
    pub intervals: Vec<(Time, Vec<Counters>)>,
    /// Sums of the counters at the end, by port.
    pub totals: Vec<Counters>,
    /// Time of the wake-up that the element requests at the end.
    pub next: Time,
}

/// The times at which an element is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The element is called only when it is due. At equal times the calls come before packets arrive.
    WhenDue,
    /// The element is also called at random times, drawn from the seed. At equal times the additional calls come after
    /// packets have arrived.
    Often,
}

/// Number of successive calls at one time after which the element is assumed never to stop requesting wake-ups at that
/// time.
const MOST_TURNS: usize = 10_000;

/// Sampling times for a script. The sampling times are frequent, and continue until long after the last arrival.
pub(super) fn sampling(script: &Script) -> SamplingTimes {
    let interval = Duration::from_nanos(script.end().as_nanos() / 16 + 12_345);
    SamplingTimes::new(Some(interval), Time::ZERO, script.end() + Duration::from_secs(1).max(interval))
}

/// Run an element until the end of `sampling`.
///
/// # Errors
/// If the element never stops requesting wake-ups at the current time.
pub(super) fn run(
    element: &mut dyn Element<Tag>,
    script: &Script,
    sampling: SamplingTimes,
    manner: Manner,
) -> Result<Log, String> {
    let (mut log, mut turns) = (Log::default(), 0);
    let mut arrivals = script.arrivals.iter().peekable();
    let mut calls = ExtraCalls::new(script, manner);
    let mut sample = sampling.after(Time::ZERO);
    let mut now = Time::ZERO;
    while sample != Time::NEVER {
        let put = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.at);
        let (due, before) = (element.next().max(now), now);
        let put_first = put < due || put == due && manner == Manner::Often;
        if put_first && put <= sample.min(calls.next) {
            now = put;
            let Some(arrival) = arrivals.next() else { break };
            element.put(PortId(arrival.port.0 % element.ports() as u16), &arrival.packet, now);
        } else if due <= sample.min(calls.next) {
            now = due;
            let taken = element.take(now).map(|(port, packet)| Delivery { at: now, port, packet });
            log.deliveries.extend(taken);
        } else if calls.next <= sample {
            now = calls.next;
            let taken = element.take(now).map(|(port, packet)| Delivery { at: now, port, packet });
            log.deliveries.extend(taken);
            calls.advance();
        } else {
            now = sample;
            let ports = (0..element.ports()).map(|port| PortId(port as u16));
            log.intervals.push((now, ports.map(|port| element.close_interval(port, now)).collect()));
            sample = sampling.after(sample);
        }
        turns = if now == before { turns + 1 } else { 0 };
        if turns > MOST_TURNS + script.arrivals.len() {
            return Err(format!("wake-ups at {} ns do not end", now.as_nanos()));
        }
    }
    log.totals = (0..element.ports()).map(|port| element.totals(PortId(port as u16)).run).collect();
    log.next = element.next();
    Ok(log)
}

/// Random times at which an element is called although it is not due.
struct ExtraCalls {
    next: Time,
    mean_ns: u64,
    /// Time of the last arrival. After this time, extra calls become rarer.
    last: Time,
    rng: Rng,
}

impl ExtraCalls {
    fn new(script: &Script, manner: Manner) -> ExtraCalls {
        let mean_ns = script.end().as_nanos() / (4 * script.arrivals.len().max(1) as u64) + 1;
        let rng = Rng::stream(script.seed, "kit/calls");
        let mut calls = ExtraCalls { next: Time::ZERO, mean_ns, last: script.end(), rng };
        match manner {
            Manner::WhenDue => calls.next = Time::NEVER,
            Manner::Often => calls.advance(),
        }
        calls
    }

    /// Draw the time of the next extra call.
    fn advance(&mut self) {
        let gap = self.rng.next_u64() % (2 * self.mean_ns) + self.next.since(self.last).as_nanos() / 8;
        self.next += Duration::from_nanos(gap);
    }
}
