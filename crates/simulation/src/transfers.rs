//! The tables with one row per transfer and one row per video.

use crate::endpoints::Endpoints;
use crate::plan::{FlowPlan, LinkPlan, Plan};
use crate::table::{Column, Table};
use crate::tally::{Playback, Transfer};
use units::{Duration, Time};

/// One row per transfer, flow by flow.
pub(crate) fn table(plan: &Plan, flows: &[Endpoints]) -> Table {
    let names: Vec<String> = plan.flows.iter().map(|flow| flow.name.clone()).collect();
    let ideals: Vec<Ideal> = plan.flows.iter().map(|flow| Ideal::new(flow, &plan.links)).collect();
    let of_flow = |(n, flow): (u32, &Endpoints)| flow.transfers().into_iter().map(move |t| (n, t));
    let rows: Vec<(u32, Transfer)> = (0u32..).zip(flows).flat_map(of_flow).collect();
    let seconds = |of: &dyn Fn(&Transfer) -> Option<f64>| {
        Column::Float(rows.iter().map(|(_, t)| of(t).unwrap_or(f64::NAN)).collect())
    };
    let int = |of: &dyn Fn(&Transfer) -> u64| Column::Int(rows.iter().map(|(_, t)| of(t) as i64).collect());
    let ideal = rows.iter().map(|(n, t)| ideals[*n as usize].seconds(t.bytes, t.round_trips));
    let completion = |t: &Transfer| t.finish.map(|finish| finish.since(t.start).as_secs_f64());
    let columns = vec![
        ("flow", Column::Label { codes: rows.iter().map(|row| row.0).collect(), names }),
        ("number", int(&|t| t.number.into())),
        ("connection", int(&|t| t.connection.into())),
        ("page", Column::Float(rows.iter().map(|(_, t)| page(t)).collect())),
        ("start_s", seconds(&|t| Some(t.start.as_secs_f64()))),
        ("end_s", seconds(&|t| t.end.map(Time::as_secs_f64))),
        ("bytes", int(&|t| t.bytes)),
        ("delivered_bytes", int(&|t| t.delivered_bytes)),
        ("sent_packets", int(&|t| t.sent_packets)),
        ("retransmitted_packets", int(&|t| t.retransmitted_packets)),
        ("fct_s", seconds(&completion)),
        ("ideal_s", Column::Float(ideal.collect())),
    ];
    Table { columns }
}

/// Its page; NaN if it belongs to none.
fn page(transfer: &Transfer) -> f64 {
    if transfer.page == 0 { f64::NAN } else { transfer.page.into() }
}

/// One row per flow that plays a video.
pub(crate) fn videos(plan: &Plan, flows: &[Endpoints]) -> Table {
    let end = Time::from_nanos(plan.duration_ns);
    let rows: Vec<(&str, Playback)> = plan
        .flows
        .iter()
        .zip(flows)
        .filter_map(|(flow, endpoints)| Some((flow.name.as_str(), endpoints.playback(end)?)))
        .collect();
    let float = |of: &dyn Fn(&Playback) -> f64| Column::Float(rows.iter().map(|(_, row)| of(row)).collect());
    let int =
        |of: &dyn Fn(&Playback) -> u32| Column::Int(rows.iter().map(|(_, row)| of(row).into()).collect());
    let columns = vec![
        ("flow", Column::names(rows.iter().map(|(name, _)| (*name).to_owned()).collect())),
        ("startup_s", float(&|v| v.startup.map_or(f64::NAN, Duration::as_secs_f64))),
        ("played_s", float(&|v| v.played.as_secs_f64())),
        ("stalled_s", float(&|v| v.stalled.as_secs_f64())),
        ("stalls", int(&|v| v.stalls)),
        ("chunks", int(&|v| v.chunks)),
        ("bitrate_bps", float(&|v| v.bitrates_bps as f64 / f64::from(v.chunks))),
        ("switches", int(&|v| v.switches)),
    ];
    Table { columns }
}

/// What the path of a flow can do at best: of everything that changes during a run the better one.
struct Ideal {
    rtt_s: f64,
    /// Seconds per byte at the slowest link that data crosses.
    byte_s: f64,
    mss: u64,
    overhead: u64,
}

impl Ideal {
    fn new(flow: &FlowPlan, links: &[LinkPlan]) -> Ideal {
        let of_route = |route: &[u32]| Leg::of_route(route.iter().map(|&n| &links[n as usize]));
        let forward = flow.reroutes.iter().filter_map(|reroute| reroute.forward.as_deref());
        let reverse = flow.reroutes.iter().filter_map(|reroute| reroute.reverse.as_deref());
        let forward = forward.fold(of_route(&flow.forward), |best, route| best.or(of_route(route)));
        let reverse = reverse.fold(of_route(&flow.reverse), |best, route| best.or(of_route(route)));
        Ideal {
            rtt_s: (forward.delay_ns + reverse.delay_ns) as f64 / 1e9,
            byte_s: 8.0 / forward.rate_bps,
            mss: flow.tcp.mss_bytes.into(),
            overhead: flow.tcp.overhead_bytes.into(),
        }
    }

    /// For so many bytes of payload: so many base round trips, and the time that the data and its headers take.
    fn seconds(&self, bytes: u64, round_trips: u32) -> f64 {
        let wire = bytes + bytes.div_ceil(self.mss) * self.overhead;
        f64::from(round_trips) * self.rtt_s + wire as f64 * self.byte_s
    }
}

/// One way from end to end.
#[derive(Clone, Copy)]
struct Leg {
    delay_ns: u64,
    /// Of the slowest link.
    rate_bps: f64,
}

impl Leg {
    fn of_route<'a>(links: impl Iterator<Item = &'a LinkPlan>) -> Leg {
        let start = Leg { delay_ns: 0, rate_bps: f64::INFINITY };
        links.map(Leg::of_link).fold(start, |sum, link| Leg {
            delay_ns: sum.delay_ns + link.delay_ns,
            rate_bps: sum.rate_bps.min(link.rate_bps),
        })
    }

    fn of_link(link: &LinkPlan) -> Leg {
        let drawn = link.wander.iter().flat_map(|wander| &wander.states);
        let changes: Vec<_> = link.changes.iter().chain(drawn).collect();
        let delays = changes.iter().filter_map(|change| change.delay_ns);
        let rates = changes.iter().filter_map(|change| change.rate_bps);
        let rate = rates.fold(link.rate_bps, |most, rate| most.map(|most| most.max(rate)));
        Leg {
            delay_ns: delays.fold(link.delay_ns, u64::min),
            rate_bps: rate.map_or(f64::INFINITY, |rate| rate as f64),
        }
    }

    /// The better of both in either respect.
    fn or(self, other: Leg) -> Leg {
        Leg { delay_ns: self.delay_ns.min(other.delay_ns), rate_bps: self.rate_bps.max(other.rate_bps) }
    }
}
