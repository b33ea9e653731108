//! The table `flows`: one row per flow.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::hosts::{CounterSnapshot, Endpoints, FlowStats};
use crate::plan::FlowPlan;
use network::Histogram;
use tcp::Limited;
use units::{Duration, Time};

/// What a sender still sends after `end_s`, such as what was lost, is not in it.
const UNTIL_END: &str = "after the warm-up, until end_s";
/// What comes back after `end_s` is in it.
const BEYOND_END: &str = "after the warm-up, also after end_s";

table! {
    /// A flow while it was measured.
    pub struct FlowRow, one row per "flow" {
        /// name
        flow: FlowName, "";
        /// congestion control algorithm; null for datagrams
        cca: Option<String>, "";
        /// what carries it: tcp, udp or icmp
        protocol: &'static str, "";
        /// when it began to send, jitter included
        start_s: Time, "s";
        /// when its application stopped, its size was acknowledged, or the run ended, whichever came first; of
        /// a workload that opens connections, when after its stop the last transfer had finished; null if it
        /// never began. After a stop a sender still retransmits what was lost: links, captured packets and
        /// meta.json count that, the columns until end_s do not
        end_s: Option<Time>, "s";
        /// payload delivered in order; of datagrams all that arrived, also after end_s
        delivered_bytes: u64, "bytes", UNTIL_END;
        /// delivered_bytes over the time from start_s, or from the end of the warm-up if that is later
        goodput_bps: f64, "bit/s", UNTIL_END;
        /// all data packets sent with every header, retransmissions included, over the same time
        wire_bps: f64, "bit/s", UNTIL_END;
        /// data packets sent, retransmissions included
        sent_packets: u64, "packets", UNTIL_END;
        /// data packets retransmitted
        retransmitted_packets: u64, "packets", UNTIL_END;
        /// data packets that the sender marked lost; of datagrams those that never came though a later one
        /// did, there or, with an echo, back (RFC 3550, section 6.4.1), as seen at the end of the run
        lost_packets: u64, "packets", UNTIL_END;
        /// retransmission timeouts: how often the timer fired because no acknowledgement came (RFC 6298, section 5.4)
        timeouts: u64, "1", UNTIL_END;
        /// data packets that arrived with a congestion mark, as acknowledgements have told the sender
        marked_packets: u64, "packets", UNTIL_END;
        /// payload that the application lost because the send buffer was full
        refused_bytes: u64, "bytes", UNTIL_END;
        /// smallest RTT sample; of connections on a kernel (engine linux) of the whole connection
        rtt_min_s: f64, "s", BEYOND_END;
        /// mean of the RTT samples; of connections on a kernel (engine linux) smoothed
        rtt_mean_s: f64, "s", BEYOND_END;
        /// median of the RTT samples; of connections on a kernel (engine linux) smoothed
        rtt_p50_s: f64, "s", BEYOND_END;
        /// 95th percentile of the RTT samples; of connections on a kernel (engine linux) smoothed
        rtt_p95_s: f64, "s", BEYOND_END;
        /// 99th percentile of the RTT samples; of connections on a kernel (engine linux) smoothed
        rtt_p99_s: f64, "s", BEYOND_END;
        /// mean one-way delay of the data packets that arrived, retransmissions included
        owd_mean_s: f64, "s", BEYOND_END;
        /// median of it
        owd_p50_s: f64, "s", BEYOND_END;
        /// 95th percentile of it
        owd_p95_s: f64, "s", BEYOND_END;
        /// 99th percentile of it
        owd_p99_s: f64, "s", BEYOND_END;
        /// interarrival jitter of datagrams (RFC 3550, section 6.4.1), mean over arrivals; null for TCP
        jitter_s: f64, "s", BEYOND_END;
        /// from the start, in the warm-up or not, to the last acknowledgement; null if the flow has no size or
        /// did not finish
        fct_s: Option<Duration>, "s";
        /// share of the time in which the congestion window held the sender back
        limited_cwnd: f64, "1", UNTIL_END;
        /// share of the time in which pacing, or what waited in its host, held it back
        limited_pacing: f64, "1", UNTIL_END;
        /// share of the time in which it had nothing to send
        limited_application: f64, "1", UNTIL_END;
        /// share of the time in which the receive window held it back
        limited_receiver: f64, "1", UNTIL_END;
        /// share of the time in which the send buffer held it back
        limited_send_buffer: f64, "1", UNTIL_END;
        /// how long all bulk flows of its direction were active at once; null if they never were, or if there is none
        shared_s: Option<Duration>, "s", "after the warm-up";
        /// payload delivered in that time, in order
        shared_bytes: Option<u64>, "bytes", "after the warm-up";
        /// smallest one-way delay
        owd_min_s: f64, "s", BEYOND_END;
        /// mean time from the first transmission of a data packet of TCP until its payload was delivered in
        /// order; null unless record.in_order is true
        in_order_mean_s: f64, "s", BEYOND_END;
        /// 95th percentile of it
        in_order_p95_s: f64, "s", BEYOND_END;
        /// data packets that links dropped, by their queues or on the wire, retransmissions and copies included; of
        /// datagrams with an echo also replies
        dropped_packets: Option<u64>, "packets", BEYOND_END;
    }
}

