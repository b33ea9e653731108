//! The table `transfers`: one row per transfer.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::hosts::{Endpoints, Transfer};
use crate::plan::{HopRef, LinkPlan, Plan};
use units::{Duration, Time};

table! {
    /// A transfer.
    pub struct TransferRow, one row per "transfer of a workload or flow of a given size, those that began during the warm-up included" {
    /// name of its flow
        flow: FlowName, "";
        /// number from 1, in the order in which the flow's transfers began
        number: u32, "1";
        /// number of its connection from 1, in the order in which the flow opened them
        connection: u32, "1";
        /// number of its web page, from 1; null without pages
        page: Option<u64>, "1";
        /// start time: when the connection was opened, or the request sent
        start_s: Time, "s";
        /// time at which it was complete or given up, or the end of the run
        end_s: Option<Time>, "s";
        /// payload to transfer
        bytes: u64, "bytes";
        /// its payload delivered in order; for a flow of a given size, this and the next two columns also count packets
        /// after its stop
        delivered_bytes: u64, "bytes";
        /// data packets sent for it, retransmissions included
        sent_packets: u64, "packets";
        /// data packets retransmitted
        retransmitted_packets: u64, "packets";
        /// completion time, from start to end; null if it did not finish
        fct_s: Option<Duration>, "s";
        /// lower bound of the completion time: its least round trips on an unloaded path, plus the transmission time
        /// of its data with all headers at the slowest link
        ideal_s: f64, "s";
    }
}

impl Made for TransferRow {
    /// Rows in the order of flows.
    fn rows(run: &mut Finished<'_>) -> Rows<TransferRow> {
        let of_flow = |(n, flow): (u32, &Endpoints)| {
            let ideal = Ideal::new(n, run.plan);
            flow.transfers().iter().map(|transfer| row(n, transfer, &ideal)).collect::<Vec<_>>()
        };
        (0u32..).zip(run.flows).flat_map(of_flow).collect()
    }
}

fn row(flow: u32, transfer: &Transfer, ideal: &Ideal) -> TransferRow {
    TransferRow {
        flow: FlowName(flow),
        number: transfer.number,
        connection: transfer.connection,
        page: (transfer.page > 0).then_some(transfer.page.into()),
        start_s: transfer.start,
        end_s: transfer.end,
        bytes: transfer.bytes,
        delivered_bytes: transfer.delivered_bytes,
        sent_packets: transfer.sent_packets,
        retransmitted_packets: transfer.retransmitted_packets,
        fct_s: transfer.finish.map(|finish| finish.since(transfer.start)),
        ideal_s: ideal.seconds(transfer.bytes, transfer.round_trips),
    }
}

/// Best path of a flow. Each link has the lowest delay and the highest rate that it has at any time of the run.
struct Ideal {
    rtt_s: f64,
    /// Seconds per byte at the slowest hop of the data.
    byte_s: f64,
    mss: u64,
    overhead: u64,
}

impl Ideal {
    fn new(number: u32, plan: &Plan) -> Ideal {
        let flow = &plan.flows[number as usize];
        let of_route = |route: &[u32]| Leg::of_route(route.iter().filter_map(|&n| plan.hop(n as usize)));
        let controlled = plan.choices_of(number).map(|way| (&way.forward, &way.reverse));
        let later =
            flow.reroutes.iter().map(|reroute| (&reroute.forward, &reroute.reverse)).chain(controlled);
        let forward = later.clone().filter_map(|(forward, _)| forward.as_deref());
        let reverse = later.filter_map(|(_, reverse)| reverse.as_deref());
        let forward = forward.fold(of_route(&flow.forward), |best, route| best.or(of_route(route)));
        let reverse = reverse.fold(of_route(&flow.reverse), |best, route| best.or(of_route(route)));
        Ideal {
            rtt_s: (forward.delay_ns + reverse.delay_ns) as f64 / 1e9,
            byte_s: 8.0 / forward.rate_bps,
            mss: flow.tcp.mss.into(),
            overhead: flow.tcp.overhead_bytes().into(),
        }
    }

    /// Least completion time: base round trips, plus the transmission time of the data and their headers.
    fn seconds(&self, bytes: u64, round_trips: u32) -> f64 {
        let wire = bytes + bytes.div_ceil(self.mss) * self.overhead;
        f64::from(round_trips) * self.rtt_s + wire as f64 * self.byte_s
    }
}

/// A route from end to end.
#[derive(Clone, Copy)]
struct Leg {
    delay_ns: u64,
    /// Rate of the slowest hop.
    rate_bps: f64,
}

impl Leg {
    fn of_route<'a>(hops: impl Iterator<Item = HopRef<'a>>) -> Leg {
        let start = Leg { delay_ns: 0, rate_bps: f64::INFINITY };
        hops.map(Leg::of_hop).fold(start, |sum, hop| Leg {
            delay_ns: sum.delay_ns + hop.delay_ns,
            rate_bps: sum.rate_bps.min(hop.rate_bps),
        })
    }

    /// Lowest delay and highest rate of a hop. For a medium, delay and rate apply to a packet whose turn has already
    /// been requested, while no other port has a turn.
    fn of_hop(hop: HopRef<'_>) -> Leg {
        match hop {
            HopRef::Link(link) => Leg::of_link(link),
            HopRef::Port(medium, _) => {
                let (delay, rate) = medium.bounds();
                Leg { delay_ns: delay.as_nanos(), rate_bps: rate.bits_per_sec() as f64 }
            }
        }
    }

    fn of_link(link: &LinkPlan) -> Leg {
        let drawn = link.markov_channel.iter().flat_map(|channel| &channel.states);
        let changes: Vec<_> = link.changes.iter().chain(drawn).collect();
        let delays = changes.iter().filter_map(|change| change.delay_ns);
        let rates = changes.iter().filter_map(|change| change.rate_bps);
        let rate = rates.fold(link.rate_bps, |most, rate| most.map(|most| most.max(rate)));
        Leg {
            delay_ns: delays.fold(link.delay_ns, u64::min),
            rate_bps: rate.map_or(f64::INFINITY, |rate| rate as f64),
        }
    }

    /// The lower delay and the higher rate of two routes.
    fn or(self, other: Leg) -> Leg {
        Leg { delay_ns: self.delay_ns.min(other.delay_ns), rate_bps: self.rate_bps.max(other.rate_bps) }
    }
}
