//! Elements with one fault each. The kit must find the fault.

use super::*;
use network::kit::INVARIANTS;
use network::{Counters, Drops, Packet, PortId, Totals};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fault of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Never stops requesting wake-ups at the current time.
    NeverRests,
    /// Loses packets at random, differently in each instance.
    Chance,
    /// Loses a packet at every seventh call.
    CountsCalls,
    /// Delivers packets at another port.
    OtherPort,
    /// Delivers every packet twice.
    Twice,
    /// Loses every fifth packet without counting it.
    LosesUncounted,
    /// Counts more packets than the element has transmitted.
    CountsTwice,
    /// Requests no wake-up for the last packet.
    Sleeps,
    /// Reorders packets, but the element reports that it keeps their order.
    Reorders,
    /// Is faster than the minimum delay that it reports.
    Early,
    /// Transmits faster than the capacity that it reports.
    TooFast,
}

/// Two links that behave as one element with two ports, except for a fault.
struct Faulty {
    fault: Fault,
    links: [Link<Tag>; 2],
    calls: u64,
    taken: u64,
    /// Next packet to be delivered.
    held: Option<(PortId, Packet<Tag>)>,
}

/// Number of elements that have been created with the fault `Chance`.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Faulty {
    fn new(fault: Fault, sampling: SamplingTimes) -> Faulty {
        let reordering = alone("reordering", &json!({ "every": 3, "extra_ns": 3_000_000 }));
        let impairments = if fault == Fault::Reorders { reordering } else { Impairments::default() };
        let config = LinkConfig { loss: None, ..config(sampling, impairments) };
        let links = [0, 1].map(|_| Link::replaying(config.clone(), tight("drop_tail")));
        let calls = if fault == Fault::Chance { MADE.fetch_add(1, Ordering::Relaxed) } else { 0 };
        Faulty { fault, links, calls, taken: 0, held: None }
    }

    fn take_due(&mut self, now: Time) -> Option<(PortId, Packet<Tag>)> {
        let due = (0..2).find(|&n| self.links[n].next_arrival() <= now)?;
        self.links[due].take(now).map(|packet| (PortId(due as u16), *packet))
    }
}

impl Element<Tag> for Faulty {
    fn ports(&self) -> usize {
        2
    }

    fn put(&mut self, port: PortId, packet: &Packet<Tag>, now: Time) {
        self.links[usize::from(port.0)].send(*packet, now);
    }

    fn next(&self) -> Time {
        let next = self.links[0].next_arrival().min(self.links[1].next_arrival());
        match self.fault {
            Fault::NeverRests => Time::ZERO,
            Fault::Sleeps if self.taken >= 5 => Time::NEVER,
            Fault::Twice if self.held.is_some() => Time::ZERO,
            _ => next,
        }
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<Tag>)> {
        self.calls += 1;
        if self.fault == Fault::Sleeps && self.taken >= 5 {
            return None;
        }
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        let (port, packet) = self.take_due(now)?;
        self.taken += 1;
        match self.fault {
            Fault::Chance if self.calls % 2 == 0 => None,
            Fault::CountsCalls if self.calls % 7 == 0 => None,
            Fault::LosesUncounted if self.taken % 5 == 0 => None,
            Fault::OtherPort => Some((PortId(1 - port.0), packet)),
            Fault::Twice => {
                self.held = Some((port, packet));
                Some((port, packet))
            }
            _ => Some((port, packet)),
        }
    }

    fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
        let mut counters = self.links[usize::from(port.0)].close_interval(now);
        if self.fault == Fault::CountsTwice {
            counters.started_packets *= 2;
        }
        counters
    }

    fn totals(&self, port: PortId) -> &Totals {
        self.links[usize::from(port.0)].totals()
    }

    fn count_drops(&mut self, drops: &Arc<Drops<Tag>>) {
        self.links.iter_mut().for_each(|link| link.count_drops(drops));
    }

    fn min_delay(&self) -> Duration {
        if self.fault == Fault::Early { ms(5) } else { ms(3) }
    }

    fn capacity(&self) -> Rate {
        Rate::from_bits_per_sec(if self.fault == Fault::TooFast { BITS } else { 2 * BITS })
    }
}

/// Packets in bursts on both ports. With this script every fault has an effect.
fn script() -> Script {
    let bytes = (0..200u8).flat_map(|n| [if n % 8 == 0 { 170 } else { 0 }, n, n.wrapping_mul(37)]);
    Script::from_bytes(&bytes.collect::<Vec<_>>())
}

/// Name of the invariant that an element with this fault breaks.
fn broken(fault: Fault) -> Option<&'static str> {
    judge(&|sampling| Box::new(Faulty::new(fault, sampling)), &script()).err().map(|broken| broken.invariant)
}

const FAULTS: [(Fault, &str); 11] = [
    (Fault::NeverRests, "wake-ups at one time come to an end"),
    (Fault::Chance, "same arrivals and seed, same outcome"),
    (Fault::CountsCalls, "extra calls change nothing"),
    (Fault::OtherPort, "only packets put in come out, at their port, once unless counted as duplicated"),
    (Fault::Twice, "only packets put in come out, at their port, once unless counted as duplicated"),
    (Fault::LosesUncounted, "counters agree with arrivals and deliveries"),
    (Fault::CountsTwice, "arrived + duplicated = dropped + waiting + travelling + lost + forwarded"),
    (Fault::Sleeps, "an element that needs no wake-up holds no packet"),
    (Fault::Reorders, "a stream keeps its order"),
    (Fault::Early, "no packet is faster than the minimum delay"),
    (Fault::TooFast, "throughput does not exceed the capacity"),
];

#[test]
fn an_element_without_a_fault_conforms() {
    assert_eq!(broken(Fault::Nothing), None);
}

#[test]
fn each_fault_breaks_its_invariant() {
    for (fault, invariant) in FAULTS {
        assert_eq!(broken(fault), Some(invariant), "{fault:?}");
    }
}

#[test]
fn each_invariant_catches_a_fault() {
    let caught: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.1).collect();
    assert_eq!(caught, INVARIANTS.iter().map(|invariant| invariant.name).collect());
}