impl Made for FlowRow {
    fn rows(run: &mut Finished<'_>) -> Rows<FlowRow> {
        let flows = (0u32..).zip(&run.plan.flows).zip(run.flows);
        flows
            .map(|((n, plan), flow)| {
                let shared = run.rivals.shared(n as usize, plan);
                row(n, plan, &Measured::new(flow), shared, run.drops.of_flow(n as usize))
            })
            .collect()
    }
}

fn row(
    n: u32,
    plan: &FlowPlan,
    flow: &Measured<'_>,
    shared: Option<(Duration, u64)>,
    dropped_packets: u64,
) -> FlowRow {
    let (stats, delivered_bytes) = (flow.stats, flow.count(|mark| mark.delivered_bytes));
    let (one_way, in_order) = (&stats.one_way, stats.in_order.as_deref());
    FlowRow {
        flow: FlowName(n),
        cca: plan.cca.as_ref().map(|cca| cca.kind.clone()),
        protocol: plan.protocol(),
        start_s: stats.start,
        end_s: stats.end.map(|end| end.time),
        delivered_bytes,
        goodput_bps: flow.rate(8.0 * delivered_bytes as f64),
        wire_bps: flow.rate(8.0 * flow.count(|mark| mark.wire_bytes) as f64),
        sent_packets: flow.count(|mark| mark.stats.sent_packets),
        retransmitted_packets: flow.count(|mark| mark.stats.retransmitted_packets),
        lost_packets: flow.count(|mark| mark.stats.lost_packets),
        timeouts: flow.count(|mark| mark.stats.timeouts),
        marked_packets: flow.count(|mark| mark.stats.marked_packets),
        refused_bytes: flow.count(|mark| mark.refused_bytes),
        rtt_min_s: stats.rtt.min_s(),
        rtt_mean_s: stats.rtt.mean_s(),
        rtt_p50_s: stats.rtt.quantile_s(0.50),
        rtt_p95_s: stats.rtt.quantile_s(0.95),
        rtt_p99_s: stats.rtt.quantile_s(0.99),
        owd_mean_s: one_way.mean_s(),
        owd_p50_s: one_way.quantile_s(0.50),
        owd_p95_s: one_way.quantile_s(0.95),
        owd_p99_s: one_way.quantile_s(0.99),
        jitter_s: stats.jitter.as_ref().map_or(f64::NAN, |jitter| jitter.mean_s()),
        fct_s: stats.finish.map(|finish| finish.since(stats.start)),
        limited_cwnd: flow.limited(|limited| limited.cwnd),
        limited_pacing: flow.limited(|limited| limited.pacing),
        limited_application: flow.limited(|limited| limited.application),
        limited_receiver: flow.limited(|limited| limited.receiver),
        limited_send_buffer: flow.limited(|limited| limited.send_buffer),
        shared_s: shared.map(|(time, _)| time),
        shared_bytes: shared.map(|(_, bytes)| bytes),
        owd_min_s: one_way.min_s(),
        in_order_mean_s: in_order.map_or(f64::NAN, Histogram::mean_s),
        in_order_p95_s: in_order.map_or(f64::NAN, |delay| delay.quantile_s(0.95)),
        dropped_packets: Some(dropped_packets),
    }
}

/// What a flow did while it was measured.
struct Measured<'a> {
    stats: &'a FlowStats,
    /// Counters at both ends; none if the flow was over before, or never started.
    snapshots: Option<(CounterSnapshot, CounterSnapshot)>,
}

impl Measured<'_> {
    fn new(flow: &Endpoints) -> Measured<'_> {
        let stats = flow.stats();
        Measured { stats, snapshots: stats.begin.zip(stats.end) }
    }

    fn count(&self, of: impl Fn(&CounterSnapshot) -> u64) -> u64 {
        self.snapshots.map_or(0, |(begin, end)| of(&end) - of(&begin))
    }

    /// Per second of the measured span; NaN if there is none.
    fn rate(&self, amount: f64) -> f64 {
        self.snapshots.map_or(f64::NAN, |(begin, end)| {
            let span = end.time.since(begin.time);
            if span == Duration::ZERO { f64::NAN } else { amount / span.as_secs_f64() }
        })
    }

    /// A share of the time of all connections; NaN if there was none.
    fn limited(&self, of: impl Fn(&Limited) -> Duration) -> f64 {
        self.snapshots.map_or(f64::NAN, |(begin, end)| {
            let span = |of: &dyn Fn(&Limited) -> Duration| {
                of(&end.limited).saturating_sub(of(&begin.limited)).as_secs_f64()
            };
            span(&of) / span(&Limited::total)
        })
    }
}
