//! What is written down at every sample.

use crate::capture::Capture;
use crate::flow::Flow;
use crate::payload::Packet;
use crate::table::{Column, Table};
use congestion::{Probe, Reading};
use units::{Duration, Rate, Time};

/// One flow at one sample.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// When.
    pub time: Time,
    /// Number of the flow.
    pub flow: u32,
    /// Payload delivered in order during the interval, in bits per second.
    pub goodput_bps: f64,
    /// Congestion window.
    pub cwnd_bytes: f64,
    /// Payload in flight.
    pub in_flight_bytes: f64,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Pacing rate.
    pub pacing: Option<Rate>,
    /// Last delivery-rate sample.
    pub delivery: Option<Rate>,
    /// Packets retransmitted during the interval.
    pub retransmitted_packets: u64,
    /// Index into [`STATES`].
    pub state: u32,
}

/// What a flow may be doing: the states of loss recovery, and what comes before and after.
pub const STATES: [&str; 7] = ["open", "disorder", "cwr", "recovery", "loss", "waiting", "done"];
/// Index of "waiting": nothing has been sent yet, or there is nothing to send.
pub const WAITING: u32 = STATES.len() as u32 - 2;
/// Index of "done": nothing more will be sent.
pub const DONE: u32 = STATES.len() as u32 - 1;

/// One link at one sample; everything but the backlog is over the interval.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// When.
    pub time: Time,
    /// Number of the link.
    pub link: u32,
    /// Bytes waiting.
    pub backlog_bytes: u64,
    /// Packets waiting.
    pub backlog_packets: u64,
    /// Mean wait of the packets whose transmission began, in seconds; NaN if there were none.
    pub sojourn_s: f64,
    /// Packets dropped by the queue or lost at the far end.
    pub dropped_packets: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// Share of the time during which the link transmitted; NaN if its rate is unlimited.
    pub utilisation: f64,
}

/// Takes samples. Chosen when the program is compiled, so that a run without samples does not even ask.
pub trait Recorder {
    /// Whether samples are wanted at all.
    const ON: bool;

    /// Takes a sample of a flow.
    fn flow(&mut self, sample: &FlowSample);

    /// Takes a sample of a link.
    fn link(&mut self, sample: &LinkSample);

    /// Takes a sample of every variable of a flow's algorithm.
    fn variables(&mut self, time: Time, flow: &Flow);

    /// The sender of a flow has just had its turn: takes the same sample if a state of its algorithm has changed.
    fn turn(&mut self, time: Time, flow: &Flow);

    /// An endpoint sends a packet; `mss`: payload of a full segment of its flow.
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet);

    /// A packet reaches its endpoint.
    fn arrived(&mut self, time: Time, packet: &Packet);

    /// A link hands a packet over.
    fn passed(&mut self, time: Time, link: u32, packet: &Packet);

    /// How many packets have been captured, once for every point.
    fn captured(&self) -> usize {
        0
    }

    /// The tables `series`, `links`, `variables` and `packets`.
    fn tables(self, flows: &[String], links: &[String], mss: &[u32], end: Time) -> [Table; 4];
}

/// Writes nothing down.
#[derive(Debug, Default)]
pub struct Silent;

impl Recorder for Silent {
    const ON: bool = false;

    fn flow(&mut self, _: &FlowSample) {}

    fn link(&mut self, _: &LinkSample) {}

    fn variables(&mut self, _: Time, _: &Flow) {}

    #[inline]
    fn turn(&mut self, _: Time, _: &Flow) {}

    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}

    #[inline]
    fn arrived(&mut self, _: Time, _: &Packet) {}

    fn passed(&mut self, _: Time, _: u32, _: &Packet) {}

    fn tables(self, flows: &[String], links: &[String], mss: &[u32], end: Time) -> [Table; 4] {
        Columns::default().tables(flows, links, mss, end)
    }
}

