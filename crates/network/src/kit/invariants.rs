//! Invariants that every element keeps for any arrivals.

use super::run::{Log, Manner, Tag, run, sampling};
use super::script::Script;
use crate::{Counters, Element, PortId, SamplingTimes};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use units::{Duration, Rate, Time};

/// Observations of an element that was run with a script.
pub struct Evidence<'a> {
    /// Arrivals at the element.
    pub script: &'a Script,
    /// Number of ports of the element.
    pub ports: usize,
    /// Capacity that the element reported at the beginning.
    pub capacity: Rate,
    /// Number of ports that may transmit at the same time.
    pub at_once: usize,
    /// Minimum delay that the element reported at the beginning.
    pub min_delay: Duration,
    /// Whether the element reported at the beginning that it keeps the order of packets.
    pub keeps_order: bool,
    /// Log of an element that was called only when due.
    pub log: Log,
    /// Log of a second element with the same seed, called at the same times.
    pub again: Log,
    /// Log of a third element with the same seed, called also at other times.
    pub often: Log,
}

/// A property that holds after every script.
pub struct Invariant {
    /// The property as a sentence.
    pub name: &'static str,
    /// Check the property; the error describes the violation.
    pub check: fn(&Evidence<'_>) -> Result<(), String>,
}

/// An invariant that an element has violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Name of the invariant.
    pub invariant: &'static str,
    /// Description of the violation.
    pub problem: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.problem)
    }
}

impl std::error::Error for Broken {}

/// An element violates this invariant if it never stops requesting wake-ups at the current time.
const RESTS: &str = "wake-ups at one time come to an end";

/// All invariants. The absence of panics is not listed, as a panic fails the test in any case.
pub const INVARIANTS: &[Invariant] = &[
    Invariant { name: RESTS, check: |_| Ok(()) },
    Invariant { name: "same arrivals and seed, same outcome", check: twins },
    Invariant { name: "extra calls change nothing", check: lazy },
    Invariant {
        name: "only packets put in come out, at their port, once unless counted as duplicated",
        check: origin,
    },
    Invariant {
        name: "arrived + duplicated = dropped + waiting + travelling + lost + forwarded",
        check: conserved,
    },
    Invariant { name: "counters agree with arrivals and deliveries", check: counted },
    Invariant { name: "an element that needs no wake-up holds no packet", check: empty },
    Invariant { name: "a stream keeps its order", check: order },
    Invariant { name: "no packet is faster than the minimum delay", check: delay },
    Invariant { name: "throughput does not exceed the capacity", check: capacity },
];

