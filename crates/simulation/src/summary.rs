//! The tables with one row per flow and one row per hop: link, or port of a medium.

use crate::endpoints::Endpoints;
use crate::net::Net;
use crate::payload::Payload;
use crate::plan::{FlowPlan, Plan};
use crate::table::{Column, Table};
use crate::tally::{Mark, OneWay, Tally};
use network::{Counters, Totals};
use tcp::Limited;
use units::{Duration, Time};

/// What a flow did while it was measured.
struct Measured<'a> {
    tally: &'a Tally,
    /// Counters at both ends; none if the flow was over before, or never started.
    marks: Option<(Mark, Mark)>,
}

impl Measured<'_> {
    fn new(flow: &Endpoints) -> Measured<'_> {
        let tally = flow.tally();
        Measured { tally, marks: tally.begin.zip(tally.end) }
    }

    fn count(&self, of: impl Fn(&Mark) -> u64) -> i64 {
        self.marks.map_or(0, |(begin, end)| (of(&end) - of(&begin)) as i64)
    }

    /// Per second of the measured span; NaN if there is none.
    fn rate(&self, amount: f64) -> f64 {
        self.marks.map_or(f64::NAN, |(begin, end)| {
            let span = end.time.since(begin.time);
            if span == Duration::ZERO { f64::NAN } else { amount / span.as_secs_f64() }
        })
    }

    /// A share of the time of all connections; NaN if there was none.
    fn limited(&self, of: impl Fn(&Limited) -> Duration) -> f64 {
        self.marks.map_or(f64::NAN, |(begin, end)| {
            let span = |of: &dyn Fn(&Limited) -> Duration| {
                of(&end.limited).saturating_sub(of(&begin.limited)).as_secs_f64()
            };
            span(&of) / span(&Limited::total)
        })
    }

    /// Something of the way to the receiver; NaN where that is not measured.
    fn one_way(&self, of: impl Fn(&OneWay) -> f64) -> f64 {
        self.tally.one_way.as_deref().map_or(f64::NAN, of)
    }
}

/// One row per flow.
pub(crate) fn flows(plan: &Plan, flows: &[Endpoints]) -> Table {
    let rows: Vec<Measured<'_>> = flows.iter().map(Measured::new).collect();
    let float = |of: &dyn Fn(&Measured<'_>) -> f64| Column::Float(rows.iter().map(of).collect());
    let int = |of: &dyn Fn(&Measured<'_>) -> i64| Column::Int(rows.iter().map(of).collect());
    let text = |of: &dyn Fn(&FlowPlan) -> String| Column::names(plan.flows.iter().map(of).collect());
    let delivered = |m: &Measured<'_>| m.count(|mark| mark.delivered_bytes);
    let completion = |m: &Measured<'_>| {
        m.tally.finish.map_or(f64::NAN, |finish| finish.since(m.tally.start).as_secs_f64())
    };
    let columns = vec![
        ("flow", text(&|f| f.name.clone())),
        ("cca", Column::known_names(plan.flows.iter().map(|f| f.algorithm().to_owned()).collect())),
        ("protocol", text(&|f| f.protocol().to_owned())),
        ("start_s", float(&|m| m.tally.start.as_secs_f64())),
        ("end_s", float(&|m| m.tally.end.map_or(f64::NAN, |end| end.time.as_secs_f64()))),
        ("delivered_bytes", int(&delivered)),
        ("goodput_bps", float(&|m| m.rate(8.0 * delivered(m) as f64))),
        ("wire_bps", float(&|m| m.rate(8.0 * m.count(|mark| mark.wire_bytes) as f64))),
        ("sent_packets", int(&|m| m.count(|mark| mark.stats.sent_packets))),
        ("retransmitted_packets", int(&|m| m.count(|mark| mark.stats.retransmitted_packets))),
        ("lost_packets", int(&|m| m.count(|mark| mark.stats.lost_packets))),
        ("marked_packets", int(&|m| m.count(|mark| mark.stats.marked_packets))),
        ("refused_bytes", int(&|m| m.count(|mark| mark.refused_bytes))),
        ("rtt_min_s", float(&|m| m.tally.rtt.min_s())),
        ("rtt_mean_s", float(&|m| m.tally.rtt.mean_s())),
        ("rtt_p50_s", float(&|m| m.tally.rtt.quantile_s(0.50))),
        ("rtt_p95_s", float(&|m| m.tally.rtt.quantile_s(0.95))),
        ("rtt_p99_s", float(&|m| m.tally.rtt.quantile_s(0.99))),
        ("owd_mean_s", float(&|m| m.one_way(|way| way.delay.mean_s()))),
        ("owd_p50_s", float(&|m| m.one_way(|way| way.delay.quantile_s(0.50)))),
        ("owd_p95_s", float(&|m| m.one_way(|way| way.delay.quantile_s(0.95)))),
        ("owd_p99_s", float(&|m| m.one_way(|way| way.delay.quantile_s(0.99)))),
        ("jitter_s", float(&|m| m.one_way(|way| way.jitter.mean_s()))),
        ("fct_s", float(&completion)),
        ("limited_cwnd", float(&|m| m.limited(|l| l.cwnd))),
        ("limited_pacing", float(&|m| m.limited(|l| l.pacing))),
        ("limited_application", float(&|m| m.limited(|l| l.application))),
        ("limited_receiver", float(&|m| m.limited(|l| l.receiver))),
        ("limited_send_buffer", float(&|m| m.limited(|l| l.send_buffer))),
    ];
    Table { columns }
}

/// The share of the time after `from` up to `to` during which a hop transmitted; if it sends at given moments only, the
/// share of what they could carry that packets were begun with; NaN if it is unlimited.
pub(crate) fn utilisation(
    plan: &Plan,
    net: &Net<Payload>,
    hop: usize,
    counters: &Counters,
    from: Time,
    to: Time,
) -> f64 {
    match (plan.has_rate(hop), net.offered_bytes(hop, from, to)) {
        (true, _) => counters.busy_ns as f64 / to.since(from).as_nanos() as f64,
        (false, Some(offered)) if offered > 0 => (counters.started_bytes as f64 / offered as f64).min(1.0),
        _ => f64::NAN,
    }
}

/// One row per hop.
pub(crate) fn links(plan: &Plan, net: &Net<Payload>) -> Table {
    let hops = || (0..net.hops()).map(|hop| net.totals(hop));
    let float = |of: &dyn Fn(&Totals) -> f64| Column::Float(hops().map(of).collect());
    let int = |of: &dyn Fn(&Totals) -> u64| Column::Int(hops().map(|totals| of(totals) as i64).collect());
    let (from, to) = (Time::from_nanos(plan.warmup_ns), Time::from_nanos(plan.duration_ns));
    let utilisation =
        hops().enumerate().map(|(hop, totals)| utilisation(plan, net, hop, &totals.measured, from, to));
    let columns = vec![
        ("link", Column::names(plan.hop_names())),
        ("dropped_packets", int(&|l| l.measured.dropped_packets + l.measured.lost_packets)),
        ("marked_packets", int(&|l| l.measured.marked_packets)),
        ("forwarded_packets", int(&|l| l.measured.forwarded_packets)),
        ("forwarded_bytes", int(&|l| l.measured.forwarded_bytes)),
        ("utilisation", Column::Float(utilisation.collect())),
        ("sojourn_mean_s", float(&|l| l.measured.mean_wait_s())),
        ("sojourn_p95_s", float(&|l| l.wait_quantile_s(0.95))),
        ("backlog_max_packets", int(&|l| l.backlog_max_packets)),
    ];
    Table { columns }
}