/// Keeps every sample, column by column.
#[derive(Debug, Default)]
pub struct Columns {
    series: Series,
    links: Links,
    variables: Variables,
    capture: Option<Box<Capture>>,
}

impl Columns {
    /// Nothing written down yet; `variables`: the internal variables of the algorithms are wanted, too.
    pub fn new(variables: bool, capture: Option<Capture>) -> Columns {
        Columns {
            variables: Variables { wanted: variables, ..Variables::default() },
            capture: capture.map(Box::new),
            ..Columns::default()
        }
    }
}

#[derive(Debug, Default)]
struct Series {
    time_s: Vec<f64>,
    flow: Vec<u32>,
    goodput_bps: Vec<f64>,
    cwnd_bytes: Vec<f64>,
    in_flight_bytes: Vec<f64>,
    srtt_s: Vec<f64>,
    min_rtt_s: Vec<f64>,
    pacing_bps: Vec<f64>,
    delivery_bps: Vec<f64>,
    retransmitted_packets: Vec<i64>,
    state: Vec<u32>,
}

#[derive(Debug, Default)]
struct Links {
    time_s: Vec<f64>,
    link: Vec<u32>,
    backlog_bytes: Vec<i64>,
    backlog_packets: Vec<i64>,
    sojourn_s: Vec<f64>,
    dropped_packets: Vec<i64>,
    marked_packets: Vec<i64>,
    utilisation: Vec<f64>,
}

#[derive(Debug, Default)]
struct Variables {
    wanted: bool,
    time_s: Vec<f64>,
    flow: Vec<u32>,
    name: Names,
    value: Vec<f64>,
    unit: Names,
    state: Names,
    /// Per flow: the states as last observed.
    states: Vec<Vec<&'static str>>,
}

impl Variables {
    /// Writes down all variables of a flow that runs.
    fn observe(&mut self, time: Time, flow: &Flow) {
        let n = flow.number as usize;
        self.states.resize(self.states.len().max(n + 1), Vec::new());
        self.states[n].clear();
        let mut sink = |name, reading| {
            let (value, unit, state) = match reading {
                Reading::Number(value, unit) => (value, unit, ""),
                Reading::State(state) => (f64::NAN, "", state),
            };
            self.time_s.push(time.as_secs_f64());
            self.flow.push(flow.number);
            self.name.push(name);
            self.value.push(value);
            self.unit.push(unit);
            self.state.push(state);
            if !state.is_empty() {
                self.states[n].push(state);
            }
        };
        flow.sender.algorithm().observe(&mut Probe::new(&mut sink));
    }

    /// A state differs from when the flow was last observed; a flow never observed yet counts as changed.
    fn state_changed(&self, flow: &Flow) -> bool {
        if !flow.is_running() {
            return false;
        }
        let Some(known) = self.states.get(flow.number as usize) else { return true };
        let (mut at, mut changed) = (0, false);
        let mut sink = |_, reading| {
            if let Reading::State(state) = reading {
                changed |= known.get(at) != Some(&state);
                at += 1;
            }
        };
        flow.sender.algorithm().observe(&mut Probe::new(&mut sink));
        changed
    }
}

/// A column of names that come up again and again.
#[derive(Debug, Default)]
struct Names {
    codes: Vec<u32>,
    names: Vec<&'static str>,
}

impl Names {
    fn push(&mut self, name: &'static str) {
        let code = self.names.iter().position(|&known| known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.codes.push(code as u32);
    }

    fn column(self) -> Column {
        Column::Label { codes: self.codes, names: self.names.into_iter().map(str::to_owned).collect() }
    }
}

fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_f64)
}

fn bits(rate: Option<Rate>) -> f64 {
    rate.filter(|&r| r != Rate::UNLIMITED).map_or(f64::NAN, |r| r.bits_per_sec() as f64)
}

impl Recorder for Columns {
    const ON: bool = true;