/// Run new elements with a script and check every invariant. `make` creates an element with the given sampling times,
/// always with the same seed.
///
/// # Errors
/// The first invariant that is violated.
pub fn judge(make: &dyn Fn(SamplingTimes) -> Box<dyn Element<Tag>>, script: &Script) -> Result<(), Broken> {
    let times = sampling(script);
    let play = |manner| {
        run(&mut *make(times), script, times, manner).map_err(|problem| Broken { invariant: RESTS, problem })
    };
    let element = make(times);
    let evidence = Evidence {
        script,
        ports: element.ports(),
        capacity: element.capacity(),
        at_once: element.at_once(),
        min_delay: element.min_delay(),
        keeps_order: element.keeps_order(),
        log: play(Manner::WhenDue)?,
        again: play(Manner::WhenDue)?,
        often: play(Manner::Often)?,
    };
    INVARIANTS.iter().try_for_each(|Invariant { name, check }| {
        check(&evidence).map_err(|problem| Broken { invariant: name, problem })
    })
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

/// Return the first difference between two logs.
fn same(one: &Log, other: &Log) -> Result<(), String> {
    let pairs = || one.deliveries.iter().zip(&other.deliveries);
    if let Some((a, b)) = pairs().find(|(a, b)| a != b) {
        return Err(format!("{a:?} and {b:?}"));
    }
    let counts = [one, other].map(|log| log.deliveries.len());
    ensure(counts[0] == counts[1], || format!("{} and {} packets", counts[0], counts[1]))?;
    let differ = one.intervals.iter().zip(&other.intervals).find(|(a, b)| a != b);
    differ.map_or(Ok(()), |(a, b)| Err(format!("counters {a:?} and {b:?}")))?;
    ensure(one.totals == other.totals, || format!("totals {:?} and {:?}", one.totals, other.totals))
}

fn twins(evidence: &Evidence<'_>) -> Result<(), String> {
    same(&evidence.log, &evidence.again)
}

fn lazy(evidence: &Evidence<'_>) -> Result<(), String> {
    same(&evidence.log, &evidence.often)
}

impl Evidence<'_> {
    /// The port at which a packet of the script arrived.
    fn port_of(&self, number: Tag) -> Option<PortId> {
        let arrival = self.script.arrivals.get(number as usize)?;
        Some(PortId(arrival.port.0 % self.ports as u16))
    }

    /// Packets and bytes that arrived at a port, and packets and bytes that left it, up to a time.
    fn seen(&self, port: PortId, until: Time) -> [(u64, u64); 2] {
        let sum = |sizes: &mut dyn Iterator<Item = u16>| {
            sizes.fold((0, 0), |(packets, bytes), size| (packets + 1, bytes + u64::from(size)))
        };
        let arrivals = self.script.arrivals.iter().filter(|a| a.at <= until);
        let came = arrivals.filter(|a| a.port.0 % self.ports as u16 == port.0).map(|a| a.packet.size);
        let gone = self.log.deliveries.iter().filter(|d| d.at <= until && d.port == port);
        [sum(&mut { came }), sum(&mut gone.map(|d| d.packet.size))]
    }

    /// Cumulative counters of every port at every sampling time.
    fn sums(&self) -> Vec<(PortId, Time, Counters)> {
        let mut sums = vec![Counters::default(); self.ports];
        let mut all = Vec::new();
        for (at, interval) in &self.log.intervals {
            for (port, counters) in interval.iter().enumerate() {
                sums[port] += *counters;
                all.push((PortId(port as u16), *at, sums[port]));
            }
        }
        all
    }
}

fn origin(evidence: &Evidence<'_>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut copies = vec![0; evidence.ports];
    for delivery in &evidence.log.deliveries {
        let number = delivery.packet.payload;
        let port = evidence.port_of(number);
        ensure(port == Some(delivery.port), || format!("{delivery:?} arrived at {port:?}"))?;
        let sent = evidence.script.arrivals[number as usize].packet;
        ensure(sent.size == delivery.packet.size, || format!("{delivery:?} had {} bytes", sent.size))?;
        copies[usize::from(delivery.port.0)] += u64::from(!seen.insert(number));
    }
    let counted: Vec<u64> = evidence.log.totals.iter().map(|totals| totals.duplicated_packets).collect();
    ensure(copies.iter().zip(&counted).all(|(seen, counted)| seen <= counted), || {
        format!("{copies:?} copies by port, of which {counted:?} were counted")
    })
}

fn counted(evidence: &Evidence<'_>) -> Result<(), String> {
    for (port, at, sum) in evidence.sums() {
        let [came, gone] = evidence.seen(port, at);
        let counted =
            [(sum.arrived_packets, sum.arrived_bytes), (sum.forwarded_packets, sum.forwarded_bytes)];
        ensure(counted == [came, gone], || {
            format!(
                "up to {} ns {came:?} arrived at {port:?} and {gone:?} left, counted: {counted:?}",
                at.as_nanos()
            )
        })?;
    }
    let last = evidence.sums().into_iter().rev().take(evidence.ports).map(|(.., sum)| sum);
    ensure(last.eq(evidence.log.totals.iter().rev().copied()), || {
        "totals are not the sums of intervals".to_owned()
    })
}

