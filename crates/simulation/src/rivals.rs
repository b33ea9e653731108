//! Rivals: the bulk flows of one direction. The payload that each rival delivers while all rivals are active is
//! counted, so that the shares of all rivals refer to the same span of time.

use crate::hosts::Endpoints;
use crate::plan::{FlowPlan, Plan};
use network::SamplingTimes;
use units::{Duration, Time};

/// A span of time.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: Time,
    until: Time,
}

/// The spans in which all bulk flows of a direction are active, one for downloads and one for uploads, and the payload
/// delivered in these spans.
pub(crate) struct Rivals {
    spans: [Option<Span>; 2],
    /// Payload that each flow had delivered at the start and at the end of its direction's span.
    delivered: Vec<[u64; 2]>,
}

impl Rivals {
    /// The spans of a plan, without the warm-up. The start times of the flows must have been drawn. A direction has no
    /// span if it has no measured bulk flow, or if one of its bulk flows stops before another bulk flow starts.
    pub fn new(plan: &Plan, flows: &[Endpoints], sampling: SamplingTimes) -> Rivals {
        let span = |upload: bool| {
            let all = plan.flows.iter().zip(flows);
            let bulk = all.filter(|(flow, _)| flow.upload == upload && flow.is_bulk());
            let measured = bulk.filter_map(|(flow, ends)| {
                let stop = flow.stop_ns.map_or(Time::NEVER, Time::from_nanos);
                let (from, until) = (ends.stats().start.max(sampling.warmup()), stop.min(sampling.end()));
                (from < until).then_some(Span { from, until })
            });
            let both =
                measured.reduce(|a, b| Span { from: a.from.max(b.from), until: a.until.min(b.until) })?;
            (both.from < both.until).then_some(both)
        };
        let spans = [span(false), span(true)];
        let delivered =
            if spans.iter().any(Option::is_some) { vec![[0; 2]; flows.len()] } else { Vec::new() };
        Rivals { spans, delivered }
    }

    /// First start or end of a span after a time.
    pub fn after(&self, time: Time) -> Time {
        let ends = self.spans.iter().flatten().flat_map(|span| [span.from, span.until]);
        ends.filter(|&end| end > time).min().unwrap_or(Time::NEVER)
    }

    /// Whether a span begins or ends at a time.
    pub fn is_end(&self, time: Time) -> bool {
        self.spans.iter().flatten().any(|span| span.from == time || span.until == time)
    }

    /// Records the payload that a flow has delivered, if the span of the flow's direction begins or ends now.
    pub fn note(&mut self, now: Time, number: usize, plan: &FlowPlan, flow: &Endpoints) {
        let Some(span) = self.spans[usize::from(plan.upload)] else { return };
        for (end, delivered) in [span.from, span.until].into_iter().zip(&mut self.delivered[number]) {
            if end == now {
                *delivered = flow.delivered_bytes();
            }
        }
    }

    /// Length of the span of a flow's direction, and the payload that the flow delivered in this span.
    pub fn shared(&self, number: usize, plan: &FlowPlan) -> Option<(Duration, u64)> {
        let span = self.spans[usize::from(plan.upload)]?;
        let [before, after] = self.delivered[number];
        Some((span.until.since(span.from), after - before))
    }
}

impl FlowPlan {
    /// Whether the plan gives the flow unlimited data.
    fn is_bulk(&self) -> bool {
        let writes_all = self.workload.is_none() && self.bytes.is_none() && self.application.is_empty();
        self.cca.is_some() && self.relayed.is_none() && writes_all
    }
}
