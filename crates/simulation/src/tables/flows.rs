//! The table `flows`: one row per flow.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::hosts::{CounterSnapshot, Endpoints, FlowStats};
use crate::plan::FlowPlan;
use network::Histogram;
use tcp::Limited;
use units::{Duration, Time};

/// Span of columns without the packets that a sender still sends after `end_s`, such as retransmissions.
const UNTIL_END: &str = "after the warm-up, until end_s";
/// Span of columns with samples of packets and ACKs that arrive after `end_s`.
const BEYOND_END: &str = "after the warm-up, also after end_s";

table! {
    /// A flow while it was measured.
    pub struct FlowRow, one row per "flow" {
        /// name
        flow: FlowName, "";
        /// congestion control algorithm; null for datagrams
        cca: Option<String>, "";
        /// protocol: tcp, udp or icmp
        protocol: &'static str, "";
        /// start time, jitter included
        start_s: Time, "s";
        /// time at which its application stopped, its size was acknowledged, or the run ended, whichever came first;
        /// for a workload that opens connections, the end of the last transfer after its stop; null if it never began.
        /// After a stop a sender still retransmits lost packets: links, captured packets and meta.json count them, the
        /// columns until end_s do not
        end_s: Option<Time>, "s";
        /// payload delivered in order; for datagrams all payload that arrived, also after end_s
        delivered_bytes: u64, "bytes", UNTIL_END;
        /// delivered_bytes over the time from start_s, or from the end of the warm-up if that is later
        goodput_bps: f64, "bit/s", UNTIL_END;
        /// all data packets sent, headers and retransmissions included, over the same time
        wire_bps: f64, "bit/s", UNTIL_END;
        /// data packets sent, retransmissions included
        sent_packets: u64, "packets", UNTIL_END;
        /// data packets retransmitted
        retransmitted_packets: u64, "packets", UNTIL_END;
        /// data packets that the sender marked lost; for datagrams those that had not arrived by the end of the run
        /// although a later one had (RFC 3550, section 6.4.1); with an echo, those whose reply had not arrived
        lost_packets: u64, "packets", UNTIL_END;
        /// retransmission timeouts: expiries of the timer without an acknowledgement (RFC 6298, section 5.4)
        timeouts: u64, "1", UNTIL_END;
        /// data packets that arrived with a congestion mark, as reported to the sender by acknowledgements
        marked_packets: u64, "packets", UNTIL_END;
        /// payload that the application discarded because the send buffer was full
        refused_bytes: u64, "bytes", UNTIL_END;
        /// smallest RTT sample; on engine linux, of the whole connection
        rtt_min_s: f64, "s", BEYOND_END;
        /// mean of the RTT samples; on engine linux, of the smoothed RTT
        rtt_mean_s: f64, "s", BEYOND_END;
        /// median of the RTT samples; on engine linux, of the smoothed RTT
        rtt_p50_s: f64, "s", BEYOND_END;
        /// 95th percentile of the RTT samples; on engine linux, of the smoothed RTT
        rtt_p95_s: f64, "s", BEYOND_END;
        /// 99th percentile of the RTT samples; on engine linux, of the smoothed RTT
        rtt_p99_s: f64, "s", BEYOND_END;
        /// mean one-way delay of the data packets that arrived, retransmissions included
        owd_mean_s: f64, "s", BEYOND_END;
        /// median of the one-way delay
        owd_p50_s: f64, "s", BEYOND_END;
        /// 95th percentile of the one-way delay
        owd_p95_s: f64, "s", BEYOND_END;
        /// 99th percentile of the one-way delay
        owd_p99_s: f64, "s", BEYOND_END;
        /// interarrival jitter of datagrams (RFC 3550, section 6.4.1), mean over arrivals; null for TCP
        jitter_s: f64, "s", BEYOND_END;
        /// flow completion time: from the start, even during the warm-up, to the last acknowledgement; null if the
        /// flow has no size or did not finish
        fct_s: Option<Duration>, "s";
        /// share of the time in which the congestion window limited the sender
        limited_cwnd: f64, "1", UNTIL_END;
        /// share of the time in which pacing or packets queued in its host limited the sender
        limited_pacing: f64, "1", UNTIL_END;
        /// share of the time in which the sender had nothing to send
        limited_application: f64, "1", UNTIL_END;
        /// share of the time in which the receive window limited the sender
        limited_receiver: f64, "1", UNTIL_END;
        /// share of the time in which the send buffer limited the sender
        limited_send_buffer: f64, "1", UNTIL_END;
        /// time in which all bulk flows of its direction were active at once; null if there is no such time or flow
        shared_s: Option<Duration>, "s", "after the warm-up";
        /// payload delivered in order in that time
        shared_bytes: Option<u64>, "bytes", "after the warm-up";
        /// smallest one-way delay
        owd_min_s: f64, "s", BEYOND_END;
        /// mean time from the first transmission of a TCP data packet until its payload was delivered in order; null
        /// unless record.in_order is true
        in_order_mean_s: f64, "s", BEYOND_END;
        /// 95th percentile of the in-order delay
        in_order_p95_s: f64, "s", BEYOND_END;
        /// data packets dropped by links, in their queues or on the wire, retransmissions and duplicates included; for
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

/// Counters and statistics of a flow over the time in which it was measured.
struct Measured<'a> {
    stats: &'a FlowStats,
    /// Counters at the start and the end of the measured time; `None` if the flow ended before that time or never
    /// started.
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

    /// Amount per second of the measured time; NaN if the flow was not measured.
    fn rate(&self, amount: f64) -> f64 {
        self.snapshots.map_or(f64::NAN, |(begin, end)| {
            let span = end.time.since(begin.time);
            if span == Duration::ZERO { f64::NAN } else { amount / span.as_secs_f64() }
        })
    }

    /// Share of the total time of all connections; NaN if that time is zero.
    fn limited(&self, of: impl Fn(&Limited) -> Duration) -> f64 {
        self.snapshots.map_or(f64::NAN, |(begin, end)| {
            let span = |of: &dyn Fn(&Limited) -> Duration| {
                of(&end.limited).saturating_sub(of(&begin.limited)).as_secs_f64()
            };
            span(&of) / span(&Limited::total)
        })
    }
}