/// Number of packets that wait, and number of packets in transmission or on the wire. A value is negative if a packet
/// was counted twice or too early.
fn held(sum: &Counters) -> [i128; 2] {
    let [arrived, dropped, started, copied, lost, forwarded] = [
        sum.arrived_packets,
        sum.dropped_packets,
        sum.started_packets,
        sum.duplicated_packets,
        sum.lost_packets,
        sum.forwarded_packets,
    ]
    .map(i128::from);
    [arrived - dropped - started, started + copied - lost - forwarded]
}

fn conserved(evidence: &Evidence<'_>) -> Result<(), String> {
    for (port, at, sum) in evidence.sums() {
        let [waiting, travelling] = held(&sum);
        ensure(waiting >= 0 && travelling >= 0, || {
            format!("at {} ns {waiting} wait and {travelling} travel by {port:?}: {sum:?}", at.as_nanos())
        })?;
    }
    Ok(())
}

fn empty(evidence: &Evidence<'_>) -> Result<(), String> {
    let held: i128 = evidence.log.totals.iter().flat_map(held).sum();
    ensure(evidence.log.next < Time::NEVER || held == 0, || {
        format!("{held} packets are left, but the element requests no wake-up")
    })
}

fn order(evidence: &Evidence<'_>) -> Result<(), String> {
    if !evidence.keeps_order {
        return Ok(());
    }
    let mut last = BTreeMap::new();
    for delivery in &evidence.log.deliveries {
        let before = last.insert((delivery.port, delivery.packet.stream), delivery.packet.payload);
        ensure(before.is_none_or(|before| before <= delivery.packet.payload), || {
            format!("{delivery:?} was delivered after packet {before:?}")
        })?;
    }
    Ok(())
}

fn delay(evidence: &Evidence<'_>) -> Result<(), String> {
    for delivery in &evidence.log.deliveries {
        let sent = evidence.script.arrivals[delivery.packet.payload as usize].at;
        ensure(sent + evidence.min_delay <= delivery.at, || {
            format!("{delivery:?} arrived at {} ns", sent.as_nanos())
        })?;
    }
    Ok(())
}

/// Compare two amounts with the capacity: bytes delivered since the first arrival, and bytes started in any interval.
/// Each interval leaves out one packet for each port that may transmit at the same time, because its transmission may end
/// after the interval. Ends of transmissions are rounded down to whole nanoseconds.
fn capacity(evidence: &Evidence<'_>) -> Result<(), String> {
    let rate = evidence.capacity;
    let Some(first) = evidence.script.arrivals.first().filter(|_| rate != Rate::UNLIMITED) else {
        return Ok(());
    };
    let fits = |bytes: u64, span: Duration| {
        u128::from(bytes) * 8_000_000_000 <= u128::from(span.as_nanos() + 1) * u128::from(rate.bits_per_sec())
    };
    let (mut bytes, mut seen) = (0, BTreeSet::new());
    for delivery in evidence.log.deliveries.iter().filter(|d| seen.insert(d.packet.payload)) {
        bytes += u64::from(delivery.packet.size);
        let span = delivery.at.since(first.at).saturating_sub(evidence.min_delay);
        ensure(fits(bytes, span), || format!("{bytes} bytes in {} ns", span.as_nanos()))?;
    }
    let largest = evidence.script.arrivals.iter().map(|arrival| u64::from(arrival.packet.size)).max();
    let last = largest.unwrap_or(0) * evidence.at_once as u64;
    let mut from = Time::ZERO;
    for (at, interval) in &evidence.log.intervals {
        let begun: u64 = interval.iter().map(|counters| counters.started_bytes).sum();
        let span = at.since(from);
        ensure(fits(begun.saturating_sub(last), span), || {
            format!("{begun} bytes started in {} ns", span.as_nanos())
        })?;
        from = *at;
    }
    Ok(())
}