    fn flow(&mut self, sample: &FlowSample) {
        let series = &mut self.series;
        series.time_s.push(sample.time.as_secs_f64());
        series.flow.push(sample.flow);
        series.goodput_bps.push(sample.goodput_bps);
        series.cwnd_bytes.push(sample.cwnd_bytes);
        series.in_flight_bytes.push(sample.in_flight_bytes);
        series.srtt_s.push(seconds(sample.srtt));
        series.min_rtt_s.push(seconds(sample.min_rtt));
        series.pacing_bps.push(bits(sample.pacing));
        series.delivery_bps.push(bits(sample.delivery));
        series.retransmitted_packets.push(sample.retransmitted_packets as i64);
        series.state.push(sample.state);
    }

    fn link(&mut self, sample: &LinkSample) {
        let links = &mut self.links;
        links.time_s.push(sample.time.as_secs_f64());
        links.link.push(sample.link);
        links.backlog_bytes.push(sample.backlog_bytes as i64);
        links.backlog_packets.push(sample.backlog_packets as i64);
        links.sojourn_s.push(sample.sojourn_s);
        links.dropped_packets.push(sample.dropped_packets as i64);
        links.marked_packets.push(sample.marked_packets as i64);
        links.utilisation.push(sample.utilisation);
    }

    fn variables(&mut self, time: Time, flow: &Flow) {
        self.variables.observe(time, flow);
    }

    #[inline]
    fn turn(&mut self, time: Time, flow: &Flow) {
        if self.variables.wanted && self.variables.state_changed(flow) {
            self.variables.observe(time, flow);
        }
    }

    #[inline]
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.sent(time, mss, packet);
        }
    }

    #[inline]
    fn arrived(&mut self, time: Time, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.arrived(time, packet);
        }
    }

    fn passed(&mut self, time: Time, link: u32, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.passed(time, link, packet);
        }
    }

    fn captured(&self) -> usize {
        self.capture.as_ref().map_or(0, |capture| capture.rows())
    }

    fn tables(self, flows: &[String], links: &[String], mss: &[u32], end: Time) -> [Table; 4] {
        let packets = self.capture.map(|capture| *capture).unwrap_or_default();
        let packets = packets.table(flows, links, mss, end);
        let label = |codes, names: &[String]| Column::Label { codes, names: names.to_vec() };
        let Columns { series, links: rows, variables, .. } = self;
        let series = vec![
            ("time_s", Column::Float(series.time_s)),
            ("flow", label(series.flow, flows)),
            ("goodput_bps", Column::Float(series.goodput_bps)),
            ("cwnd_bytes", Column::Float(series.cwnd_bytes)),
            ("in_flight_bytes", Column::Float(series.in_flight_bytes)),
            ("srtt_s", Column::Float(series.srtt_s)),
            ("min_rtt_s", Column::Float(series.min_rtt_s)),
            ("pacing_bps", Column::Float(series.pacing_bps)),
            ("delivery_bps", Column::Float(series.delivery_bps)),
            ("retransmitted_packets", Column::Int(series.retransmitted_packets)),
            ("state", label(series.state, &STATES.map(str::to_owned))),
        ];
        let rows = vec![
            ("time_s", Column::Float(rows.time_s)),
            ("link", label(rows.link, links)),
            ("backlog_bytes", Column::Int(rows.backlog_bytes)),
            ("backlog_packets", Column::Int(rows.backlog_packets)),
            ("sojourn_s", Column::Float(rows.sojourn_s)),
            ("dropped_packets", Column::Int(rows.dropped_packets)),
            ("marked_packets", Column::Int(rows.marked_packets)),
            ("utilisation", Column::Float(rows.utilisation)),
        ];
        let variables = vec![
            ("time_s", Column::Float(variables.time_s)),
            ("flow", label(variables.flow, flows)),
            ("name", variables.name.column()),
            ("value", Column::Float(variables.value)),
            ("unit", variables.unit.column()),
            ("state", variables.state.column()),
        ];
        let [series, rows, variables] = [series, rows, variables].map(|columns| Table { columns });
        [series, rows, variables, packets]
    }
}
